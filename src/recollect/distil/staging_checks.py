"""Checks of a staged learning: against what is known, and with the questions a model may be asked about it.

`text/compare` answers whether an entry is superseded, contradicted or repeated; a configured model judges the conflicts
that stay unsure. A model may also judge quality, choose the document and reword the entry.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import lru_cache
from typing import Literal, TypeVar

from recollect.capture import learn, stage
from recollect.core.context import Context
from recollect.core.errors import BadInput, NoHistory
from recollect.core.records import record, replace
from recollect.models.ask import OFFLINE, Ask, ModelAnswer, ask_within, read_object, read_text
from recollect.models.embed import Similarity, nearest
from recollect.store import learnings as learning_rows
from recollect.store import lookup, passages
from recollect.store.passages import Narrow
from recollect.text import quality
from recollect.text.claims import claims, is_topic
from recollect.text.compare import Comparison, Judge, compare
from recollect.text.documents import sections
from recollect.text.markdown import code_blocks, lazy, without_fences
from recollect.text.quality import Refusal
from recollect.text.route import NEW_FILE, Placement, Router
from recollect.text.staging import Aged, StagedEntry

T = TypeVar("T")
Judged = Literal["contradiction", "redundant", "compatible", "unsure"]

COMPARED_LEARNINGS = 12  # those that share the rarest words with an entry; chosen, each costs one comparison


@record
class KnownText:
    """A piece of what is known, by its id: `doc/<path>#<slug>`, `learn_…` or `staged/<slug>`."""

    id: str
    title: str
    claims: tuple[str, ...]


@record
class Match:
    """A known text that supersedes, contradicts or repeats an entry, and how the two compare."""

    known: KnownText
    comparison: Comparison


def all_known(ctx: Context, documents: Mapping[str, str], entry: StagedEntry) -> list[KnownText]:
    """What an entry is compared with: every section of the documents, and the learnings nearest in words."""
    found = [known for path, text in documents.items() for known in _known_in_document(path, text)]
    return [*found, *_known_in_learnings(ctx, entry)]


@lru_cache(maxsize=256)  # documents: a run asks for all of them again for every entry
def _known_in_document(path: str, text: str) -> tuple[KnownText, ...]:
    """Every section of a document that claims something."""
    found = [(section, claims(section.title if section.level > 1 else "", section.text)) for section in sections(text)]
    return tuple(
        KnownText(id=f"doc/{path}#{section.slug}", title=section.title, claims=said) for section, said in found if said
    )


def _known_in_learnings(ctx: Context, entry: StagedEntry) -> list[KnownText]:
    with ctx.db.read(ctx.space) as tx:
        query = lookup.understand(tx, lookup.terms_in(f"{entry.title}\n{entry.body}"))
        docs = lookup.candidates(tx, query, most=COMPARED_LEARNINGS)
        ids = [stored.id for stored in passages.ranked(tx, docs, Narrow(kinds=(learning_rows.KIND,)))]
        found = learning_rows.many(tx, sorted(ids))
    return [
        KnownText(id=each.id, title=each.title, claims=learn.claims_of(each))
        for each in found
        if each.status == "active" and each.trust != "external"
    ]


def known_in_entry(entry: StagedEntry) -> KnownText:
    return KnownText(id=f"staged/{entry.slug}", title=entry.title, claims=stage.claims_of(entry.title, entry.said))


@record
class Neighbours:
    """Two staged entries; `found` is the older, compared with the newer; `later` where that is of a later day."""

    newer: StagedEntry
    older: StagedEntry
    found: Match
    later: bool


@record
class Checks:
    """What entries are compared with, and how; one for a run."""

    ctx: Context
    alike: Similarity | None
    judge: Judge | None
    met: dict[str, list[str]]
    """For each entry that was compared, how: which claim met which, and why."""

    def beside(self, one: Aged, others: Sequence[Aged]) -> list[Neighbours]:
        """This staged entry with each other one near it, as two texts of which one is newer; sure answers first."""
        entries = {f"staged/{each.entry.slug}": each for each in others if each.entry.slug != one.entry.slug}
        found = []
        for side in (True, False):  # the entries that are newer than this one, then the older ones
            known = [known_in_entry(each.entry) for each in entries.values() if (_order(each) > _order(one)) is side]
            for match in self._related(known_in_entry(one.entry), known, newer=side):
                older, newer = sorted((one, entries[match.known.id]), key=_order)
                pair = replace(match, known=known_in_entry(older.entry))
                pair = replace(pair, comparison=self._judged(newer.entry, pair))
                days = [_order(each)[:2] for each in (older, newer)]
                found.append(Neighbours(newer=newer.entry, older=older.entry, found=pair, later=days[0] < days[1]))
        return sorted(found, key=lambda each: not each.found.comparison.sure)

    def settle(self, entry: StagedEntry, known: Sequence[KnownText]) -> Iterator[Match]:
        """The known texts that contradict this entry, those that say all of it, and those that may contradict it."""
        found = self._related(known_in_entry(entry), known)
        yield from (each for each in found if each.comparison.conflicts and each.comparison.sure)
        yield from (each for each in found if each.comparison.repeats)
        # What may only be a repetition is placed: on strangers' pairs fewer than half of such doubts were right.
        for doubt in sorted(found, key=lambda match: -match.comparison.score):
            judged = self._judged(entry, doubt)
            if not doubt.comparison.sure and (judged.conflicts or judged.repeats):
                yield replace(doubt, comparison=judged)

    def _judged(self, entry: StagedEntry, found: Match) -> Comparison:
        """The comparison; a conflict that is not sure as a model sees it, where one is configured."""
        said = found.comparison
        if said.sure or not said.conflicts:
            return said
        judged = answered(self.ctx, compare_question(entry, found.known)).value
        if judged == "redundant":
            return replace(said, kind="same", sure=True)
        return replace(said, kind="near") if judged == "compatible" else said

    def _related(self, entry: KnownText, known: Sequence[KnownText], *, newer: bool = False) -> list[Match]:
        """The known texts near an entry, each compared with it; `newer` where they are newer than the entry."""
        by_id = {each.id: each for each in known}
        near = nearest(self.ctx, entry.claims, {each.id: each.claims for each in known}, alike=self.alike)
        found = []
        for id in near:
            new, old = (by_id[id], entry) if newer else (entry, by_id[id])
            said = compare(new.claims, old.claims, self.judge)
            if not said.conflicts and not (is_topic(new.title) or is_topic(old.title)):
                titles = compare((new.title,), (old.title,), self.judge)  # two reasons may hide that two rules conflict
                said = replace(titles, sure=False) if titles.conflicts else said
            found.append(Match(known=by_id[id], comparison=said))
        self.met.setdefault(entry.id, []).extend(f"{match.known.id}: {match.comparison.explained}" for match in found)
        return found


def _order(one: Aged) -> tuple[bool, date, int]:
    """When an entry was added: its day, then its line. One that is not committed yet is the newest."""
    return one.added is None, one.added or date.max, one.entry.first


class CallsUsedUp(Exception):
    """An entry waits for the next run: this one may make no more calls."""


def answered(ctx: Context, question: Ask[T]) -> ModelAnswer[T]:
    if (found := ask_within(ctx, question)) is None:
        raise CallsUsedUp
    return found


def compare_question(entry: StagedEntry, known: KnownText) -> Ask[Judged]:
    return Ask(
        kind="compare",
        subject=f"staged/{entry.slug} {known.id}",
        sources=(json.dumps({"new": entry.title, "known": "\n".join(known.claims)[:4000]}, ensure_ascii=False),),
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
GIST_CHARS = 300  # of each section that a model is shown; chosen to keep the prompt short
JSON_MARGIN = 200  # characters that JSON may add to a text
TITLE_LIMIT = 200  # characters of a title that a model words; chosen, two lines of a terminal
_STRUCTURE = lazy(r"(?m)^ {0,3}(?:#{1,6}\s|---+\s*$|===+\s*$|<!--)")


@record
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


def learn_places(ctx: Context, documents: Mapping[str, str], alike: Similarity | None) -> Router:
    """What the documents attract, by their sections and by what git knows of earlier entries."""
    earlier: list[tuple[str, str, str]] = []
    with suppress(NoHistory):
        earlier = ctx.git.moved(ctx.settings.staging.file, sorted(documents))
    return Router(documents, alike=alike, earlier=earlier)


def choose_place(
    ctx: Context, entry: StagedEntry, router: Router, documents: Mapping[str, str], ignored: Collection[str]
) -> ModelAnswer[Sequence[Placement]]:
    """Where an entry belongs, likeliest first. A model chooses one among the places as they were when the run began, so
    that its answer can be cached; when the run has split the chosen place since, the offline rule ranks."""
    if ctx.models.provider("route") is not None:
        chosen = answered(ctx, route_question(entry, router))
        path, heading = chosen.value.path, chosen.value.heading
        there = not heading or any(section.slug == heading for section in sections(documents.get(path, "")))
        if chosen.generator != OFFLINE and there and (not path or path in documents):
            return ModelAnswer(value=(chosen.value,), generator=chosen.generator)
    return ModelAnswer(value=router.ranked(entry.title, entry.said, ignored), generator=OFFLINE)


def route_question(entry: StagedEntry, router: Router) -> Ask[Placement]:
    nearest = router.ranked(entry.title, entry.said)[:OFFERED_PLACES]
    targets = [
        {"number": number, "document": each.path, "heading": each.title, "says": each.says[:GIST_CHARS]}
        for number, each in enumerate(nearest, 1)
    ]
    return Ask(
        kind="route",
        subject=f"staged/{entry.slug}",
        sources=(_entry_json(entry), json.dumps(targets, ensure_ascii=False)),
        offline=lambda: next(iter(nearest), NEW_FILE),
        accept=lambda answer: _read_place(answer, nearest),
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


def _read_place(text: str, offered: Sequence[Placement]) -> Placement:
    number = read_object(text).get("target")
    if type(number) is not int or not 0 <= number <= len(offered):
        raise BadInput("`target` must be one of the given numbers, or 0 for none")
    return offered[number - 1] if number else NEW_FILE


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
