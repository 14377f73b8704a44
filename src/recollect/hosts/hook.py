"""Answers one event of a session, the same way for every host.

A hook prints its answer first and then records the event, or spools it when the store is locked, missing or slow. No
error reaches the host, and an alarm ends a hook before the host would. Hooks are silent in a paused project or an
ignored folder, and write nothing in CI. Where there is no memory, a session's start tells the user how to begin one, or
begins it if the user's settings say so.
"""

from __future__ import annotations

import os
import time
from _signal import ITIMER_REAL, SIGALRM, setitimer, signal  # type: ignore[import-not-found]
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from recollect.core.clock import OutOfTime, clock_from, iso
from recollect.core.context import Actor
from recollect.core.errors import BadInput, NotInitialised, RecollectError, StoreOutdated
from recollect.core.learning import COMPACTED, SessionEvent, SessionNote, SessionTurn, TaskOutput, TaskVerdicts, Write
from recollect.core.records import random_id, replace
from recollect.core.settings import in_ci, merged
from recollect.hosts.payloads import Host, HostEvent, answer, host_named, path
from recollect.store import project as projects
from recollect.store.project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType
    from typing import Any

    from recollect.core.clock import Clock
    from recollect.core.learning import Written
    from recollect.memory import Memory

SECONDS = {"prompt": 4.0, "subagent": 4.0, "end": 1.0, "cycle": 110.0}
"""Time limits in seconds. Claude Code gives all hooks 1.5 seconds together when a session ends."""
OTHERWISE = 8.0  # hosts wait ten seconds (`host_files`), and a process needs time to exit


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in a block that takes longer."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise OutOfTime(f"took longer than {seconds:g} seconds")

    before = signal(SIGALRM, ring)
    setitimer(ITIMER_REAL, max(seconds, 0.01))  # zero would switch the alarm off
    try:
        yield
    finally:
        setitimer(ITIMER_REAL, 0)
        signal(SIGALRM, before)


PAUSED = "paused"
SILENT = "Hooks are silent until you run: recollect host pause --off"


def silent(project: Project, moment: HostEvent, environ: Mapping[str, str]) -> bool:
    """Whether the user silenced hooks, in the whole project or in this folder."""
    if (project.data / PAUSED).exists():
        return True
    if not project.settings.hosts.ignore:
        return False
    from fnmatch import fnmatchcase

    folder = moment.folder or "."
    folders = {os.path.abspath(folder), os.path.realpath(folder)}
    root, home = str(project.root), environ.get("HOME", "")
    places: set[str] = set()
    for pattern in filter(None, project.settings.hosts.ignore):
        base, rest = (home, pattern[2:]) if pattern.startswith("~/") else (root, pattern)
        # `a/**` includes `a`, and `a/**/b` `a/b`; links count as both
        rest = os.path.normpath(rest).removesuffix("/**")
        places.add(_literally(os.path.realpath(os.path.join(base, rest))))
        for each in (base, os.path.realpath(base)):
            place = os.path.normpath(os.path.join(_literally(each), rest))
            places |= {place, place.replace("/**/", "/")}
    return any(fnmatchcase(folder, shape) for folder in folders for place in places for shape in (place, f"{place}/*"))


def _literally(path: str) -> str:
    """The pattern that matches only this path."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)


LAUNCHER = "bin/recollect"
"""A script in the user's state folder that runs Recollect, wherever it is installed."""
CYCLE = "Cycle"
"""An event that only our configuration sends: maintenance in the background of a session."""
FAILED = "hook-failure.txt"
UPGRADING = "Recollect: the memory is upgraded in the background; until then nothing is shown. Nothing is lost"
_READING = ("start", "prompt", "subagent")
"""Events that get an answer, and therefore do not wait until the spool is replayed."""


