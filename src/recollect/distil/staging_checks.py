"""Holding a staged learning against what is known: documents, learnings, and other staged entries.

Three questions in order, each answered by `text/compare`. What stays unsure is put to a model when one is configured,
and to a person otherwise. Knows nothing about what is done with an answer.

What a model is asked about a staged learning: is it a rule, where does it belong, how should it be worded.

Each has its offline twin in `text`. A model chooses among what it is given and words what is there; the reasons and
rephrasings people read are ours. Knows nothing about files or what becomes of an entry.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from recollect.core.context import Context
from recollect.core.errors import BadInput
from recollect.models.ask import OFFLINE, Ask, ModelAnswer, ask, read_object, read_text
from recollect.models.embed import Alike
from recollect.store import learnings as learning_rows
from recollect.store import lookup, passages
from recollect.store.passages import Narrow
from recollect.text import quality, route
from recollect.text.compare import Comparison, contradiction, redundancy, supersession
from recollect.text.documents import sections
from recollect.text.markdown import code_blocks, own_lines, without_fences
from recollect.text.patterns import lazy
from recollect.text.quality import Refusal
from recollect.text.route import Likeness, Placement
from recollect.text.sentences import split_sentences
from recollect.text.staging import StagedEntry
from recollect.text.staging_due import Aged
from recollect.text.statement import statements

Judged = Literal["contradiction", "redundant", "compatible", "unsure"]

COMPARED = 12  # learnings that share the rarest words with an entry
DOUBTFUL = 0.6  # overlap from which an unsure contradiction is worth a person's time
COVERED = 0.8  # share of an entry's words that what it repeats must hold


@dataclass(frozen=True, kw_only=True)
class KnownText:
    """A piece of what is known, by its id: `doc/<path>#<slug>`, `learn_…` or `staged/<slug>`."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Match:
    """Something known that an entry gives way to, contradicts or repeats, and how the two compare."""

    known: KnownText
    comparison: Comparison


def in_documents(documents: Mapping[str, str]) -> list[KnownText]:
    """Every section of the documents."""
    return [
        KnownText(id=f"doc/{path}#{section.slug}", title=section.title, text=spoken(section.title, section.text))
        for path, text in documents.items()
        for section in sections(text)
    ]


