"""The closed sets of words that some fields may hold, as types.

Apart from the records because `typing` takes longer to load than all records together, and the prompt hook works
without it. Records name these types in annotations; `core/records.py` resolves them here when needed.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

Trust = Literal["human", "agent", "external"]
PatternType = Literal["solution", "gotcha", "best-practice", "constraint"]
Status = Literal["active", "archived", "superseded"]
Verdict = Literal["helpful", "not_helpful"]
DiscoveryType = Literal["blocker", "constraint", "pattern", "decision", "dependency"]

PATTERN_TYPES: tuple[PatternType, ...] = get_args(PatternType)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
STATUSES: tuple[Status, ...] = get_args(Status)
DISCOVERY_TYPES: tuple[DiscoveryType, ...] = get_args(DiscoveryType)

# Annotations of a record may use these names without an import.
TYPES: dict[str, Any] = {
    "Any": Any,
    "Trust": Trust,
    "PatternType": PatternType,
    "Status": Status,
    "Verdict": Verdict,
    "DiscoveryType": DiscoveryType,
}
