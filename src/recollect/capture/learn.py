"""Capturing a learning, and moving one between rings.

Redaction and the quality gate come first, then comparison with what is known. The same insight again raises the
recurrence of the known learning. One that says otherwise replaces a known learning where that is certain; where it may
contradict one, a person decides. Edits are in `capture/edit.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recollect.capture.change import has_room, record_new, redaction, save, who
from recollect.capture.edit import LEARNING, MOVED, archive
from recollect.core.choices import Trust
from recollect.core.context import TRUSTS, Context, Tx
from recollect.core.errors import Forbidden, NoAnswer, Refused, Rejected
from recollect.core.learning import COIA, IMPLIED, Learning, Task
from recollect.core.new_learning import TAG_LIMIT, NewLearning
from recollect.core.records import made, record, replace, thousandths
from recollect.core.trust import check_may, outranks
from recollect.models.budget import embed
from recollect.models.embed import LEAST_COSINE, judge_of
from recollect.store import events, lookup, passages, tasks, vectors
from recollect.store import learnings as rows
from recollect.store.passages import Narrow
from recollect.text import quality
from recollect.text.claims import claims, is_sentence, is_topic
from recollect.text.compare import Comparison, Judge, compare, reversed_by
from recollect.text.storable import storable_record

KIND = "contradiction"
COMPARED = 8  # candidates by words, and as many by meaning; the same insight is among the first
LOOKED_AT = 2_000  # index entries read to find them: the same insight shares its rare words
SAID = ("title", *COIA, "tags", "domain", "pattern_type")  # what a repetition may word differently
RULED = ("title", "observation", "implication", "action")  # in none of them may a repetition say the reverse
CONFIRMED = ("tags", "domain", "confidence", "trust")  # what changes when a person repeats it
CARRIED = ("title", *COIA, "tags", "domain", "pattern_type")  # what a moved learning is learnt with
ARRIVED = "learning.moved"
UNASKED = NewLearning.pattern_type  # the type of a learning whose author named none
UNTOUCHED = {
    **dict.fromkeys(("times_injected", "times_helpful", "times_not_helpful"), 0),
    **dict.fromkeys(("superseded_by", "last_injected_at", "last_helpful_at", "last_decayed_at")),
    "recurrence": 1,
    "status": "active",
    "pinned": False,
    "version": 1,
}
"""The fields of a learning to which nothing has happened yet."""


@record
class Captured:
    """What became of a new learning: stored, or merged into one that said the same.

    `confirmed`: a person repeated an agent's learning, which counts as a person's now. Of the fields besides its texts,
    the known learning took over those in `taken` and not those in `left`. `replaced` are learnings that the new one
    certainly says anew; `asked` those that it may contradict, each a pair in the inbox.
    """

    learning: Learning
    merged: bool
    redacted: tuple[str, ...]
    confirmed: bool = False
    taken: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()


def learn(
    ctx: Context,
    new: NewLearning,
    *,
    anyway: bool = False,
    origin: str | None = None,
    change: str | None = None,
) -> Captured:
    """Store a learning, or raise the recurrence of the one that says the same. `anyway` skips the quality gate."""
    if new.confidence is not None and ctx.actor.trust != "human":
        raise Forbidden("only a person sets a confidence; leave it out and the type of the insight decides")
    new, kinds = storable_record(new)
    refusal = None if anyway else quality.learning_refusal(**{name: getattr(new, name) for name in quality.WEIGHED})
    if refusal is not None:
        raise Rejected(f"not saved: {refusal.why}. {refusal.rephrase} With `anyway` it is kept as it is")
    now = ctx.clock.now()
    change = change or ctx.ids("change")
    judge, vector = judge_of(ctx), _meaning(ctx, new)
    if judge is not None:
        ctx.read(_compared, new, judge, vector)  # a judge takes its time; its answers are cached, so no writer waits
    with ctx.db.write(ctx.space) as tx:
        new = _with_sources(tx, ctx, new, now)
        compared = _compared(tx, new, judge, vector)
        known = _same_insight(compared, ctx.actor.trust)
        if known is not None:
            learning = _recur(tx, ctx, known, new, origin or ctx.actor.channel, change)
            moved = tuple(name for name in CONFIRMED if getattr(learning, name) != getattr(known, name))
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
        record_new(LEARNING, tx, ctx, learning, change, redaction(kinds))
        replaced, asked = _settle_conflicts(tx, ctx, learning, compared, change)
    return Captured(learning=learning, merged=False, redacted=kinds, replaced=replaced, asked=asked)


def known_insight(tx: Tx, new: NewLearning | Learning, trust: Trust) -> Learning | None:
    """The learning that already says what a new one would say, by its words alone."""
    return _same_insight(_compared(tx, new, None, None), trust)


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


def claims_of(learning: NewLearning | Learning) -> tuple[str, ...]:
    """The rule, by which learnings are compared: title and action. Observations differ even where the rule is one."""
    title, told = learning.title, learning.action
    if told.startswith(IMPLIED) or (_plain(told) == _plain(title) and not is_sentence(title)):
        told = "" if learning.observation.startswith(IMPLIED) else learning.observation
    return claims(title, "" if _plain(told) == _plain(title) else told) or (title,)


def _plain(said: str) -> str:
    return said.strip(" .").casefold()


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


def _meaning(ctx: Context, new: NewLearning) -> tuple[str, Any] | None:
    """The embedder's name and the vector of a new learning; None where nothing in the store has vectors."""
    embedder = ctx.models.embedder()
    if embedder is None or not ctx.read(vectors.known, embedder.name):
        return None
    try:
        return embedder.name, embed(ctx, embedder, [" ".join(claims_of(new))])[0]
    except NoAnswer:  # an endpoint failed: words find most candidates
        return None