def respond(
    host: str,
    event: str,
    given: Any,
    environ: Mapping[str, str],
    put: Callable[[str], None],
    *,
    pid: int = 0,
    spent: float = 0,
) -> None:
    """Answer and record one event of a host. `spent` is the seconds that reading its payload took."""
    adapter = host_named(host)
    moment = _event(host, event, given if isinstance(given, dict) else {}, pid)
    if moment is None or (in_ci(environ) and moment.kind not in _READING):
        return
    found = _find_project(moment, environ)
    capturing = not in_ci(environ) and bool(moment.session)
    if found is None and moment.kind == "start" and capturing:
        found = _without_memory(moment, environ, put)
    if found is None or silent(found[0], moment, environ):
        return
    project, closed = found
    moment, refused = _without_odd_file(moment)
    clock, actor = clock_from(environ), Actor(name=host, channel="hook", trust="agent")
    writes = _left(moment, str(project.root)) if capturing else []
    try:
        if closed is not None:
            raise closed
        with (
            time_limit(SECONDS.get(moment.kind, OTHERWISE) - spent),
            _opened(project, moment, actor, clock, environ) as memory,
        ):
            if capturing and moment.kind == "start":
                with suppress(RecollectError):  # so that the brief has the last turn of a session that was killed
                    memory.sessions.tidy(but=moment.session)
            said, message, shown = _answer(memory, moment, adapter, environ)
            if said or message:
                put(answer(moment, said, message))
            if capturing:
                writes.insert(0, shown)
                if moment.kind == "start" and not adapter.runs_async:
                    _begin(project, environ, "hook", CYCLE, "--host", host)
            while writes:
                memory.sessions.deliver(writes[0])
                writes.pop(0)
        if in_ci(environ):
            return
        if refused is not None:
            _note(project, moment, refused, clock)
        elif moment.session:  # `doctor --host` sends none, and must not delete the failure that it shows
            (project.data / FAILED).unlink(missing_ok=True)
    except (Exception, OutOfTime) as error:  # noqa: BLE001 — fail open: only `doctor --host` shows the error
        if isinstance(error, StoreOutdated) and moment.kind == "start" and capturing:
            _begin(project, environ, "cycle")
            put(answer(moment, "", UPGRADING))
        if not in_ci(environ):
            _note(project, moment, error, clock)
    finally:
        from recollect.memory.spool import keep

        for write in writes:
            with suppress(RecollectError, OSError):
                keep(project, write, actor=actor, at=clock.now())


def seconds_of(host: str, event: str) -> float:
    """The time limit of an event whose payload is not read yet."""
    return SECONDS.get("cycle" if event == CYCLE else host_named(host).kinds.get(event, ""), OTHERWISE)


def _find_project(moment: HostEvent, environ: Mapping[str, str]) -> tuple[Project, RecollectError | None] | None:
    """The project of a session: where its host was started, or else its current folder.

    If the settings cannot be used, the project as last known and the error: nothing is read, and writes are spooled.
    """
    told = environ.get("CLAUDE_PROJECT_DIR"), environ.get("GEMINI_PROJECT_DIR"), moment.folder, "."
    for place in filter(None, told):
        with suppress(RecollectError, OSError, ValueError):
            root = projects.root_of(Path(place), environ)
            try:
                return projects.load(root, environ), None
            except NotInitialised:
                continue
            except BadInput as error:
                return projects.last_known(root, environ), error
    return None


def _without_memory(
    moment: HostEvent, environ: Mapping[str, str], put: Callable[[str], None]
) -> tuple[Project, None] | None:
    """In a repository without a memory, begin one if hosts.begin says so, or tell the user how in one line.

    Nothing is written into the repository: only the register says which space it uses.
    """
    from recollect.store.register import main_worktree, spot_of

    start = Path(environ.get("CLAUDE_PROJECT_DIR") or moment.folder or ".").resolve()
    spot = spot_of(start)
    begin = projects.outside(environ).hosts.begin
    if not spot.git or begin == "never":
        return None
    top = Path(str(start).removesuffix(spot.folder))
    known = (top / projects.SETTINGS_FILE).exists()
    if begin == "always" and not known:
        projects.begin_unnamed(main_worktree(top), environ)
        return projects.find(start, environ), None
    why = "has no memory yet"
    if known:  # a clone, another machine, another home
        why = "has a recollect.toml, but its memory is not on this machine or belongs to another place"
    line = f"Recollect: {top.name} {why}. Run `recollect init` there, or set `hosts.begin` in your settings"
    put(answer(moment, "", line))
    return None


