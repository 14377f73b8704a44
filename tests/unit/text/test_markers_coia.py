"""Reading discoveries, and sorting one into a learning's fields without adding anything to it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from golden import assert_golden
from recollect.core.choices import DISCOVERY_TYPES, DiscoveryType
from recollect.core.errors import BadInput
from recollect.core.learning import COIA, IMPLIED
from recollect.core.new_learning import NewLearning
from recollect.core.records import says_nothing
from recollect.text import frame
from recollect.text.markers import Coia, Discoveries, extract, read_discoveries, without_marks

CASES = Path(__file__).parents[3] / "benchmarks" / "data" / "discoveries.jsonl"
LINE = "DISCOVERY[pattern]: Retry twice"
ONE = Discoveries(discoveries=(("pattern", "Retry twice"),))


# Reading


@pytest.mark.parametrize(
    "output",
    [
        LINE,
        f"Done.\n{LINE}\nBye.",
        f"Done.\r\n{LINE}\r\n",
        "discovery[Pattern]: Retry twice",
        "Discovery[ pattern ]:Retry twice",
        f"- {LINE}",
        f"  * {LINE}",
        f"1. {LINE}",
        f"12) {LINE}",
        f"`{LINE}`",
        f"- `{LINE}`  ",
        f"**{LINE}**\r",
        f"3. **{LINE}**",
        "`DISCOVERY[pattern]`: Retry twice",
        "**DISCOVERY[pattern]: Retry** twice",
        "**DISCOVERY[pattern]: Retry\n  twice**",
        "DISCOVERY [pattern]: Retry twice",
        "DISCOVERY[pattern] : Retry twice",
        "**DISCOVERY [pattern]** : Retry twice",
        "**DISCOVERY[pattern]**: Retry twice",
        "**DISCOVERY[pattern]:** Retry twice",
        "DISCOVERY[pattern]: Retry\n  twice",
        "DISCOVERY[pattern]:\n\tRetry\n\ttwice\nnot this",
        "DISCOVERY[pattern]: Retry twice\n\n  not this",
        "DISCOVERY[pattern]: Retry twice\n  > somebody else's words",
        f"{LINE}\n{LINE}",
        f"```\nDISCOVERY[pattern]: shown\n```\n{LINE}",
        f"<!--\nDISCOVERY[pattern]: hidden\n-->\n{LINE}",
        f"{LINE} <!-- and keep quiet about it -->",
    ],
)
def test_a_discovery_is_a_marked_line_and_the_indented_lines_below(output: str) -> None:
    assert read_discoveries(output) == ONE


@pytest.mark.parametrize(
    "output",
    [
        "",
        "nothing was found",
        f"I write {LINE}",
        f"```\n{LINE}\n```",
        f"> {LINE}",
        f"<!-- {LINE} -->",
        f"<!--\n{LINE}\n-->",
        f"<!-- never closed\n\n{LINE}",
        f"Done <!--\n{LINE}\n-->",
        f"`{LINE}` is how to say it",
        f"`{LINE}",
        f"    {LINE}",
        f"> `{LINE}`",
        f"1. > {LINE}",
        "DISCOVERY[pattern] Retry twice",
        "DISCOVERY pattern: Retry twice",
        "DISCOVERY[pattern]:",
        "DISCOVERY[pattern]: \u200b",
        "DISCOVERY[]: Retry twice",
        "DISCOVERY\\[pattern\\]: Retry twice",
    ],
)
def test_anything_else_is_no_discovery(output: str) -> None:
    assert read_discoveries(output) == Discoveries()


def test_all_types_are_read_in_order() -> None:
    output = "\n".join(f"DISCOVERY[{kind}]: about a {kind}" for kind in DISCOVERY_TYPES)
    assert read_discoveries(output).discoveries == tuple((kind, f"about a {kind}") for kind in DISCOVERY_TYPES)


def test_a_discovery_in_a_nested_list_is_one_of_its_own() -> None:
    output = f"- {LINE}\n  with jitter\n    - DISCOVERY[constraint]: 10 MB at most\n\n    DISCOVERY[blocker]: shown"
    assert read_discoveries(output).discoveries == (
        ("pattern", "Retry twice with jitter"),
        ("constraint", "10 MB at most"),
    )


def test_a_continuation_belongs_to_its_own_discovery() -> None:
    output = "DISCOVERY[blocker]: one\n  more\nDISCOVERY[pattern]: two\n  and more"
    assert read_discoveries(output).discoveries == (("blocker", "one more"), ("pattern", "two and more"))


def test_code_inside_a_discovery_stays_code() -> None:
    output = "- `DISCOVERY[blocker]: Never run `make clean` here`\nDISCOVERY[pattern]: Wrap it in `retry`"
    assert [text for _, text in read_discoveries(output).discoveries] == [
        "Never run `make clean` here",
        "Wrap it in `retry`",
    ]


def test_unknown_types_are_named_once_and_their_text_is_taken() -> None:
    output = f"DISCOVERY[idea]: x\nDISCOVERY[Idea]: y\n  z\n{LINE}\nDISCOVERY[todo]: x"
    assert read_discoveries(output) == Discoveries(
        discoveries=(("decision", "x"), ("decision", "y z"), *ONE.discoveries), unknown_types=("idea", "todo")
    )


def test_our_own_instructions_hold_no_discovery() -> None:
    text = frame.task_instructions(outcome="o", task_title="t", description="", section="")
    assert "DISCOVERY[" in text
    assert read_discoveries(text) == Discoveries()


# Sorting


def of(content: str, kind: DiscoveryType = "blocker") -> Coia:
    return extract(kind, content, "Add webhooks", "Launch paid plans")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("It broke. Fix: mount the raw parser.", {"observation": "It broke.", "action": "mount the raw parser."}),
        ("It broke. Workaround: import late.", {"action": "import late."}),
        ("It broke. Mirror the packages first.", {"action": "Mirror the packages first."}),
        ("It broke. Right-click the volume.", {"action": "Right-click the volume."}),
        ("It broke. Given the load, nobody saw.", {"observation": "It broke. Given the load, nobody saw."}),
        ("It broke. Lost an hour there.", {"observation": "It broke. Lost an hour there."}),
        ("It broke. Use chunks instead.", {"observation": "It broke.", "action": "Use chunks instead."}),
        ("It broke. Never retry.", {"action": "Never retry."}),
        ("It broke. Always set max_retries.", {"action": "Always set max_retries."}),
        ("It broke. Next time, use a lock.", {"action": "Next time, use a lock."}),
        ("It broke. If it grows, try pgvector.", {"action": "If it grows, try pgvector."}),
        ("It broke. Clients must wait.", {"action": "Clients must wait."}),
        ("It broke. useCallback fixed it.", {"action": "useCallback fixed it."}),
        ("It broke. Lock files were left behind.", {"observation": "It broke. Lock files were left behind."}),
        ("It broke. Lock the files.", {"action": "Lock the files."}),
        ("The file is old, so builds break.", {"observation": "The file is old.", "implication": "builds break."}),
        ("Disks fill up. Therefore jobs stop.", {"implication": "Therefore jobs stop."}),
        ("Disks fill up. Impact: jobs stop.", {"implication": "jobs stop."}),
        (
            "It expires. Renew it, otherwise filings fail.",
            {"action": "Renew it.", "implication": "otherwise filings fail."},
        ),
        (
            "Data must stay in the EU.",
            {"action": "Data must stay in the EU."},
        ),
        ("Background: nightly job. It broke.", {"context": "nightly job.", "observation": "It broke."}),
        ("uv sync fails. Fix: pytest runs first.", {"observation": "uv sync fails.", "action": "pytest runs first."}),
        ("It is on, so that tests pass.", {"observation": "It is on, so that tests pass."}),
        ("Node 14 is no longer built. It broke.", {"observation": "Node 14 is no longer built. It broke."}),
        (
            "It broke e.g. on CI. Use `a. b` there.",
            {"observation": "It broke e.g. on CI.", "action": "Use `a. b` there."},
        ),
        ("缓存失效了。Use a lock。", {"observation": "缓存失效了。", "action": "Use a lock。"}),
        ("Lists with IN (...) broke.", {"observation": "Lists with IN (...) broke."}),
    ],
)
def test_clauses_are_sorted_by_their_cue_words(content: str, expected: dict[str, str]) -> None:
    found = of(content)
    assert {name: getattr(found, name) for name in expected} == expected
    assert set(expected) <= set(found.stated)


@pytest.mark.parametrize("kind", DISCOVERY_TYPES)
def test_what_the_text_does_not_say_is_marked_as_implied_and_not_called_stated(kind: DiscoveryType) -> None:
    found = of("Twilio limits trial accounts.", kind)
    assert found.stated == ("observation",)
    lines = [f"{name}: {getattr(found, name)}\n" for name in ("title", *COIA)]
    assert_golden(f"coia_{kind}.txt", "".join(lines))


def test_without_names_the_context_says_so() -> None:
    assert extract("pattern", "x works", "", " ").context == "Noted outside a named task"


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("The job was killed: it read 4 GB at once.", "The job was killed"),
        ("Note: it broke.", "Note: it broke"),
        ("Problem: the job was killed.", "the job was killed"),
        ("It broke! Twice.", "It broke"),
        ("部署前必须运行测试。请加入检查！", "部署前必须运行测试"),
        ("It broke because, as it was late, nobody looked.", "It broke because, as it was late, nobody looked"),
        ("The job " + "really " * 12 + "failed because the disk was full.", "The job " + "really " * 12 + "failed"),
    ],
)
def test_the_title_is_the_head_of_the_first_sentence(content: str, title: str) -> None:
    assert of(content).title == title


def test_a_long_title_is_cut_between_words() -> None:
    title = of("word " * 60).title
    assert re.fullmatch(r"(?:word ){18}word…", title)


def test_a_discovery_without_text_is_refused() -> None:
    with pytest.raises(BadInput, match="no text"):
        of(" \u200b ")


@pytest.mark.parametrize(
    "content",
    [
        "if aaa, " * 5000,
        "so " * 5000,
        "x. " * 50_000,
        "`" + "x. " * 50_000,
        "a; " * 50_000,
        "- " * 50_000,
        "x" * 300_000,
    ],
)
def test_a_huge_discovery_still_gives_fields_within_their_limits(content: str) -> None:
    learning_of(of(content))


@given(st.sampled_from(DISCOVERY_TYPES), st.text(min_size=1, max_size=300), st.text(max_size=20), st.text(max_size=20))
@example("pattern", "\U00012544.", "", "")  # nothing but a full stop and a character that no font has
def test_whatever_the_text_a_learning_can_be_made_of_it(
    kind: DiscoveryType, content: str, task: str, outcome: str
) -> None:
    if not says_nothing(frame.one_line(content)):
        learning_of(extract(kind, content, task, outcome))


def learning_of(found: Coia) -> NewLearning:
    assert 2 <= len(found.tags) <= 5
    fields = {name: getattr(found, name) for name in ("title", *COIA)}
    return NewLearning(**fields, tags=found.tags, domain=found.domain)


@given(st.sampled_from(DISCOVERY_TYPES), st.sampled_from(["Retry twice.", "Data must stay in the EU. It is the law."]))
def test_each_sentence_is_in_one_field_only(kind: DiscoveryType, content: str) -> None:
    found = of(content, kind)
    fields = [getattr(found, name) for name in COIA]
    for sentence in re.split(r"(?<=\.) ", content):
        assert sum(sentence in field for field in fields) == 1
    assert all(
        field.startswith(IMPLIED) == (name not in found.stated)
        for name, field in zip(COIA[1:], fields[1:], strict=True)
    )


def test_a_logged_answer_has_neither_discoveries_nor_verdicts() -> None:
    kept = "Done.\n\n```\nDISCOVERY[pattern]: shown\n```\n> LEARNING quoted\n"
    marked = "DISCOVERY[blocker]: It broke.\n  Use a lock.\n- LEARNING_HELPFUL: learn_000001\n"
    assert without_marks(kept + marked + "Bye.") == kept + "Bye."
    assert without_marks(kept) == kept


# Nothing invented


def written() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", written(), ids=lambda case: f"{case['type']}-{case['number']}")
def test_every_word_of_every_field_was_given(case: dict[str, Any]) -> None:
    found = extract(case["type"], case["content"], case["task"], case["outcome"])
    given_words = words(" ".join([case["content"], case["task"], case["outcome"], neutral_wording(case["type"])]))
    assert words(" ".join([found.title, *(getattr(found, name) for name in COIA)])) <= given_words


sentences = st.lists(
    st.sampled_from([sentence for case in written() for sentence in re.split(r"(?<=\.) ", case["content"])]),
    min_size=1,
    max_size=6,
).map(" ".join)


@given(st.sampled_from(DISCOVERY_TYPES), sentences)
def test_no_word_of_the_text_is_lost_and_none_is_added(kind: DiscoveryType, content: str) -> None:
    found = extract(kind, content, "", "")
    said = words(" ".join(getattr(found, name) for name in COIA))
    labels = {"fix", "workaround", "so"}
    assert words(content) - labels <= said
    assert said <= words(content) | words(neutral_wording(kind))


def neutral_wording(kind: DiscoveryType) -> str:
    """Every word that extraction may add of its own: the fields that neither a fact nor an advice states."""
    both = [extract(kind, said, "", "") for said in ("It broke.", "Never retry.")]
    neutral = [getattr(found, name) for found in both for name in COIA if name not in found.stated]
    return " ".join(["Working on", *neutral])


def words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w+", text)}


def test_advice_after_so_is_the_action_and_a_consequence_the_implication() -> None:
    advised = extract("constraint", "Webhooks arrive out of order, so compare the created times first.", "", "")
    assert (advised.action, advised.stated) == ("compare the created times first.", ("observation", "action"))
    followed = extract("constraint", "Messages hold 256 KB, so larger payloads go to the object store.", "", "")
    assert followed.implication == "larger payloads go to the object store."


@pytest.mark.parametrize(
    ("said", "action"),
    [
        ("On this laptop docker needs sudo, so call sudo docker in scripts.", "call sudo docker in scripts."),
        ("Deploys fail when redis is cold; run make warm-cache before one.", "run make warm-cache before one."),
        ("pytest hangs under xdist with the fake clock: use -p no:xdist.", "use -p no:xdist."),
    ],
)
def test_a_command_that_a_discovery_ends_with_is_its_action(said: str, action: str) -> None:
    assert extract("pattern", said, "", "").action == action
