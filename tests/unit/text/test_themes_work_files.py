import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.errors import BadInput
from recollect.core.finding import NewFinding, SkippedFile, WorkFile, check_theme_name, check_work_id
from recollect.text.themes import raw_item, read_work_file, without_repeats, write_work_file


def body(**changes: object) -> bytes:
    good = {"workId": "wu-1", "timestamp": "2026-02-12T14:30:00Z", "findings": [{"description": "Cache keys"}]}
    return json.dumps({k: v for k, v in (good | changes).items() if v != "gone"}).encode()


def test_a_valid_file_gives_its_findings_with_their_place_as_id() -> None:
    items = [{"category": "build", "source": "review", "description": "Cache keys", "proposedRule": "Hash it"}]
    file = read_work_file("wu-1.json", body(findings=items))
    assert isinstance(file, WorkFile)
    (finding,) = file.findings
    assert (finding.id, finding.category, finding.source) == ("finding/wu-1#1", "build", "review")
    assert (finding.description, finding.proposed_rule) == ("Cache keys", "Hash it")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"{", "not JSON"),
        (b"[]", "not a JSON object"),
        (b"null", "not a JSON object"),
        (b'{"workId": NaN}', "not JSON"),
        (b"\xff\xfe", "JSON"),
        (b'{"workId": "\xff"}', "not UTF-8"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b"<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> other\n", "not JSON"),
        (b'{"workId": "a", "timestamp": "t", "findings": []} trailing', "not JSON"),
        (b" " * 5_000_001, "larger than 5 MB"),
        (body(workId="gone"), "without workId"),
        (body(timestamp="gone"), "without timestamp"),
        (body(findings="gone"), "without findings"),
        (body(findings=None), "without findings"),
        (body(findings={}), "findings is not a list"),
        (body(timestamp=5), "timestamp is not text"),
        (body(timestamp="last tuesday"), "is not a time"),
        (body(timestamp="2026-13-45T99:00:00Z"), "is not a time"),
        (body(workId=7), "work id"),
        (body(workId="../../x"), "work id"),
        (body(workId="/etc/x"), "work id"),
        (body(workId="a..b"), "cannot name a file"),
        (body(workId="CON"), "cannot name a file"),
        (body(workId="con.txt"), "cannot name a file"),
        (body(workId="x" * 300), "work id"),
        (body(workId=""), "work id"),
        (body(workId="a\nb"), "work id"),
        (body(workId="a#2"), "work id"),
    ],
)
def test_a_file_that_cannot_be_used_is_skipped_with_its_reason(data: bytes, reason: str) -> None:
    skipped = read_work_file("x.json", data)
    assert isinstance(skipped, SkippedFile)
    assert reason in skipped.reason


def test_a_bad_item_costs_only_itself_and_the_numbers_stay() -> None:
    items = ["text", None, {"description": 5}, {"description": "  "}, {"description": "Good", "category": 9}]
    file = read_work_file("wu-1.json", body(findings=items))
    assert isinstance(file, WorkFile)
    assert [(finding.id, finding.category) for finding in file.findings] == [("finding/wu-1#5", "")]


def test_a_byte_order_mark_and_duplicate_keys_are_survived() -> None:
    data = b'\xef\xbb\xbf{"workId": "a", "workId": "b", "timestamp": "2026-02-12", "findings": []}'
    file = read_work_file("b.json", data)
    assert isinstance(file, WorkFile)
    assert file.work_id == "b"


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    assert isinstance(read_work_file("x.json", data), WorkFile | SkippedFile)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    )
)
def test_no_findings_value_raises(value: object) -> None:
    for changes in ({"findings": value}, {"findings": [value]}, {"workId": value}, {"timestamp": value}):
        assert isinstance(read_work_file("x.json", body(**changes)), WorkFile | SkippedFile)


def test_one_work_unit_in_two_files_is_read_from_the_one_named_after_it() -> None:
    copy, original = read_work_file("a-copy.json", body()), read_work_file("wu-1.json", body())
    assert isinstance(copy, WorkFile)
    assert isinstance(original, WorkFile)
    kept, repeats = without_repeats([copy, original])
    assert kept == [original]
    assert [(skip.path, skip.reason) for skip in repeats] == [("a-copy.json", "work id wu-1 is already in wu-1.json")]


def test_what_is_written_reads_back_and_unknown_fields_survive() -> None:
    item = raw_item(NewFinding(description="Cache keys", category="build", disposition="dismissed"))
    text = write_work_file("wu-1", "2026-02-12T14:30:00Z", [item | {"confidence": 3}])
    assert json.loads(text)["findings"][0]["confidence"] == 3
    file = read_work_file("wu-1.json", text.encode())
    assert isinstance(file, WorkFile)
    assert file.findings[0].dismissed


@pytest.mark.parametrize("name", ["../../x", "/etc/x", "con", "", "x" * 61, "Build", "a--b", "-a", "a-", "a b", "ü"])
def test_a_theme_name_that_is_no_plain_slug_is_refused(name: str) -> None:
    with pytest.raises(BadInput):
        check_theme_name(name)


@pytest.mark.parametrize("name", ["wu-1", "001-add-login", "v1.2_fix", "ключ", "a"])
def test_plain_work_ids_are_accepted(name: str) -> None:
    assert check_work_id(name) == name
