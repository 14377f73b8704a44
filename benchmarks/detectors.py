"""How well two texts are compared: python -m benchmarks.detectors FILE [--split NAME] [--beside] [--end-to-end]

FILE holds a JSON object a line: {"a": …, "b": …, "label": …, "form": …}. For `--end-to-end` there may be what each
author saw ("a_seen", "b_seen") and the titles they gave ("a_title", "b_title"). `same` and `redundant` are repetitions;
`opposite`, `newer` and `contradiction` are conflicts; every other label only provides pairs that must not be found.
For rules alone, the judge alone and both: average precision and the recall where nine of ten finds are right, by form;
then precision and recall of what is acted on without asking, and of what is put before a person. With `--beside` each
text is a list of two: its own rule, and one of another pair. `--end-to-end` learns every `a` in one memory, then every
`b`, and counts what became of it.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import groupby, product
from pathlib import Path
from typing import Any

from recollect import Memory, NewLearning
from recollect.core.context import Actor
from recollect.models.embed import judge_files, judge_pairs
from recollect.text.claims import claims
from recollect.text.compare import Comparison, Judge, compare, signs, weighed

KINDS = {"same": "same", "redundant": "same", "opposite": "conflict", "newer": "conflict", "contradiction": "conflict"}
Pair = dict[str, Any]


def claims_in(text: str) -> tuple[str, ...]:
    """The claims of a line, or of an entry that begins with a heading."""
    heading, _, body = text.partition("\n")
    return claims(heading.strip("# "), body) if heading.startswith("#") and body else (text,)


def kind_of(found: Comparison) -> str:
    return "conflict" if found.conflicts else found.kind


def chances(pair: Pair, judge: Judge | None, *, rules: bool) -> dict[str, float]:
    """How likely a pair is a repetition and a conflict: by the rules, by the judge, or by both weighed together."""
    met: dict[str, list[dict[str, float]]] = {}
    for one, other in product(claims_in(pair["b"]), claims_in(pair["a"])):
        ruled = compare((one,), (other,))
        if judge is None:
            found = {
                name: float(kind_of(ruled) == name) * (1.0 if ruled.sure else 0.5) for name in ("same", "conflict")
            }
        else:
            given = judge([(one, other)])[0]
            by_judge = (given[0], given[1] + given[2], 0.0)
            same, conflict, _ = weighed(signs((one, other), given, ruled)) if rules else by_judge
            found = {"same": 1.0 if rules and ruled.repeats else same, "conflict": conflict}
        met.setdefault(one, []).append(found)
    return {  # a text repeats another if each of its claims does, and conflicts with it if one does
        "same": min(max(each["same"] for each in found) for found in met.values()),
        "conflict": max(each["conflict"] for found in met.values() for each in found),
    }


def with_another_beside(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs as lists: below each text stands one of a pair that is half the file away."""

    def as_list(text: str, other: str) -> str:
        heading, below, body = text.partition("\n")
        added = " ".join((other.partition("\n")[2] or other).split())
        return f"{heading if below else '## Rules'}\n- {' '.join((body or text).split())}\n- {added}"

    away = len(pairs) // 2
    others = [*pairs[away:], *pairs[:away]]
    return [
        {**pair, "a": as_list(pair["a"], other["a"]), "b": as_list(pair["b"], others[at - 1]["b"])}
        for at, (pair, other) in enumerate(zip(pairs, others, strict=True))
    ]


def average_precision(given: Sequence[float], truth: Sequence[bool]) -> tuple[float, float]:
    """Average precision, ties taken together, and the recall at the last place where nine of ten are right."""
    hits = place = 0
    total = recall = 0.0
    for _, tied in groupby(sorted(zip(given, truth, strict=True), key=lambda each: -each[0]), key=lambda each: each[0]):
        found = [true for _, true in tied]
        hits, place = hits + sum(found), place + len(found)
        total += sum(found) * hits / place
        recall = hits / sum(truth) if hits >= 0.9 * place else recall
    return total / max(1, sum(truth)), recall


def precision_and_recall(wanted: Sequence[str], found: Sequence[str], name: str) -> str:
    hits = sum(one == other == name for one, other in zip(wanted, found, strict=True))
    return f"{hits / max(1, found.count(name)):.2f} / {hits / max(1, wanted.count(name)):.2f}"


