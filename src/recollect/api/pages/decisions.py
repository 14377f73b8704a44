"""Decisions: the levels they are shown at, reviews, what confidence was worth, and wisdom."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

from recollect.api.auth import Changing, PageRequest, Visiting
from recollect.api.pages.base import Fields, Sent, go, page
from recollect.api.pages.charts import Dot, reliability
from recollect.core.decision import OUTCOMES, STAKES, NewDecision, Reason, Review
from recollect.core.errors import BadInput, Refused
from recollect.distil.decision_levels import LEVELS

routes = APIRouter(include_in_schema=False)
ROWS = 50


@routes.get("/decisions")
def decisions(visit: Visiting, level: str = "", category: str = "", window: int = 0) -> HTMLResponse:
    return _overview(visit, level=level, category=category, window=window)


@routes.post("/decisions")
def decide(visit: Changing, sent: Sent) -> Response:
    try:
        reason, confidence = sent.given("reason"), sent.number("confidence")
        if confidence is None:
            raise BadInput("say how sure you are, with a confidence between 0 and 1")
        new = NewDecision(
            decision=sent.text("decision"),
            confidence=confidence,
            category=sent.text("category"),
            stakes=sent.given("stakes") or "medium",  # type: ignore[arg-type]
            context=sent.text("context"),
            reasons=(Reason(text=reason),) if reason else (),
            pattern=sent.text("pattern"),
            tags=sent.words("tags"),
            review_in=sent.given("review_in"),
        )
        made = visit.memory.decisions.record(new, anyway=bool(sent.given("anyway")))
    except BadInput as wrong:
        return _overview(visit, problem=str(wrong), sent=sent, status=400)
    return go(f"/decisions/{made.decision.id}")


@routes.get("/decisions/{id}")
def decision(visit: Visiting, id: str) -> HTMLResponse:
    return _one(visit, id)


@routes.post("/decisions/{id}/review")
def review(visit: Changing, id: str, sent: Sent) -> Response:
    try:
        outcome = sent.text("outcome")
        given = Review(outcome=outcome, result=sent.text("result"), lesson=sent.text("lesson"))  # type: ignore[arg-type]
        visit.memory.decisions.review(id, given)
    except (BadInput, Refused) as wrong:
        return _one(visit, id, problem=str(wrong), sent=sent, status=400)
    return go(f"/decisions/{id}")


@routes.post("/decisions/{id}/preserve")
def preserve(visit: Changing, id: str, sent: Sent) -> Response:
    visit.memory.decisions.preserve(id, on=sent.text("on") == "yes")
    return go(f"/decisions/{id}")


@routes.post("/decisions/{id}/adopt")
def adopt(visit: Changing, id: str) -> Response:
    try:
        visit.memory.decisions.adopt(id)
    except Refused as wrong:
        return _one(visit, id, problem=str(wrong), status=400)
    return go(f"/decisions/{id}")


@routes.post("/decisions/{id}/reverse")
def reverse(visit: Changing, id: str, sent: Sent) -> Response:
    try:
        visit.memory.decisions.reverse(id, reason=sent.text("reason"))
    except (BadInput, Refused) as wrong:
        return _one(visit, id, problem=str(wrong), status=400)
    return go(f"/decisions/{id}")


def _overview(
    visit: PageRequest,
    *,
    level: str = "",
    category: str = "",
    window: int = 0,
    problem: str = "",
    sent: Fields | None = None,
    status: int = 200,
) -> HTMLResponse:
    found = visit.memory.decisions
    calibration = found.calibration(category=category or None, window_days=window or None)
    overall = calibration["overall"]
    dots = [
        Dot(expected=bucket.mean_confidence, came=bucket.success_rate, count=bucket.decisions)
        for bucket in overall.buckets
        if bucket.decisions
    ]
    return page(
        "decisions.html",
        visit,
        title="Decisions",
        status=status,
        problem=problem,
        shown=found.compacted(level=level or None, category=category or None, limit=ROWS),
        waiting=found.review_queue(due_only=True),
        overall=overall,
        diagram=reliability(dots) if dots else "",
        level=level,
        category=category,
        window=window,
        levels=("", *LEVELS),
        stakes=STAKES,
        draft=(sent or Fields({})).kept(),
    )


def _one(
    visit: PageRequest,
    id: str,
    *,
    problem: str = "",
    sent: Fields | None = None,
    status: int = 200,
) -> HTMLResponse:
    decision = visit.memory.decisions.get(id)
    return page(
        "decision.html",
        visit,
        title="Decision",
        status=status,
        problem=problem,
        decision=decision,
        why=visit.memory.why(id),
        outcomes=OUTCOMES,
        draft=(sent or Fields({})).kept(),
    )
