"""Checks of rows: whether their contents read, and whether derived rows follow from what they are derived from.

A flipped bit leaves a row that the engine finds sound and no reader understands; `unreadable` finds those. The other
functions hold passages, term counts, the word index, counters and references against the rows they come from: each
gives its differences as (id, what is wrong), and the function that repairs stands beside it. Counts for `status` are at
the end. Knows nothing about who owns a passage: the owners' passages are passed in. Files are `sqlite_check`'s.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Any, NamedTuple

from recollect.core.context import Tx
from recollect.core.errors import BadInput
from recollect.core.values import Passage
from recollect.store import decisions, passages
from recollect.store.db import every, graded
from recollect.store.schema import DERIVED, TABLES

Difference = tuple[str, str]

_WITH_SUBJECT = ("events", "escalations")  # rows about something, which a message names instead of their number


class Unreadable(NamedTuple):
    """A row that does not read: its table, what it is about, and what is wrong."""

    table: str
    subject: str
    detail: str

    @property
    def derived(self) -> bool:
        return self.table in DERIVED


def unreadable(tx: Tx) -> Iterator[Unreadable]:
    """Rows of this space with a column whose content cannot be read in its shape."""
    for table in TABLES:
        shapes = {column: shape for column, shape in table.shapes.items() if shape != "json"}
        if not shapes:
            continue
        named = (*table.reading_order, *(["subject"] if table.name in _WITH_SUBJECT else []))
        for row in every(tx, table.name, ", ".join((*named, *shapes)), key=len(table.reading_order)):
            values = zip(shapes.items(), row[len(named) :], strict=True)
            broken = next((column for (column, shape), text in values if not _reads(shape, text)), None)
            if broken is not None:
                subject = row[len(named) - 1] if table.name in _WITH_SUBJECT else " ".join(map(str, row[: len(named)]))
                what = f"event {row[0]}" if table.name == "events" else f"{table.name}.{broken}"
                yield Unreadable(table.name, str(subject), f"{what} does not read back")
    yield from _unreadable_decisions(tx)


def _unreadable_decisions(tx: Tx) -> Iterator[Unreadable]:
    """Decisions are read as records that check themselves; the shapes of their columns say too little."""
    for (id,) in every(tx, "decisions", "id"):
        try:
            for found in decisions.many(tx, [id]):
                decisions.passage_of(found)
        except (ArithmeticError, AttributeError, BadInput, LookupError, TypeError, ValueError, RecursionError):
            yield Unreadable("decisions", id, "the decision does not read back")


def drop_unreadable(tx: Tx) -> int:
    """Delete unreadable rows of derived tables, so that they can be made again; how many there were."""
    found = [each for each in unreadable(tx) if each.derived]
    for table in TABLES:
        wanted = [{table.key[0]: each.subject} for each in found if each.table == table.name]
        if wanted:
            tx.run_many(f"DELETE FROM {table.name} WHERE space = :space AND {table.key[0]} = :{table.key[0]}", wanted)
    return len(found)


def _reads(shape: str, text: Any) -> bool:
    try:
        if shape == "day":
            return bool(date.fromisoformat(text))
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return False
    if shape == "object":
        return isinstance(value, dict)
    if not isinstance(value, list):
        return False
    if shape == "names":
        return all(isinstance(name, str) for name in value)
    return all(isinstance(pair, list) and len(pair) == 2 for pair in value)


def damaged_passages(tx: Tx) -> Iterator[Difference]:
    """Passages whose own columns no longer add up to their hash and terms."""
    for stored, digest in passages.all_of(tx):
        if not passages.adds_up(stored, digest):
            yield stored.id, "its passage is not what was written"


def passage_ids(tx: Tx) -> dict[str, set[str]]:
    """The ids of all passages by kind."""
    found: dict[str, set[str]] = {}
    for id, kind in every(tx, "passages", "id, kind"):
        found.setdefault(kind, set()).add(id)
    return found


def stale_passages(tx: Tx, expected: Iterable[Passage]) -> Iterator[Difference]:
    """Passages that are missing or not what their owner would write now."""
    for passage in expected:
        kept = tx.value("SELECT hash FROM passages WHERE space = :space AND id = :id", id=passage.id)
        if kept is None:
            yield passage.id, "it has no passage, so search cannot find it"
        elif kept != passages.digest_of(passage, passages.lines_of(passage)):
            yield passage.id, "its passage shows something else than it says"


def wrong_counts(tx: Tx) -> Iterator[Difference]:
    """Terms whose number of passages is not the number of passages that hold them."""
    true = _true_counts(tx)
    kept: dict[str, int] = dict(every(tx, "terms", "term, docs"))
    for term in sorted(true.keys() | kept.keys()):
        if true[term] != kept.get(term, 0):
            yield term, f"counted in {kept.get(term, 0)} passages, is in {true[term]}"


def recount(tx: Tx) -> int:
    """Write the true counts; how many were wrong."""
    wrong = list(wrong_counts(tx))
    true = _true_counts(tx)
    tx.run_many("DELETE FROM terms WHERE space = :space AND term = :term", ({"term": term} for term, _ in wrong))
    tx.run_many(
        "INSERT INTO terms (space, term, docs) VALUES (:space, :term, :docs)",
        ({"term": term, "docs": true[term]} for term, _ in wrong if true[term]),
    )
    return len(wrong)


def wrong_index(tx: Tx) -> Iterator[Difference]:
    """Terms under which the word index gives other passages than those that hold them."""
    holders: dict[str, tuple[array[int], array[int]]] = {}
    for doc, stream in every(tx, "passages", "doc, terms"):
        for grade, terms in enumerate(graded(stream)):
            for term in terms:
                holders.setdefault(term, (array("q"), array("q")))[grade].append(doc)
    for term in sorted(holders):
        (found,) = tx.match([term])
        if [list(docs) for docs in found] != [docs.tolist() for docs in holders[term]]:
            yield term, f"the index finds it in {_both(found)} passages, it is in {_both(holders[term])}"


def wrong_counters(tx: Tx) -> Iterator[tuple[str, dict[str, tuple[int | None, int | None]]]]:
    """Learnings whose counters are not what the injections and sources say: name → (kept, true)."""
    true = _true_counters(tx)
    nothing = (0, 0, 0, None, 0)
    names = ("times_injected", "times_helpful", "times_not_helpful", "last_injected_at", "recurrence")
    for id, *kept in every(tx, "learnings", f"id, {', '.join(names)}"):
        *events, sources = true.get(id, nothing)
        pairs = dict(zip(names, zip(kept, (*events, max(1, sources or 0)), strict=True), strict=True))
        wrong = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
        if wrong:
            yield id, wrong


def set_counters(tx: Tx, id: str, values: dict[str, int | None]) -> None:
    tx.run(
        f"UPDATE learnings SET {', '.join(f'{name} = :{name}' for name in values)} WHERE space = :space AND id = :id",
        id=id,
        **values,
    )


def dangling(tx: Tx) -> Iterator[Difference]:
    """References to rows that are not there."""
    for table, column, target in references():
        for (missing,) in tx.rows(
            f"SELECT DISTINCT {column} FROM {table} WHERE space = :space AND {column} IS NOT NULL AND NOT EXISTS "
            f"(SELECT 1 FROM {target} there WHERE there.space = :space AND there.id = {table}.{column}) ORDER BY 1"
        ):
            yield missing, f"{table}.{column} names it, but it is not in {target}"


def references() -> Iterator[tuple[str, str, str]]:
    """Every column that names a row of another table: table, column, that table."""
    return ((table.name, column, target) for table in TABLES for column, target in table.refers.items())


def _both(held: tuple[Sequence[int], Sequence[int]]) -> str:
    return f"{len(held[0]) + len(held[1])} ({len(held[0])} make much of it)"


def _true_counts(tx: Tx) -> Counter[str]:
    counts: Counter[str] = Counter()
    for _, terms in every(tx, "passages", "doc, terms"):
        counts.update(set(terms.split()))
        counts[passages.EVERY] += 1
    return counts


def _true_counters(tx: Tx) -> dict[str, tuple[int | None, ...]]:
    """By learning: injections, helpful, not helpful, the last injection, sources."""
    shown = {
        id: tuple(rest)
        for id, *rest in tx.rows(
            """
            SELECT learning_id, count(*), count(CASE WHEN feedback = 'helpful' THEN 1 END),
              count(CASE WHEN feedback = 'not_helpful' THEN 1 END), max(injected_at)
            FROM injections WHERE space = :space GROUP BY learning_id"""
        )
    }
    sources: dict[str, int] = dict(
        tx.rows("SELECT learning_id, count(*) FROM learning_sources WHERE space = :space GROUP BY learning_id")
    )
    return {id: (*shown.get(id, (0, 0, 0, None)), int(sources.get(id, 0))) for id in shown.keys() | sources.keys()}


# How much of everything there is


def learnings_by_status(tx: Tx) -> dict[str, int]:
    rows = tx.rows("SELECT status, count(*) FROM learnings WHERE space = :space GROUP BY status ORDER BY status")
    return {"active": 0, "archived": 0, "superseded": 0, **dict(rows)}


def count_injections(tx: Tx) -> int:
    return int(tx.value("SELECT count(*) FROM injections WHERE space = :space"))


def count_verdicts(tx: Tx) -> dict[str, int]:
    rows = tx.rows(
        "SELECT feedback, count(*) FROM injections WHERE space = :space AND feedback IS NOT NULL "
        "GROUP BY feedback ORDER BY feedback"
    )
    return {"helpful": 0, "not_helpful": 0, **dict(rows)}


def count_discoveries(tx: Tx) -> int:
    return int(tx.value("SELECT count(*) FROM discoveries WHERE space = :space"))


def count_passages(tx: Tx) -> int:
    return int(tx.value("SELECT count(*) FROM passages WHERE space = :space"))
