"""The facet of hosts' sessions, and the writes of hooks and workers: done at once, or kept in the spool until later.

A write has its id before anything is tried, and that id is the change id of what it does. So a write that a time limit
cut off, that was killed, or that is replayed is recognised and not done twice. A replayed write has the actor and the
time of its record; only leases use the clock of the replaying process.

A record that fails is tried three times and then set aside; it never holds up other records.
"""

from __future__ import annotations

from contextlib import suppress

from recollect.core.clock import DAY, ScriptedClock, iso, parse_time
from recollect.core.context import Actor
from recollect.core.errors import BadInput, NoSpace, RecollectError, SessionBusy, Stale, StoreBusy, Trouble
from recollect.core.learning import (
    KINDS,
    SessionEvent,
    SessionNote,
    SessionTurn,
    TaskInjection,
    TaskOutput,
    TaskVerdicts,
    Write,
)
from recollect.memory.memory import Facet, reads
from recollect.store import db, events, sessions, spool
from recollect.text.storable import storable, storable_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from recollect.core.context import Context, Tx
    from recollect.core.learning import Written
    from recollect.inject.brief import Brief
    from recollect.inject.prompt import Given
    from recollect.inject.reasons import Considered, LastSession
    from recollect.store.project import Project
    from recollect.text.tokens import ContextBudget


class Sessions(Facet):
    """Rooms are imported where they are called, because a prompt waits."""

    def brief(self, room: ContextBudget | None = None, *, session: str = "") -> Brief:
        """The text that a session starts with; `session` is not counted as the last session before it."""
        from recollect.inject.brief import brief
        from recollect.text.tokens import ContextBudget

        return brief(
            self._ctx, room or ContextBudget(), aside=spool.queue(spool.aside(self._project.spools)), session=session
        )

    def prompted(self, prompt: str, *, session: str, task: str, room: ContextBudget, fresh: bool = False) -> Given:
        from recollect.inject.prompt import prompted

        return prompted(self._ctx, prompt, session=session, task=task, room=room, fresh=fresh)

    def candidates(self, prompt: str, given: Given) -> list[Considered]:
        from recollect.inject.reasons import candidates

        return candidates(self._ctx, prompt, shown={*given.learnings, *given.entries})

    recent = reads(sessions.recent)
    latest = reads(sessions.latest_session)
    events = reads(sessions.events_of)
    last_heard = reads(sessions.last_heard)
    broken_off = reads(sessions.broken_off)

    def is_given(self, session: str, what: str) -> bool:
        return what in self._ctx.read(sessions.in_context, session)

    def delegated(self, host: str, transcript: str, agent: str) -> str:
        """What a subagent was asked to do; if it is unknown, the tasks of those that may have just begun."""
        from recollect.capture.turns import ending

        said = ending(host, transcript).delegated
        return said.get(agent) or said.get("", "")

    def at_a_glance(self, session: str) -> str:
        """The number of learnings, and where sessions before broke off, for the user of a session."""
        from recollect.store.learnings import count_active
        from recollect.text.sentences import counted

        with self._ctx.db.read(self._ctx.space) as tx:
            count, entries = count_active(tx), db.count(tx, "log_entries")
            asked = [prompt for _, prompt in sessions.broken_off(tx, now=self._ctx.clock.now(), but=session)]
        rings = sum(one for _, one in self._ctx.rings.ask(self._ctx, lambda ring: ring.read(count_active)))
        which = f"{len(asked)} sessions" if asked[1:] else "last session"
        others = f"{counted(rings, 'learning')} of your rings" if rings else "nothing is remembered yet"
        logged = counted(entries, "log entry") if entries else others
        held = counted(count, "learning") if count else logged
        return f"{held}, {which} broke off at: {'; '.join(asked)}" if asked else held

    def deliver(self, write: Write) -> bool:
        """Write what happened, or keep it in the spool; True when it is written.

        What was shown from a ring, and the verdict on it, is written there too.
        """
        done = deliver(self._ctx, self._project, write)
        rings, given = self._ctx.rings, vars(write.what)
        if given.get("learnings") or isinstance(write.what, TaskVerdicts):
            for name, what in rings.ask(self._ctx, lambda ring: ring.read(_for_ring, write.what)):
                if what is not None:
                    deliver(rings.named(self._ctx, name), rings.project(name), Write(id=write.id, what=what))
        return done

    def tidy(self, *, but: str = "") -> int:
        """Log the turns of sessions, except `but`, that ended without an event; returns the number of new entries."""
        now = self._ctx.clock.now()
        if but and not self._ctx.read(sessions.left_behind, since=now - 7 * DAY, now=now, but=but):
            return 0  # what logs a turn takes long to load, and a session waits
        from recollect.capture.turns import tidy

        return tidy(self._ctx, but=but)

    def last(self, host: str = "") -> LastSession:
        from recollect.inject.reasons import last

        return last(self._ctx, host)

    def wrote(self, session: str, *, limit: int = 20) -> list[str]:
        from recollect.store import topics

        return [entry for entry, _ in reversed(self._ctx.read(topics.last_of, session=session, limit=limit))]


TRIES = 3  # failures before a record is set aside: two more tries outlast a passing fault; others need a person
KILLED = f"each of {TRIES} processes that tried it ended before it was done"
_SUBJECTS = ("session", "task", "outcome")  # these name its subject; writes about one subject keep their order


def deliver(ctx: Context, project: Project, write: Write) -> bool:
    """Do a write, or keep it in the spool; True when it is done. Untried writes on the same subject go first."""
    if not _is_behind(project, write):
        try:
            _do(ctx, write)
            return True
        except Exception as error:  # even a fault of ours: an agent says it once, and the replay names what stays wrong
            if isinstance(error, RecollectError) and not isinstance(error, (Trouble, Stale)):
                raise  # the caller may not do it, or cannot
    keep(project, write, actor=ctx.actor, at=ctx.clock.now())
    return False


