"""Inbox: a list of what only a person may settle, with one item open; after each answer the next one opens."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from fastapi import Response
from fastapi.responses import HTMLResponse

from recollect.api.auth import Changing, PageRequest, Visiting
from recollect.api.journal import ItemNumber
from recollect.api.pages.base import Sent, go, page, page_router
from recollect.api.pages.prose import place
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
    text: str
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


def _sides(visit: PageRequest, item: Escalation) -> tuple[tuple[str, InboxSide], ...]:
    """The names of what an item is about, with what each says; one alone when there is no other."""
    new, old = _side(visit, item, item.subject, "new"), _side(visit, item, item.other, "old")
    if not item.other:
        return (("New", new),)
    return (("Now", new), ("Proposed", old)) if item.kind == "proposal" else (("Old", old), ("New", new))


def _side(visit: PageRequest, item: Escalation, id: str, side: str) -> InboxSide:
    """What a side says now, and its page; otherwise what was noted when the item was raised."""
    with suppress(NotFound, BadInput):
        if id:
            whole = visit.memory.texts.get(id)
            return InboxSide(id=id, text=f"{whole.title}\n\n{whole.text}", address=place(visit.base, id))
    return InboxSide(id=id, text=str(item.detail.get(side, "")))
