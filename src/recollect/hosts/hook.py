"""What happens at a moment of a session: the same for every host.

Reading comes first and its answer is printed at once; then what the moment leaves is written, or kept in the spool when
the store is locked, gone or too slow. Never in the way: nothing raised here reaches the host, and a time limit inside
the host's own ends whatever takes too long.

How long a hook may take, always less than the host would wait, and the alarm that sees to it.

Where a hook says nothing or keeps nothing, because the user asked for it: pauses, ignored folders, CI.
"""

from __future__ import annotations

import os
import time
from _signal import ITIMER_REAL, SIGALRM, setitimer, signal  # type: ignore[import-not-found]
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

from recollect.core.clock import clock_from, iso
from recollect.core.context import Actor
from recollect.core.errors import BadInput, RecollectError, Refused
from recollect.core.settings import merged
from recollect.core.values import random_id
from recollect.core.writes import SessionEvent, SessionNote, SessionTurn, TaskOutput, TaskVerdicts, Write
from recollect.hosts.event import Adapter, HostEvent, path
from recollect.store import project as projects
from recollect.store.project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType
    from typing import Any

    from recollect.core.clock import Clock
    from recollect.core.writes import Written
    from recollect.hosts.event import HostEvent
    from recollect.memory import Memory
    from recollect.store.project import Project

# What `signal` adds to it is names for numbers.


SECONDS = {"prompt": 4.0, "subagent": 4.0, "end": 1.0, "cycle": 110.0, "heartbeat": 110.0}
"""What a moment may take. Claude Code gives all hooks of a session's end 1.5 seconds together."""
OTHERWISE = 8.0


class OutOfTime(BaseException):
    """The time is up. No room catches it by accident: it is no Exception."""


def seconds_for(kind: str) -> float:
    return SECONDS.get(kind, OTHERWISE)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block when it takes longer."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise OutOfTime(f"took longer than {seconds:g} seconds")

    before = signal(SIGALRM, ring)
    setitimer(ITIMER_REAL, max(seconds, 0.01))  # nothing would switch the alarm off
    try:
        yield
    finally:
        setitimer(ITIMER_REAL, 0)
        signal(SIGALRM, before)


PAUSED = "paused"
SILENT = "hooks are silent: recollect host pause --off lets them answer again"


def silent(project: Project, moment: HostEvent, environ: Mapping[str, str]) -> bool:
    """Whether the user asked for quiet, here or for now."""
    if (project.data / PAUSED).exists():
        return True
    if not project.settings.hosts.ignore:
        return False
    from fnmatch import fnmatchcase

    folder = moment.folder or "."
    folders = {os.path.abspath(folder), os.path.realpath(folder)}
    places = {
        place
        for pattern in project.settings.hosts.ignore
        if pattern
        for place in _places(pattern, str(project.root), environ.get("HOME", ""))
    }
    return any(fnmatchcase(folder, shape) for folder in folders for place in places for shape in (place, f"{place}/*"))


def _places(pattern: str, root: str, home: str) -> set[str]:
    """Every way a pattern may be meant: with or without links, `a/**` with `a` itself, `a/**/b` with `a/b`."""
    base, rest = (home, pattern[2:]) if pattern.startswith("~/") else (root, pattern)
    rest = os.path.normpath(rest).removesuffix("/**")
    places = {_literally(os.path.realpath(os.path.join(base, rest)))}
    for folder in (base, os.path.realpath(base)):
        place = os.path.normpath(os.path.join(_literally(folder), rest))
        places |= {place, place.replace("/**/", "/")}
    return places


