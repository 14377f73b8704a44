"""Importing what another tool remembers, piece by piece: entries into the log of their day, learnings beside ours.

Agents are shown learnings without asking, so a note becomes a learning only when it says what to do; any other becomes
an entry of the log. Each piece is recognised by its text, so a repeated or resumed import adds nothing twice. Pieces
count as external until a person adopts them. The readers of the tools are in `capture/import_tools.py`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import date
from itertools import islice

from recollect.capture import import_records, log
from recollect.capture.import_records import Terms
from recollect.capture.learn import known_insight
from recollect.capture.logs import adopted_key, day_of_entry
from recollect.core.choices import DiscoveryType, PatternType, Trust
from recollect.core.clock import day_of, iso, zone_named
from recollect.core.context import Actor, Context, Tx
from recollect.core.errors import BadInput, after
from recollect.core.journal import NewEntry
from recollect.core.new_learning import TAG_LENGTH, TAG_LIMIT, TITLE_LIMIT, NewLearning
from recollect.core.records import record, replace
from recollect.core.trust import check_trust
from recollect.store import events
from recollect.store.files import content_hash
from recollect.text import entries
from recollect.text.frame import one_line
from recollect.text.markers import extract
from recollect.text.storable import storable, storable_record

_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
LEARNED_AS: dict[DiscoveryType, PatternType] = {
    "blocker": "gotcha",
    "constraint": "constraint",
    "pattern": "best-practice",
    "decision": "solution",
    "dependency": "constraint",
}


@record
class Piece:
    """One entry or learning, and its place in the other tool. `at` is its time in milliseconds; None when unknown."""

    place: str
    at: int | None
    what: NewEntry | NewLearning


@record
class SkippedPiece:
    """Something that was not imported, and why; `lost` when it may hold something worth having."""

    place: str
    reason: str
    lost: bool = True


BATCH = 200  # pieces per transaction: few enough that other writers do not wait long
SHOWN = 50  # new and skipped pieces that a report lists by name; it counts the rest
OLDEST = 946_684_800_000  # the year 2000; an earlier time comes from a clock that was never set


@record
class NewPiece:
    kind: str
    day: date
    title: str
    place: str


@record
class ImportedPieces:
    """What became of the pieces, or would in a preview. `fresh` and `passed` list the first new and skipped ones."""

    source: str
    trust: Trust
    preview: bool
    added: dict[str, int]
    adopted: int
    """External learnings that a person vouches for now."""
    known: int
    fresh: tuple[NewPiece, ...]
    passed: tuple[SkippedPiece, ...]
    passed_over: int
    whole: bool
    """Whether every piece with content was imported now or before."""


def bring_in(
    ctx: Context,
    pieces: Iterable[Piece | SkippedPiece],
    *,
    source: str,
    trust: Trust = "external",
    preview: bool = False,
    progress: Callable[[int], object] | None = None,
) -> ImportedPieces:
    """Import pieces; with `preview`, only say what that would add."""
    check_trust(ctx.actor.trust, trust)
    work = _Gathering(ctx, source, trust, preview)
    with after("What was imported so far is saved", "Run this again: nothing is imported twice"):
        rest = iter(pieces)
        while batch := list(islice(rest, BATCH)):
            work.take([each for each in batch if isinstance(each, Piece)])
            work.pass_over([each for each in batch if isinstance(each, SkippedPiece)])
            if progress is not None:
                progress(len(batch))
    return work.result()


class _Gathering:
    def __init__(self, ctx: Context, source: str, trust: Trust, preview: bool):
        now = ctx.clock.now()
        self._ctx = replace(ctx, actor=Actor(name=ctx.actor.name, channel="import", trust=trust))
        self._terms = Terms(trust=trust, now=now, change=ctx.ids("change"), reason=f"imported from {source}")
        self._source = source
        self._preview = preview
        self._seen: set[str] = set()
        self._added: Counter[str] = Counter()
        self._known = self._adopted = self._passed_over = 0
        self._whole = True
        self._fresh: list[NewPiece] = []
        self._passed: list[SkippedPiece] = []

    def take(self, pieces: list[Piece]) -> None:
        days: dict[date, list[log.Dated]] = defaultdict(list)
        learnings: list[tuple[Piece, NewLearning]] = []
        with self._ctx.db.read(self._ctx.space) as tx:
            for piece in pieces:
                if isinstance(piece.what, NewLearning):
                    learnings.append((piece, piece.what))
                elif found := self._new_entry(tx, piece, piece.what):
                    day, entry = found
                    days[day].append(entry)
        if not self._preview:
            for day, dated in sorted(days.items()):
                log.add_all(self._ctx, day, dated)
        self._take_learnings(learnings)

    def pass_over(self, passed: list[SkippedPiece]) -> None:
        self._passed_over += len(passed)
        self._whole &= not any(each.lost for each in passed)
        self._passed += passed[: SHOWN - len(self._passed)]

    def result(self) -> ImportedPieces:
        return ImportedPieces(
            source=self._source,
            trust=self._terms.trust,
            preview=self._preview,
            added=dict(sorted(self._added.items())),
            adopted=self._adopted,
            known=self._known,
            fresh=tuple(self._fresh),
            passed=tuple(self._passed),
            passed_over=self._passed_over,
            whole=self._whole,
        )

    def _new_entry(self, tx: Tx, piece: Piece, what: NewEntry) -> tuple[date, log.Dated] | None:
        """The entry without secrets and with its source named, unless it is known."""
        try:
            new, _ = storable_record(what)
            told = entries.body(new)
            if not told.strip():
                raise BadInput("nothing is left of it without secrets")
        except BadInput as problem:
            self.pass_over([SkippedPiece(place=piece.place, reason=str(problem))])
            return None
        said = (new.type, entries.one_line(new.title or new.topic or ""), told)
        key = _key(self._terms.trust, *said)
        day = self._day(piece)
        before = events.happened(tx, key)
        if self._terms.trust != "external" and (outside := events.of_change(tx, _key("external", *said))):
            # A log is append-only: an external entry that is vouched for later is written once more.
            key = adopted_key(outside[0].subject, outside[0].change)
            day = day_of_entry(outside[0].subject)
            before = before or events.happened(tx, key)
        if self._is_known(key, before):
            return None
        self._add("entry", piece, new.title or new.topic or told)
        new = replace(new, references=(*new.references, self._origin(piece)))
        return day, log.Dated(new=new, key=key, at=self._at(piece))

    def _take_learnings(self, pieces: list[tuple[Piece, NewLearning]]) -> None:
        if not pieces:
            return
        open_store = self._ctx.db.read if self._preview else self._ctx.db.write
        with open_store(self._ctx.space) as tx:
            for piece, what in pieces:
                self._take_learning(tx, piece, what)

    def _take_learning(self, tx: Tx, piece: Piece, what: NewLearning) -> None:
        values = {**vars(what), "created_at": iso(self._at(piece))}
        brought = import_records.read(self._ctx, self._terms, "learning", values)
        assert isinstance(brought, import_records.ImportedLearning)
        learning = replace(brought.learning, origin=self._origin(piece))
        known = known_insight(tx, learning, self._terms.trust) is not None
        if self._is_known(learning.id, known):
            return
        brought = replace(brought, learning=learning)
        fate = import_records.foreseen(tx, self._terms, brought)
        if not self._preview:
            import_records.put(tx, self._ctx, self._terms, brought)
        if fate == "added":
            self._add("learning", piece, learning.title)
        elif fate == "adopted":
            self._adopted += 1
        else:
            self._known += 1

    def _is_known(self, key: str, before: bool) -> bool:
        known = before or key in self._seen
        self._seen.add(key)
        self._known += known
        return known

    def _add(self, kind: str, piece: Piece, title: str) -> None:
        self._added[kind] += 1
        if len(self._fresh) < SHOWN:
            shown = entries.one_line(title)
            self._fresh.append(NewPiece(kind=kind, day=self._day(piece), title=shown, place=piece.place))

    def _origin(self, piece: Piece) -> str:
        """The piece's place in the other tool; the name of a file may hold a secret too."""
        return one_line(storable(f"{self._source}: {piece.place}"))[:200]

    def _at(self, piece: Piece) -> int:
        """The time of a piece: never later than now, and now when it is unknown."""
        at = piece.at if piece.at is not None and piece.at >= OLDEST else self._terms.now
        return min(at, self._terms.now)

    def _day(self, piece: Piece) -> date:
        return day_of(self._at(piece), zone_named(self._ctx.settings.timezone))


