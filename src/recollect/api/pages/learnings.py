"""Learnings: the table, the card, the editor, and everything one does with a learning."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

from recollect.api.auth import Changing, PageRequest, Visiting
from recollect.api.pages.base import Fields, Sent, go, page
from recollect.api.pages.charts import ChartPoint, history
from recollect.core.choices import PATTERN_TYPES, STATUSES
from recollect.core.clock import iso
from recollect.core.context import Event
from recollect.core.errors import BadInput, NotFound, Refused, Stale
from recollect.core.learning import COIA, Learning
from recollect.core.new_learning import LearningEdit, NewLearning
from recollect.memory import Memory
from recollect.store.learnings import SORTS

ROWS = 25

routes = APIRouter(include_in_schema=False)


@routes.get("/learnings")
def table(
    visit: Visiting,
    q: str = "",
    status: str = "active",
    domain: str = "",
    tag: str = "",
    min_confidence: float = 0.0,
    sort: str = "newest",
    offset: int = 0,
) -> HTMLResponse:
    """With words, the best matches first; without, a page in the order that was asked for."""
    memory = visit.memory
    if q.strip():
        found = memory.learnings.search(
            q, tag=tag or None, status=status, domain=domain or None, min_confidence=min_confidence, limit=100
        )
        total, found = len(found), found[offset : offset + ROWS]
    else:
        found, total = memory.learnings.page(
            status=status,
            domain=domain or None,
            tag=tag or None,
            min_confidence=min_confidence,
            sort=sort,
            limit=ROWS,
            offset=offset,
        )
    wanted = {"q": q, "status": status, "domain": domain, "tag": tag, "min_confidence": min_confidence, "sort": sort}
    return page(
        "learnings.html",
        visit,
        title="Learnings",
        found=found,
        total=total,
        offset=offset,
        rows=ROWS,
        wanted=wanted,
        address="/learnings?" + urlencode(wanted),
        statuses=(*STATUSES, "all"),
        sorts=tuple(SORTS),
    )


@routes.get("/learnings/new")
def blank(visit: Visiting) -> HTMLResponse:
    return _editor(visit, title="New learning", draft={}, action="/learnings")


@routes.post("/learnings")
def create(visit: Changing, sent: Sent) -> Response:
    try:
        made = visit.memory.learn(NewLearning(**_fields(sent)))
    except BadInput as wrong:
        return _editor(
            visit, title="New learning", draft=sent.kept(), action="/learnings", problem=str(wrong), status=400
        )
    return go(f"/learnings/{made.learning.id}")


@routes.get("/learnings/{id}")
def card(visit: Visiting, id: str) -> HTMLResponse:
    return _card(visit, id)


@routes.get("/learnings/{id}/edit")
def edit(visit: Visiting, id: str) -> HTMLResponse:
    stored = visit.memory.learnings.get(id)
    return _editor(
        visit, title="Edit learning", draft=_as_draft(stored), action=f"/learnings/{id}/edit", version=stored.version
    )


@routes.post("/learnings/{id}/edit")
def save(visit: Changing, id: str, sent: Sent) -> Response:
    """The second of two editors is shown both texts; what they typed stays in the form."""
    version = _version(sent)
    editor = partial(_editor, visit, title="Edit learning", draft=sent.kept(), action=f"/learnings/{id}/edit")
    try:
        typed = {**_fields(sent), "domain": sent.text("domain")}  # an empty one takes it away
        changes = LearningEdit(**typed, confidence=sent.number("confidence"))
        visit.memory.learnings.edit(id, changes, expect=version)
    except Stale as stale:
        theirs = visit.memory.learnings.get(id)
        return editor(version=theirs.version, theirs=theirs, problem=str(stale), status=409)
    except BadInput as wrong:
        return editor(version=version, problem=str(wrong), status=400)
    return go(f"/learnings/{id}")


@routes.post("/learnings/{id}/tags")
def tags(visit: Changing, id: str, sent: Sent) -> Response:
    visit.memory.learnings.tag(id, add=sent.words("add"), remove=sent.every("remove"))
    return go(f"/learnings/{id}")


@routes.post("/learnings/{id}/{verb}")
def act(visit: Changing, id: str, verb: str, sent: Sent) -> Response:
    if verb not in ACTIONS:
        raise NotFound(f"a learning has no action {verb!r}")
    try:
        ACTIONS[verb](visit.memory, id, sent)
    except (BadInput, Refused, NotFound) as wrong:
        return _card(visit, id, problem=str(wrong), status=400)
    return go(f"/learnings/{id}")


def _other(sent: Fields) -> str:
    if other := sent.given("other"):
        return other
    raise BadInput("give the id of the other learning, such as learn_…")


ACTIONS: dict[str, Callable[[Memory, str, Fields], object]] = {
    "archive": lambda memory, one, sent: memory.learnings.archive(one, reason=sent.text("reason")),
    "restore": lambda memory, one, sent: memory.learnings.restore(one),
    "pin": lambda memory, one, sent: memory.learnings.pin(one),
    "unpin": lambda memory, one, sent: memory.learnings.pin(one, on=False),
    "adopt": lambda memory, one, sent: memory.learnings.adopt(one),
    "supersede": lambda memory, one, sent: memory.learnings.supersede(one, _other(sent), reason=sent.text("reason")),
    "merge": lambda memory, one, sent: memory.learnings.merge(one, _other(sent), reason=sent.text("reason")),
    "helpful": lambda memory, one, sent: memory.rate(one, "helpful"),
    "not-helpful": lambda memory, one, sent: memory.rate(one, "not_helpful"),
}
"""What the buttons of the card do."""


def _card(visit: PageRequest, id: str, *, problem: str = "", status: int = 200) -> HTMLResponse:
    memory = visit.memory
    learning = memory.learnings.get(id)
    moments = [
        ChartPoint(at=event.at, value=float(event.new["confidence"]), label=_said(event))
        for event in memory.learnings.history(id)
    ]
    return page(
        "learning.html",
        visit,
        title=learning.title,
        status=status,
        problem=problem,
        learning=learning,
        why=memory.why(id),
        plot=history(moments, memory.context.settings.inject.min_confidence) if moments else "",
        coia=COIA,
    )


def _said(event: Event) -> str:
    return f"{iso(event.at)} {event.what.partition('.')[2]}: {event.new['confidence']}"


def _editor(
    visit: PageRequest,
    *,
    title: str,
    draft: dict[str, Any],
    action: str,
    version: int | None = None,
    theirs: Learning | None = None,
    problem: str = "",
    status: int = 200,
) -> HTMLResponse:
    return page(
        "learning_editor.html",
        visit,
        title=title,
        status=status,
        problem=problem,
        draft={name: draft.get(name, "") for name in _TYPED},
        action=action,
        version=version,
        theirs=theirs,
        coia=COIA,
        types=PATTERN_TYPES,
    )


_TYPED = ("title", *COIA, "domain", "pattern_type", "tags", "confidence")


def _fields(sent: Fields) -> dict[str, Any]:
    """What was typed, as a learning's fields."""
    return {
        **{name: sent.text(name) for name in ("title", *COIA)},
        "domain": sent.given("domain"),
        "pattern_type": sent.given("pattern_type") or "solution",
        "tags": sent.words("tags"),
    }


def _as_draft(stored: Learning) -> dict[str, Any]:
    return {**{name: getattr(stored, name) or "" for name in _TYPED}, "tags": ", ".join(stored.tags)}


def _version(sent: Fields) -> int:
    try:
        return int(sent.text("version"))
    except ValueError:
        raise BadInput("the form lost its version; reload the page") from None
