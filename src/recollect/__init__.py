"""Recollect: a memory for AI agents that keeps every raw word, distils it, finds it and learns from what helped."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from recollect.capture.learn import Captured
    from recollect.capture.observe import Observed
    from recollect.core.clock import ScriptedClock
    from recollect.core.context import Actor
    from recollect.core.decision import Bridge, Decision, DecisionEdit, NewDecision, Reason, Review
    from recollect.core.errors import (
        BadInput,
        NotFound,
        NotInitialised,
        RecollectError,
        Refused,
        Rejected,
        Stale,
        Trouble,
    )
    from recollect.core.finding import NewFinding
    from recollect.core.journal import NewEntry
    from recollect.core.learning import Injection, Learning
    from recollect.core.new_learning import LearningEdit, NewLearning
    from recollect.feedback.confidence import Taken
    from recollect.inject.learnings import Chosen, NewInjection
    from recollect.memory import Memory
    from recollect.search.everything import Hit, SearchOptions

__version__ = "0.2.0"

_HOMES = {
    "Actor": "recollect.core.context",
    "BadInput": "recollect.core.errors",
    "Bridge": "recollect.core.decision",
    "Captured": "recollect.capture.learn",
    "Chosen": "recollect.inject.learnings",
    "Decision": "recollect.core.decision",
    "DecisionEdit": "recollect.core.decision",
    "Hit": "recollect.search.everything",
    "Injection": "recollect.core.learning",
    "Learning": "recollect.core.learning",
    "LearningEdit": "recollect.core.new_learning",
    "Memory": "recollect.memory",
    "NewDecision": "recollect.core.decision",
    "NewEntry": "recollect.core.journal",
    "NewFinding": "recollect.core.finding",
    "NewInjection": "recollect.inject.learnings",
    "NewLearning": "recollect.core.new_learning",
    "NotFound": "recollect.core.errors",
    "NotInitialised": "recollect.core.errors",
    "Observed": "recollect.capture.observe",
    "Reason": "recollect.core.decision",
    "RecollectError": "recollect.core.errors",
    "Refused": "recollect.core.errors",
    "Rejected": "recollect.core.errors",
    "Review": "recollect.core.decision",
    "ScriptedClock": "recollect.core.clock",
    "SearchOptions": "recollect.search.everything",
    "Stale": "recollect.core.errors",
    "Taken": "recollect.feedback.confidence",
    "Trouble": "recollect.core.errors",
}

__all__ = [
    "Actor",
    "BadInput",
    "Bridge",
    "Captured",
    "Chosen",
    "Decision",
    "DecisionEdit",
    "Hit",
    "Injection",
    "Learning",
    "LearningEdit",
    "Memory",
    "NewDecision",
    "NewEntry",
    "NewFinding",
    "NewInjection",
    "NewLearning",
    "NotFound",
    "NotInitialised",
    "Observed",
    "Reason",
    "RecollectError",
    "Refused",
    "Rejected",
    "Review",
    "ScriptedClock",
    "SearchOptions",
    "Stale",
    "Taken",
    "Trouble",
]


def __getattr__(name: str) -> Any:
    """Names are imported when asked for: the prompt hook must not pay for what it does not use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'recollect' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
