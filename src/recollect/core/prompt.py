"""What a model is asked."""

from __future__ import annotations

from recollect.core.record import record


@record
class Prompt:
    """What a model is told (`instructions`) and what it is told about (`data`); the two are never spliced."""

    kind: str
    instructions: str
    data: str
    max_tokens: int
    timeout: float
