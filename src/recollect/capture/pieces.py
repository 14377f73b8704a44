"""What another tool kept, in our terms: one entry of the log or one learning a piece, with the place it stood at."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.core.journal import NewEntry
from recollect.core.new_learning import NewLearning


@dataclass(frozen=True, kw_only=True)
class Piece:
    """`at` is when it is from, in milliseconds; None when nobody knows."""

    place: str
    at: int | None
    what: NewEntry | NewLearning


@dataclass(frozen=True, kw_only=True)
class Passed:
    """Something that was not taken, and why; `lost` when it may hold something after all."""

    place: str
    reason: str
    lost: bool = True
