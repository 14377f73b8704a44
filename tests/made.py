"""Decisions and findings for tests, with only what matters written out."""

from __future__ import annotations

from typing import Any

from recollect.core.clock import parse_time
from recollect.core.decision import Decision
from recollect.core.finding import Finding

DECIDED = parse_time("2026-03-01T12:00:00Z")


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
