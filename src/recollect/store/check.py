"""Checks of rows and of the embedded store's file: whether they read, and whether derived rows follow from the others.

A flipped bit leaves a row that the engine finds sound and no reader understands; `unreadable` finds those. The other
functions compare passages, term counts, the word index, counters and references with the rows they come from: each
yields its differences as (id, what is wrong), followed by the function that repairs them. Only SQLite has pages, b-tree
indexes, the word index, signs of vectors, and texts that are not UTF-8 to check.
"""

from __future__ import annotations

import json
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import apsw

from recollect.core.calendar import parse_day
from recollect.core.context import TRUSTS, Tx
from recollect.core.errors import BadInput
from recollect.core.records import Passage
from recollect.store import decisions, passages
from recollect.store.db import every, graded
from recollect.store.schema import BY_NAME, DERIVED, TABLES, references
from recollect.store.sqlite import SqliteDb, about_words, sqlite_errors
from recollect.store.sqlite_file import remake_words
from recollect.store.vectors import SqliteVectors, unpacked

Difference = tuple[str, str]

_COUNTED_INJECTIONS = {
    "times_injected": "count(*)",
    "times_helpful": "count(CASE WHEN feedback = 'helpful' THEN 1 END)",
    "times_not_helpful": "count(CASE WHEN feedback = 'not_helpful' THEN 1 END)",
    "last_injected_at": "max(injected_at)",
}
_CHOICES: dict[str, tuple[object, ...]] = {"trust": TRUSTS, "verdict's trust": (*TRUSTS, None), "flag": (0, 1)}
_WITH_SUBJECT = ("events", "escalations")  # a message names the subject of these rows in place of their number


class Unreadable(NamedTuple):
    table: str
    subject: str
    detail: str

    @property
    def derived(self) -> bool:
        return self.table in DERIVED


def unreadable(tx: Tx) -> Iterator[Unreadable]:
    """Rows of this space with a column that does not have its declared shape."""
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
    """Decisions are read as records, which check more than the shapes of columns say."""
    for (id,) in every(tx, "decisions", "id"):
        try:
            for found in decisions.many(tx, [id]):
                decisions.passage_of(found)
        except (ArithmeticError, AttributeError, BadInput, LookupError, TypeError, ValueError, RecursionError):
            yield Unreadable("decisions", id, "the decision does not read back")


def drop_unreadable(tx: Tx) -> int:
    """Delete unreadable rows of derived tables, which are made again; returns their number."""
    found = [each for each in unreadable(tx) if each.derived]
    for table in TABLES:
        wanted = [{table.key[0]: each.subject} for each in found if each.table == table.name]
        if wanted:
            tx.run_many(f"DELETE FROM {table.name} WHERE space = :space AND {table.key[0]} = :{table.key[0]}", wanted)
    return len(found)


def _reads(shape: str, text: Any) -> bool:
    if shape in _CHOICES:
        return text in _CHOICES[shape]
    try:
        if shape == "day":
            return bool(parse_day(text))
        value = json.loads(text)
    except (BadInput, ValueError, TypeError, RecursionError):
        return False
    if shape == "object":
        return isinstance(value, dict)
    if not isinstance(value, list):
        return False
    if shape == "names":
        return all(isinstance(name, str) for name in value)
    return all(isinstance(pair, list) and len(pair) == 2 for pair in value)


def damaged_passages(tx: Tx) -> Iterator[Difference]:
    for stored, digest in passages.all_of(tx):
        if not passages.adds_up(stored, digest):
            yield stored.id, "its passage is not what was written"


def passage_ids(tx: Tx) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for id, kind in every(tx, "passages", "id, kind"):
        found.setdefault(kind, set()).add(id)
    return found


def stale_passages(tx: Tx, expected: Iterable[Passage]) -> Iterator[Difference]:
    """Passages that are missing or differ from what their owner would write now."""
    for passage in expected:
        kept = tx.value("SELECT hash FROM passages WHERE space = :space AND id = :id", id=passage.id)
        if kept is None:
            yield passage.id, "it has no passage, so search cannot find it"
        elif kept != passages.digest_of(passage, passages.lines_of(passage)):
            yield passage.id, "its passage shows something else than it says"


