"""Topics: what entries are about, by their last mention; a page each with its life line and what belongs to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from fastapi import Response
from fastapi.responses import HTMLResponse

from recollect.api.auth import Changing, PageRequest, Visiting
from recollect.api.pages.base import Bar, Sent, changing_once, go, page, page_router, paged
from recollect.api.wire import Offset
from recollect.capture.topic_edits import SHOWN, STATES
from recollect.core.clock import DAY, zone_named
from recollect.core.errors import BadInput, NotFound, Refused
from recollect.text.sentences import clip

routes = page_router()
ROWS = 50
SPANS = 16  # bars of a life line at most
NEAR = 8  # learnings and decisions that are shown beside a topic


@routes.get("/topics")
def topics(visit: Visiting, state: str = "open", offset: Offset = 0) -> HTMLResponse:
    found, total = visit.memory.topics.page(state=state or None, limit=ROWS, offset=offset)
    now = visit.memory.context.clock.now()
    begin = min((one.first_at for one in found), default=now)
    return page(
        "topics.html",
        visit,
        title="Topics",
        begin=begin,
        now=now,
        state=state,
        states=(*STATES, ""),
        **paged(found, total, offset, ROWS, lambda offset: f"/topics?state={state}&offset={offset}"),
    )


@routes.post("/topics/{id}/{verb}")
def act(visit: Changing, id: str, verb: str, sent: Sent) -> Response:
    """Rename, close, open or split a topic, or merge another into it."""
    said = {
        "rename": "Renamed",
        "close": "Closed",
        "open": "Opened",
        "merge": "Merged another topic into",
        "split": "Split",
    }
    if verb not in said:
        raise NotFound(f"a topic has no action {verb!r}")
    chosen = (sent.every("entry"),) if verb == "split" else ()
    given = (*chosen, sent.text("name").strip()) if verb in ("rename", "merge", "split") else ()
    try:
        change = changing_once(visit, lambda memory: getattr(memory.topics, verb)(id, *given))
    except (BadInput, Refused, NotFound) as wrong:
        return go(visit, f"/topics/{id}", str(wrong))
    name = visit.memory.topics.show(id).topic.name
    return go(visit, f"/topics/{id}", f"{said[verb]} “{name}”", undo="/undo", change=change)


@routes.get("/topics/{id}")
def topic(visit: Visiting, id: str, offset: Offset = 0) -> HTMLResponse:
    memory = visit.memory
    view = memory.topics.show(id, offset=offset)
    said = memory.texts.briefly([entry.id for entry in view.entries])
    entries = [(entry, clip(said[entry.id][1], 24) if entry.id in said else "") for entry in view.entries]
    near = memory.in_its_space().search(view.topic.name, kinds=("learning", "decision"), limit=NEAR)
    bar = memory.context.settings.inject.relevance
    return page(
        "topic.html",
        visit,
        title=view.topic.name,
        view=view,
        **paged(entries, view.topic.entries, offset, SHOWN, lambda offset: f"/topics/{id}?offset={offset}"),
        line=_life_line(visit, [at for _, at in memory.topics.entries(view.topic.id)]),
        near=[hit for hit in near if hit.relevance >= bar],
        others=[one.name for one in memory.topics.page(limit=ROWS)[0] if one.id != view.topic.id],
    )


def _life_line(visit: PageRequest, times: Sequence[int]) -> list[Bar]:
    """Entries over the life of a topic, in spans of whole days that fill its time."""
    if not times:
        return []
    first, last = min(times), max(*times, visit.memory.context.clock.now())
    span = max(1, -(-(last - first) // (SPANS * DAY)))
    zone = zone_named(visit.memory.project.settings.timezone)
    begins = datetime.fromtimestamp(first / 1000, zone)
    counts = Counter((at - first) // (span * DAY) for at in times)
    return [
        Bar(label=f"{begins + timedelta(days=span * number):%d %b %y}", up=counts[number])
        for number in range((last - first) // (span * DAY) + 1)
    ]
