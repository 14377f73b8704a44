"""How well the relevance floor of injection tells what belongs to a task from what does not.

    python -m benchmarks.relevance DIR OTHER… [--floor 0.2]

DIR holds `corpus.jsonl.gz` (notes: id, who = title, text) and `queries.jsonl` (query, gold); its notes are stored as
passages and asked for by its own queries. The queries of OTHER folders are about something else: whatever they would
be shown is wrong. A task is longer than a question, so each is also asked with unrelated text around it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import tempfile
from pathlib import Path

from recollect import Memory
from recollect.core.settings import InjectSettings
from recollect.core.values import Passage
from recollect.search.query import ask
from recollect.search.rank import best
from recollect.store import passages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("other", type=Path, nargs="+")
    parser.add_argument("--floor", type=float, default=InjectSettings().relevance)
    given = parser.parse_args()
    chance = random.Random(1)
    asked = [json.loads(line) for line in (given.folder / "queries.jsonl").open()]
    strange = [json.loads(line)["query"] for other in given.other for line in (other / "queries.jsonl").open()]
    with tempfile.TemporaryDirectory() as folder, Memory.open(folder, create=True) as memory:
        _load(memory, given.folder)
        right = {"question": 0, "question in unrelated text": 0}
        wrong = {"other question": 0, "other text": 0}
        for query in asked:
            noise = " ".join(chance.sample(strange, 3))
            right["question"] += _shown(memory, query["query"], given.floor, set(query["gold"]))
            right["question in unrelated text"] += _shown(
                memory, f"{query['query']} {noise}", given.floor, set(query["gold"])
            )
            wrong["other question"] += _shown(memory, chance.choice(strange), given.floor, None)
            wrong["other text"] += _shown(memory, f"{chance.choice(strange)} {noise}", given.floor, None)
    for name, count in right.items():
        print(f"{name:<28} shown the right note  {count / len(asked):.1%}")
    for name, count in wrong.items():
        print(f"{name:<28} shown anything        {count / len(asked):.1%}")


def _load(memory: Memory, folder: Path) -> None:
    with memory.context.db.write(memory.context.space) as tx, gzip.open(folder / "corpus.jsonl.gz", "rt") as lines:
        for line in lines:
            note = json.loads(line)
            passages.put(
                tx,
                Passage(id=note["id"], kind="note", title=note["who"], lines=(note["text"],), at=0, trust="agent"),
            )


def _shown(memory: Memory, text: str, floor: float, gold: set[str] | None) -> bool:
    """Whether one of the five best above the floor is a right one (any, when nothing would be right)."""
    with memory.context.db.read(memory.context.space) as tx:
        hits = best(tx, ask(tx, text, respell=False), limit=5)
    return any(hit.relevance >= floor and (gold is None or hit.passage.id in gold) for hit in hits)


if __name__ == "__main__":
    main()
