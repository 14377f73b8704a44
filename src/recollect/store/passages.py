"""The one table that is searched, and its word index.

The column `terms` holds the passage as our tokeniser saw it, one line per field (title, who, keywords, then the body's
lines), so that ranking does not tokenise again. The table `terms` counts the passages that hold each term, per space.
"""

from __future__ import annotations

from itertools import chain

from recollect.core.records import made, record
from recollect.store.db import HEADER_LINES, among, columns_of, every, graded, insertion
from recollect.store.files import content_hash
from recollect.text import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from recollect.core.choices import Trust
    from recollect.core.context import Row, Tx
    from recollect.core.records import Passage

DIGEST = 16  # hexadecimal digits: enough to see that one passage changed
STRETCHES = 20  # of threads in one statement: SQLite compares each parameter name with all before it
FIRST_UNSPACED = "\u3040"  # terms of scripts without spaces begin here, so a range scan skips all others
EVERY = ""  # the term that every passage holds: its count is the number of passages


@record
class Stored:
    doc: int
    id: str
    kind: str
    title: str
    text: str
    keywords: str
    who: str
    at: int
    trust: Trust
    thread: str
    position: int
    terms: str


@record
class Ranked:
    """A passage as ranking reads it; `end` is the end of its text, for passages of a thread."""

    doc: int
    id: str
    kind: str
    title: str
    at: int
    trust: Trust
    thread: str
    position: int
    terms: str
    end: str


_COLUMNS = columns_of(Stored)
_END = """
CASE WHEN p.thread = '' THEN '' WHEN length(p.text) > 200 THEN substr(p.text, length(p.text) - 199) ELSE p.text END"""
_RANKED = ", ".join(_END if name == "end" else f"p.{name}" for name in Ranked.__annotations__)
_WRITTEN = (*_COLUMNS.split(", ")[1:], "hash")
_INSERT = insertion("passages", _WRITTEN) + " RETURNING doc"


@record
class Narrow:
    """Which passages are wanted; an empty field allows all. `until` is excluded."""

    kinds: tuple[str, ...] = ()
    trusts: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    topic: str = ""

    def where(self) -> tuple[str, dict[str, object]]:
        """Conditions on the table `p`, and their parameters."""
        named = {"kind": self.kinds, "trust": self.trusts}
        parts, params = "", dict[str, object]()
        for name, given in named.items():
            if given:
                several = {f"{name}{i}": one for i, one in enumerate(given)}
                parts += f" AND p.{name} IN ({', '.join(f':{each}' for each in several)})"
                params |= several
        for name, test in (("since", ">="), ("until", "<")):
            if (time := getattr(self, name)) is not None:
                parts += f" AND p.at {test} :{name}"
                params[name] = time
        if self.topic:
            parts += " AND p.id IN (SELECT entry_id FROM topic_entries WHERE space = :space AND topic_id = :topic)"
            params["topic"] = self.topic
        return parts, params


def put(tx: Tx, passage: Passage, *, anew: bool = False) -> None:
    """Write or replace a passage. An unchanged one keeps its number, and so its vectors; `anew` writes it anyway."""
    lines = lines_of(passage)
    old = tx.row("SELECT doc, hash, terms FROM passages WHERE space = :space AND id = :id", id=passage.id)
    if old and old[1] == digest_of(passage, lines):
        if anew:
            _renew(tx, passage, lines, old[0], old[2])
        return
    if old:
        _forget(tx, old[0], old[2])
    _add(tx, [(passage, lines)])


def add_all(tx: Tx, passages: Iterable[Passage]) -> None:
    _add(tx, [(passage, lines_of(passage)) for passage in passages])


def lines_of(passage: Passage) -> list[str]:
    """Title, who, keywords, then the body's lines, each without line ends."""
    body = passage.lines or ("",)  # a passage with only a title has an empty body
    return [_on_one_line(text) for text in (passage.title, passage.who, " ".join(passage.keywords), *body)]


def _on_one_line(text: str) -> str:
    if text.isprintable() and "  " not in text:  # nearly always, and half as fast again
        return text.strip()
    return " ".join(text.split())


def digest_of(passage: Passage | Stored, lines: list[str]) -> str:
    facts = (passage.kind, str(passage.at), passage.trust, passage.thread, str(passage.position))
    return content_hash("\n".join((*lines, *facts)))[:DIGEST]


def adds_up(stored: Stored, digest: str) -> bool:
    """Whether a stored passage matches its hash and its terms."""
    lines = [stored.title, stored.who, stored.keywords, *stored.text.split("\n")]
    return digest_of(stored, lines) == digest and tokens.term_lines(lines) == stored.terms


def all_of(tx: Tx) -> Iterator[tuple[Stored, str]]:
    names = ("id", *(name for name in Stored.__annotations__ if name != "id"), "hash")
    for row in every(tx, "passages", ", ".join(names)):
        values = dict(zip(names, row, strict=True))
        digest = values.pop("hash")
        yield Stored(**values), digest


