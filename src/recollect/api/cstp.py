"""The methods of the JSON-RPC surface, over one `Memory`.

Names and parameters are the protocol's; everything else is a call into the hall.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from recollect.api.rpc import converted, record_of
from recollect.core.clock import parse_time
from recollect.core.decision import NewDecision, Review
from recollect.core.plain import plain
from recollect.memory import Memory

READS = frozenset(
    {
        "cstp.getCompacted",
        "cstp.getWisdom",
        "cstp.queryDecisions",
        "cstp.getDecision",
        "cstp.getCalibration",
    }
)
"""What changes nothing."""


def methods(memory: Memory) -> dict[str, Callable[..., Any]]:
    """Every method by its name."""
    decisions = memory.decisions

    def compact(*, dry_run: bool = False) -> Any:
        return decisions.compact(dry_run=dry_run)

    def get_compacted(
        *,
        category: str | None = None,
        agent: str | None = None,
        level: str | None = None,
        as_of: str | None = None,
        budget: int | None = None,
        limit: int = 500,
        offset: int = 0,
    ) -> Any:
        wanted = {"category": category, "agent": agent, "level": level, "budget": budget}
        return decisions.compacted(as_of=_instant(as_of), limit=limit, offset=offset, **wanted)

    def set_preserve(*, id: str, preserve: bool = True) -> Any:
        return decisions.preserve(id, on=preserve)

    def get_wisdom(*, category: str | None = None, agent: str | None = None, as_of: str | None = None) -> Any:
        return {"wisdom": decisions.wisdom(category=category, agent=agent, as_of=_instant(as_of))}

    def record_decision(*, anyway: bool = False, **new: Any) -> Any:
        done = decisions.record(record_of(NewDecision, new), anyway=anyway)
        return {**vars(done.decision), "redacted": done.redacted}

    def review_decision(*, id: str, version: int | None = None, **review: Any) -> Any:
        return decisions.review(id, record_of(Review, review), expect=version)

    def query_decisions(
        *,
        query: str = "",
        category: str | None = None,
        agent: str | None = None,
        tag: str | None = None,
        outcome: str | None = None,
        status: str | None = None,
        stakes: str | None = None,
        reviewed: bool | None = None,
        limit: int = 20,
        offset: int = 0,
        whole: bool = False,
    ) -> Any:
        wanted = {"category": category, "agent": agent, "tag": tag, "outcome": outcome, "stakes": stakes}
        hits, total = decisions.query(
            query, limit=limit, offset=offset, whole=whole, status=status, reviewed=reviewed, **wanted
        )
        return {"decisions": hits, "total": total}

    def get_decision(*, id: str) -> Any:
        return decisions.get(id)

    def get_calibration(
        *, category: str | None = None, agent: str | None = None, window_days: int | None = None
    ) -> Any:
        return decisions.calibration(category=category, agent=agent, window_days=window_days)

    table: Mapping[str, Callable[..., Any]] = {
        "cstp.compact": compact,
        "cstp.getCompacted": get_compacted,
        "cstp.setPreserve": set_preserve,
        "cstp.getWisdom": get_wisdom,
        "cstp.recordDecision": record_decision,
        "cstp.reviewDecision": review_decision,
        "cstp.queryDecisions": query_decisions,
        "cstp.getDecision": get_decision,
        "cstp.getCalibration": get_calibration,
    }
    return {name: _on_the_wire(method) for name, method in table.items()}


def _on_the_wire(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method with its parameters as it declares them and its result as JSON values; its signature stays visible."""

    def called(**given: Any) -> Any:
        declared = get_type_hints(method)
        return plain(method(**{name: converted(value, declared.get(name, Any), name) for name, value in given.items()}))

    called.__wrapped__ = method  # type: ignore[attr-defined]
    return called


def _instant(text: str | None) -> int | None:
    return None if text is None else parse_time(text)