def wrong_counts(tx: Tx) -> Iterator[Difference]:
    true = _true_counts(tx)
    kept: dict[str, int] = dict(every(tx, "terms", "term, docs"))
    for term in sorted(true.keys() | kept.keys()):
        if true[term] != kept.get(term, 0):
            yield term, f"counted in {kept.get(term, 0)} passages, is in {true[term]}"


def recount(tx: Tx) -> int:
    """Write the true counts; returns how many were wrong."""
    wrong = list(wrong_counts(tx))
    true = _true_counts(tx)
    tx.run_many("DELETE FROM terms WHERE space = :space AND term = :term", ({"term": term} for term, _ in wrong))
    tx.run_many(
        "INSERT INTO terms (space, term, docs) VALUES (:space, :term, :docs)",
        ({"term": term, "docs": true[term]} for term, _ in wrong if true[term]),
    )
    return len(wrong)


def wrong_index(tx: Tx) -> Iterator[Difference]:
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
    """Learnings whose counters differ from their injections and sources: name → (kept, true)."""
    names = (*_COUNTED_INJECTIONS, "recurrence")
    one = "WHERE space = :space AND learning_id = learnings.id"
    true = [f"(SELECT {counted} FROM injections {one})" for counted in _COUNTED_INJECTIONS.values()]
    columns = ("id", *names, *true, f"(SELECT count(*) FROM learning_sources {one})")
    for id, *values in every(tx, "learnings", ", ".join(columns)):
        counted = [*values[len(names) : -1], max(1, values[-1])]
        pairs = zip(names, values[: len(names)], counted, strict=True)
        if wrong := {name: (kept, right) for name, kept, right in pairs if kept != right}:
            yield id, wrong