def _compared(
    tx: Tx, new: NewLearning | Learning, judge: Judge | None, vector: tuple[str, Any] | None
) -> list[tuple[Learning, Comparison]]:
    """The active learnings nearest in words and in meaning, each compared with the new one."""
    said = claims_of(new)
    query = lookup.understand(tx, lookup.terms_in("\n".join(said)))
    docs = list(lookup.candidates(tx, query, most=COMPARED, postings=LOOKED_AT))
    near = vectors.nearest(tx, *vector, limit=COMPARED, kinds=(rows.KIND,)) if vector else []
    alike = {doc for doc, _, cosine in near if cosine >= LEAST_COSINE}
    ids = {stored.id for stored in passages.ranked(tx, [*docs, *(alike - {*docs})], Narrow(kinds=(rows.KIND,)))}
    known = [each for each in rows.many(tx, sorted(ids)) if each.status == "active"]
    return [(each, _met(new, each, judge)) for each in known]


def _met(new: NewLearning | Learning, known: Learning, judge: Judge | None) -> Comparison:
    """Compare a new learning with a known one; not sure where one rule was seen at odds, or serves two matters.

    A title says what equal actions are about: under two titles they repeat each other only where both saw the same.
    Where both titles are the whole rule, what was seen may tell of a conflict that they hide.
    """
    found = compare(claims_of(new), claims_of(known), judge)
    if found.conflicts:
        return found
    titles = compare((new.title,), (known.title,))
    if titles.conflicts and titles.sure and not (is_topic(new.title) or is_topic(known.title)):
        return replace(titles, sure=False)  # two reasons may hide that two rules conflict
    if found.kind == "near" and all(_plain(each.action) == _plain(each.title) for each in (new, known)):
        seen = compare(_seen(new), _seen(known), judge)
        return replace(seen, sure=False) if seen.conflicts else found
    if not found.repeats:
        return found
    seen = compare((new.observation,), (known.observation,), judge)
    told = _plain(new.observation) in (_plain(new.title), _plain(new.action)) or new.observation.startswith(IMPLIED)
    if seen.conflicts and not told:
        return replace(seen, sure=False)
    turned = any(reversed_by(getattr(new, name), getattr(known, name)) for name in RULED)
    one_matter = told or found.chances or seen.kind == "same" or titles.repeats
    return found if one_matter and not turned else replace(found, sure=False)


def _seen(learning: NewLearning | Learning) -> tuple[str, ...]:
    """A title with what was seen, where that says more."""
    more = "" if _plain(learning.observation) == _plain(learning.title) else learning.observation
    return claims(learning.title, more) or (learning.title,)


def _same_insight(compared: Sequence[tuple[Learning, Comparison]], trust: Trust) -> Learning | None:
    same = [(found.score, known) for known, found in compared if found.repeats]
    # Merged into an external learning, our own insight would not be injected.
    ours = [(score, known) for score, known in same if known.trust != "external" or trust == "external"]
    return max(ours, key=lambda each: each[0])[1] if ours else None


def _recur(tx: Tx, ctx: Context, known: Learning, new: NewLearning, origin: str, change: str) -> Learning:
    now = ctx.clock.now()
    after = replace(known, recurrence=known.recurrence + 1, updated_at=now)
    other_words = {name: said for name in SAID if (said := getattr(new, name)) and said != getattr(known, name)}
    if ctx.actor.trust == "external" and outranks(known.trust, "external"):
        why = "a caller from outside captured the same insight, which does not count"
        events.record(tx, ctx, change=change, subject=known.id, what="learning.recurred", new=other_words, reason=why)
        return known
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
    save(LEARNING, tx, ctx, known, after, "learning.confirmed", change, "a person said the same")
    return rows.get(tx, known.id)


