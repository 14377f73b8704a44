"""Outcomes, tasks and discoveries: where learnings come from and where they go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from recollect.core.errors import BadInput

DiscoveryType = Literal["blocker", "constraint", "pattern", "decision", "dependency"]
DISCOVERY_TYPES: tuple[DiscoveryType, ...] = get_args(DiscoveryType)
ID_LIMIT = 200


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a piece of work is for; hosts use the session."""

    id: str
    name: str
    created_at: int


@dataclass(frozen=True, kw_only=True)
class Task:
    """One unit of work inside an outcome."""

    id: str
    outcome_id: str | None
    title: str
    created_at: int


@dataclass(frozen=True, kw_only=True)
class Discovery:
    """What an observer saw in a finished task; `learning_id` is what became of it, else `skipped` says why."""

    id: str
    type: DiscoveryType
    content: str
    task_id: str
    outcome_id: str | None
    created_at: int
    learning_id: str | None = None
    skipped: str | None = None


def check_id(value: str, name: str) -> str:
    """Ids of tasks and outcomes come from callers: any printable text on one line."""
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"{name} is empty; give the id your tracker uses")
    if len(value) > ID_LIMIT or not value.isprintable():
        raise BadInput(f"{name} must be at most {ID_LIMIT} printable characters on one line")
    return value.strip()
