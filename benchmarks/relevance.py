"""How precise injection is: silent where nothing fits, right where it speaks.

    python -m benchmarks.relevance DIR OTHER… [--floor 0.3 …] [--prompts 500]

DIR holds `corpus.jsonl.gz` and `queries.jsonl`, as `benchmarks/retrieval.py` reads them; its texts are stored as log
entries and its queries are the prompts. The queries of OTHER folders have nothing to do with the store: whatever they
would be shown is wrong. At most three items, of those whose probability reaches the floor, as a prompt's hook chooses.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.retrieval import in_order, stores
from recollect import Memory
from recollect.core.records import Passage
from recollect.core.settings import InjectSettings
from recollect.inject.learnings import task_question
from recollect.search.rank import best
from recollect.store import passages

MOST = InjectSettings().entries


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("other", type=Path, nargs="+")
    parser.add_argument("--floor", type=float, nargs="+", default=[InjectSettings().relevance])
    parser.add_argument("--prompts", type=int, default=500)
    given = parser.parse_args()
    strange = [question["query"] for other in given.other for _, some in stores(other) for question in some]
    random.Random(1).shuffle(strange)
    shown: dict[str, list[list[tuple[float, bool]]]] = defaultdict(list)
    folders = [(texts, questions) for texts, questions in stores(given.folder) if questions]
    for number, (texts, questions) in enumerate(folders):
        with tempfile.TemporaryDirectory() as place, Memory.open(place, create=True, environ={"HOME": place}) as memory:
            load(memory, texts)
            session = {text["id"]: text["session"] for text in texts}
            for question in questions:
                gold = set(question["gold_sessions"])
                shown[str(question["category"])].append(_hits(memory, question["query"], session, gold))
            for prompt in strange[: given.prompts][number :: len(folders)]:
                shown["off topic"].append(_hits(memory, prompt, session, set()))
    shown["all"] = [hits for name, some in shown.items() if name != "off topic" for hits in some]
    print(f"{'floor':<6} {'prompts':<24} {'count':>6} {'spoke':>7} {'right of those':>15} {'gold shown':>11}")
    for floor in given.floor:
        for name, some in sorted(shown.items()):
            spoke = [kept for hits in some if (kept := [right for share, right in hits if share >= floor])]
            right = sum(any(kept) for kept in spoke)
            of_those = f"{right / len(spoke):15.1%}" if spoke and name != "off topic" else f"{'–':>15}"
            shares = f"{len(spoke) / len(some):7.1%} {of_those} {right / len(some):11.1%}"
            print(f"{floor:<6} {name:<24} {len(some):>6} {shares}")


def load(memory: Memory, texts: Sequence[dict[str, Any]]) -> None:
    """The texts as passages of a log, each in the thread of its session."""
    position: dict[str, int] = defaultdict(int)
    made = []
    for moment, text in in_order(texts):
        position[text["session"]] += 1
        made.append(
            Passage(
                id=text["id"],
                kind="log",
                title=text["who"] or "",
                lines=tuple(text["text"].split("\n")),
                at=moment,
                trust="agent",
                thread=f"log/day/{text['session']}",
                position=position[text["session"]],
            )
        )
    with memory.context.db.write(memory.context.space) as tx:
        passages.add_all(tx, made)


def _hits(memory: Memory, text: str, session: dict[str, str], gold: set[str]) -> list[tuple[float, bool]]:
    """The first hits: the probability of each, and whether it is of a gold session."""
    with memory.context.db.read(memory.context.space) as tx:
        hits = best(tx, task_question(tx, text), limit=MOST)
    return [(hit.relevance, session[hit.passage.id] in gold) for hit in hits]


if __name__ == "__main__":
    main()