def _key(trust: Trust, *said: str) -> str:
    """The key of an entry. Trust is part of it, so that a person can vouch for the entry later."""
    return f"brought_{content_hash(chr(31).join((trust, *said)))[:24]}"


def learning_in(
    kind: DiscoveryType, text: str, *, title: str = "", about: str = "", tags: Iterable[str] = ()
) -> NewLearning | None:
    """The learning that a note states, or None when it does not say what to do."""
    text = one_line(_WIKILINK.sub(r"\1", text))  # a link becomes the word that it shows
    try:
        made = extract(kind, text, about, "")
    except BadInput:
        return None
    if "action" not in made.stated:
        return None
    return NewLearning(
        title=one_line(title)[:TITLE_LIMIT].rstrip() or made.title,
        context=made.context,
        observation=made.observation,
        implication=made.implication,
        action=made.action,
        tags=usable_tags((*tags, *made.tags)),
        domain=made.domain,
        pattern_type=LEARNED_AS[kind],
    )


def usable_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Another tool's tags that are valid here, each once."""
    found = [" ".join(tag.split()).lower() for tag in tags]
    fitting = [tag for tag in dict.fromkeys(found) if tag and len(tag) <= TAG_LENGTH and tag.isprintable()]
    return tuple(fitting[:TAG_LIMIT])