def remove(tx: Tx, id: str) -> None:
    old = tx.row("SELECT doc, terms FROM passages WHERE space = :space AND id = :id", id=id)
    if old:
        _forget(tx, old[0], old[1])


def ranked(tx: Tx, docs: Sequence[int], wanted: Narrow) -> list[Ranked]:
    """What ranking needs of passages, by index number; unwanted ones are left out."""
    where, params = wanted.where()
    sql = f"SELECT {_RANKED} FROM passages p WHERE p.space = :space AND p.doc IN (:keys){where}"
    return _ranked(among(tx, sql, docs, **params))


def _ranked(rows: Iterable[Row]) -> list[Ranked]:
    return [made(Ranked, dict(zip(Ranked.__annotations__, row, strict=True))) for row in rows]


def beside(tx: Tx, stretches: Sequence[tuple[str, int, int]], wanted: Narrow) -> list[Ranked]:
    """The same for stretches of threads: (thread, first position, last position)."""
    found: list[Row] = []
    where, params = wanted.where()
    for start in range(0, len(stretches), STRETCHES):
        chunk = stretches[start : start + STRETCHES]
        values = ", ".join(f"(:t{i}, CAST(:f{i} AS BIGINT), CAST(:l{i} AS BIGINT))" for i in range(len(chunk)))
        given: dict[str, object] = {}
        for i, (thread, first, last) in enumerate(chunk):
            given |= {f"t{i}": thread, f"f{i}": first, f"l{i}": last}
        found += tx.rows(
            f"WITH s (thread, first, last) AS (VALUES {values}) SELECT {_RANKED} FROM s JOIN passages p ON "
            "p.space = :space AND p.thread = s.thread AND p.position BETWEEN s.first AND s.last "
            f"AND p.thread <> ''{where}",
            **given,
            **params,
        )
    return _ranked(found)


def latest(tx: Tx, wanted: Narrow, *, limit: int, offset: int) -> list[Ranked]:
    where, params = wanted.where()
    sql = (
        f"SELECT {_RANKED} FROM passages p WHERE p.space = :space{where} ORDER BY p.at DESC, p.doc DESC "
        "LIMIT :limit OFFSET :offset"
    )
    return _ranked(tx.rows(sql, limit=limit, offset=offset, **params))


def few(tx: Tx, wanted: Narrow, *, most: int) -> frozenset[int] | None:
    """The index numbers of the wanted passages; None if there are more than `most`."""
    where, params = wanted.where()
    some = f"FROM passages p WHERE p.space = :space{where}"
    # Counting in the engine is a fifth of reading what is then thrown away.
    if tx.rows(f"SELECT 1 {some} LIMIT 1 OFFSET :most", most=most, **params):
        return None
    return frozenset(doc for (doc,) in tx.rows(f"SELECT p.doc {some}", **params))


def docs_of(tx: Tx, ids: Sequence[str]) -> list[int]:
    found = among(tx, "SELECT doc FROM passages WHERE space = :space AND id IN (:keys)", ids)
    return [doc for (doc,) in found]


def texts_of(tx: Tx, docs: Sequence[int]) -> dict[int, str]:
    """The bodies of passages by index number."""
    return dict(among(tx, "SELECT doc, text FROM passages WHERE space = :space AND doc IN (:keys)", docs))


def ids_of(tx: Tx, kind: str) -> list[str]:
    sql = "SELECT id FROM passages WHERE space = :space AND kind = :kind ORDER BY id"
    return [row[0] for row in tx.rows(sql, kind=kind)]


def by_id(tx: Tx, id: str) -> Stored | None:
    row = tx.row(f"SELECT {_COLUMNS} FROM passages WHERE space = :space AND id = :id", id=id)
    return made(Stored, dict(zip(Stored.__annotations__, row, strict=True))) if row else None


def ids_under(tx: Tx, prefix: str) -> list[str]:
    """The passages whose ids have a prefix, such as the entries of a day (`log/2026-03-01#`), by id."""
    sql = "SELECT id FROM passages WHERE space = :space AND id >= :prefix AND id < :end ORDER BY id"
    return [id for (id,) in tx.rows(sql, prefix=prefix, end=_after(prefix))]


def last_position(tx: Tx, thread: str) -> int:
    sql = "SELECT max(position) FROM passages WHERE space = :space AND thread = :thread AND thread <> ''"
    return tx.value(sql, thread=thread) or 0


