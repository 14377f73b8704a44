"""Learnings: COIA notes with a confidence that moves; where they come from (outcomes, tasks, discoveries); and the
writes of hooks and workers.

COIA is context (what were you working on), observation (what did you notice), implication (how should this change
future work) and action (the specific change to make).

Each kind of write is one record that holds everything about it, because a write that cannot reach the store waits as a
file of the spool (`memory/spool.py`). The room's function takes the same record: `turn(ctx, SessionTurn(...))`. The
hook path loads this module.
"""

from __future__ import annotations

from recollect.core.records import GIVEN, ID, MESSAGE, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.core.choices import DiscoveryType, PatternType, Status, Trust, Verdict

COIA = ("context", "observation", "implication", "action")
IMPLIED = "(implied) "  # marks a field that its source does not state
COMPACTED = "Summary at compaction"  # its turns have entries of their own


def out_of_use(status: str, successor: str | None) -> str:
    """Why a learning or decision is out of use, as shown to users; empty while it is in use."""
    if status == "active":
        return ""
    return f"superseded by {successor}" if successor else status


@record
class Learning:
    """`version` counts edits; counters and confidence move without touching it."""

    id: str
    title: str
    context: str
    observation: str
    implication: str
    action: str
    tags: tuple[str, ...]
    domain: str | None
    pattern_type: PatternType
    confidence: float
    times_injected: int
    times_helpful: int
    times_not_helpful: int
    recurrence: int
    status: Status
    superseded_by: str | None
    pinned: bool
    origin: str
    trust: Trust
    version: int
    source_outcome_id: str | None
    source_task_id: str | None
    source_discovery_id: str | None
    created_at: int
    updated_at: int
    last_injected_at: int | None
    last_helpful_at: int | None
    last_decayed_at: int | None

    @property
    def verdicts(self) -> int:
        return self.times_helpful + self.times_not_helpful

    @property
    def fields(self) -> tuple[str, ...]:
        return (self.context, self.observation, self.implication, self.action)

    @property
    def out_of_use(self) -> str:
        return out_of_use(self.status, self.superseded_by)


@record
class LearningSource:
    """One time that an insight came up: where, how it was captured, and its trust."""

    outcome_id: str | None
    task_id: str | None
    discovery_id: str | None
    origin: str
    trust: Trust
    at: int


@record
class Injection:
    """The record that a learning was shown to a task, and the verdict on it."""

    learning_id: str
    task_id: str
    outcome_id: str
    injected_at: int
    feedback: Verdict | None = None
    feedback_at: int | None = None


@record
class Outcome:
    """The purpose of some tasks; for a host's work it is the session."""

    id: str
    name: str
    created_at: int

    STORED = {"id": ID}


@record
class Task:
    """One unit of work inside an outcome."""

    id: str
    outcome_id: str | None
    title: str
    created_at: int

    STORED = {"id": ID, "outcome_id": ID}


@record
class Discovery:
    """What an observer saw in a finished task; `learning_id` is the learning made of it, or `skipped` the reason."""

    id: str
    type: DiscoveryType
    content: str
    task_id: str
    outcome_id: str | None
    created_at: int
    learning_id: str | None = None
    skipped: str | None = None

    STORED = {"task_id": ID, "outcome_id": ID}


@record
class TaskInjection:
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


# The names of the kinds in the spool's files.
KINDS: dict[str, type[Written]] = {
    "inject": TaskInjection,
    "shown": SessionEvent,
    "turn": SessionTurn,
    "entry": SessionNote,
    "observe": TaskOutput,
    "feedback": TaskVerdicts,
}
