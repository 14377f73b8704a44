"""The methods of the JSON-RPC surface, over one `Memory`.

Names and parameters are the protocol's; everything else is a call into the hall.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from recollect.core.clock import parse_time
from recollect.core.decision import NewDecision, Review
from recollect.core.errors import BadInput
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

    def compact(*, dry_run: bool = False) -> Any:
        return memory.decisions.compact(dry_run=_is(bool, dry_run, "dryRun"))

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
        return memory.decisions.compacted(
            category=_text(category, "category"),
            agent=_text(agent, "agent"),
            level=_text(level, "level"),
            as_of=_instant(as_of),
            budget=None if budget is None else _is(int, budget, "budget"),
            limit=_is(int, limit, "limit"),
            offset=_is(int, offset, "offset"),
        )

    def set_preserve(*, id: str, preserve: bool = True) -> Any:
        return memory.decisions.preserve(_is(str, id, "id"), on=_is(bool, preserve, "preserve"))

    def get_wisdom(*, category: str | None = None, agent: str | None = None, as_of: str | None = None) -> Any:
        found = memory.decisions.wisdom(
            category=_text(category, "category"), agent=_text(agent, "agent"), as_of=_instant(as_of)
        )
        return {"wisdom": found}

    def record_decision(
        *,
        decision: str,
        confidence: float,
        category: str,
        stakes: str = "medium",
        context: str = "",
        reasons: Any = (),
        pattern: str = "",
        tags: Any = (),
        bridge: Any = None,
        components: Any = None,
        agent: str = "",
        supersedes: str | None = None,
        decided_at: str | None = None,
        review_in: str | None = None,
        anyway: bool = False,
    ) -> Any:
        given = {
            "decision": decision, "confidence": confidence, "category": category, "stakes": stakes,
            "context": context, "reasons": reasons, "pattern": pattern, "tags": tags, "bridge": bridge,
            "components": components or {}, "agent": agent, "supersedes": supersedes, "decided_at": decided_at,
            "review_in": review_in,
        }  # fmt: skip
        done = memory.decisions.record(_record(NewDecision, given), anyway=_is(bool, anyway, "anyway"))
        return {**vars(done.decision), "redacted": done.redacted}

    def review_decision(
        *, id: str, outcome: str, result: str = "", lesson: str = "", version: int | None = None
    ) -> Any:
        review = _record(Review, {"outcome": outcome, "result": result, "lesson": lesson})
        return memory.decisions.review(_is(str, id, "id"), review, expect=version)

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
        wanted = {
            "category": category, "agent": agent, "tag": tag, "outcome": outcome, "status": status, "stakes": stakes
        }  # fmt: skip
        hits, total = memory.decisions.query(
            _is(str, query, "query"),
            limit=_is(int, limit, "limit"),
            offset=_is(int, offset, "offset"),
            whole=_is(bool, whole, "whole"),
            reviewed=None if reviewed is None else _is(bool, reviewed, "reviewed"),
            **{name: _text(value, name) for name, value in wanted.items()},
        )
        return {"decisions": hits, "total": total}

    def get_decision(*, id: str) -> Any:
        return memory.decisions.get(_is(str, id, "id"))

    def get_calibration(
        *, category: str | None = None, agent: str | None = None, window_days: int | None = None
    ) -> Any:
        return memory.decisions.calibration(
            category=_text(category, "category"),
            agent=_text(agent, "agent"),
            window_days=None if window_days is None else _is(int, window_days, "windowDays"),
        )

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
    return {name: _plainly(method) for name, method in table.items()}


def _plainly(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method with its result as JSON values; its signature stays visible for the dispatcher."""

    def called(**given: Any) -> Any:
        return plain(method(**given))

    called.__wrapped__ = method  # type: ignore[attr-defined]
    return called


def _record(kind: type[Any], given: dict[str, Any]) -> Any:
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as problem:
        raise BadInput(str(problem)) from None


def _is(kind: type[Any], value: Any, name: str) -> Any:
    if type(value) is not kind:
        raise BadInput(f"{name} must be {'true or false' if kind is bool else kind.__name__}, not {value!r}"[:200])
    return value


def _text(value: Any, name: str) -> str | None:
    return None if value is None else str(_is(str, value, name))


def _instant(text: Any) -> int | None:
    return None if text is None else parse_time(_is(str, text, "asOf"))
