"""Decisions: the list, the editor, reviews that are due, calibration and wisdom.

Also the picker and the comparison, which serve learnings too: choose another record, then see both side by side.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Literal

from fastapi import Response

from recollect.api.auth import Changing, PageRequest, Visiting
from recollect.api.pages import base
from recollect.api.wire import Offset
from recollect.core.decision import OUTCOMES, STAKES, Decision, DecisionEdit, NewDecision, Reason, Review
from recollect.core.errors import BadInput, NotFound, Refused, Stale
from recollect.core.learning import COIA, Learning
from recollect.core.records import MOST, record, replace
from recollect.distil.decision_levels import LEVELS
from recollect.memory import Memory
from recollect.memory.records import Decisions
from recollect.text.sentences import clip

routes = base.page_router()
ROWS = 25  # a screen and a half; chosen
DUE = "due"
SHOWN = ("", DUE, *LEVELS)
STATUSES = ("active", "reversed", "superseded")


@routes.get("/decisions")
def decisions(
    visit: Visiting,
    q: str = "",
    show: str = "",
    category: str = "",
    outcome: str = "",
    stakes: str = "",
    status: str = "",
    offset: Offset = 0,
) -> Response:
    found = visit.memory.decisions
    wanted = {"q": q, "show": show, "category": category, "outcome": outcome, "stakes": stakes, "status": status}
    fields: dict[str, Any] = {name: wanted[name] or None for name in ("category", "outcome", "stakes", "status")}
    due = found.review_queue(due_only=True)
    ages = {one.decision.id: one.age_days for one in due}
    if show == DUE:
        rows, total = [one.decision for one in due[offset : offset + ROWS]], len(due)
        levels: dict[str, str] = {}
    else:
        hits, total = found.query(q, level=show or None, whole=True, limit=ROWS, offset=offset, **fields)
        rows = [hit.decision for hit in hits if isinstance(hit.decision, Decision)]
        levels = {hit.id: hit.level for hit in hits}
    return base.page(
        "decisions.html",
        visit,
        title="Decisions",
        levels=levels,
        ages=ages,
        due=len(due),
        **base.paged(rows, total, offset, ROWS, base.addressed("/decisions", wanted)),
        capped=bool(q.strip()) and total == MOST,
        wanted=wanted,
        shown=SHOWN,
        outcomes=("", *OUTCOMES),
        all_stakes=("", *STAKES),
        statuses=("", *STATUSES),
    )


@routes.get("/decisions/insight")
def insight(visit: Visiting, category: str = "", window: int = 0) -> Response:
    """Calibration, and what old decisions taught."""
    found = visit.memory.decisions
    calibration = found.calibration(category=category or None, window_days=window or None)
    overall = calibration["overall"]
    wisdom = found.wisdom(category=category or None)
    sentences = [one for each in wisdom for one in (*each.principles, each.failure_mode) if one]
    told = [id for one in sentences for id in one.ids[:NAMED]]
    return base.page(
        "insight.html",
        visit,
        title="What decisions taught",
        overall=overall,
        categories=calibration["categories"],
        months=list(calibration["months"].items())[-24:],
        wisdom=wisdom,
        titles={id: title for id, (title, _) in visit.memory.texts.briefly(told).items()},
        category=category,
        window=window,
    )


NAMED = 5  # chosen: decisions that a sentence of wisdom links to; the others are counted


@routes.get("/decisions/new")
def blank(visit: Visiting) -> Response:
    return _editor(visit, {})


@routes.post("/decisions")
def decide(visit: Changing, sent: base.Sent) -> Response:
    try:
        reason, anyway = sent.given("reason"), bool(sent.given("anyway"))
        new = NewDecision(**_fields(sent), reasons=(Reason(text=reason),) if reason else ())
        made, change = base.changing_once(visit, lambda memory: memory.decisions.record(new, anyway=anyway).decision)
    except BadInput as wrong:
        return _editor(visit, sent.kept(), problem=str(wrong), status=400)
    return base.done(visit, f"/decisions/{made.id}", "Recorded", made, change)


@routes.get("/decisions/{id}/edit")
def edit(visit: Visiting, id: str) -> Response:
    stored = visit.memory.decisions.get(id)
    return _editor(visit, {**vars(stored), "tags": ", ".join(stored.tags), "review_in": ""}, of=stored)


@routes.post("/decisions/{id}/edit")
def save(visit: Changing, id: str, sent: base.Sent) -> Response:
    """If someone else saved meanwhile, the form says so and keeps what was typed."""
    version = sent.version
    try:
        edited = DecisionEdit(**_fields(sent))
        saved, change = base.changing_once(visit, lambda memory: memory.decisions.edit(id, edited, expect=version))
    except (BadInput, Refused) as wrong:
        stored = visit.memory.decisions.get(id)  # with its version, so that saving again replaces it
        of = stored if isinstance(wrong, Stale) else replace(stored, version=version)
        return _editor(visit, sent.kept(), of=of, problem=str(wrong), status=409 if of is stored else 400)
    return base.done(visit, f"/decisions/{id}", "Saved", saved, change)


def _fields(sent: base.Fields) -> dict[str, Any]:
    confidence = sent.number("confidence")
    if confidence is None:
        raise BadInput("say how sure you are, with a confidence between 0 and 1")
    return {
        **sent.named("decision", "category", "context", "pattern"),
        "confidence": confidence,
        "stakes": sent.given("stakes") or "medium",
        "tags": sent.words("tags"),
        "review_in": sent.given("review_in"),
    }


def _editor(
    visit: PageRequest, draft: Mapping[str, Any], *, of: Decision | None = None, problem: str = "", status: int = 200
) -> Response:
    return base.page(
        "decision_editor.html",
        visit,
        title="Edit decision" if of else "Record a decision",
        status=status,
        problem=problem,
        stakes=STAKES,
        draft=defaultdict(str, draft),
        version=of.version if of else None,
        action=f"/decisions/{of.id}/edit" if of else "/decisions",
    )


@routes.get("/decisions/{id}")
def decision(visit: Visiting, id: str) -> Response:
    return _one(visit, id)


VERBS: dict[str, tuple[str, Callable[[Decisions, str, base.Fields], object]]] = {
    "review": (
        "Reviewed",
        lambda found, one, sent: found.review(one, Review(**sent.named("outcome", "result", "lesson"))),
    ),
    "preserve": ("Changed how it ages:", lambda found, one, sent: found.preserve(one, on=sent.text("on") == "yes")),
    "adopt": ("Adopted", lambda found, one, sent: found.adopt(one)),
    "reverse": ("Reversed", lambda found, one, sent: found.reverse(one, reason=sent.text("reason"))),
    "supersede": (
        "Replaced",
        lambda found, one, sent: found.reverse(one, by=sent.text("other"), reason=f"replaced by {sent.text('other')}"),
    ),
}
"""For each button of a decision and of the comparison: the notice and what it does."""


@routes.post("/decisions/{id}/{verb}")
def act(visit: Changing, id: str, verb: str, sent: base.Sent) -> Response:
    if verb not in VERBS:
        raise NotFound(f"a decision has no action {verb!r}")
    said, do = VERBS[verb]
    try:
        _, change = base.changing_once(visit, lambda memory: do(memory.decisions, id, sent))
    except (BadInput, Refused) as wrong:
        return _one(visit, id, problem=str(wrong), sent=sent, status=400)
    return base.done(visit, f"/decisions/{id}", said, visit.memory.decisions.get(id), change)


def _one(
    visit: PageRequest, id: str, *, problem: str = "", sent: base.Fields | None = None, status: int = 200
) -> Response:
    decision = visit.memory.decisions.get(id)
    return base.page(
        "decision.html",
        visit,
        title=clip(decision.decision, base.TITLE_WORDS),
        status=status,
        problem=problem,
        decision=decision,
        why=visit.memory.why(id),
        outcomes=OUTCOMES,
        draft=(sent or base.Fields({})).kept(),
    )


NEAR = 8  # records that the picker offers

Noun = Literal["learnings", "decisions"]


@record
class Choice:
    """A record in the picker or the comparison."""

    id: str
    title: str
    record: Learning | Decision
    texts: dict[str, str]


def _learning(one: Learning) -> Choice:
    texts = {name.capitalize(): getattr(one, name) for name in ("title", *COIA)} | {"Tags": ", ".join(one.tags)}
    return Choice(id=one.id, title=one.title, record=one, texts=texts)


def _decision(one: Decision) -> Choice:
    texts = {"Decision": one.decision, "Context": one.context, "Reasons": "\n".join(each.text for each in one.reasons)}
    texts |= {"Pattern": one.pattern, "Outcome": one.outcome or "", "Lesson": one.lesson, "Tags": ", ".join(one.tags)}
    return Choice(id=one.id, title=one.decision, record=one, texts=texts)


def _like(memory: Memory, noun: Noun, words: str) -> list[Choice]:
    if noun == "learnings":
        return [_learning(one) for one in memory.learnings.search(words, limit=NEAR + 1, min_confidence=0.0)]
    hits, _ = memory.decisions.query(words, limit=NEAR + 1, whole=True)
    return [_decision(one) for one in memory.decisions.many([hit.id for hit in hits])]


GET: dict[Noun, Callable[[Memory, str], Choice]] = {
    "learnings": lambda memory, one: _learning(memory.learnings.get(one)),
    "decisions": lambda memory, one: _decision(memory.decisions.get(one)),
}


@routes.get("/{noun}/{id}/pick")
def pick(visit: Visiting, noun: Noun, id: str, q: str = "") -> Response:
    """Search for another record; without a query, list those most similar to this one."""
    one = GET[noun](visit.memory, id)
    found = [each for each in _like(visit.memory, noun, q.strip() or one.title) if each.id != id]
    return _page("pick.html", visit, noun, one, q=q, found=found[:NEAR])


@routes.get("/{noun}/{id}/compare")
def compare(visit: Visiting, noun: Noun, id: str, other: str) -> Response:
    return _page("compare.html", visit, noun, GET[noun](visit.memory, id), two=GET[noun](visit.memory, other))


def _page(template: str, visit: PageRequest, noun: Noun, one: Choice, **values: Any) -> Response:
    title = "Merge or replace" if noun == "learnings" else "Replace"
    return base.page(template, visit, title=title, noun=noun, section=noun.capitalize(), one=one, **values)
