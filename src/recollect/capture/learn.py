"""Capturing a learning: redaction and the quality gate first, then comparison with what is known.

The same insight again raises the recurrence of the known learning and is not stored twice. A learning that says
otherwise replaces a known one where it says so explicitly, and is put before a person where it may contradict one; for
that only titles and actions are compared, because they state the rule. Edits are in `capture/edit.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect.core.choices import Trust
from recollect.core.context import TRUSTS, Context, Tx
from recollect.core.errors import Forbidden, Rejected
from recollect.core.learning import COIA, Learning
from recollect.core.new_learning import TAG_LIMIT, NewLearning
from recollect.core.records import made
from recollect.core.values import thousandths
from recollect.store import events, lookup, passages, tasks
from recollect.store import learnings as rows
from recollect.store.passages import Narrow
from recollect.text import quality
from recollect.text.compare import Comparison, contradiction, redundancy, supersession
from recollect.text.sentences import split_sentences
from recollect.text.storable import storable_record
from recollect.text.tokens import terms

KIND = "contradiction"
SHARED_BY_SENTENCES = 0.5  # share of words (Dice) from which two sentences are compared; below, comparing finds nothing
DOUBTFUL = 0.6  # overlap from which an unsure contradiction is put before a person


COMPARED = 8  # candidates that a new learning is compared with; the same insight is among the first
LOOKED_AT = 2_000  # index entries read to find them: the same insight shares its rare words
SHARED = 0.65  # share of words (Dice) from which two learnings are compared; repetitions share more
SAID = ("title", *COIA, "tags", "domain", "pattern_type")  # what a repetition may word differently
CONFIRMED = ("tags", "domain", "confidence", "trust")  # what changes when a person repeats it
UNASKED = NewLearning.pattern_type  # the type of a learning whose author named none
UNTOUCHED = {
    "times_injected": 0,
    "times_helpful": 0,
    "times_not_helpful": 0,
    "recurrence": 1,
    "status": "active",
    "superseded_by": None,
    "pinned": False,
    "version": 1,
    "last_injected_at": None,
    "last_helpful_at": None,
    "last_decayed_at": None,
}
"""The fields of a learning to which nothing has happened yet."""


@dataclass(frozen=True, kw_only=True)
class Captured:
    """What became of a new learning: stored, or merged into one that said the same.

    `confirmed` when a person repeated what an agent had learned, so that it counts as a person's now. `taken` names the
    fields that the known learning took over besides, `left` those that it kept as they were.
    """

    learning: Learning
    merged: bool
    redacted: tuple[str, ...]
    confirmed: bool = False
    taken: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def learn(
    ctx: Context,
    new: NewLearning,
    *,
    anyway: bool = False,
    origin: str | None = None,
    change: str | None = None,
) -> Captured:
    """Store a learning, or raise the recurrence of the one that already says so.

    One that teaches nothing is rejected unless the caller insists.
    """
    if new.confidence is not None and ctx.actor.trust != "human":
        raise Forbidden("only a person sets a confidence; leave it out and the type of the insight decides")
    new, kinds = storable_record(new)
    refusal = None if anyway else quality.learning_refusal(**{name: getattr(new, name) for name in quality.WEIGHED})
    if refusal is not None:
        raise Rejected(f"not saved: {refusal.why}. {refusal.rephrase} With `anyway` it is kept as it is")
    now = ctx.clock.now()
    change = change or ctx.ids("change")
    with ctx.db.write(ctx.space) as tx:
        new = _with_sources(tx, new, now)
        nearest = _nearest(tx, new)
        known = _same_insight(nearest, new, ctx.actor.trust)
        if known is not None:
            learning = _recur(tx, ctx, known, new, origin or ctx.actor.channel, change)
            moved = _moved(known, learning)
            return Captured(
                learning=learning,
                merged=True,
                redacted=kinds,
                confirmed="trust" in moved,
                taken=tuple(name for name in moved if name != "trust"),
                left=_left(learning, new),
            )
        learning = _made(ctx, new, origin=origin or ctx.actor.channel, now=now)
        rows.insert(tx, learning)
        rows.add_source(tx, learning.id, new.source(origin=learning.origin, trust=learning.trust, at=now))
        events.record(
            tx,
            ctx,
            change=change,
            subject=learning.id,
            what="learning.created",
            new={"confidence": learning.confidence, "title": learning.title},
            reason=f"redacted: {', '.join(kinds)}" if kinds else "",
        )
        _settle_conflicts(tx, ctx, learning, nearest, change)
    return Captured(learning=learning, merged=False, redacted=kinds)


def known_insight(tx: Tx, new: NewLearning | Learning, trust: Trust) -> Learning | None:
    """The learning that already says what a new one would say."""
    return _same_insight(_nearest(tx, new), new, trust)


def initial_confidence(ctx: Context, new: NewLearning) -> float:
    """The caller's confidence, else the setting for a person, else the setting for the type of insight."""
    if new.confidence is not None:
        return new.confidence
    capture = ctx.settings.capture
    if ctx.actor.trust == "human":
        return capture.person
    return {
        "gotcha": capture.blocker,
        "constraint": capture.constraint,
        "best-practice": capture.pattern,
        "solution": capture.decision,
    }[new.pattern_type]