def neighbours(tx: Tx, here: Stored, *, earlier: bool, limit: int) -> list[Stored]:
    """The passages before or after one, nearest first: by position in its thread; without a position, by time in its
    thread or among its kind."""
    than, order = ("<", "DESC") if earlier else (">", "ASC")
    if here.thread and here.position:
        where, by = f"thread = :thread AND thread <> '' AND position {than} :position", "position"
    else:
        same = "thread = :thread AND thread <> ''" if here.thread else "kind = :kind"
        where, by = f"{same} AND (at {than} :at OR (at = :at AND doc {than} :doc))", "at"
    rows = tx.rows(
        f"SELECT {_COLUMNS} FROM passages WHERE space = :space AND {where} ORDER BY {by} {order}, doc {order} "
        "LIMIT :limit",
        thread=here.thread,
        kind=here.kind,
        position=here.position,
        at=here.at,
        doc=here.doc,
        limit=limit,
    )
    return [made(Stored, dict(zip(Stored.__annotations__, row, strict=True))) for row in rows]


def document_counts(tx: Tx, terms: Iterable[str]) -> tuple[int, dict[str, int]]:
    """How many passages there are, and how many hold each term; a term that none holds is left out."""
    sql = "SELECT term, docs FROM terms WHERE space = :space AND term IN (:keys)"
    counts: dict[str, int] = dict(among(tx, sql, [EVERY, *terms]))
    return counts.pop(EVERY, 0), counts


def pairs_with(tx: Tx, character: str, *, most: int) -> dict[str, int]:
    """The most common two-character terms with this character, and how many passages hold each."""
    sql = """
    SELECT term, docs FROM terms WHERE space = :space AND term >= :first AND length(term) = 2
    AND (substr(term, 1, 1) = :character OR substr(term, 2, 1) = :character) ORDER BY docs DESC, term LIMIT :most"""
    return dict(tx.rows(sql, first=FIRST_UNSPACED, character=character, most=most))


def beginning_with(tx: Tx, letters: str, *, most: int) -> dict[str, int]:
    """The most common terms with a prefix, and how many passages hold each."""
    sql = """
    SELECT term, docs FROM terms WHERE space = :space AND term >= :first AND term < :end
    ORDER BY docs DESC, term LIMIT :most"""
    return dict(tx.rows(sql, first=letters, end=_after(letters), most=most))


def _after(prefix: str) -> str:
    """The first string after all strings with a prefix."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


def _add(tx: Tx, passages: Sequence[tuple[Passage, list[str]]]) -> None:
    made = [_values(passage, lines) for passage, lines in passages]
    docs = tx.rows_many(_INSERT, made)
    held: list[Iterable[str]] = []
    for (doc,), values in zip(docs, made, strict=True):
        strong, others = graded(values["terms"])
        tx.index(doc, strong, others)
        held += (strong, others)
    counts = tx.before_commit(_write_counts)
    counts.update(chain.from_iterable(held))
    counts[EVERY] += len(docs)


def _renew(tx: Tx, passage: Passage, lines: list[str], doc: int, old_stream: str) -> None:
    values = _values(passage, lines)
    tx.unindex(doc)
    tx.run(
        f"UPDATE passages SET {', '.join(f'{name} = :{name}' for name in _WRITTEN)} "
        "WHERE space = :space AND doc = :doc",
        doc=doc,
        **values,
    )
    strong, others = graded(values["terms"])
    tx.index(doc, strong, others)
    counts = tx.before_commit(_write_counts)
    counts.update(strong)
    counts.update(others)
    counts.subtract(set(old_stream.split()))


def _values(passage: Passage, lines: list[str]) -> dict[str, Any]:
    return {
        "id": passage.id,
        "kind": passage.kind,
        "title": lines[0],
        "who": lines[1],
        "keywords": lines[2],
        "text": "\n".join(lines[HEADER_LINES:]),
        "at": passage.at,
        "trust": passage.trust,
        "thread": passage.thread,
        "position": passage.position,
        "hash": digest_of(passage, lines),
        "terms": tokens.term_lines(lines),
    }


def _forget(tx: Tx, doc: int, stream: str) -> None:
    tx.unindex(doc)
    tx.run("DELETE FROM passages WHERE space = :space AND doc = :doc", doc=doc)
    counts = tx.before_commit(_write_counts)
    counts.subtract(set(stream.split()))
    counts[EVERY] -= 1


def _write_counts(tx: Tx, pending: Counter[str]) -> None:
    changes = sorted((term, step) for term, step in pending.items() if step)
    tx.run_many(
        """
        INSERT INTO terms (space, term, docs) VALUES (:space, :term, :step)
        ON CONFLICT (space, term) DO UPDATE SET docs = terms.docs + excluded.docs""",
        ({"term": term, "step": step} for term, step in changes),
    )
    # Term by term: looking for zeros in all of them would cost more with every year of memory.
    tx.run_many(
        "DELETE FROM terms WHERE space = :space AND term = :term AND docs <= 0",
        ({"term": term} for term, step in changes if step < 0),
    )
