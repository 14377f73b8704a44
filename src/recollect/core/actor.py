"""Who acts, and how far they are trusted."""

from __future__ import annotations

from recollect.core.errors import BadInput
from recollect.core.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.core.choices import Trust

TRUSTS: tuple[Trust, ...] = ("human", "agent", "external")


@record
class Actor:
    """Who writes, through which channel. The channel decides the trust, never the text."""

    name: str
    channel: str
    trust: Trust

    def __post_init__(self) -> None:
        if self.trust not in TRUSTS:
            raise BadInput(f"trust must be one of {', '.join(TRUSTS)}, not {self.trust!r}")


def lowest(*trusts: Trust) -> Trust:
    """Derived text is as trustworthy as its worst source."""
    return max(trusts, key=TRUSTS.index)
