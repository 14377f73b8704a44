"""How confidence moves: by verdicts and by decay, and by signs where the settings say so. Every move is an event.

A verdict counts once per injection, and only where the learning was shown; a person may change it later. A sign is
read from what an agent did and is never a verdict. All arithmetic is in integer thousandths and clamped.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from datetime import date, datetime, time, tzinfo

from recollect.core.choices import VERDICTS, Verdict
from recollect.core.clock import DAY, day_of, zone_named
from recollect.core.context import Context, Tx, lowest
from recollect.core.errors import BadInput, Forbidden, NoHistory, Refused
from recollect.core.learning import Injection, Learning, TaskVerdicts
from recollect.core.records import decimal, record, thousandths
from recollect.core.trust import check_may
from recollect.store import events, sessions, tasks
from recollect.store import learnings as rows
from recollect.text.markers import read_signals
from recollect.text.storable import storable_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.text.transcript import Sign, Turn

PROGRAMS = ("api", "mcp")  # channels of callers that name their own tasks


@record
class Taken:
    """What became of the verdicts in one output; ids in the order they were read."""

    counted: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    both: tuple[str, ...] = ()
    not_injected: tuple[str, ...] = ()


def take(ctx: Context, given: TaskVerdicts, *, change: str | None = None) -> Taken:
    """Count the markers in an agent's final message. The same output again changes nothing."""
    # The verdicts are an agent's, even when a person brings them; a person's own is given by `rate`.
    check_may(ctx.actor.trust, "learning", "rate")
    ctx = ctx.trusted_as(lowest(ctx.actor.trust, "agent"))
    task = storable_id(given.task, "task")  # of the output, only the ids in it are kept
    signals = read_signals(given.output)
    verdicts: list[tuple[str, Verdict]] = [(id, "helpful") for id in signals.helpful]
    verdicts += [(id, "not_helpful") for id in signals.not_helpful]
    became: dict[str, str] = {}
    if verdicts:
        change = change or ctx.ids("change")
        with ctx.db.write(ctx.space) as tx:
            for id, verdict in verdicts:
                known = tasks.verdict_on(tx, learning=id, task=task)
                if known is None:
                    became[id] = "not_injected"
                elif known[0] is not None or tasks.judged_beside(tx, id, task):
                    became[id] = "repeated"
                else:
                    _count(tx, ctx, id, task, verdict, change)
                    became[id] = "counted"
    each = {what: tuple(id for id in became if became[id] == what) for what in ("counted", "repeated", "not_injected")}
    return Taken(both=tuple(signals.both), **each)


def in_ring(tx: Tx, given: TaskVerdicts) -> TaskVerdicts | None:
    """The verdicts of a final message on what a ring showed the task. Of the message nothing else goes there."""
    said, task = read_signals(given.output), storable_id(given.task, "task")
    verdicts = {"LEARNING_HELPFUL": said.helpful, "LEARNING_NOT_HELPFUL": said.not_helpful}
    lines = [f"{verdict}: {id}" for verdict, ids in verdicts.items() for id in ids]
    known = [line for line in lines if tasks.verdict_on(tx, learning=line.split()[1], task=task) is not None]
    return TaskVerdicts(output="\n".join(known), task=task) if known else None


def take_in_rings(ctx: Context, given: TaskVerdicts, taken: Taken) -> Taken:
    """Count verdicts also on what was shown from the rings, each in its own ring."""

    def take_there(ring: Context) -> Taken:
        said = ring.read(in_ring, given)
        return take(ring, said) if said else Taken()

    for _, more in ctx.rings.ask(ctx, take_there) if taken.not_injected else ():
        there = (*more.counted, *more.repeated)
        taken = Taken(
            counted=(*taken.counted, *more.counted),
            repeated=(*taken.repeated, *more.repeated),
            both=taken.both,
            not_injected=tuple(id for id in taken.not_injected if id not in there),
        )
    return taken