def _literally(path: str) -> str:
    """A path as a pattern that means just it."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)


def in_ci(environ: Mapping[str, str]) -> bool:
    """Whether nobody will come back to this session: `CI` is set, and not to a no."""
    return environ.get("CI", "").strip().lower() not in ("", "0", "false", "no", "off")


HOSTS = {"claude-code": "claude_code", "codex": "codex", "gemini": "gemini", "openclaw": "openclaw"}
CYCLE = "Cycle"
"""The event that our own configuration adds: maintenance beside a session, not in it."""
FAILED = "hook-failure.txt"
_READING = ("start", "prompt", "subagent")
"""Moments that answer. They do not wait for the spool; the others empty it first."""


def respond(
    host: str,
    event: str,
    given: Any,
    environ: Mapping[str, str],
    put: Callable[[str], None],
    *,
    spent: float = 0,
) -> None:
    """Answer one event of a host and keep what it leaves. Silent where no memory was begun, or where it is paused.

    `spent` is what waiting for the host's words took of the time there is.
    """
    adapter = adapter_of(host)
    moment = _moment(adapter, event, given if isinstance(given, dict) else {})
    found = _find_project(moment, environ) if moment else None
    if moment is None or found is None or silent(found[0], moment, environ):
        return
    project, closed = found
    moment, refused = _without_odd_file(moment)
    clock, actor = clock_from(environ), Actor(name=host, channel="hook", trust="agent")
    capturing = not in_ci(environ) and bool(moment.session)
    writes = _left(moment, str(project.root)) if capturing else []
    try:
        if closed is not None:
            raise closed
        with time_limit(seconds_for(moment.kind) - spent), _opened(project, moment, actor, clock, environ) as memory:
            said, shown = _answer(memory, moment, adapter)
            if said:
                put(adapter.answer(moment, said))
            if capturing:
                writes.insert(0, shown)
                if moment.kind == "start" and not adapter.ASYNC:
                    _begin_cycle(project, host, environ)
            while writes:
                memory.sessions.deliver(writes[0])
                writes.pop(0)
        if refused is not None:
            _note(project, moment, refused, clock)
        elif moment.session:  # the doctor's questions have none: what it is to show stays
            (project.data / FAILED).unlink(missing_ok=True)
    except (Exception, OutOfTime) as error:  # noqa: BLE001 — the fail-open edge: `doctor --host` shows it, the host not
        _note(project, moment, error, clock)
    finally:
        from recollect.memory.sessions import keep

        for write in writes:
            with suppress(RecollectError, OSError):
                keep(project, write, actor=actor, at=clock.now())


def adapter_of(host: str) -> Adapter:
    """The module of a host."""
    if host not in HOSTS:
        raise BadInput(f"no host {host!r}; known are {', '.join(HOSTS)}")
    module: Any = import_module(f"recollect.hosts.{HOSTS[host]}")
    adapter: Adapter = module
    return adapter


def seconds_of(host: str, event: str) -> float:
    """What an event may take, before anything else is known of it."""
    moment = _moment(adapter_of(host), event, {})
    return seconds_for(moment.kind if moment else "")


def _find_project(moment: HostEvent, environ: Mapping[str, str]) -> tuple[Project, RecollectError | None] | None:
    """The project a session works in: where its host was started, else where it stands now.

    With it, why its memory stays closed although it is the user's: then nothing is read, and what is said waits.
    """
    for place in (environ.get("CLAUDE_PROJECT_DIR"), environ.get("GEMINI_PROJECT_DIR"), moment.folder, "."):
        if not place:
            continue
        with suppress(RecollectError, OSError, ValueError):
            root = projects.root_of(Path(place))
            closed: RecollectError | None = None
            try:
                project = projects.load(root, environ)
            except BadInput as error:
                project, closed = projects.last_known(root, environ), error
            if projects.is_begun(project):  # a clone has the settings file, or a store of somebody else's
                return project, closed
            if not environ.get("HOME") and (project.data / projects.BEGUN).is_file():
                return project, Refused("HOME is not set: it cannot be seen whether you began this memory")
    return None


def _moment(adapter: Adapter, event: str, given: Mapping[str, Any]) -> HostEvent | None:
    if event == CYCLE:
        return HostEvent(kind="cycle", event=CYCLE, host=adapter.NAME, session="", folder=path(given, "cwd"))
    return adapter.read(event, given)


def _opened(project: Project, moment: HostEvent, actor: Actor, clock: Clock, environ: Mapping[str, str]) -> Memory:
    """The memory, with little patience: whoever waits is an agent."""
    from recollect.memory import Memory

    most = seconds_for(moment.kind) / 4
    store = project.settings.store
    patience = {"busy_seconds": min(store.busy_seconds, most), "connect_seconds": min(store.connect_seconds, most)}
    settings = merged(project.settings, {"store": patience}, "hook")
    return Memory.of(
        Project(**{**vars(project), "settings": settings}),
        actor=actor,
        clock=clock,
        environ=environ,
        replay=moment.kind not in _READING and moment.kind != "end",
    )


def _answer(memory: Memory, moment: HostEvent, adapter: Adapter) -> tuple[str, Write]:
    """What is put in front of the agent now, and the record that it was."""
    said = ""
    learnings: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    briefing = moment.kind == "start" or moment.brief_too
    if briefing and (moment.fresh or not memory.sessions.is_given(moment.session, "brief")):
        brief = memory.sessions.brief(adapter.ROOM)
        said, given = brief.text, ("brief", *brief.parts)
    if moment.kind in ("prompt", "subagent"):
        prompt = moment.prompt
        if moment.kind == "subagent":
            prompt = memory.sessions.asked_last(moment.host, moment.transcript) or moment.topic
        task = moment.agent or moment.session
        found = memory.sessions.prompted(prompt, session=moment.session, task=task, room=adapter.ROOM)
        said = "\n".join(filter(None, (said, found.text)))
        learnings, given = found.learnings, (*given, *found.entries)
    elif moment.kind in ("cycle", "heartbeat"):
        memory.sessions.tidy()
        memory.cycle()
        if moment.kind == "heartbeat":
            said = memory.sessions.waiting() or "HEARTBEAT_OK"
    return said, _happened(moment, learnings=learnings, given=given)


def _begin_cycle(project: Project, host: str, environ: Mapping[str, str]) -> None:
    """Maintenance beside the session, for a host that waits for all its hooks: a process of its own, which ends."""
    import subprocess
    import sys

    subprocess.Popen(
        [sys.executable, "-P", "-m", "recollect", "hook", CYCLE, "--host", host],
        cwd=project.root,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _happened(moment: HostEvent, *, learnings: tuple[str, ...] = (), given: tuple[str, ...] = ()) -> Write:
    transcript = moment.transcript if moment.kind == "start" else ""
    event = SessionEvent(
        session=moment.session,
        host=moment.host,
        event=moment.event,
        task=moment.agent or moment.session,
        learnings=learnings,
        given=given,
        fresh=moment.fresh,
        transcript=transcript,
        place=_size(transcript),
    )
    return _write(event)


def _left(moment: HostEvent, root: str) -> list[Write]:
    """What a moment leaves in the memory, as writes that can wait."""
    session = moment.session

    def turn(**said: str) -> Write:
        size = _first_written if moment.kind == "stop" else _size
        end = size(moment.transcript) if moment.transcript else 0
        return _write(
            SessionTurn(session=session, host=moment.host, root=root, path=moment.transcript, end=end, **said)
        )

    if moment.kind == "stop":
        return [turn(request=moment.prompt, answer=moment.answer), *_said(moment, moment.answer, task=session)]
    if moment.kind == "subagent_stop":
        return _said(moment, moment.answer, task=moment.agent or session)
    if moment.kind == "before_compact":
        return [turn(topic="Checkpoint before compaction")]
    if moment.kind == "after_compact" and moment.text:
        return [_write(SessionNote(session=session, topic="Summary at compaction", text=moment.text))]
    if moment.kind == "task":
        topic = moment.topic or "Task completed"
        done = SessionNote(session=session, topic=topic, text=f"Task completed: {topic}\n\n{moment.text}")
        return [turn(), _write(done), *_said(moment, moment.text, task=session)]
    return []


def _said(moment: HostEvent, words: str, *, task: str) -> list[Write]:
    """Verdicts and discoveries in an agent's own words."""
    writes = []
    if "HELPFUL:" in words:
        writes.append(_write(TaskVerdicts(output=words, task=task)))
    if any(mark in words.lower() for mark in ("discovery[", "discovery [")):
        writes.append(_write(TaskOutput(output=words, task=task, outcome=moment.session)))
    return writes


