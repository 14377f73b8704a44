"""The one table that is searched, with the word index that hangs off it.

`terms` holds the passage as our tokeniser saw it, one line per field (title, who, keywords, then the body's lines), so
that ranking reads it back instead of tokenising again. How many passages hold each term is kept beside it, per space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.core.record import record
from recollect.store.files import content_hash
from recollect.text.tokens import terms as terms_of

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Sequence

    from recollect.core.actor import Trust
    from recollect.core.context import Row, Tx
    from recollect.core.passage import Passage

HEADER_LINES = 3  # title, who, keywords
CHUNK = 500  # ids in one IN list: both engines take it, and a plan stays small
EVERY = ""  # the term that every passage holds: its count is the number of passages

_COLUMNS = "doc, id, kind, title, text, keywords, who, at, trust, thread, position, terms"
_NAMES = _COLUMNS.split(", ")


@record
class Stored:
    """A passage as search reads it."""

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


def put(tx: Tx, passage: Passage) -> None:
    """Write or replace a passage; one that did not change costs a read."""
    lines = (
        passage.title,
        passage.who,
        " ".join(passage.keywords),
        *(_one_line(line) for line in passage.lines),
    )
    digest = content_hash("\x1f".join((*lines, str(passage.at), passage.trust, passage.kind)))
    old = tx.row("SELECT doc, hash, terms FROM passages WHERE space = :space AND id = :id", id=passage.id)
    if old:
        if old[1] == digest:
            return
        _forget(tx, old[0], old[2])
    stream = "\n".join(" ".join(terms_of(line)) for line in lines)
    doc = tx.value(
        """
        INSERT INTO passages (space, id, kind, title, text, keywords, who, at, trust, thread, position, hash, terms)
        VALUES (:space, :id, :kind, :title, :text, :keywords, :who, :at, :trust, :thread, :position, :hash, :terms)
        RETURNING doc""",
        id=passage.id,
        kind=passage.kind,
        title=passage.title,
        text="\n".join(lines[HEADER_LINES:]),
        keywords=lines[2],
        who=passage.who,
        at=passage.at,
        trust=passage.trust,
        thread=passage.thread,
        position=passage.position,
        hash=digest,
        terms=stream,
    )
    distinct = set(stream.split())
    tx.index(doc, sorted(distinct))
    _count(tx, distinct, 1)


def remove(tx: Tx, id: str) -> None:
    """Take a passage out of table and index."""
    old = tx.row("SELECT doc, terms FROM passages WHERE space = :space AND id = :id", id=id)
    if old:
        _forget(tx, old[0], old[1])


def by_docs(tx: Tx, docs: Sequence[int], *, kinds: tuple[str, ...] = ()) -> list[Stored]:
    """Passages by their index numbers, in any order."""
    found: list[Row] = []
    wanted = f" AND kind IN ({_names('k', kinds)})" if kinds else ""
    kind_params = {f"k{i}": kind for i, kind in enumerate(kinds)}
    for start in range(0, len(docs), CHUNK):
        chunk = docs[start : start + CHUNK]
        found += tx.rows(
            f"SELECT {_COLUMNS} FROM passages WHERE space = :space AND doc IN ({_names('d', chunk)}){wanted}",
            **{f"d{i}": doc for i, doc in enumerate(chunk)},
            **kind_params,
        )
    return [Stored(**dict(zip(_NAMES, row, strict=True))) for row in found]


def by_id(tx: Tx, id: str) -> Stored | None:
    row = tx.row(f"SELECT {_COLUMNS} FROM passages WHERE space = :space AND id = :id", id=id)
    return Stored(**dict(zip(_NAMES, row, strict=True))) if row else None


def document_counts(tx: Tx, terms: Iterable[str]) -> tuple[int, dict[str, int]]:
    """How many passages there are, and how many hold each of these terms (absent: none does)."""
    wanted = [EVERY, *terms]
    counts: dict[str, int] = {}
    for start in range(0, len(wanted), CHUNK):
        chunk = wanted[start : start + CHUNK]
        counts.update(
            (term, docs)
            for term, docs in tx.rows(
                f"SELECT term, docs FROM terms WHERE space = :space AND term IN ({_names('t', chunk)})",
                **{f"t{i}": term for i, term in enumerate(chunk)},
            )
        )
    return counts.pop(EVERY, 0), counts


def _forget(tx: Tx, doc: int, stream: str) -> None:
    tx.unindex(doc)
    tx.run("DELETE FROM passages WHERE space = :space AND doc = :doc", doc=doc)
    _count(tx, set(stream.split()), -1)


def _count(tx: Tx, distinct: set[str], step: int) -> None:
    """Collect the counts of a transaction and write them once: a bulk load touches each common word once."""
    pending = tx.before_commit(_write_counts)
    for term in distinct:
        pending[term] += step
    pending[EVERY] += step


def _write_counts(tx: Tx, pending: Counter[str]) -> None:
    changes = sorted((term, step) for term, step in pending.items() if step)
    tx.run_many(
        """
        INSERT INTO terms (space, term, docs) VALUES (:space, :term, :step)
        ON CONFLICT (space, term) DO UPDATE SET docs = terms.docs + excluded.docs""",
        ({"term": term, "step": step} for term, step in changes),
    )
    if any(step < 0 for _, step in changes):
        tx.run("DELETE FROM terms WHERE space = :space AND docs <= 0")


def _names(prefix: str, values: Sequence[object]) -> str:
    return ", ".join(f":{prefix}{i}" for i in range(len(values)))


def _one_line(text: str) -> str:
    return " ".join(text.split())
