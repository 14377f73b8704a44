"""Counting verdicts: once per injection, and only where the learning was shown. A person may change a verdict later."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.core.choices import VERDICTS, Verdict
from recollect.core.context import Context, Tx, lowest
from recollect.core.errors import BadInput, Forbidden, Refused
from recollect.core.learning import Learning
from recollect.core.values import decimal
from recollect.core.writes import TaskVerdicts
from recollect.feedback.confidence import after_verdict, without_verdict
from recollect.store import events, tasks
from recollect.store import learnings as rows
from recollect.text.markers import read_signals
from recollect.text.storable import storable_id


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What became of the verdicts in one output; ids in the order they were read."""

    counted: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    both: tuple[str, ...] = ()
    not_injected: tuple[str, ...] = ()


def take(ctx: Context, given: TaskVerdicts, *, change: str | None = None) -> Taken:
    """Count the markers in an agent's final message. The same output again changes nothing."""
    # The verdicts are an agent's, even when a person brings them; a person's own is given by `rate`.
    ctx = ctx.trusted_as(lowest(ctx.actor.trust, "agent"))
    task = storable_id(given.task, "task")  # of the output, only the ids in it are kept
    signals = read_signals(given.output)
    counted: list[str] = []
    repeated: list[str] = []
    missing: list[str] = []
    verdicts: list[tuple[str, Verdict]] = [(id, "helpful") for id in signals.helpful]
    verdicts += [(id, "not_helpful") for id in signals.not_helpful]
    if verdicts:
        change = change or ctx.ids("change")
        with ctx.db.write(ctx.space) as tx:
            for id, verdict in verdicts:
                known = tasks.verdict_on(tx, learning=id, task=task)
                if known is None:
                    missing.append(id)
                elif known[0] is not None:
                    repeated.append(id)
                else:
                    _count(tx, ctx, id, task, verdict, change)
                    counted.append(id)
    return Taken(
        counted=tuple(counted), repeated=tuple(repeated), both=tuple(signals.both), not_injected=tuple(missing)
    )


def rate(ctx: Context, learning: str, verdict: Verdict, *, task: str | None = None) -> Learning:
    """A verdict given by hand. Without a task it is about the last time the learning was shown."""
    if verdict not in VERDICTS:
        raise BadInput(f"a verdict is one of {', '.join(VERDICTS)}, not {verdict!r}")
    task = storable_id(task, "task") if task is not None else None
    with ctx.db.write(ctx.space) as tx:
        rows.get(tx, learning)
        if task is None:
            shown = tasks.injections_of_learning(tx, learning)
            if not shown:
                raise Refused(f"{learning} was never injected, so it cannot be rated")
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


def _count(tx: Tx, ctx: Context, id: str, task: str, verdict: Verdict, change: str) -> None:
    """Apply a verdict; when it replaces another, first undo what the other moved."""
    known = tasks.verdict_on(tx, learning=id, task=task)
    assert known is not None
    earlier, moved = known
    now = ctx.clock.now()
    before = round(rows.get(tx, id).confidence * 1000)
    base = without_verdict(ctx, before, moved)
    after = after_verdict(ctx, base, verdict)
    steps = {"helpful": 0, "not_helpful": 0, verdict: 1}
    if earlier is not None:
        steps[earlier] -= 1
    rows.count_verdict(tx, id, helpful=steps["helpful"], not_helpful=steps["not_helpful"], stored=after, at=now)
    tasks.set_verdict(tx, learning=id, task=task, verdict=verdict, delta=after - base, trust=ctx.actor.trust, at=now)
    events.record(
        tx,
        ctx,
        change=change,
        subject=id,
        what=f"confidence.{verdict}",
        old={"confidence": decimal(before), "verdict": earlier},
        new={"confidence": decimal(after), "verdict": verdict},
        reason=f"task {task}",
    )
