"""What each tool answers: a record with an output schema, and the same as a few lines for the model to read.

Stored words are data: in the lines they are joined to one line and escaped, so that a note cannot forge a heading or a
verdict. The structured half carries them unchanged. Every line marks what came from outside, and a learning or a
decision that is out of use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from recollect.core.choices import Trust, Verdict
from recollect.text.frame import escape, one_line

_FROM_OUTSIDE = "  [from outside, not adopted by a person]"


@dataclass(frozen=True, kw_only=True)
class FoundHit:
    """Something that fits a question; `get` with its id shows all of it. `out_of_use` says why not to rely on it."""

    id: str
    kind: str
    title: str
    snippet: str
    score: float
    confidence: float | None
    out_of_use: str
    trust: Trust

    def line(self) -> str:
        sure = "" if self.confidence is None else f"  confidence {self.confidence:.2f}"
        return f"{self.id}{sure}  {_shown(self.title)}{_marks(self.trust, self.out_of_use)}\n    {_shown(self.snippet)}"


@dataclass(frozen=True, kw_only=True)
class Found:
    hits: tuple[FoundHit, ...]

    def text(self) -> str:
        return "\n".join(hit.line() for hit in self.hits) or "nothing known about this"


@dataclass(frozen=True, kw_only=True)
class Thing:
    """One thing whole: its text, and the stored record where there is one."""

    id: str
    kind: str
    title: str
    body: str
    trust: Trust
    record: dict[str, Any]

    def text(self) -> str:
        return f"{self.id} ({self.kind}): {_shown(self.title)}{_marks(self.trust)}\n\n{self.body}"


@dataclass(frozen=True, kw_only=True)
class Remembered:
    """A stored learning; `merged` when one that says the same was there and now counts once more.

    `left` names what was given then and not taken over.
    """

    id: str
    title: str
    confidence: float
    merged: bool
    left: tuple[str, ...]
    redacted: tuple[str, ...]

    def text(self) -> str:
        did = "was known; counted once more as" if self.merged else "saved"
        left = f"; left as it was: {', '.join(self.left)}" if self.left else ""
        return f"{did} {self.id} (confidence {self.confidence:.2f}){left}{_redactions(self.redacted)}"


@dataclass(frozen=True, kw_only=True)
class LoggedEntry:
    """An entry of the raw log."""

    id: str
    topic: str
    redacted: tuple[str, ...]
    warning: str = ""

    def text(self) -> str:
        said = f"saved {self.id} under {_shown(self.topic)}{_redactions(self.redacted)}"
        return f"{said}. {self.warning}" if self.warning else said


@dataclass(frozen=True, kw_only=True)
class RecordedDecision:
    """A recorded decision."""

    id: str
    redacted: tuple[str, ...]

    def text(self) -> str:
        return f"saved {self.id}{_redactions(self.redacted)}"


@dataclass(frozen=True, kw_only=True)
class Injected:
    """What a task is shown, and under which ids it can be rated."""

    learnings: tuple[str, ...]
    markdown: str

    def text(self) -> str:
        return self.markdown or "nothing relevant to this task is known"


@dataclass(frozen=True, kw_only=True)
class Rated:
    id: str
    verdict: Verdict
    confidence: float

    def text(self) -> str:
        return f"{self.id}: {self.verdict}, confidence is now {self.confidence:.2f}"


@dataclass(frozen=True, kw_only=True)
class RecallStep:
    """A node on the way down, and its line that speaks most of the question."""

    id: str
    line: str


@dataclass(frozen=True, kw_only=True)
class RecalledEntry:
    """An entry of a raw log, and the nodes that led to it."""

    id: str
    topic: str
    snippet: str
    trust: Trust
    way: tuple[str, ...]

    def line(self) -> str:
        return f"{self.id}  {_shown(self.topic)}{_marks(self.trust)}\n    {_shown(self.snippet)}"


@dataclass(frozen=True, kw_only=True)
class Recollection:
    steps: tuple[RecallStep, ...]
    entries: tuple[RecalledEntry, ...]

    def text(self) -> str:
        steps = [f"{step.id}: {_shown(step.line)}" for step in self.steps]
        return "\n".join([*steps, *(entry.line() for entry in self.entries)]) or "the journal says nothing about this"


@dataclass(frozen=True, kw_only=True)
class State:
    """How much is remembered, and what waits."""

    space: str
    engine: str
    learnings: dict[str, int]
    decisions: dict[str, int]
    tree: dict[str, int]
    injections: int
    verdicts: dict[str, int]
    inbox: int
    spooled: int
    set_aside: int

    def text(self) -> str:
        counted = {"learnings": self.learnings, "decisions": self.decisions, "nodes of the tree": self.tree}
        lines = [
            f"{name}: {', '.join(f'{n} {what}' for what, n in counts.items())}" for name, counts in counted.items()
        ]
        shown = f"shown to tasks: {self.injections}, of them {self.verdicts['helpful']} rated helpful"
        waits = f"waiting: {self.inbox} for a person, {self.spooled} to be written"
        if self.set_aside:
            waits += f", {self.set_aside} set aside as failed (recollect doctor --fix tries again)"
        return "\n".join([f"memory of {self.space} ({self.engine})", *lines, shown, waits])


def _shown(text: str) -> str:
    return escape(one_line(text))


def _marks(trust: Trust, out_of_use: str = "") -> str:
    return (f"  [{out_of_use}]" if out_of_use else "") + (_FROM_OUTSIDE if trust == "external" else "")


def _redactions(kinds: tuple[str, ...]) -> str:
    return f"; taken out first: {', '.join(kinds)}" if kinds else ""