def _write(what: Written) -> Write:
    return Write(id=random_id("change"), what=what)


def _first_written(path: str) -> int:
    """The size of a transcript. A host writes beside its hooks: at a first answer the request may not be there yet."""
    patience = 15 if os.path.isdir(os.path.dirname(path)) else 0
    while not (size := _size(path)) and patience:
        time.sleep(0.02)
        patience -= 1
    return size


def _without_odd_file(moment: HostEvent) -> tuple[HostEvent, BadInput | None]:
    """The moment without a transcript that is not a regular file, which nobody may open, and what to say about it."""
    from recollect.store.files import is_odd

    if not moment.transcript or not is_odd(moment.transcript):
        return moment, None
    said = (
        f"the transcript {moment.transcript} is not a regular file, so it was not opened; the rest of the event was "
        "kept. Let the host name the file that it writes its transcript to"
    )
    return HostEvent(**{**vars(moment), "transcript": ""}), BadInput(said)


def _size(path: str) -> int:
    try:
        return os.path.getsize(path) if path else 0
    except OSError:
        return 0


def _note(project: Project, moment: HostEvent, error: BaseException, clock: Clock) -> None:
    """The last thing that went wrong, for `recollect doctor --host`."""
    with suppress(OSError):
        (project.data / FAILED).write_text(
            f"{iso(clock.now())} {moment.event}: {type(error).__name__}: {error}\n", "utf-8"
        )
