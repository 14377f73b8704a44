"""Recollect: a memory for AI agents that keeps what was said word for word, distils it and learns from what helped."""

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

_NAMES = {
    "recollect.capture.learn": "Captured",
    "recollect.capture.observe": "Observed",
    "recollect.core.clock": "ScriptedClock",
    "recollect.core.context": "Actor",
    "recollect.core.decision": "Bridge Decision DecisionEdit NewDecision Reason Review",
    "recollect.core.errors": "BadInput NotFound NotInitialised RecollectError Refused Rejected Stale Trouble",
    "recollect.core.finding": "NewFinding",
    "recollect.core.journal": "NewEntry",
    "recollect.core.learning": "Injection Learning",
    "recollect.core.new_learning": "LearningEdit NewLearning",
    "recollect.feedback.confidence": "Taken",
    "recollect.inject.learnings": "Chosen NewInjection",
    "recollect.memory": "Memory",
    "recollect.search.everything": "Hit SearchOptions",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

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
