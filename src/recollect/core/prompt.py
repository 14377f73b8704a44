"""What a model is asked."""

from __future__ import annotations

from typing import Literal

from recollect.core.record import record


@record
class Prompt:
    """What a model is told (`instructions`) and what it is told about (`data`); the two are never spliced."""

    kind: str
    instructions: str
    data: str
    max_tokens: int
    timeout: float


@record
class Completion:
    """What came back. Without counts the provider does not say what it used."""

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    stop: Literal["end", "length", "refusal"] = "end"