def _for_ring(tx: Tx, what: Written) -> Written | None:
    """The part of a write that concerns a ring: its learnings that a task was shown, or the verdicts on them."""
    if isinstance(what, TaskVerdicts):
        from recollect.feedback.confidence import in_ring

        return in_ring(tx, what)
    if not isinstance(what, (SessionEvent, TaskInjection)):
        return None
    from recollect.store.learnings import Filter, passing

    known = tuple(passing(tx, what.learnings, Filter(status=None)))
    outcome = what.session if isinstance(what, SessionEvent) else what.outcome
    return TaskInjection(task=what.task, outcome=outcome, title="", learnings=known) if known else None


def _is_behind(project: Project, write: Write) -> bool:
    """Whether an untried record on the same subject waits. One that was tried and failed holds nothing up."""
    untried = [path for path in spool.pending(project.spools) if not spool.tries(path)]
    about = _subjects(vars(write.what))
    return any(about & _subjects(found.get("arguments")) for _, found in spool.records(untried) if found)


def _subjects(given: object) -> set[str]:
    fields = given if isinstance(given, dict) else {}
    return {value for name in _SUBJECTS if isinstance(value := fields.get(name), str) and value}


def keep(project: Project, write: Write, *, actor: Actor, at: int) -> None:
    what, _ = storable_record(write.what)
    verb = next(name for name, kind in KINDS.items() if kind is type(what))
    spool.add(project.spools, {"id": write.id, "verb": verb, "at": at, "actor": vars(actor), "arguments": vars(what)})


def replay(ctx: Context, project: Project) -> int:
    """Do what waits, oldest first; returns the number of writes done. One process replays at a time. When the store
    cannot be written, the replay ends, and no record counts that as a try."""
    done = 0
    with spool.replaying(project.spools) as our_turn:
        if not our_turn or not _can_write(ctx):
            return 0
        for path, found in spool.records(spool.pending(project.spools)):
            count = spool.tries(path) + 1
            if count > TRIES:
                spool.set_aside(path, spool.FAILED, found, KILLED)
                continue
            file = spool.counted(path, count)
            if file is None:
                continue
            try:
                _do(*_decoded(ctx, found))
            except SessionBusy:
                spool.counted(file, count - 1)
            except Exception as error:  # noqa: BLE001 — a record of any version: what it raises is kept beside it
                if isinstance(error, Trouble) and (isinstance(error, (StoreBusy, NoSpace)) or not _can_write(ctx)):
                    spool.counted(file, count - 1)
                    return done
                if count == TRIES:
                    suffix = spool.UNREADABLE if found is None else spool.FAILED
                    spool.set_aside(file, suffix, found, f"{type(error).__name__}: {storable(str(error))}")
            else:
                spool.done(file)
                done += 1
    return done


def retry(ctx: Context, project: Project) -> int:
    """Try the records that were set aside once more, and do what waits; returns the number of writes done."""
    for path in spool.aside(project.spools):
        spool.counted(path, TRIES - 1)
    return replay(ctx, project)


def _can_write(ctx: Context) -> bool:
    with suppress(RecollectError), ctx.db.write(ctx.space):
        return True
    return False


def _decoded(ctx: Context, found: dict[str, Any] | None) -> tuple[Context, Write]:
    """The write in a file, and a context with its actor and time."""
    from recollect.core.records import replace

    if found is None:
        raise BadInput("not a record of the spool, or it cannot be read now")
    kind, given = KINDS[found["verb"]], found["arguments"]
    if not isinstance(given, dict) or not isinstance(found["actor"], dict):
        raise BadInput("not a record of the spool")
    values = {name: _value(part, kind.__annotations__[name]) for name, part in given.items()}
    who = {name: _value(part, "str") for name, part in found["actor"].items()}
    write = Write(id=_value(found["id"], "str"), what=kind(**values))
    at: int = _value(found["at"], "int")
    parse_time(iso(at))  # what is written outside our years can never be read
    then = replace(ctx, clock=ScriptedClock(at), actor=Actor(**who))
    return then, write


def _value(part: Any, type: str) -> Any:
    """One value of a file as its record has it. Up to version 0.1 numbers and flags were written as text."""
    if type == "int":
        return int(part)
    if type == "bool":
        return bool(part)
    if type.startswith("tuple"):
        return tuple(_value(each, "str") for each in part)
    if not isinstance(part, str) and not (part is None and "None" in type):
        raise BadInput("not a record of the spool")
    return part


def _do(ctx: Context, write: Write) -> None:
    if ctx.read(events.happened, write.id):
        return
    what = write.what
    if isinstance(what, TaskInjection):
        from recollect.inject.injections import remember_task

        remember_task(ctx, what, change=write.id)
    elif isinstance(what, SessionEvent):
        from recollect.inject.injections import remember_session

        remember_session(ctx, what, change=write.id)
    elif isinstance(what, SessionTurn):
        from recollect.capture.turns import turn
        from recollect.feedback.confidence import notice

        turn(ctx, what, heard_by=lambda heard: notice(ctx, what.session, heard))
    elif isinstance(what, SessionNote):
        from recollect.capture.log import add
        from recollect.core.journal import NewEntry

        add(ctx, NewEntry(text=what.text, title=what.topic, session=what.session), change=write.id)
    elif isinstance(what, TaskOutput):
        from recollect.capture.observe import observe

        observe(ctx, what)
    else:
        from recollect.feedback.confidence import take

        take(ctx, what, change=write.id)