def rate(ctx: Context, learning: str, verdict: Verdict | None, *, task: str | None = None) -> Learning:
    """A verdict given by hand, or None to take it back. Without a task it is about the last time it was shown."""
    if verdict is not None and verdict not in VERDICTS:
        raise BadInput(f"a verdict is one of {', '.join(VERDICTS)}, not {verdict!r}")
    check_may(ctx.actor.trust, "learning", "rate")
    task = storable_id(task, "task") if task is not None else None
    with ctx.db.write(ctx.space) as tx:
        rows.get(tx, learning)
        if task is None:
            shown = tasks.injections_of_learning(tx, learning)
            if not shown:
                raise Refused(f"{learning} was never injected; rate it after a task was shown it")
            task = shown[0].task_id
        known = tasks.verdict_on(tx, learning=learning, task=task)
        if known is None:
            raise Refused(f"{learning} was not injected into task {task}; a verdict counts only where it was shown")
        if known[0] == verdict:
            return rows.get(tx, learning)
        if known[0] is not None and ctx.actor.trust != "human":
            raise Forbidden(
                f"{learning} already has the verdict {known[0]} for task {task}; only a person may change it"
            )
        _count(tx, ctx, learning, task, verdict, ctx.ids("change"))
        return rows.get(tx, learning)


def _lowered_lately(tx: Tx, ctx: Context, id: str) -> bool:
    """Whether this program lowered the learning within a day: invented tasks must not switch off what is known.

    People may repeat it, and so may hooks and commands, which act in a session that a person runs.
    """
    if ctx.actor.trust == "human" or ctx.actor.channel not in PROGRAMS:
        return False
    now = ctx.clock.now()
    return any(
        (event.who, event.channel) == (ctx.actor.name, ctx.actor.channel)
        and now - DAY < event.at <= now
        and event.what == "confidence.not_helpful"
        and event.new["confidence"] < event.old["confidence"]
        for event in events.of(tx, id)
    )


def _count(tx: Tx, ctx: Context, id: str, task: str, verdict: Verdict | None, change: str) -> None:
    """Apply a verdict, or none; when it replaces another, first undo what the other moved."""
    known = tasks.verdict_on(tx, learning=id, task=task)
    assert known is not None
    earlier, moved = known
    now = ctx.clock.now()
    before = round(rows.get(tx, id).confidence * 1000)
    base = _within(ctx, before, before - moved)  # without what the earlier verdict moved
    if verdict is None or (verdict == "not_helpful" and _lowered_lately(tx, ctx, id)):
        after = base
    else:
        rules = ctx.settings.confidence
        step = thousandths(rules.helpful) if verdict == "helpful" else -thousandths(rules.not_helpful)
        after = _within(ctx, base, base + step)
    steps = {name: (name == verdict) - (name == earlier) for name in VERDICTS}
    rows.count_verdict(tx, id, helpful=steps["helpful"], not_helpful=steps["not_helpful"], stored=after, at=now)
    tasks.set_verdict(tx, learning=id, task=task, verdict=verdict, delta=after - base, trust=ctx.actor.trust, at=now)
    events.record(
        tx,
        ctx,
        change=change,
        subject=id,
        what=f"confidence.{verdict or 'retracted'}",
        old={"confidence": decimal(before), "verdict": earlier},
        new={"confidence": decimal(after), "verdict": verdict},
        reason=f"task {task}",
    )


def notice(ctx: Context, session: str, turn: Turn) -> None:
    """Record what a turn tells about the learnings that its session was shown, each kind of sign once."""
    with ctx.db.read(ctx.space) as tx:
        shown = tasks.injections_of_task(tx, session)
        if not shown:
            return
        learnings = {one.id: one for one in rows.many(tx, [one.learning_id for one in shown])}
        answers = sessions.answers(tx, session)
    from recollect.text.transcript import read_sign  # most turns were shown nothing

    for one in shown:
        again = sum(at > one.injected_at for at in answers) > 1  # the last of them is this turn's
        sign = read_sign(learnings[one.learning_id], turn, again=again)
        if sign:
            ctx.write(_sign, ctx, one, sign)