def compared_text(learning: NewLearning | Learning) -> str:
    """The insight itself, by which two learnings are compared, without the situation it came from.

    One line per field: in one sentence two negations would cancel out, and opposites would seem the same.
    """
    return f"{learning.title}\n{learning.observation}\n{learning.action}"


def _made(ctx: Context, new: NewLearning, *, origin: str, now: int) -> Learning:
    values = {
        "id": ctx.ids("learn"),
        **vars(new),
        **UNTOUCHED,
        "confidence": thousandths(initial_confidence(ctx, new)) / 1000,
        "origin": origin,
        "trust": ctx.actor.trust,
        "created_at": now,
        "updated_at": now,
    }
    return made(Learning, values)


def _nearest(tx: Tx, new: NewLearning | Learning) -> list[Learning]:
    """The active learnings that share the rarest words with a new one."""
    query = lookup.understand(tx, lookup.terms_in(compared_text(new)))
    docs = lookup.candidates(tx, query, most=COMPARED, postings=LOOKED_AT)
    ids = [stored.id for stored in passages.ranked(tx, docs, Narrow(kinds=(rows.KIND,)))]
    return [known for known in rows.many(tx, sorted(ids)) if known.status == "active"]


def _same_insight(nearest: list[Learning], new: NewLearning | Learning, trust: Trust) -> Learning | None:
    text = compared_text(new)
    words = set(terms(text))
    for known in nearest:
        if known.trust == "external" and trust != "external":
            continue  # merged into an external learning, our own insight would not be injected
        other = compared_text(known)
        # A careful comparison takes milliseconds; texts that share few words are not worth one.
        theirs = set(terms(other))
        shared = 2 * len(words & theirs) / (len(words) + len(theirs) or 1)
        if shared >= SHARED and redundancy(other, text).holds:
            return known
    return None


def _recur(tx: Tx, ctx: Context, known: Learning, new: NewLearning, origin: str, change: str) -> Learning:
    now = ctx.clock.now()
    after = replace(known, recurrence=known.recurrence + 1, updated_at=now)
    other_words = {name: said for name in SAID if (said := getattr(new, name)) and said != getattr(known, name)}
    rows.count_recurrence(tx, known.id, at=now)
    rows.add_source(tx, known.id, new.source(origin=origin, trust=ctx.actor.trust, at=now))
    events.record(
        tx,
        ctx,
        change=change,
        subject=known.id,
        what="learning.recurred",
        old={"recurrence": known.recurrence},
        new={"recurrence": after.recurrence, **other_words},
        reason="the same insight was captured again",
    )
    if ctx.actor.trust == "human":
        after = _confirm(tx, ctx, after, new, change)
    _propose_best_practice(tx, ctx, after)
    return after


def _confirm(tx: Tx, ctx: Context, known: Learning, new: NewLearning, change: str) -> Learning:
    """A person repeats a learning: it takes over their tags, and their domain where it has none.

    A learning that was not a person's gets at least the confidence of a person's; a person's keeps what it earned.
    """
    after = replace(
        known,
        tags=tuple(dict.fromkeys((*known.tags, *new.tags)))[:TAG_LIMIT],
        domain=known.domain or new.domain,
    )
    if known.trust != ctx.actor.trust:
        worth = thousandths(initial_confidence(ctx, new)) / 1000
        after = replace(after, confidence=max(known.confidence, worth), trust=ctx.actor.trust)
    moved = _moved(known, after)
    if not moved:
        return known
    after = replace(after, version=known.version + 1)
    rows.save(tx, after, expect=known.version)
    events.record(
        tx,
        ctx,
        change=change,
        subject=known.id,
        what="learning.confirmed",
        old={name: getattr(known, name) for name in moved},
        new={name: getattr(after, name) for name in moved},
        reason="a person said the same",
    )
    return after


