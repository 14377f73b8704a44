"""The judge as it ships: its weights, its answers on writers that training did not see, and what it costs."""

import json
import time
from pathlib import Path

import pytest
from benchmarks.detectors import claims_in
from training.judge_pairs import HELD_OUT

from made import decision, finding
from recollect import Memory
from recollect.distil.theme_plan import theme_lines
from recollect.distil.wisdom import principles_of
from recollect.models.embed import default_files, judge_files, judge_pairs
from recollect.text.claims import claims
from recollect.text.compare import compare

pytestmark = pytest.mark.skipif(default_files() is None, reason="needs the embeddings extra")
DATA = Path(__file__).parents[3] / "training" / "data" / "judge"
SHIPPED = 25_000_000  # bytes of the weights, at most
CPU_SECONDS = 0.040  # for a pair in both orders, at most


def held_out() -> list[dict[str, str]]:
    rows = [json.loads(line) for file in sorted(DATA.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()]
    return [row for row in rows if row["writer"] in HELD_OUT]


def test_the_weights_are_in_the_package_and_small() -> None:
    files = judge_files()
    assert files is not None
    assert files.weights.stat().st_size <= SHIPPED


def test_an_answer_does_not_depend_on_which_text_comes_first() -> None:
    one, other = "Squash before merging.", "A branch lands as a single change."
    assert judge_pairs([(one, other)]) == judge_pairs([(other, one)])
    assert sum(judge_pairs([(one, other)])[0][:4]) == pytest.approx(1)


def test_no_reversal_of_700_is_ever_merged() -> None:
    reversals = [(row["a"], row[label]) for row in held_out() for label in ("opposite", "newer")]
    assert len(reversals) >= 700
    merged = [
        pair for pair in reversals if compare(claims_in(pair[1]), claims_in(pair[0]), judge_pairs).repeats
    ]  # fmt: skip
    assert merged == []


@pytest.mark.parametrize(
    ("new", "known"),
    [
        ("Estimates are given in days since we abolished story points.", "Reviewers answer within one working day."),
        ("Design tokens have been handed to Luca's team.", "Session tokens expire after 12 hours."),
        ("The Lisbon team has no budget for contractors this year.", "Contractors lost their access in 2024."),
        ("We moved the secrets to a 90-day rotation in February.", "Pull requests from forks run without secrets."),
        ("The camera firmware 2.4 has a memory leak in the RTSP server.", "We moved to SQLite in memory last year."),
    ],
)
def test_news_about_another_subject_replaces_nothing(new: str, known: str) -> None:
    found = compare((new,), (known,), judge_pairs)
    assert not (found.conflicts and found.sure)


def test_free_repetitions_and_conflicts_are_recognised_where_rules_find_none() -> None:
    rows = held_out()[::4]
    found = {
        (label, way): sum(
            compare(claims_in(row[label]), claims_in(row["a"]), judge).kind != "near" for row in rows
        )
        for label in ("same", "opposite", "newer", "near")
        for way, judge in (("rules", None), ("judge", judge_pairs))
    }  # fmt: skip
    assert found["same", "judge"] > 0.45 * len(rows) > 10 * found["same", "rules"]
    assert found["newer", "judge"] > 0.5 * len(rows)
    assert found["near", "judge"] < 0.35 * len(rows)


def test_what_each_author_saw_neither_hides_a_repetition_nor_makes_it_a_conflict(tmp_path: Path) -> None:
    lines = (Path(__file__).parents[2] / "data" / "observed.jsonl").read_text("utf-8").splitlines()
    pairs = [pair for pair in map(json.loads, lines) if pair["label"] == "same"]
    with Memory.open(tmp_path, create=True, environ={"HOME": str(tmp_path)}) as memory:
        asked = merged = 0
        for pair in pairs:
            _, second = [
                memory.learn(
                    title=pair[f"{side}_title"],
                    context="Notes",
                    observation=pair[f"{side}_seen"],
                    implication="Notes",
                    action=pair[side],
                    anyway=True,
                )
                for side in ("a", "b")
            ]
            asked, merged = asked + bool(second.asked), merged + second.merged
    assert len(pairs) == 28
    assert asked <= 4, "10 were called a conflict while observations were compared"
    assert merged >= 3


def test_a_title_that_tells_all_is_not_read_twice_and_so_questions_no_other_subject(tmp_path: Path) -> None:
    said = (
        "Production has no SSH access at all since the audit.",
        "SSH keys of leavers are removed on their last day.",
    )
    with Memory.open(tmp_path, create=True, environ={"HOME": str(tmp_path)}) as memory:
        for rule in said:
            fields = {"title": rule, "observation": rule, "action": rule}
            found = memory.learn(context="Notes", implication="Notes", **fields, anyway=True)
    assert found.asked == ()


def test_an_unrelated_bullet_beside_a_rule_hides_no_conflict() -> None:
    lines = (Path(__file__).parents[2] / "data" / "blind9.jsonl").read_text("utf-8").splitlines()
    pairs = [each for each in map(json.loads, lines) if each["form"] == "free" and each["label"] == "opposite"]
    found = beside = 0
    for pair, other in zip(pairs, [*pairs[4:], *pairs[:4]], strict=True):
        found += compare(claims("", pair["b"]), claims("", pair["a"]), judge_pairs).conflicts
        listed = claims("", f"- {other['a']}\n- {pair['a']}")
        beside += compare(claims("", pair["b"]), listed, judge_pairs).conflicts
    assert beside >= found - 1 > 5


def test_a_reversal_that_only_the_judge_finds_confirms_no_principle_and_shares_no_line_of_a_theme() -> None:
    said = "Shard the queue by customer from the start"
    reversal = "Sharding the queue by customer from the start was a mistake"
    old = [decision(f"dec_{n}", pattern=text) for n, text in enumerate([said, said, reversal])]
    found = [finding(f"wu-{n}", 1, text) for n, text in enumerate([said, said, reversal])]
    assert [each.ids for each in principles_of(old)] == [("dec_0", "dec_1", "dec_2")]
    assert [each.ids for each in principles_of(old, judge_pairs)] == [("dec_0", "dec_1")]
    assert [len(line.work_ids) for line in theme_lines(found, judge_pairs)] == [2, 1]


def test_a_pair_costs_little() -> None:
    rows = held_out()[:30]
    judge_pairs([("warm", "up")])
    began = time.process_time()
    judge_pairs([(row["a"], f"{row['near']} ") for row in rows])
    assert (time.process_time() - began) / len(rows) <= CPU_SECONDS