def _left(known: Learning, new: NewLearning) -> tuple[str, ...]:
    """The fields of a repetition that the known learning did not take, besides its texts."""
    otherwise = {
        "tags": not set(new.tags) <= set(known.tags),
        "domain": new.domain not in (None, known.domain),
        "pattern_type": new.pattern_type not in (UNASKED, known.pattern_type),
        "confidence": new.confidence is not None and thousandths(new.confidence) != thousandths(known.confidence),
    }
    return tuple(name for name, differs in otherwise.items() if differs)


def _propose_best_practice(tx: Tx, ctx: Context, learning: Learning) -> None:
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


def _with_sources(tx: Tx, ctx: Context, new: NewLearning, now: int) -> NewLearning:
    """Make its task and outcome known; take over the outcome of a known task."""
    if new.source_outcome_id is not None:
        tasks.ensure_outcome(tx, new.source_outcome_id, at=now)
    if new.source_task_id is not None:
        keep = ctx.actor.trust == "external"
        tasks.ensure_task(tx, new.source_task_id, outcome=new.source_outcome_id, at=now, keep=keep)
        outcome = new.source_outcome_id or tasks.get(tx, Task, new.source_task_id).outcome_id
        return replace(new, source_outcome_id=outcome)
    return new


def _settle_conflicts(
    tx: Tx, ctx: Context, new: Learning, compared: Sequence[tuple[Learning, Comparison]], change: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Supersede what the new learning replaces; raise what it contradicts, or may, once each. Gives the ids of both."""
    replaced: list[str] = []
    asked: list[str] = []
    for old, found in compared:
        may_replace = not old.pinned and TRUSTS.index(new.trust) <= TRUSTS.index(old.trust)
        if found.kind == "newer" and found.sure and not found.partly and may_replace:
            after = replace(old, status="superseded", superseded_by=new.id)
            save(LEARNING, tx, ctx, old, after, "learning.superseded", change, f"{new.id} says so ({found.reason})")
            replaced.append(old.id)
        elif found.conflicts and has_room(tx, ctx):
            asked.append(old.id)
            events.raise_escalation(
                tx,
                kind=KIND,
                subject=new.id,
                other=old.id,
                reason=found.question,
                detail={
                    "by": who(ctx),
                    "new": _said(new, found.sides[0]),
                    "old": _said(old, found.sides[1]),
                    "score": found.score,
                    "why": found.explained,
                },
                at=ctx.clock.now(),
            )
    return tuple(replaced), tuple(asked)


def _said(learning: Learning, clash: str) -> str:
    """Title, action and what clashes on one line, nothing twice, for a person who has to choose."""
    title, action = learning.title, learning.action
    told = " ".join((title if _plain(action) == _plain(title) else f"{title} — {action}").split())
    more = clash.removeprefix(f"{title} — ")
    return told if _plain(more) in _plain(told) else f"{told} — {more}"


def move(ctx: Context, id: str, target: Context, *, to: str) -> Captured:
    """Move a learning from the space of `ctx` to another; `to` is what people call that.

    The target is written first, then the source archived: a move that was cut off leaves both, and moving again merges
    them. The learning keeps its trust and what it earned; the tasks and outcomes that it came from stay behind. Both
    spaces record the move under one change id, by which `undo` finds both halves.
    """
    check_may(ctx.actor.trust, "learning", "move")
    learning = ctx.read(rows.get, id)
    if learning.status != "active":
        raise Refused(f"{id} is {learning.out_of_use}; restore it first")
    if target.space == ctx.space:
        raise Refused(f"{id} is in ring {to} already")
    ctx = ctx.as_one_change()
    target = replace(target, ids=ctx.ids)
    new = NewLearning(**{name: getattr(learning, name) for name in CARRIED})
    done = learn(target.trusted_as(learning.trust), new, anyway=True, origin="move")
    earned = {} if done.merged else {"confidence": learning.confidence}
    with target.db.write(target.space) as tx:
        if not done.merged:
            rows.count_verdict(
                tx,
                done.learning.id,
                helpful=learning.times_helpful,
                not_helpful=learning.times_not_helpful,
                stored=round(learning.confidence * 1000),
                at=target.clock.now(),
            )
        events.record(tx, target, subject=done.learning.id, what=ARRIVED, new=earned, reason="moved here")
    archive(ctx, id, reason=f"moved to ring {to} as {done.learning.id}", what=MOVED)
    return Captured(**{**vars(done), "learning": target.read(rows.get, done.learning.id)})