def program(project: Project, environ: Mapping[str, str]) -> str:
    """The command that an agent types: the launcher if `recollect` is not on its PATH.

    For Claude Code we extend the PATH instead, so that its permission rules for `recollect` apply.
    """
    folders = environ.get("PATH", "").split(os.pathsep)
    if any(os.access(os.path.join(folder, "recollect"), os.X_OK) for folder in folders if folder):
        return "recollect"
    launcher = project.state / LAUNCHER
    shown, home = str(launcher), environ.get("HOME", "")
    if home and shown.startswith(f"{home}/"):
        shown = "~" + shown.removeprefix(home)
    if taken := environ.get("CLAUDE_ENV_FILE"):
        how = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK  # a FIFO would wait for a reader
        with suppress(OSError), open(os.open(taken, how, 0o644), "a", encoding="utf-8") as file:
            file.write(f'export PATH="$PATH:{launcher.parent}"\n')
            return "recollect"
    return shown


def _event(host: str, event: str, given: Mapping[str, Any], pid: int) -> HostEvent | None:
    if event == CYCLE:
        return HostEvent(kind="cycle", event=CYCLE, host=host, session="", folder=path(given, "cwd"))
    found = host_named(host).read(event, given)
    return replace(found, pid=pid) if found else None


def _opened(project: Project, moment: HostEvent, actor: Actor, clock: Clock, environ: Mapping[str, str]) -> Memory:
    """The memory, with short timeouts because an agent waits."""
    from recollect.memory import Memory

    most = SECONDS.get(moment.kind, OTHERWISE) / 4
    store = project.settings.store
    patience = {"busy_seconds": min(store.busy_seconds, most), "connect_seconds": min(store.connect_seconds, most)}
    settings = merged(project.settings, {"store": patience}, "hook")
    return Memory.of(
        replace(project, settings=settings),
        actor=actor,
        clock=clock,
        environ=environ,
        replay=moment.kind not in _READING and moment.kind != "end",
    )


def _answer(memory: Memory, moment: HostEvent, adapter: Host, environ: Mapping[str, str]) -> tuple[str, str, Write]:
    """The text for the agent, the line for the user, and the record of what was shown."""
    said, message, room = "", "", adapter.room
    telling = memory.project.settings.hosts.messages
    learnings: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    briefing = moment.kind == "start" or moment.brief_too
    if briefing and (moment.fresh or not memory.sessions.is_given(moment.session, "brief")):
        room = replace(room, program=program(memory.project, environ))
        brief = memory.sessions.brief(room, session=moment.session)
        said, given, room = brief.text, ("brief", *brief.parts), room.beside(f"{brief.text}\n")
        message = memory.sessions.at_a_glance(moment.session) if telling else ""
    elif moment.kind == "start" and (broken := memory.sessions.broken_off(only=moment.session)):
        message = f"this session broke off at: {broken[0][1]}" if telling else ""
        said = f"The last turn of this session broke off; the log has what was said. It was asked: {broken[0][1]}"
    if moment.kind in ("prompt", "subagent"):
        prompt = moment.prompt
        if moment.kind == "subagent":
            # The host may write the task to its transcript only after this hook has started: wait 0.5 s.
            look = partial(memory.sessions.delegated, moment.host, moment.transcript, moment.agent)
            prompt = (adapter.delegates and _waited(look, 25 if moment.transcript else 0)) or moment.topic
        task = moment.agent or moment.session
        found = memory.sessions.prompted(prompt, session=moment.session, task=task, room=room, fresh=moment.fresh)
        said = "\n".join(filter(None, (said, found.text)))
        learnings, given = found.learnings, (*given, *found.entries)
        if telling and found.titles and moment.kind == "prompt":
            message = " · ".join(filter(None, (message, f"gave {len(found.titles)}: {'; '.join(found.titles)}")))
    elif moment.kind == "cycle":
        memory.sessions.tidy()
        memory.cycle()
    return said, message and f"Recollect: {message}", _happened(moment, learnings=learnings, given=given)