def report(pairs: Sequence[Pair], show: Callable[[str], object], *, misses: bool) -> None:
    judge = judge_pairs if judge_files() else None
    forms = {"all", *(pair.get("form", "all") for pair in pairs)}
    for form in sorted(forms):
        chosen = [pair for pair in pairs if form in ("all", pair.get("form"))]
        wanted = [KINDS.get(pair["label"], "near") for pair in chosen]
        show(f"{form}: {len(chosen)} pairs, {wanted.count('same')} same, {wanted.count('conflict')} conflict")
        for way, by, rules in (("rules", None, True), ("judge", judge, False), ("both", judge, True)):
            if by is None and way != "rules":
                continue
            found = [compare(claims_in(pair["b"]), claims_in(pair["a"]), by) for pair in chosen]
            likely = [chances(pair, by, rules=rules) for pair in chosen]
            told = []
            for name in ("same", "conflict"):
                ap, recall = average_precision([each[name] for each in likely], [kind == name for kind in wanted])
                told.append(f"{name} AP {ap:.3f} R@P.90 {recall:.2f}")
                if way != "judge":
                    acted = [kind_of(each) if each.sure else "near" for each in found]
                    asked = [kind_of(each) for each in found]
                    told.append(f"acted {precision_and_recall(wanted, acted, name)}")
                    told.append(f"asked {precision_and_recall(wanted, asked, name)}")
            show(f"  {way:6} {'  '.join(told)}")
            for pair, kind, each in zip(chosen, wanted, found, strict=True):
                if misses and way == "both" and each.sure and kind_of(each) != kind:
                    show(f"    {pair['label']} taken for {each.kind} ({each.reason}): {pair['a']!r} | {pair['b']!r}")


def end_to_end(pairs: Sequence[Pair], show: Callable[[str], object]) -> None:
    """What becomes of each `b` in a memory that holds every `a`."""

    def new(pair: Pair, side: str) -> NewLearning:
        heading, _, body = pair[side].partition("\n")
        said = " ".join(body.split()) or pair[side]
        return NewLearning(
            title=pair.get(f"{side}_title") or heading.strip("# ")[:100].rstrip(),
            context="Notes",
            observation=pair.get(f"{side}_seen") or said,
            implication="Notes",
            action=said,
        )

    person = Actor(name="ada", channel="cli", trust="human")
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(folder, create=True, actor=person, environ={"HOME": folder}) as memory,
    ):
        ids = [memory.learn(new(pair, "a"), anyway=True).learning.id for pair in pairs]
        memory.cycle()
        replaced = sum(memory.learnings.get(id).status == "superseded" for id in ids)
        show(f"texts of other pairs: {replaced} of {len(ids)} replaced, {len(memory.inbox.waiting())} questions")
        for form in sorted({pair.get("form", "all") for pair in pairs}):
            wanted, acted, asked, astray = [], [], [], 0
            for pair, id in zip(pairs, ids, strict=True):
                if pair.get("form", "all") != form:
                    continue
                done = memory.learn(new(pair, "b"), anyway=True)
                raised = [
                    item for item in memory.inbox.waiting() if (item.subject, item.other) == (done.learning.id, id)
                ]
                gone = memory.learnings.get(id).superseded_by == done.learning.id
                wanted.append(KINDS.get(pair["label"], "near"))
                merged = done.merged and done.learning.id == id
                astray += done.merged and not merged
                doubt = ("same" if "same" in raised[0].reason else "conflict") if raised else "near"
                certain = bool(raised) and "may" not in raised[0].reason
                acted.append("same" if merged else "conflict" if gone or certain else "near")
                asked.append("same" if merged else "conflict" if gone else doubt)
                for item in raised:
                    memory.inbox.resolve(item.number, "dismiss")
                if not done.merged:
                    memory.learnings.archive(done.learning.id)
            for name in ("same", "conflict"):
                show(
                    f"{form} {name}: acted {precision_and_recall(wanted, acted, name)}"
                    f"  asked {precision_and_recall(wanted, asked, name)}  merged elsewhere {astray}"
                )


def main(arguments: Sequence[str], show: Callable[[str], object] = print) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("file", type=Path)
    parser.add_argument("--split")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--beside", action="store_true")
    parser.add_argument("--end-to-end", action="store_true")
    given = parser.parse_args(arguments)
    pairs = [json.loads(line) for line in given.file.read_text("utf-8").splitlines() if line.strip()]
    pairs = [pair for pair in pairs if given.split in (None, pair.get("split"))]
    pairs = with_another_beside(pairs) if given.beside else pairs
    if given.end_to_end:
        end_to_end(pairs, show)
    else:
        report(pairs, show, misses=given.misses)


if __name__ == "__main__":
    main(sys.argv[1:])