def _moved(before: Learning, after: Learning) -> tuple[str, ...]:
    return tuple(name for name in CONFIRMED if getattr(after, name) != getattr(before, name))


def _left(known: Learning, new: NewLearning) -> tuple[str, ...]:
    """The fields that a repetition gave and the known learning did not take; its texts always differ in words."""
    otherwise = {
        "tags": not set(new.tags) <= set(known.tags),
        "domain": new.domain not in (None, known.domain),
        "pattern_type": new.pattern_type not in (UNASKED, known.pattern_type),
        "confidence": new.confidence is not None and thousandths(new.confidence) != thousandths(known.confidence),
    }
    return tuple(name for name, differs in otherwise.items() if differs)


def _propose_best_practice(tx: Tx, ctx: Context, learning: Learning) -> None:
    """Propose a best practice to a person when an insight came up in enough different tasks."""
    if learning.pattern_type == "best-practice":
        return
    seen = {source.task_id for source in rows.sources_of(tx, learning.id) if source.task_id}
    if len(seen) < ctx.settings.capture.recurring_tasks:
        return
    events.raise_escalation(
        tx,
        kind="best-practice",
        subject=learning.id,
        reason=f"the same insight came up in {len(seen)} different tasks",
        detail={"title": learning.title, "tasks": sorted(seen)},
        at=ctx.clock.now(),
    )


def _with_sources(tx: Tx, new: NewLearning, now: int) -> NewLearning:
    """Make its task and outcome known; the outcome of a known task is taken over."""
    if new.source_outcome_id is not None:
        tasks.ensure_outcome(tx, new.source_outcome_id, at=now)
    if new.source_task_id is not None:
        tasks.ensure_task(tx, new.source_task_id, outcome=new.source_outcome_id, at=now)
        outcome = new.source_outcome_id or tasks.task(tx, new.source_task_id).outcome_id
        return replace(new, source_outcome_id=outcome)
    return new


def _settle_conflicts(tx: Tx, ctx: Context, new: Learning, known: Sequence[Learning], change: str) -> None:
    """Mark what the new learning replaces by an explicit cue; raise what it contradicts, or may, once each."""
    lines = _lines(new)
    for old in known:
        if not _about_the_same(lines, _lines(old)):
            continue
        conflict = contradiction(_rule(new), _rule(old))
        replaced = supersession(_rule(new), _rule(old), conflict=conflict)
        may_replace = not old.pinned and TRUSTS.index(new.trust) <= TRUSTS.index(old.trust)
        if replaced.holds and replaced.reason.startswith("cue:") and may_replace:
            _supersede(tx, ctx, old, new, replaced, change)
            continue
        if conflict.holds or (conflict.answer == "unsure" and conflict.score >= DOUBTFUL):
            events.raise_escalation(
                tx,
                kind=KIND,
                subject=new.id,
                other=old.id,
                reason=conflict.conflict,
                detail={"new": _said(new), "old": _said(old), "score": conflict.score},
                at=ctx.clock.now(),
            )


def _about_the_same(ones: list[set[str]], others: list[set[str]]) -> bool:
    """Whether a sentence of one shares enough words with one of the other; a careful comparison takes milliseconds."""
    return any(
        2 * len(one & other) >= SHARED_BY_SENTENCES * (len(one) + len(other)) for one in ones for other in others
    )


def _lines(learning: Learning) -> list[set[str]]:
    said = (part for sentence in split_sentences(learning.action, lower_case=True) for part in sentence.split("; "))
    return [set(terms(line)) for line in (learning.title, *said)]


def _rule(learning: Learning) -> str:
    return f"{learning.title}\n{learning.action}"


def _said(learning: Learning) -> str:
    """Title and action in one line, for a person who has to choose."""
    same = learning.action.strip(". ").casefold() == learning.title.strip(". ").casefold()
    return learning.title if same else f"{learning.title} — {learning.action}"


def _supersede(tx: Tx, ctx: Context, old: Learning, new: Learning, found: Comparison, change: str) -> None:
    after = replace(old, status="superseded", superseded_by=new.id, version=old.version + 1, updated_at=ctx.clock.now())
    rows.save(tx, after, expect=old.version)
    events.record(
        tx,
        ctx,
        change=change,
        subject=old.id,
        what="learning.superseded",
        old={"status": old.status, "superseded_by": old.superseded_by},
        new={"status": "superseded", "superseded_by": new.id},
        reason=f"{new.id} says so ({found.reason})",
    )
