"""Holding a staged learning against what is known: documents, learnings, and other staged entries.

Three questions in order, each answered by `text/compare`. What stays unsure is put to a model when one is configured,
and to a person otherwise. Knows nothing about what is done with an answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from recollect.core.context import Context
from recollect.core.errors import BadInput
from recollect.models.asking import Ask, ask
from recollect.models.meaning import Alike
from recollect.models.reading import read_object
from recollect.store import learnings as learning_rows
from recollect.store import lookup, passages
from recollect.store.passages import Narrow
from recollect.text.compare import Comparison, contradiction, redundancy, supersession
from recollect.text.compare.statement import statements
from recollect.text.documents import sections
from recollect.text.prose import own_lines
from recollect.text.ripeness import Aged
from recollect.text.staging import Entry

Judged = Literal["contradiction", "redundant", "compatible", "unsure"]

COMPARED = 12  # learnings that share the rarest words with an entry
DOUBTFUL = 0.6  # overlap from which an unsure contradiction is worth a person's time
COVERED = 0.8  # share of an entry's words that what it repeats must hold


@dataclass(frozen=True, kw_only=True)
class Known:
    """A piece of what is known, by its id: `doc/<path>#<slug>`, `learn_…` or `staged/<slug>`."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Match:
    """Something known that an entry gives way to, contradicts or repeats, and how the two compare."""

    known: Known
    comparison: Comparison


def in_documents(documents: Mapping[str, str]) -> list[Known]:
    """Every section of the documents."""
    return [
        Known(id=f"doc/{path}#{section.slug}", title=section.title, text=spoken(section.title, section.text))
        for path, text in documents.items()
        for section in sections(text)
    ]


def in_learnings(ctx: Context, entry: Entry) -> list[Known]:
    """The active learnings nearest in words."""
    with ctx.db.read(ctx.space) as tx:
        query = lookup.understand(tx, lookup.terms_in(f"{entry.title}\n{entry.body}"))
        docs = lookup.candidates(tx, query, most=COMPARED)
        ids = [stored.id for stored in passages.ranked(tx, docs, Narrow(kinds=(learning_rows.KIND,)))]
        found = learning_rows.many(tx, sorted(ids))
    return [
        Known(id=each.id, title=each.title, text=f"{each.title}. {each.observation} {each.action}")
        for each in found
        if each.status == "active"
    ]


def superseding(entry: Aged, others: Sequence[Aged]) -> Match | None:
    """A newer staged entry that takes this one's place."""
    for other in others:
        if _later(other, entry):
            found = supersession(other.entry.title, entry.entry.title)
            if found.holds:
                return Match(known=staged_known(other.entry), comparison=found)
    return None


def rivalling(entry: Aged, other: Aged) -> Match | None:
    """Another entry of the same day that cannot hold together with this one: neither is the newer."""
    if other.entry.slug == entry.entry.slug or other.added != entry.added:
        return None
    found = contradiction(entry.entry.title, other.entry.title)
    return Match(known=staged_known(other.entry), comparison=found) if found.holds else None


def contradicting(ctx: Context, entry: Entry, known: Sequence[Known]) -> Match | None:
    """The first thing known that cannot hold together with this entry, or may not."""
    doubts: list[Match] = []
    for each in known:
        found = contradiction(entry.title, each.text)
        if found.holds:
            return Match(known=each, comparison=found)
        if found.answer == "unsure" and found.score >= DOUBTFUL:
            doubts.append(Match(known=each, comparison=found))
    for doubt in sorted(doubts, key=lambda one: -one.comparison.score):
        judged = _judged(ctx, entry, doubt.known)
        if judged in ("contradiction", "unsure"):
            return doubt
    return None


def opposing_sentence(entry: Entry, known: Known) -> str:
    """The words of what is known that stand against an entry most."""
    said = _sentences(known.text) or [known.title]
    return max(said, key=lambda each: (found := contradiction(entry.title, each)).score * (found.answer != "no"))


def repeating(entry: Entry, known: Sequence[Known], alike: Alike | None) -> Match | None:
    """Something known that already says all of this entry."""
    words = _words(entry.title)
    for each in known:
        said = [sentence for sentence in _sentences(each.text) if 2 * len(words & _words(sentence)) >= len(words)]
        cosines = alike(entry.title, said) if alike else [None] * len(said)
        for sentence, cosine in zip(said, cosines, strict=True):
            found = redundancy(entry.title, sentence, cosine=cosine)
            if found.holds and _covers(each, entry):
                return Match(known=each, comparison=found)
    return None


def staged_known(entry: Entry) -> Known:
    return Known(id=f"staged/{entry.slug}", title=entry.title, text=spoken(entry.title, entry.body))


def spoken(title: str, body: str) -> str:
    """What an author says in a section, without code and quotes."""
    return "\n".join([title, *own_lines(body)])


def _covers(known: Known, entry: Entry) -> bool:
    """Whether an entry's body adds nothing to what is known."""
    wanted, there = _words(spoken("", entry.body)), _words(known.text)
    return not wanted or len(wanted & there) / len(wanted) >= COVERED


def _words(text: str) -> set[str]:
    return {word for each in statements(text) for word in each.words}


def _sentences(text: str) -> list[str]:
    return [part.strip() for line in text.split("\n") for part in line.split(". ") if part.strip()]


def _later(one: Aged, other: Aged) -> bool:
    """A later day; what is not committed yet is newest."""
    if one.added is None or other.added is None:
        return one.added is None and other.added is not None
    return one.added > other.added


def _judged(ctx: Context, entry: Entry, known: Known) -> Judged:
    """What a model says about a pair that words could not settle; without one it stays unsure."""
    return ask(ctx, question(entry, known)).value


def question(entry: Entry, known: Known) -> Ask[Judged]:
    """What a model is asked about a pair."""
    return Ask(
        kind="compare",
        subject=f"staged/{entry.slug} {known.id}",
        sources=(json.dumps({"new": entry.title, "known": known.text[:4000]}, ensure_ascii=False),),
        offline=lambda: "unsure",
        accept=_accepted,
        longest=200,
        max_tokens=50,
    )


def _accepted(text: str) -> Judged:
    verdict = read_object(text).get("verdict")
    if verdict not in ("contradiction", "redundant", "compatible"):
        raise BadInput(f"unknown verdict {verdict!r}")
    judged: Judged = verdict
    return judged