def _waited(look: Callable[[], Any], tries: int) -> Any:
    while not (found := look()) and tries:
        time.sleep(0.02)
        tries -= 1
    return found


def _begin(project: Project, environ: Mapping[str, str], *command: str) -> None:
    """Start a command in the background: a cycle, for a host that waits for all hooks, or one without a time limit."""
    import subprocess
    import sys

    subprocess.Popen(
        [sys.executable, "-P", "-m", "recollect", *command],
        cwd=project.root,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _happened(moment: HostEvent, **shown: tuple[str, ...]) -> Write:
    transcript = moment.transcript if moment.kind == "start" else ""
    # A prompt in the transcript is read there when the turn ends.
    unwritten = moment.kind == "prompt" and not (moment.prompt and _size(moment.transcript))
    return _write(
        SessionEvent(
            session=moment.session,
            host=moment.host,
            event=moment.event,
            task=moment.agent or moment.session,
            pid=moment.pid if moment.kind == "start" else 0,
            fresh=moment.fresh,
            transcript=transcript,
            place=_size(transcript),
            prompt=moment.prompt if unwritten else None,
            **shown,
        )
    )


def _left(moment: HostEvent, root: str) -> list[Write]:
    """What an event adds to the memory, as writes that can be spooled."""
    session = moment.session

    def turn(**said: str) -> Write:
        # At a session's first answer the host may not have written its transcript yet: wait 0.3 s.
        waits = moment.kind == "stop" and os.path.isdir(os.path.dirname(moment.transcript))
        end = int(_waited(partial(_size, moment.transcript), 15 if waits else 0))
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
        return [_write(SessionNote(session=session, topic=COMPACTED, text=moment.text))]
    if moment.kind == "task":
        topic = moment.topic or "Task completed"
        done = SessionNote(session=session, topic=topic, text=f"Task completed: {topic}\n\n{moment.text}")
        return [turn(), _write(done), *_said(moment, moment.text, task=session)]
    return []


def _said(moment: HostEvent, words: str, *, task: str) -> list[Write]:
    writes = []
    if "HELPFUL:" in words:
        writes.append(_write(TaskVerdicts(output=words, task=task)))
    if "discovery[" in words.lower().replace(" [", "["):
        writes.append(_write(TaskOutput(output=words, task=task, outcome=moment.session)))
    return writes


def _write(what: Written) -> Write:
    return Write(id=random_id("change"), what=what)


def _without_odd_file(moment: HostEvent) -> tuple[HostEvent, BadInput | None]:
    """If the transcript is not a regular file, the event without it, and the error to report."""
    from recollect.store.files import is_odd

    if not moment.transcript or not is_odd(moment.transcript):
        return moment, None
    said = f"the transcript {moment.transcript} is not a regular file, so it was not read; all else was saved"
    return replace(moment, transcript=""), BadInput(said)


def _size(path: str) -> int:
    with suppress(OSError):
        return os.path.getsize(path)
    return 0


def _note(project: Project, moment: HostEvent, error: BaseException, clock: Clock) -> None:
    """Keep the last error for `recollect doctor --host`."""
    from recollect.store.files import write_path

    with suppress(OSError, RecollectError):  # write_path replaces a link that a sandboxed command may have left there
        write_path(project.data / FAILED, f"{iso(clock.now())} {moment.event}: {type(error).__name__}: {error}\n")
