"""Checks of a staged learning: against what is known, and with the questions a model may be asked about it.

`text/compare` answers whether an entry is superseded, contradicted or repeated; a model, when one is configured, judges
only the pairs that stay unsure. A model may also judge quality, choose the document and reword the entry. It chooses
among what it is given; the reasons that people read are ours. Knows nothing about files or what becomes of an entry.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from recollect.core.context import Context
from recollect.core.errors import BadInput
from recollect.models.ask import OFFLINE, Ask, ModelAnswer, ask, read_object, read_text
from recollect.models.embed import Similarity
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

COMPARED_LEARNINGS = 12  # those that share the rarest words with an entry; chosen, each costs one comparison
MIN_DOUBT = 0.6  # score from which an unsure contradiction is worth asking a person; chosen
MIN_COVERED = 0.8  # share of an entry's words that the text it repeats must hold; chosen


@dataclass(frozen=True, kw_only=True)
class KnownText:
    """A piece of what is known, by its id: `doc/<path>#<slug>`, `learn_…` or `staged/<slug>`."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Match:
    """A known text that supersedes, contradicts or repeats an entry, and how the two compare."""

    known: KnownText
    comparison: Comparison


def known_in_documents(documents: Mapping[str, str]) -> list[KnownText]:
    """Every section of the documents."""
    return [
        KnownText(id=f"doc/{path}#{section.slug}", title=section.title, text=prose_of(section.title, section.text))
        for path, text in documents.items()
        for section in sections(text)
    ]


def known_in_learnings(ctx: Context, entry: StagedEntry) -> list[KnownText]:
    """The active learnings nearest in words."""
    with ctx.db.read(ctx.space) as tx:
        query = lookup.understand(tx, lookup.terms_in(f"{entry.title}\n{entry.body}"))
        docs = lookup.candidates(tx, query, most=COMPARED_LEARNINGS)
        ids = [stored.id for stored in passages.ranked(tx, docs, Narrow(kinds=(learning_rows.KIND,)))]
        found = learning_rows.many(tx, sorted(ids))
    return [
        KnownText(id=each.id, title=each.title, text=f"{each.title}. {each.observation} {each.action}")
        for each in found
        if each.status == "active"
    ]


def superseding(entry: Aged, others: Sequence[Aged]) -> Match | None:
    """A newer staged entry that supersedes this one."""
    for other in others:
        if _is_newer(other, entry):
            found = supersession(other.entry.title, entry.entry.title)
            if found.holds:
                return Match(known=known_in_entry(other.entry), comparison=found)
    return None


def contradicting_same_day(entry: Aged, other: Aged) -> Match | None:
    """Another entry of the same day that contradicts this one: neither is the newer."""
    if other.entry.slug == entry.entry.slug or other.added != entry.added:
        return None
    found = contradiction(entry.entry.title, other.entry.title)
    return Match(known=known_in_entry(other.entry), comparison=found) if found.holds else None


def contradicting(ctx: Context, entry: StagedEntry, known: Sequence[KnownText]) -> Match | None:
    """The first known text that contradicts this entry, or may."""
    doubts: list[Match] = []
    for each in known:
        found = contradiction(entry.title, each.text)
        if found.holds:
            return Match(known=each, comparison=found)
        if found.answer == "unsure" and found.score >= MIN_DOUBT:
            doubts.append(Match(known=each, comparison=found))
    for doubt in sorted(doubts, key=lambda one: -one.comparison.score):
        judged = _judge_pair(ctx, entry, doubt.known)
        if judged in ("contradiction", "unsure"):
            return doubt
    return None


def opposing_sentence(entry: StagedEntry, known: KnownText) -> str:
    """The sentence of a known text that contradicts an entry most."""
    said = _sentences(known.text) or [known.title]
    return max(said, key=lambda each: (found := contradiction(entry.title, each)).score * (found.answer != "no"))


def repeating(entry: StagedEntry, known: Sequence[KnownText], alike: Similarity | None) -> Match | None:
    """A known text that already says all of this entry."""
    words = _words(entry.title)
    for each in known:
        said = [sentence for sentence in _sentences(each.text) if 2 * len(words & _words(sentence)) >= len(words)]
        cosines = alike(entry.title, said) if alike else [None] * len(said)
        for sentence, cosine in zip(said, cosines, strict=True):
            found = redundancy(entry.title, sentence, cosine=cosine)
            if found.holds and _adds_nothing(each, entry):
                return Match(known=each, comparison=found)
    return None


def known_in_entry(entry: StagedEntry) -> KnownText:
    return KnownText(id=f"staged/{entry.slug}", title=entry.title, text=prose_of(entry.title, entry.body))


def prose_of(title: str, body: str) -> str:
    """The prose of a section, without code and quotes."""
    return "\n".join([title, *own_lines(body)])


def _adds_nothing(known: KnownText, entry: StagedEntry) -> bool:
    """Whether an entry's body adds nothing to what is known."""
    wanted, there = _words(prose_of("", entry.body)), _words(known.text)
    return not wanted or len(wanted & there) / len(wanted) >= MIN_COVERED


def _words(text: str) -> set[str]:
    return {word for each in statements(text) for word in each.words}