def in_learnings(ctx: Context, entry: StagedEntry) -> list[KnownText]:
    """The active learnings nearest in words."""
    with ctx.db.read(ctx.space) as tx:
        query = lookup.understand(tx, lookup.terms_in(f"{entry.title}\n{entry.body}"))
        docs = lookup.candidates(tx, query, most=COMPARED)
        ids = [stored.id for stored in passages.ranked(tx, docs, Narrow(kinds=(learning_rows.KIND,)))]
        found = learning_rows.many(tx, sorted(ids))
    return [
        KnownText(id=each.id, title=each.title, text=f"{each.title}. {each.observation} {each.action}")
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


def contradicting_same_day(entry: Aged, other: Aged) -> Match | None:
    """Another entry of the same day that contradicts this one: neither is the newer."""
    if other.entry.slug == entry.entry.slug or other.added != entry.added:
        return None
    found = contradiction(entry.entry.title, other.entry.title)
    return Match(known=staged_known(other.entry), comparison=found) if found.holds else None


def contradicting(ctx: Context, entry: StagedEntry, known: Sequence[KnownText]) -> Match | None:
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


def opposing_sentence(entry: StagedEntry, known: KnownText) -> str:
    """The words of what is known that stand against an entry most."""
    said = _sentences(known.text) or [known.title]
    return max(said, key=lambda each: (found := contradiction(entry.title, each)).score * (found.answer != "no"))


def repeating(entry: StagedEntry, known: Sequence[KnownText], alike: Alike | None) -> Match | None:
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


def staged_known(entry: StagedEntry) -> KnownText:
    return KnownText(id=f"staged/{entry.slug}", title=entry.title, text=spoken(entry.title, entry.body))


def spoken(title: str, body: str) -> str:
    """What an author says in a section, without code and quotes."""
    return "\n".join([title, *own_lines(body)])


def _covers(known: KnownText, entry: StagedEntry) -> bool:
    """Whether an entry's body adds nothing to what is known."""
    wanted, there = _words(spoken("", entry.body)), _words(known.text)
    return not wanted or len(wanted & there) / len(wanted) >= COVERED


def _words(text: str) -> set[str]:
    return {word for each in statements(text) for word in each.words}


def _sentences(text: str) -> list[str]:
    return [part.strip() for line in text.split("\n") for part in split_sentences(line, lower_case=True)]


def _later(one: Aged, other: Aged) -> bool:
    """A later day; what is not committed yet is newest."""
    if one.added is None or other.added is None:
        return one.added is None and other.added is not None
    return one.added > other.added


def _judged(ctx: Context, entry: StagedEntry, known: KnownText) -> Judged:
    """What a model says about a pair that words could not settle; without one it stays unsure."""
    return ask(ctx, compare_question(entry, known)).value


def compare_question(entry: StagedEntry, known: KnownText) -> Ask[Judged]:
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


SHOWN = 8  # places a model may choose from
GIST = 300  # characters of a section it is shown
MARGIN = 200  # characters JSON may add to a text
TITLE_LIMIT = 200
_STRUCTURE = lazy(r"(?m)^ {0,3}(?:#{1,6}\s|---+\s*$|===+\s*$|<!--)")


@dataclass(frozen=True, kw_only=True)
class Wording:
    """A staged learning as it will stand in its document."""

    title: str
    body: str


def refusal(entry: StagedEntry) -> Ask[Refusal | None]:
    """Why does this state no rule that holds beyond the case it came from, if it does not?"""
    return Ask(
        kind="quality",
        subject=f"staged/{entry.slug}",
        sources=(_told(entry),),
        offline=lambda: quality.staged_refusal(entry.title, entry.body),
        accept=_read_refusal,
        longest=MARGIN,
        max_tokens=50,
    )


def placed(
    ctx: Context,
    entry: StagedEntry,
    documents: Mapping[str, str],
    committed: Mapping[str, str],
    alike: Likeness | None,
    ignored: Collection[str],
) -> ModelAnswer[Placement]:
    """Where this belongs. A model chooses among the places as the run found them, so that its choice can be asked for
    beforehand; one that the run has split away meanwhile is chosen without it."""
    if ctx.models.provider("route") is not None:
        chosen = ask(ctx, place(entry, committed, alike))
        path, heading = chosen.value.path, chosen.value.heading
        there = not heading or any(section.slug == heading for section in sections(documents.get(path, "")))
        if chosen.generator != OFFLINE and there and (not path or path in documents):
            return chosen
    nearest = route.place(f"{entry.title}\n{entry.body}", documents, alike=alike, ignored=ignored)
    return ModelAnswer(value=nearest, generator=OFFLINE)


def place(entry: StagedEntry, documents: Mapping[str, str], alike: Likeness | None) -> Ask[Placement]:
    """Which of the nearest sections does this belong under?"""
    text = f"{entry.title}\n{entry.body}"
    nearest = route.candidates(text, documents, alike=alike, most=SHOWN)
    targets = [
        {"number": number, "document": each.path, "heading": each.title, "says": each.says[:GIST]}
        for number, each in enumerate(nearest, 1)
    ]
    return Ask(
        kind="route",
        subject=f"staged/{entry.slug}",
        sources=(_told(entry), json.dumps(targets, ensure_ascii=False)),
        offline=lambda: route.place(text, documents, alike=alike),
        accept=lambda answer: _read_place(answer, [each.placement for each in nearest]),
        longest=MARGIN,
        max_tokens=50,
    )


def wording(entry: StagedEntry) -> Ask[Wording]:
    """How does this read as a permanent rule? By its own words alone: a run that was cut off finds it again."""
    return Ask(
        kind="rewrite",
        subject=f"staged/{entry.slug}",
        sources=(_told(entry),),
        must_keep=(f"{entry.title}\n{entry.body}",),
        offline=lambda: Wording(title=entry.title, body=entry.body),
        accept=lambda text: _read_wording(text, entry),
        longest=len(_told(entry)) + MARGIN,
        max_tokens=2_000,
    )


def _told(entry: StagedEntry) -> str:
    return json.dumps({"title": entry.title, "body": entry.body}, ensure_ascii=False)


def _read_refusal(text: str) -> Refusal | None:
    flaw = read_object(text).get("flaw", "")
    if flaw is None:
        return None
    if not isinstance(flaw, str) or flaw not in quality.STAGED_FLAWS:
        raise BadInput(f"unknown flaw {str(flaw)[:40]!r}")
    return quality.REFUSALS[flaw]


def _read_place(text: str, offered: list[Placement]) -> Placement:
    number = read_object(text).get("target")
    if type(number) is not int or not 0 <= number <= len(offered):
        raise BadInput("target must be one of the given numbers, or 0 for none")
    if number == 0:
        return Placement(kind="new file", path="", heading="", title="", score=0.0)
    return offered[number - 1]


def _read_wording(text: str, entry: StagedEntry) -> Wording:
    given = read_object(text)
    title, body = read_text(given, "title", most=TITLE_LIMIT), given.get("body", "")
    if not isinstance(body, str) or bool(body.strip()) != bool(entry.body.strip()):
        raise BadInput("body must be a text where there was one")
    if len(title) + len(body) > len(entry.title) + len(entry.body) + MARGIN:
        raise BadInput("it is longer than what it words")
    if any(block not in body for block in code_blocks(entry.body)):
        raise BadInput("it changes code")
    if _STRUCTURE.search(without_fences(body)):
        raise BadInput("it has headings or marks of its own")
    return Wording(title=title, body=body.strip("\n"))
