"""The journal and its tree: entries of raw logs, the points a summary is made of, and nodes.

An entry is named by its place (`log/2026-03-01#3`), a node by its period (`daily/2026-03-01`, `root`). Their form as
text is in `text/entries.py` and `text/nodes.py`.
"""

from __future__ import annotations

from datetime import date
from typing import Literal, get_args

from recollect.core.choices import Trust
from recollect.core.errors import BadInput
from recollect.core.records import ID, MESSAGE, check_choice, record, says_nothing

EntryType = Literal["user", "feedback", "project", "reference"]
ENTRY_TYPES: tuple[EntryType, ...] = get_args(EntryType)
KEPT: tuple[EntryType, ...] = ("user", "feedback")  # no summary loses who the user is or what the user told the agent

NodeStatus = Literal["tentative", "fixed"]
Section = Literal["topic", "note", "more", "decision", "done", "entity", "lesson", "open"]
"""`topic` says what something is about, `note` is another sentence worth keeping, `more` counts entries that found no
line. All three are listed under Topics."""

# Of a structured entry; the last three are for feedback.
FIELDS = ("request", "analysis", "decisions", "outcome", "references", "rule", "why", "how_to_apply")

BROKE_OFF = "(broke off)"  # begins the outcome of a turn that was interrupted or whose host was killed
TOPIC_LIMIT = 120  # characters; a topic is one heading
ENTRY_LIMIT = 10_000_000  # characters of one entry; more is a file, not an entry


@record
class NewEntry:
    """The heading is the title, else the topic, else the first sentence of the text.

    The session's first day decides the log.
    """

    text: str = ""
    topic: str | None = None
    title: str | None = None
    type: EntryType = "project"
    session: str | None = None
    request: str | None = None
    analysis: str | None = None
    decisions: tuple[str, ...] = ()
    outcome: str | None = None
    references: tuple[str, ...] = ()
    rule: str | None = None
    why: str | None = None
    how_to_apply: str | None = None

    STORED = {**dict.fromkeys(("text", "topic", "title", *FIELDS), MESSAGE), "session": ID}

    def __post_init__(self) -> None:
        object.__setattr__(self, "session", self.session or None)
        check_choice(self.type, "type", ENTRY_TYPES)
        if all(map(says_nothing, (self.text, *(value for _, value in self.fields)))):
            raise BadInput("the entry is empty; give a text, or at least one field such as outcome")
        if sum(len(value) for _, value in self.fields) + len(self.text) > ENTRY_LIMIT:
            raise BadInput(f"an entry may have {ENTRY_LIMIT:,} characters; keep the rest in a file and refer to it")

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """The structured part in order; a field with several values appears several times."""
        pairs: list[tuple[str, str]] = []
        for name in FIELDS:
            value = getattr(self, name)
            pairs += [(name, part) for part in ((value,) if isinstance(value, str) else value or ()) if part.strip()]
        return tuple(pairs)


@record
class Entry:
    """One `## Topic [type]` section of a log. Number 0 is the text before the first heading.

    `text` is the whole body; `fields` are the `- outcome: …` items in it. `key` is written into the entry's mark, so
    that the entry can be recognised before its number is known. `titled`: the heading is a title, not a topic's name.
    Anyone can edit a file of the project, so `trust` is at most agent, or external where the entry is marked so.
    """

    day: date
    number: int
    topic: str
    type: EntryType = "project"
    text: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    at: str = ""
    key: str = ""
    session: str = ""
    titled: bool = False
    trust: Trust = "agent"

    @property
    def id(self) -> str:
        return f"log/{self.ref}"

    @property
    def ref(self) -> str:
        """The id as summaries write it: `2026-03-01#3`."""
        return f"{self.day.isoformat()}#{self.number}"


@record
class Point:
    """One line of a summary: what it says, about which topic, and the entries it was taken from."""

    section: Section
    topic: str
    type: EntryType = "project"
    text: str = ""
    refs: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        return self.type in KEPT


@record
class Source:
    """A file that a node was made from, and the hash it had then."""

    path: str
    sha256: str


@record
class Topic:
    name: str
    type: EntryType = "project"

    def __str__(self) -> str:
        return f"{self.name} [{self.type}]"


@record
class Node:
    """A derived file. `sources` are the files it was made from; `incomplete` names those that could not be read."""

    id: str
    status: NodeStatus
    topics: tuple[Topic, ...]
    sources: tuple[Source, ...]
    generator: str
    body: str
    incomplete: tuple[str, ...] = ()
