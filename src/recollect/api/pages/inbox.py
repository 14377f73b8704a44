"""The page Inbox: the list with one item open; after each answer the next item opens."""

from __future__ import annotations

from contextlib import suppress

from fastapi import Response

from recollect.api.auth import Changing, PageRequest, Visiting
from recollect.api.documents import ItemNumber
from recollect.api.pages.base import Sent, go, page, page_router
from recollect.api.pages.prose import place
from recollect.core.errors import BadInput, NotFound
from recollect.core.records import noun_of, record
from recollect.store.events import Escalation
from recollect.text.sentences import clip

routes = page_router()

LISTED = 100  # chosen: items in the list; others move up as these are answered


@record
class InboxSide:
    """One of the two records of an item; without an address it was removed, or is only a name.

    `claim` is what it says that the other side contradicts, where the item is about a staged entry.
    """

    id: str
    text: str
    address: str = ""
    claim: str = ""


@routes.get("/inbox")
def inbox(visit: Visiting, open: int = 0) -> Response:
    inbox = visit.memory.inbox
    waiting = inbox.waiting()
    about = [id for each in waiting[:LISTED] for id in (each.subject, each.other) if noun_of(id) == "learning"]
    titles = {one.id: one.title for one in visit.memory.learnings.many(about)}
    items = []
    for each in waiting[:LISTED]:
        told = titles.get(each.subject) or each.detail.get("title") or each.detail.get("new") or each.subject
        items.append((each, clip(str(told), 14), titles.get(each.other, "")))
    chosen = next((each for each in waiting if each.number == open), waiting[0] if waiting else None)
    return page(
        "inbox.html",
        visit,
        title="Inbox",
        items=items,
        more=len(waiting) - LISTED,
        item=chosen,
        sides=_sides(visit, chosen) if chosen else (),
        verbs=inbox.verbs(chosen) if chosen else {},
    )


@routes.post("/inbox/{number}")
def settle(visit: Changing, number: ItemNumber, sent: Sent) -> Response:
    """Carry out the answer and open the next item."""
    inbox = visit.memory.inbox
    waiting = [each.number for each in inbox.waiting()]
    verb = sent.text("verb")
    item = inbox.resolve(number, verb)
    later = [each for each in waiting if each > number] or [each for each in waiting if each != number]
    said = f"Answered {item.kind} {number}: {verb}".replace("-", " ")
    return go(visit, f"/inbox?open={later[0]}" if later else "/inbox", said, undo=f"/inbox/{number}/undo")


@routes.post("/inbox/{number}/undo")
def take_back(visit: Changing, number: ItemNumber) -> Response:
    visit.memory.inbox.take_back(number)
    return go(visit, f"/inbox?open={number}", f"Question {number} is open again")


def _sides(visit: PageRequest, item: Escalation) -> tuple[tuple[str, InboxSide], ...]:
    """The one or two records of an item, each under its heading."""
    old_key = "known" if "known" in item.detail else "old"
    new, old = _side(visit, item, item.subject, "new"), _side(visit, item, item.other, old_key)
    if not item.other:
        return (("New", new),)
    return (("Now", new), ("Proposed", old)) if item.kind == "proposal" else (("Old", old), ("New", new))


def _side(visit: PageRequest, item: Escalation, id: str, side: str) -> InboxSide:
    """The current text of a record and its page, or the text from when the item was raised."""
    said = str(item.detail.get(side, ""))
    with suppress(NotFound, BadInput):
        if id:
            whole = visit.memory.texts.get(id)
            claim = said if "known" in item.detail else ""
            return InboxSide(id=id, text=f"{whole.title}\n\n{whole.text}", address=place(visit.base, id), claim=claim)
    return InboxSide(id=id, text=said)
