"""Passages: the one shape in which every text is searched."""

from __future__ import annotations

from recollect.core.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.core.choices import Trust


@record
class Passage:
    """A searchable piece of text, written by the room that owns the text, in the same transaction.

    `lines` are the body's fields or paragraphs, one line each: search reports which of them matched. `thread` and
    `position` say what stands next to it (turns of a session, entries of a day).
    """

    id: str
    kind: str
    title: str
    lines: tuple[str, ...]
    keywords: tuple[str, ...] = ()
    who: str = ""
    at: int
    trust: Trust
    thread: str = ""
    position: int = 0

    @property
    def text(self) -> str:
        return "\n".join(self.lines)
