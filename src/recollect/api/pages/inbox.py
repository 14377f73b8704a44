"""Inbox: a list of what only a person may settle, with one item open; after each answer the next one opens."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import Response
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from recollect.api.auth import Changing, PageRequest, Visiting
from recollect.api.journal import ItemNumber
from recollect.api.pages.base import Sent, go, page, page_router
from recollect.api.pages.prose import differences, place
from recollect.core.errors import BadInput, NotFound, RecollectError, Refused
from recollect.core.records import record
from recollect.store.events import Escalation
from recollect.text.sentences import clip

routes = page_router()
LISTED = 100  # items in the list; the next ones move up as these are answered


@record
class InboxSide:
    """One of the two things an item is about; without an address it is no longer there, or only a name."""

    id: str
    title: str
    text: Markup
    address: str = ""


@routes.get("/inbox")
def inbox(visit: Visiting, open: int = 0) -> HTMLResponse:
    return _inbox(visit, open)


@routes.post("/inbox/{number}")
def settle(visit: Changing, number: ItemNumber, sent: Sent) -> Response:
    """Carry out the answer, say so, and open the item that came after this one."""
    inbox = visit.memory.inbox
    waiting = [each.number for each in inbox.waiting()]
    verb = sent.text("verb")
    try:
        item = inbox.resolve(number, verb)
    except (BadInput, Refused, NotFound) as wrong:
        return _inbox(visit, number, problem=str(wrong), status=400)
    later = [each for each in waiting if each > number] or [each for each in waiting if each != number]
    said = f"Answered {_words(item.kind)} {number}: {_words(verb)}"
    return go(visit, f"/inbox?open={later[0]}" if later else "/inbox", said, undo=f"/inbox/{number}/undo")


@routes.post("/inbox/{number}/undo")
def take_back(visit: Changing, number: ItemNumber) -> Response:
    try:
        visit.memory.inbox.take_back(number)
    except RecollectError as wrong:
        return go(visit, "/inbox", f"Not undone: {wrong}")
    return go(visit, f"/inbox?open={number}", f"Question {number} is open again")


def _words(name: str) -> str:
    return name.replace("-", " ")


def _inbox(visit: PageRequest, open: int, *, problem: str = "", status: int = 200) -> HTMLResponse:
    inbox = visit.memory.inbox
    waiting = inbox.waiting()
    about = [id for each in waiting[:LISTED] for id in (each.subject, each.other) if id.startswith("learn_")]
    titles = {one.id: one.title for one in visit.memory.learnings.many(about)}
    chosen = next((each for each in waiting if each.number == open), waiting[0] if waiting else None)
    return page(
        "inbox.html",
        visit,
        title="Inbox",
        status=status,
        problem=problem,
        items=[(each, _about(each, titles), titles.get(each.other, "")) for each in waiting[:LISTED]],
        more=len(waiting) - LISTED,
        item=chosen,
        sides=_sides(visit, chosen) if chosen else (),
        verbs=inbox.verbs(chosen) if chosen else {},
    )


def _about(item: Escalation, titles: Mapping[str, str]) -> str:
    """A line for the list: what the item is about, in words instead of ids."""
    said = item.detail.get("title") or item.detail.get("new") or item.subject
    return titles.get(item.subject) or clip(str(said), 14)


def _sides(visit: PageRequest, item: Escalation) -> tuple[InboxSide, ...]:
    """Both texts with what one has and the other lacks; one alone when there is no other."""
    new, old = _text(visit, item, item.subject, "new"), _text(visit, item, item.other, "old")
    if not item.other:
        return (InboxSide(id=item.subject, title="New", text=Markup("{}").format(new[0]), address=new[1]),)
    names = ("Now", "Proposed") if item.kind == "proposal" else ("Old", "New")
    ids = (item.subject, item.other) if item.kind == "proposal" else (item.other, item.subject)
    first, second = (new, old) if item.kind == "proposal" else (old, new)
    marked = differences(first[0], second[0])
    return tuple(
        InboxSide(id=id, title=name, text=text, address=address)
        for id, name, text, address in zip(ids, names, marked, (first[1], second[1]), strict=True)
    )


def _text(visit: PageRequest, item: Escalation, id: str, side: str) -> tuple[str, str]:
    """What one side says now, and its page; otherwise what was noted when the item was raised."""
    try:
        whole = visit.memory.texts.get(id) if id else None
    except (NotFound, BadInput):
        whole = None
    if whole is None:
        return str(item.detail.get(side, "")), ""
    return f"{whole.title}\n\n{whole.text}", place(visit.base, id)