def _sentences(text: str) -> list[str]:
    return [part.strip() for line in text.split("\n") for part in split_sentences(line, lower_case=True)]


def _is_newer(one: Aged, other: Aged) -> bool:
    """Whether an entry was added on a later day; one that is not committed yet is the newest."""
    if one.added is None or other.added is None:
        return one.added is None and other.added is not None
    return one.added > other.added


def _judge_pair(ctx: Context, entry: StagedEntry, known: KnownText) -> Judged:
    """A model's verdict on a pair that the words leave unsure; without a model it stays unsure."""
    return ask(ctx, compare_question(entry, known)).value


def compare_question(entry: StagedEntry, known: KnownText) -> Ask[Judged]:
    """The question whether an entry contradicts or repeats a known text."""
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


OFFERED_PLACES = 8  # that a model may choose from; chosen to keep the prompt short
GIST_CHARS = 300  # of each section that a model is shown
JSON_MARGIN = 200  # characters that JSON may add to a text
TITLE_LIMIT = 200
_STRUCTURE = lazy(r"(?m)^ {0,3}(?:#{1,6}\s|---+\s*$|===+\s*$|<!--)")


@dataclass(frozen=True, kw_only=True)
class Wording:
    """A staged learning as its document will hold it."""

    title: str
    body: str


def quality_question(entry: StagedEntry) -> Ask[Refusal | None]:
    """The question whether an entry states a rule; the answer is the refusal, or None."""
    return Ask(
        kind="quality",
        subject=f"staged/{entry.slug}",
        sources=(_entry_json(entry),),
        offline=lambda: quality.staged_refusal(entry.title, entry.body),
        accept=_read_refusal,
        longest=JSON_MARGIN,
        max_tokens=50,
    )


def choose_place(
    ctx: Context,
    entry: StagedEntry,
    documents: Mapping[str, str],
    committed: Mapping[str, str],
    alike: Likeness | None,
    ignored: Collection[str],
) -> ModelAnswer[Placement]:
    """Where an entry belongs. A model chooses among the places as they were when the run began, so that its answer can
    be cached; when the run has split the chosen place since, the offline rule chooses."""
    if ctx.models.provider("route") is not None:
        chosen = ask(ctx, route_question(entry, committed, alike))
        path, heading = chosen.value.path, chosen.value.heading
        there = not heading or any(section.slug == heading for section in sections(documents.get(path, "")))
        if chosen.generator != OFFLINE and there and (not path or path in documents):
            return chosen
    nearest = route.place(f"{entry.title}\n{entry.body}", documents, alike=alike, ignored=ignored)
    return ModelAnswer(value=nearest, generator=OFFLINE)


def route_question(entry: StagedEntry, documents: Mapping[str, str], alike: Likeness | None) -> Ask[Placement]:
    """The question which of the nearest sections an entry belongs under."""
    text = f"{entry.title}\n{entry.body}"
    nearest = route.candidates(text, documents, alike=alike, most=OFFERED_PLACES)
    targets = [
        {"number": number, "document": each.path, "heading": each.title, "says": each.says[:GIST_CHARS]}
        for number, each in enumerate(nearest, 1)
    ]
    return Ask(
        kind="route",
        subject=f"staged/{entry.slug}",
        sources=(_entry_json(entry), json.dumps(targets, ensure_ascii=False)),
        offline=lambda: route.place(text, documents, alike=alike),
        accept=lambda answer: _read_place(answer, [each.placement for each in nearest]),
        longest=JSON_MARGIN,
        max_tokens=50,
    )


def rewrite_question(entry: StagedEntry) -> Ask[Wording]:
    """The question how an entry reads as a permanent rule. It depends on the entry alone, so that a later run finds the
    cached answer."""
    return Ask(
        kind="rewrite",
        subject=f"staged/{entry.slug}",
        sources=(_entry_json(entry),),
        must_keep=(f"{entry.title}\n{entry.body}",),
        offline=lambda: Wording(title=entry.title, body=entry.body),
        accept=lambda text: _read_wording(text, entry),
        longest=len(_entry_json(entry)) + JSON_MARGIN,
        max_tokens=2_000,
    )


def _entry_json(entry: StagedEntry) -> str:
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
        raise BadInput("`target` must be one of the given numbers, or 0 for none")
    if number == 0:
        return Placement(kind="new file", path="", heading="", title="", score=0.0)
    return offered[number - 1]


def _read_wording(text: str, entry: StagedEntry) -> Wording:
    given = read_object(text)
    title, body = read_text(given, "title", most=TITLE_LIMIT), given.get("body", "")
    if not isinstance(body, str) or bool(body.strip()) != bool(entry.body.strip()):
        raise BadInput("`body` must be text if the entry has a body, and empty otherwise")
    if len(title) + len(body) > len(entry.title) + len(entry.body) + JSON_MARGIN:
        raise BadInput("the rewording is longer than the entry")
    if any(block not in body for block in code_blocks(entry.body)):
        raise BadInput("the rewording changes a code block")
    if _STRUCTURE.search(without_fences(body)):
        raise BadInput("the rewording adds headings, rules or comments")
    return Wording(title=title, body=body.strip("\n"))
