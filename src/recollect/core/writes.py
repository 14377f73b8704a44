"""What a host's hook or a worker leaves in the memory, one record per kind of write.

A write that cannot reach the store waits as a file of the spool (`memory/sessions.py`), so everything about it is in
one record. The same record is what the room's function takes: `turn(ctx, SessionTurn(...))`. Loaded on the hook path.
Knows nothing about files.
"""

from __future__ import annotations

from recollect.core.records import GIVEN, ID, MESSAGE, record


@record
class TaskInjection:
    """A task was shown these learnings."""

    task: str
    outcome: str
    title: str
    learnings: tuple[str, ...]

    STORED = {"task": ID, "outcome": ID, "learnings": GIVEN}


@record
class SessionEvent:
    """A host reported an event, and the session, or a subagent as `task`, was shown something.

    `given` names what else was shown, such as `brief` or a log entry; `fresh` says that the agent's context began
    anew. `prompt` comes with a prompt that no transcript holds yet; `transcript`, `place` and `pid` with a session's
    start: its file, the size of it then, and the process of the host.
    """

    session: str
    host: str
    event: str
    task: str
    learnings: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    fresh: bool = False
    transcript: str = ""
    place: int = 0
    pid: int = 0
    prompt: str | None = None

    STORED = {
        "session": ID,
        "task": ID,
        "prompt": MESSAGE,
        **dict.fromkeys(("host", "event", "learnings", "given", "transcript"), GIVEN),
    }


@record
class SessionTurn:
    """A session's turn ended. `path` is its transcript and `end` the size of it then; `root` is the project's folder.

    `request` and `answer` are what the host itself says was asked and answered.
    """

    session: str
    host: str
    path: str = ""
    end: int = 0
    root: str = ""
    request: str = ""
    answer: str = ""
    topic: str = ""

    STORED = {"session": ID, "host": GIVEN, "path": GIVEN, "root": GIVEN, "request": MESSAGE, "answer": MESSAGE}


@record
class SessionNote:
    """A host said something about a session as a whole, such as the summary of a compaction."""

    session: str
    topic: str
    text: str

    STORED = {"session": ID, "text": MESSAGE}


@record
class TaskOutput:
    """An agent's final message about a task, which may hold discoveries."""

    output: str
    task: str
    outcome: str | None = None
    title: str = ""

    STORED = {"output": MESSAGE, "task": ID, "outcome": ID}


@record
class TaskVerdicts:
    """An agent's final message about a task, which holds verdicts on the learnings it was shown."""

    output: str
    task: str

    STORED = {"output": MESSAGE, "task": ID}


Written = TaskInjection | SessionEvent | SessionTurn | SessionNote | TaskOutput | TaskVerdicts


@record
class Write:
    """A record to be written under an id, which becomes the change id of what it does."""

    id: str
    what: Written


KINDS: dict[str, type[Written]] = {
    "inject": TaskInjection,
    "shown": SessionEvent,
    "turn": SessionTurn,
    "entry": SessionNote,
    "observe": TaskOutput,
    "feedback": TaskVerdicts,
}
"""The name of each kind in a file of the spool."""
