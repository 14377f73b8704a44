"""How much of a memory survives in its summaries.

    python benchmarks/summaries.py DIR [--shrink N]

DIR holds `corpus.jsonl.gz`, {store, id, session, who, date, text}, and `queries.jsonl`, {store, query, gold_sessions}.
Each store becomes a project: one log per session date, one entry per session, topics made from the text. The tree is
built, and every query is searched for among the nodes of one level. Reported is the share of a query's gold session
dates that are named in the top 3 nodes found, averaged over queries; for ROOT.md and its overflow, in the 3 lines that
fit best. `--shrink N` divides the thresholds by N, so that short histories are summarised as long ones would be.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from statistics import mean

from recollect import Memory, ScriptedClock
from recollect.core.calendar import LEVELS
from recollect.core.journal import NewEntry
from recollect.search.query import ask
from recollect.text import entries, nodes
from recollect.text.tokens import terms

TOP = 3
THRESHOLDS = {"DAILY": 200, "WEEKLY": 300, "MONTHLY": 500}
_FORMS = ((r"\d{1,2} \w+,? \d{4}", ("%d %B, %Y", "%d %B %Y")), (r"\d{4}[/-]\d{2}[/-]\d{2}", ("%Y/%m/%d", "%Y-%m-%d")))


@dataclass
class Store:
    """One memory: what was said in each session, when, and what is asked."""

    turns: dict[str, list[str]]
    days: dict[str, date]
    queries: list[tuple[str, set[date]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shrink", type=int, default=1)
    options = parser.parse_args()
    found: dict[str, list[float]] = defaultdict(list)
    made: dict[str, int] = defaultdict(int)
    for store in _stores(options.folder):
        for level, shares in _measured(store, options.shrink, made).items():
            found[level] += shares
    print(f"{options.folder.name}: {len(found['daily'])} queries, thresholds / {options.shrink}")
    print("nodes: " + ", ".join(f"{count} {name}" for name, count in sorted(made.items())))
    for level, shares in found.items():
        print(f"{level:<8} {100 * mean(shares):5.1f} % of gold session dates named in the top {TOP}")


def _stores(folder: Path) -> Iterator[Store]:
    stores: dict[str, Store] = defaultdict(lambda: Store({}, {}, []))
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            day = _day(line["date"])
            if day:
                store = stores[line["store"]]
                store.turns.setdefault(line["session"], []).append(f"{line['who']}: {line['text']}")
                store.days[line["session"]] = day
    for line in map(json.loads, (folder / "queries.jsonl").open(encoding="utf-8")):
        store = stores[line["store"]]
        gold = {store.days[session] for session in line["gold_sessions"] if session in store.days}
        if gold:
            store.queries.append((line["query"], gold))
    return iter(stores.values())


def _measured(store: Store, shrink: int, made: dict[str, int]) -> Mapping[str, list[float]]:
    last = max(store.days.values())
    environ = {f"RECOLLECT_TREE_{level}_LINES": str(lines // shrink) for level, lines in THRESHOLDS.items()}
    with tempfile.TemporaryDirectory() as folder:
        clock = ScriptedClock(f"{last.isoformat()}T20:00:00Z")
        memory = Memory.open(folder, create=True, clock=clock, environ={"HOME": folder, **environ})
        logs: dict[date, str] = defaultdict(str)
        for session, turns in store.turns.items():
            text = "\n".join(turns)
            logs[store.days[session]] += entries.render(NewEntry(text=text, session=session))
        for day, log in logs.items():
            memory.context.vault.append(f"{day}.md", log)
        memory.journal.compact()
        with memory:
            return _asked(memory, store, made)


def _asked(memory: Memory, store: Store, made: dict[str, int]) -> Mapping[str, list[float]]:
    vault = memory.context.vault
    files = {path.removesuffix(".md"): vault.read(path) or "" for path in vault.paths() if "/" in path}
    for id, text in files.items():
        made[f"{id.partition('/')[0]} {nodes.parse(id, text).generator}"] += 1
    pages = (vault.read(path) or "" for path in ("ROOT.md", "ROOT.overflow.md"))
    root = [line for page in pages for line in page.split("\n") if line.startswith("- ")]
    shares: dict[str, list[float]] = {level: [] for level in (*LEVELS, "root")}
    for question, gold in store.queries:
        with memory.context.db.read(memory.context.space) as tx:
            query = ask(tx, question)
        found = [hit.id for hit in memory.search(question, kinds=("node",), limit=len(files))]
        for level in LEVELS:
            best_nodes = [id for id in found if id.startswith(level)][:TOP]
            shares[level].append(_share(gold, "".join(files[id] for id in best_nodes)))
        best = sorted(root, key=lambda line: -sum(query.weights.get(term, 0.0) for term in set(terms(line))))
        shares["root"].append(_share(gold, "".join(best[:TOP])))
    return shares


def _share(gold: set[date], text: str) -> float:
    return mean(day.isoformat() in text for day in gold)


def _day(text: str) -> date | None:
    for pattern, formats in _FORMS:
        if found := re.search(pattern, text):
            for form in formats:
                try:
                    return datetime.strptime(found[0], form).date()
                except ValueError:
                    continue
    return None


if __name__ == "__main__":
    main()