def dangling(tx: Tx, *, of_topics: bool = False) -> Iterator[Difference]:
    """References to nothing: those to topics, which can be mended, or all others."""
    for table, column, target in references():
        if (target.name == "topics") != of_topics:
            continue
        for (missing,) in tx.rows(
            f"SELECT {column} FROM {table.name} WHERE space = :space AND {column} IS NOT NULL AND NOT EXISTS "
            f"(SELECT 1 FROM {target.name} there WHERE there.space = :space AND there.{target.key[0]} = "
            f"{table.name}.{column}) GROUP BY {column} ORDER BY {column}"
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
    sql = f"SELECT {column}, count(*) FROM {table} WHERE space = :space AND {column} IS NOT NULL GROUP BY {column}"
    return {**dict.fromkeys(values, 0), **dict(tx.rows(f"{sql} ORDER BY {column}"))}


MESSAGES = 20  # of SQLite's own check; a damaged file has thousands that say the same
_WRONG_SIZE = """
SELECT v.number FROM vectors v LEFT JOIN passages p ON p.doc = v.doc
LEFT JOIN vector_models m ON m.space = p.space AND m.number = v.model
WHERE v.number < 1 OR m.number IS NULL OR length(v.vector) <> m.dimensions + 2"""
_SIGNS_OF_WRONG_SIZE = """
SELECT s.rowid FROM vector_signs s JOIN vector_models m ON m.space = s.space AND m.number = s.model
WHERE length(s.signs) <> length(s.numbers) / 8 * ((m.dimensions + 63) / 64 * 8) OR length(s.numbers) % 8 <> 0"""


_WORD_INDEX_FAULTS = {
    "SELECT count(*) FROM passage_words_docsize WHERE id NOT IN (SELECT doc FROM passages)": (
        "documents in the word index belong to no passage"
    ),
    # The index could not take them out again.
    "SELECT count(*) FROM passages WHERE doc NOT IN (SELECT id FROM passage_words_docsize)": (
        "passages are not among the documents of the word index"
    ),
}


def sqlite_faults(db: SqliteDb) -> Iterator[tuple[str, str]]:
    """Faults as (what, detail): a damaged `file`, or an `index` or `vector` that can be made again."""
    connection = db.connection()
    with sqlite_errors(db.path):
        try:
            said = [str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({MESSAGES})")]
        except apsw.SQLError as error:
            if not about_words(str(error)):
                raise
            said = [str(error)]  # an index that does not even open
        found = [("index" if _about_an_index(message) else "file", message) for message in said if message != "ok"]
        yield from found
        if found:
            return  # what does not read back cannot be counted
        for sql, detail in _WORD_INDEX_FAULTS.items():
            if count := connection.execute(sql).get:
                yield "index", f"{count} {detail}"
        if wrong := sum(len(connection.execute(sql).fetchall()) for sql in (_WRONG_SIZE, _SIGNS_OF_WRONG_SIZE)):
            yield "vector", f"{wrong} vectors or rows of signs are not as long as their model makes them"
        if count := unpacked(connection):
            yield "vector", f"{count} vectors are missing in the signs that lead to them"


def unreadable_texts(db: SqliteDb) -> list[Unreadable]:
    """Rows of all spaces with a text that is not UTF-8, and rows of a space that the store does not have."""
    found: list[Unreadable] = []
    with sqlite_errors(db.path):
        for table in sorted(BY_NAME.keys() - {"passage_words"}):  # whose tables are FTS5's own
            said = dict.fromkeys(_misfits(db.connection(), table), "its space or a type in it is not of this store")
            said |= dict.fromkeys(_not_utf8(db.connection(), table), "a text in it is not UTF-8")
            found += [Unreadable(table, f"{table}, row {row}", detail) for row, detail in said.items()]
    return found


def remake_sqlite_indexes(db: SqliteDb) -> None:
    """Make all b-tree indexes, the word index (from the terms of passages) and the signs of vectors again, in one
    transaction. Derived rows that cannot be read are deleted first; `rebuild` makes them again."""
    connection = db.connection()
    with sqlite_errors(db.path), connection:
        for table in sorted(DERIVED):
            broken = [*_not_utf8(connection, table), *_misfits(connection, table)]
            broken += [row for (row,) in connection.execute(_WRONG_SIZE)] if table == "vectors" else []
            connection.executemany(f"DELETE FROM {table} WHERE rowid = ?", ((row,) for row in broken))
        connection.execute("REINDEX")
        remake_words(connection)
        for space, number in connection.execute("SELECT space, number FROM vector_models").fetchall():
            SqliteVectors(connection, str(space), int(str(number))).pack_anew()


def _about_an_index(message: str) -> bool:
    """Whether `remake_indexes` repairs this; a value of the wrong type counts if its row can be made again."""
    if found := re.search(r"(?:value|constraint failed) in (\w+)", message):
        return found[1] in DERIVED
    return about_words(message) or " index " in message


def _columns(connection: apsw.Connection, table: str) -> list[tuple[str, str, bool]]:
    """Name, type, and whether a value is required."""
    found = connection.execute('SELECT name, type, "notnull" FROM pragma_table_info(?)', (table,)).fetchall()
    return [(str(name), str(kind).lower(), bool(needed)) for name, kind, needed in found]


def _not_utf8(connection: apsw.Connection, table: str) -> list[int]:
    with suppress(UnicodeDecodeError):
        for _ in connection.execute(f"SELECT * FROM {table}"):
            pass
        return []
    columns = ", ".join(f"CAST({name} AS BLOB)" for name, kind, _ in _columns(connection, table) if kind == "text")
    broken: list[int] = []
    rows: list[Any] = connection.execute(f"SELECT rowid, {columns} FROM {table}").fetchall()
    for row, *texts in rows:
        try:
            b" ".join(text or b"" for text in texts).decode("utf-8")
        except UnicodeDecodeError:
            broken.append(row)
    return broken


def _misfits(connection: apsw.Connection, table: str) -> list[int]:
    """Rows with a value of the wrong type, and rows of a space that the store does not have."""
    wrong: list[str] = []
    for name, kind, needed in _columns(connection, table):
        wrong.append(f"typeof({name}) <> '{kind}'" + ("" if needed else f" AND {name} IS NOT NULL"))
        wrong += ["space NOT IN (SELECT space FROM spaces)"] if name == "space" else []
    found: list[Any] = connection.execute(f"SELECT rowid FROM {table} WHERE {' OR '.join(wrong)}").fetchall()
    return [row for (row,) in found]
