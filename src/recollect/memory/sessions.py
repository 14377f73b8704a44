"""The facet of hosts' sessions: what a session is given, and what it leaves."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.core.context import Context
    from recollect.inject.brief import Brief
    from recollect.inject.prompted import Given
    from recollect.inject.room import Room
    from recollect.memory.replay import Write
    from recollect.store.hosts import HostEvent, HostSession
    from recollect.store.project import Project
    from recollect.store.spool import Queue


class Sessions:
    """What goes on between a host and the memory. Rooms are imported where they are called: a prompt waits for it."""

    def __init__(self, context: Context, project: Project):
        self._context = context
        self._project = project

    def brief(self, room: Room) -> Brief:
        """What a session starts with."""
        from recollect.inject.brief import brief

        return brief(self._context, room, aside=self._aside())

    def prompted(self, prompt: str, *, session: str, task: str, room: Room) -> Given:
        """What belongs to a prompt."""
        from recollect.inject.prompted import prompted

        return prompted(self._context, prompt, session=session, task=task, room=room)

    def is_given(self, session: str, what: str) -> bool:
        """Whether something is in front of a session's agent already."""
        from recollect.store import hosts

        with self._context.db.read(self._context.space) as tx:
            return what in hosts.in_context(tx, session)

    def asked_last(self, host: str, transcript: str) -> str:
        """What the last subagent of a session was asked to do."""
        from recollect.capture.session import ending

        return ending(host, transcript).delegated

    def waiting(self) -> str:
        """What waits for a person or is due, as a session's start says it; empty when nothing does."""
        from recollect.inject.brief import waiting

        with self._context.db.read(self._context.space) as tx:
            return "\n".join(waiting(tx, self._context, aside=self._aside())).strip()

    def _aside(self) -> Queue:
        """Writes of the spool that failed."""
        from recollect.store import spool

        return spool.queue(spool.aside(self._project.spools))

    def deliver(self, write: Write) -> bool:
        """Write what happened, if need be a little later; True when it is done."""
        from recollect.memory.replay import deliver

        return deliver(self._context, self._project, write)

    def tidy(self) -> int:
        """Log what sessions left behind that ended without saying so; gives how many entries that made."""
        from recollect.capture.session import tidy

        return tidy(self._context)

    def latest(self, host: str) -> HostSession | None:
        """The session of a host that was heard of last."""
        from recollect.store import hosts

        with self._context.db.read(self._context.space) as tx:
            return hosts.latest_session(tx, host)

    def events(self, session: str) -> list[HostEvent]:
        """What was heard of a session, in order."""
        from recollect.store import hosts

        with self._context.db.read(self._context.space) as tx:
            return hosts.events_of(tx, session)

    def last_heard(self, host: str) -> dict[str, int]:
        """When each event of a host was last heard."""
        from recollect.store import hosts

        with self._context.db.read(self._context.space) as tx:
            return hosts.last_heard(tx, host)
