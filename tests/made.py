"""Learnings, decisions and findings for tests, with only what matters written out."""

from __future__ import annotations

from typing import Any

from recollect.core.clock import parse_time
from recollect.core.decision import Decision
from recollect.core.finding import Finding
from recollect.core.learning import Learning

DECIDED = parse_time("2026-03-01T12:00:00Z")

PLAIN = Learning(
    id="learn_000001",
    title="Stripe refresh tokens expire after 90 days",
    context="Adding subscription billing",
    observation="A refresh token that is 90 days old is refused with `invalid_grant`",
    implication="Long-lived connections break without warning",
    action="Store the issue date and renew at 80 days",
    tags=("stripe", "oauth"),
    domain="authentication",
    pattern_type="gotcha",
    confidence=0.75,
    times_injected=5,
    times_helpful=3,
    times_not_helpful=0,
    recurrence=1,
    status="active",
    superseded_by=None,
    pinned=False,
    origin="capture",
    trust="agent",
    version=1,
    source_outcome_id="outcome_xyz",
    source_task_id="task_1",
    source_discovery_id=None,
    created_at=0,
    updated_at=0,
    last_injected_at=None,
    last_helpful_at=None,
    last_decayed_at=None,
)


def decision(id: str = "dec_1", **given: Any) -> Decision:
    """A reviewed, successful decision of 2026-03-01 unless told otherwise."""
    values: dict[str, Any] = {
        "id": id, "decision": "Use PostgreSQL for the team store", "confidence": 0.8, "category": "architecture",
        "stakes": "medium", "context": "", "reasons": (), "pattern": "", "tags": (), "bridge": None, "components": {},
        "agent": "", "status": "active", "superseded_by": None, "closed_at": None, "preserve": False,
        "outcome": "success", "result": "", "lesson": "", "reviewed_at": DECIDED, "review_at": None, "trust": "human",
        "version": 1, "decided_at": DECIDED, "created_at": DECIDED, "updated_at": DECIDED,
    }  # fmt: skip
    return Decision(**(values | given))


def finding(work_id: str, number: int, description: str, **given: Any) -> Finding:
    return Finding(work_id=work_id, number=number, description=description, **given)
