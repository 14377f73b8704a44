"""Pieces of ours in other people's files: in, and out again without a trace."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.errors import BadInput
from recollect.hosts import host_files

HOOK = {"hooks": [{"type": "command", "command": "python -m recollect hook Stop"}]}
OTHER = {"hooks": [{"type": "command", "command": "python -m recollect hook Start"}]}
ADDED = [(("hooks", "Stop"), HOOK, True), (("hooks", "Start"), OTHER, True), (("servers", "us"), {"a": [1]}, False)]

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_documents = st.builds(
    lambda body, hooks, style: json.dumps({**body, **({"hooks": hooks} if hooks is not None else {})}, **style),
    st.dictionaries(st.text().filter(lambda name: name not in ("hooks", "servers")), _json, max_size=4),
    st.none() | st.dictionaries(st.sampled_from(["Stop", "Other"]), st.lists(_json, max_size=2), max_size=2),
    st.sampled_from([{}, {"indent": 2}, {"indent": "\t"}, {"separators": (",", ":")}]),
)


def put_in(text: str) -> tuple[str, list[str]]:
    pieces: list[str] = []
    for path, value, item in ADDED:
        text, made = host_files.into_json(text, path, value, item=item)
        pieces += made
    return text, pieces


@given(_documents)
def test_a_document_reads_as_before_with_ours_in_it(text: str) -> None:
    after, _ = put_in(text)
    read = json.loads(after)
    assert read["hooks"]["Stop"][0] == HOOK
    assert read["hooks"]["Start"] == [OTHER]
    assert read["servers"] == {"us": {"a": [1]}}
    for name, value in json.loads(text).items():
        if name != "hooks":
            assert read[name] == value


@given(_documents)
def test_taken_out_again_every_byte_is_as_it_was(text: str) -> None:
    after, pieces = put_in(text)
    assert host_files.without(after, pieces) == text


def test_what_its_owner_added_meanwhile_stays() -> None:
    after, pieces = put_in('{\n  "theme": "dark"\n}\n')
    changed = after.replace('"theme": "dark"', '"theme": "light",\n  "more": true')
    assert host_files.without(changed, pieces) == '{\n  "theme": "light",\n  "more": true\n}\n'


def test_ours_is_found_by_its_meaning_where_its_owner_wrote_into_it() -> None:
    after, pieces = put_in('{"theme": "dark"}')
    document = json.loads(after)
    document["hooks"]["Stop"].append({"hooks": ["theirs"]})
    text = json.dumps(document)
    assert host_files.without(text, pieces) is None
    for path, value, item in ADDED:
        text = host_files.json_without(text, path, value, item=item)
    assert json.loads(text) == {"theme": "dark", "hooks": {"Stop": [{"hooks": ["theirs"]}]}}


@pytest.mark.parametrize("text", ["[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}'])
def test_a_file_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        host_files.into_json(text, ("hooks", "Stop"), HOOK, item=True)


@pytest.mark.parametrize("before", ["", "model = 1\n", "a blank line at the end\n\n"])
def test_a_block_that_another_clone_put_in_is_not_put_in_twice(before: str) -> None:
    theirs, _ = host_files.as_block(before, "# begin", "theirs", "# end")
    assert host_files.as_block(theirs, "# begin", "theirs", "# end")[0] == theirs
    ours, piece = host_files.as_block(theirs, "# begin", "ours", "# end")
    assert ours == theirs.replace("theirs", "ours")
    bare = host_files.without(ours, [piece])
    assert bare is not None
    assert "ours" not in bare


@pytest.mark.parametrize("before", ["", "model = 1\n", "no line end"])
def test_a_block_comes_and_goes(before: str) -> None:
    after, piece = host_files.as_block(before, "# begin", "ours", "# end")
    assert after.endswith("# begin\nours\n# end\n")
    assert host_files.without(after, [piece]) == before
    assert "ours" not in host_files.block_without(after + "theirs\n", "# begin", "# end")
