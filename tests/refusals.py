"""Many bad calls of one store, where a store for each would take long."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from recollect import BadInput


def taken(call: Callable[..., object], cases: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The cases that a call takes although it should refuse each as bad input."""
    return [case for case in cases if not _refuses(call, case)]


def _refuses(call: Callable[..., object], case: dict[str, Any]) -> bool:
    try:
        call(**case)
    except BadInput:
        return True
    return False