def _sign(tx: Tx, ctx: Context, shown: Injection, sign: Sign) -> None:
    change = _sign_id(sign.kind, shown.task_id, shown.learning_id)
    if events.happened(tx, change):
        return
    rules, before = ctx.settings.confidence, round(rows.get(tx, shown.learning_id).confidence * 1000)
    step = {"used": 1, "contradicted": -1}.get(sign.kind, 0) * thousandths(rules.sign)
    after = before
    if step and shown.feedback is None:  # a verdict says more
        after = _within(ctx, before, before + step)
        rows.count_verdict(tx, shown.learning_id, helpful=0, not_helpful=0, stored=after, at=ctx.clock.now())
    moved = {"confidence": decimal(before)}, {"confidence": decimal(after)}
    old, new = moved if after != before else (None, None)
    reason = f"task {shown.task_id}: {sign.because}"
    events.record(
        tx, ctx, change=change, subject=shown.learning_id, what=f"sign.{sign.kind}", old=old, new=new, reason=reason
    )


def signs(ctx: Context, task: str, learnings: Collection[str]) -> list[tuple[str, str]]:
    """The signs that a task gave of the learnings it was shown: each learning with the kind of its sign."""
    ids = {_sign_id(kind, task, one): (one, kind) for one in learnings for kind in ("used", "ignored", "contradicted")}
    there = ids.keys() - ctx.read(events.missing, set(ids))
    return [found for id, found in ids.items() if id in there]


def _sign_id(kind: str, task: str, learning: str) -> str:
    return f"sign.{kind}.{task}.{learning}"


BATCH = 500  # learnings per transaction: few enough that other writers do not wait long


def _within(ctx: Context, stored: int, wanted: int) -> int:
    """What a confidence becomes. A person may have set it beyond the bounds; then no move brings it back to them."""
    rules = ctx.settings.confidence
    lowest, highest = min(stored, thousandths(rules.floor)), max(stored, thousandths(rules.ceiling))
    return max(lowest, min(highest, wanted))


def decay(ctx: Context) -> int:
    """Lower the confidence of unused learnings, once per full period since the last use; gives how many lost some.

    The end of the last counted period is stored, not the time of the run, so a late run takes neither more nor less.
    """
    changed = 0
    now = ctx.clock.now()
    active: tuple[date, ...] | None = None
    if ctx.settings.confidence.decay_clock == "active":
        try:
            active = ctx.git.active_days()
        except NoHistory:
            return 0  # without known active days nothing decays
    # Active days begin at midnight, so a period of them can be almost a day shorter than its number of days.
    days = ctx.settings.confidence.decay_days - (active is not None)
    unused = ctx.read(rows.unused_since, now - days * DAY)
    for start in range(0, len(unused), BATCH):
        with ctx.db.write(ctx.space) as tx:
            for id in unused[start : start + BATCH]:
                changed += _decay_one(tx, ctx, rows.get(tx, id), now, active)
    return changed


def active_periods_due(anchor: int, now: int, days: int, active: tuple[date, ...], zone: tzinfo) -> tuple[int, int]:
    """Full periods of active days from the day after the anchor's, and when the last day of the last of them began."""
    after = active[bisect_right(active, day_of(anchor, zone)) : bisect_right(active, day_of(now, zone))]
    count = len(after) // days
    if not count:
        return 0, anchor
    return count, round(datetime.combine(after[count * days - 1], time.min, zone).timestamp() * 1000)


def _decay_one(tx: Tx, ctx: Context, learning: Learning, now: int, active: tuple[date, ...] | None) -> int:
    rules = ctx.settings.confidence
    used = rows.last_used(learning)
    if active is None:
        count = max(0, (now - used) // (rules.decay_days * DAY))
        until = used + count * rules.decay_days * DAY
    else:
        count, until = active_periods_due(used, now, rules.decay_days, active, zone_named(ctx.settings.timezone))
    if not count:
        return 0
    before = round(learning.confidence * 1000)
    after = _within(ctx, before, before - count * thousandths(rules.decay))
    rows.set_decayed(tx, learning.id, stored=after, until=until)
    if after == before:
        return 0
    events.record(
        tx,
        ctx,
        subject=learning.id,
        what="confidence.decayed",
        old={"confidence": decimal(before)},
        new={"confidence": decimal(after)},
        reason=f"{count} x {rules.decay_days} {rules.decay_clock} days without use",
    )
    return 1
