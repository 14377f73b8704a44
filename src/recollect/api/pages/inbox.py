"""Inbox: what only a person may settle, both texts side by side."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

from recollect.api.pages.forms import Sent
from recollect.api.pages.places import place
from recollect.api.pages.rendering import go, page
from recollect.api.session import Changing, Visit, Visiting
from recollect.core.errors import BadInput, NotFound, Refused
from recollect.store.escalations import Escalation

routes = APIRouter(include_in_schema=False)


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the two things a matter is about; without an address it is no longer there, or only a name."""

    id: str
    text: str
    address: str = ""


@dataclass(frozen=True, kw_only=True)
class Matter:
    """A matter with the texts it is about and the verbs that settle it."""

    escalation: Escalation
    new: Side
    old: Side
    verbs: tuple[str, ...]


@routes.get("/inbox")
def inbox(visit: Visiting) -> HTMLResponse:
    return _inbox(visit)


@routes.post("/inbox/{number}")
def settle(visit: Changing, number: int, sent: Sent) -> Response:
    try:
        visit.memory.inbox.resolve(number, sent.text("verb"))
    except (BadInput, Refused, NotFound) as wrong:
        return _inbox(visit, problem=str(wrong), status=400)
    return go("/inbox")


def _inbox(visit: Visit, *, problem: str = "", status: int = 200) -> HTMLResponse:
    inbox = visit.memory.inbox
    matters = [
        Matter(
            escalation=each,
            new=_side(visit, each, each.subject, "new"),
            old=_side(visit, each, each.other, "old"),
            verbs=inbox.verbs(each),
        )
        for each in inbox.waiting()
    ]
    return page("inbox.html", visit, title="Inbox", status=status, problem=problem, matters=matters)


def _side(visit: Visit, matter: Escalation, id: str, side: str) -> Side:
    """What one side says now; otherwise what was noted when the matter was raised."""
    try:
        whole = visit.memory.texts.get(id) if id else None
    except (NotFound, BadInput):
        whole = None
    if whole is None:
        return Side(id=id, text=str(matter.detail.get(side, "")))
    return Side(id=id, text=f"{whole.title}\n\n{whole.text}", address=place(id))
