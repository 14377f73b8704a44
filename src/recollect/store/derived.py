"""Checks of rows: whether their contents read, and whether derived rows follow from what they are derived from.

A flipped bit leaves a row that the engine finds sound and no reader understands; `unreadable` finds those. The other
functions compare passages, term counts, the word index, counters and references with the rows they come from: each
gives its differences as (id, what is wrong), and the function that repairs follows it. Owners pass in their passages.
`sqlite_check` checks files.
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
from recollect.store.schema import DERIVED, TABLES, references

Difference = tuple[str, str]

_COUNTED_INJECTIONS = {
    "times_injected": "count(*)",
    "times_helpful": "count(CASE WHEN feedback = 'helpful' THEN 1 END)",
    "times_not_helpful": "count(CASE WHEN feedback = 'not_helpful' THEN 1 END)",
    "last_injected_at": "max(injected_at)",
}
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
    names = (*_COUNTED_INJECTIONS, "recurrence")
    one = "WHERE space = :space AND learning_id = learnings.id"
    true = [f"(SELECT {counted} FROM injections {one})" for counted in _COUNTED_INJECTIONS.values()]
    columns = ("id", *names, *true, f"(SELECT count(*) FROM learning_sources {one})")
    for id, *values in every(tx, "learnings", ", ".join(columns)):
        counted = [*values[len(names) : -1], max(1, values[-1])]
        pairs = zip(names, values[: len(names)], counted, strict=True)
        if wrong := {name: (kept, right) for name, kept, right in pairs if kept != right}:
            yield id, wrong


def dangling(tx: Tx) -> Iterator[Difference]:
    """References to rows that are not there."""
    for table, column, target in references():
        for (missing,) in tx.rows(
            f"SELECT DISTINCT {column} FROM {table.name} WHERE space = :space AND {column} IS NOT NULL AND NOT EXISTS "
            f"(SELECT 1 FROM {target.name} there WHERE there.space = :space AND there.{target.key[0]} = "
            f"{table.name}.{column}) ORDER BY 1"
        ):
            yield missing, f"{table.name}.{column} names it, but it is not in {target.name}"


def _both(held: tuple[Sequence[int], Sequence[int]]) -> str:
    return f"{len(held[0]) + len(held[1])} ({len(held[0])} make much of it)"


def _true_counts(tx: Tx) -> Counter[str]:
    counts: Counter[str] = Counter()
    for _, terms in every(tx, "passages", "doc, terms"):
        counts.update(set(terms.split()))
        counts[passages.EVERY] += 1
    return counts


def count_by(tx: Tx, table: str, column: str, values: Iterable[str]) -> dict[str, int]:
    """How many rows have each of these values in a column."""
    sql = f"SELECT {column}, count(*) FROM {table} WHERE space = :space AND {column} IS NOT NULL GROUP BY {column}"
    return {**dict.fromkeys(values, 0), **dict(tx.rows(f"{sql} ORDER BY {column}"))}
