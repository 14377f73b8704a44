"""Home: what is new, what waits, how the memory is doing, and a live feed; undoing a change; health."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from recollect.api.auth import Changing, Looking, Visiting
from recollect.api.pages import base
from recollect.api.pages.entrance import local_path
from recollect.api.spaces import Spaces
from recollect.core.clock import DAY, zone_named
from recollect.core.context import Event
from recollect.core.errors import NotFound
from recollect.core.records import noun_of
from recollect.memory import Memory
from recollect.text.sentences import counted

routes = base.page_router()
SEEN_COOKIE = "recollect_seen"
WEEKS = 12  # of the charts: a quarter
FED = 18  # chosen: events in the feed


@routes.get("/")
def home(visit: Visiting) -> Response:
    memory = visit.memory
    now = memory.context.clock.now()
    seen = _seen(visit.request, now)
    zone = zone_named(memory.project.settings.timezone)
    today = datetime.fromtimestamp(now / 1000, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    monday = today - timedelta(days=today.weekday(), weeks=WEEKS - 1)
    weeks = memory.work.activity(since=round(monday.timestamp() * 1000), span=7 * DAY)
    dates = [(monday + timedelta(weeks=number)).date() for number in range(WEEKS)]
    fresh = {what: sum(times.values()) for what, times in memory.work.activity(since=seen, span=10**15).items()}
    days = memory.journal.days()
    learned, total = memory.learnings.page(limit=5)

    def week(number: int, *whats: str) -> int:
        return sum(weeks.get(what, {}).get(number, 0) for what in whats)

    shown = [base.Bar(label=f"{day:%d %b}", total=week(n, "learning.injected"), up=week(n, "confidence.helpful"),
                 down=week(n, "confidence.not_helpful")) for n, day in enumerate(dates)]  # fmt: skip
    moved = [base.Bar(label=bar.label, up=bar.up, down=bar.down + week(n, "confidence.decayed"))
             for n, bar in enumerate(shown)]  # fmt: skip
    return base.page(
        "home.html",
        visit,
        title="Home",
        seen=seen,
        fresh=fresh,
        learned=[one for one in learned if one.created_at >= seen],
        reviews=memory.decisions.review_queue(due_only=True),
        asks=len(memory.models.pending()),
        themes=memory.themes.due(),
        totals=[
            (total, "learning", "/learnings"),
            (memory.decisions.page(limit=1)[1], "decision", "/decisions"),
            (sum(day.entries for day in days), "entry", "/journal"),
            (len(days), "day", "/journal"),
        ],
        alive=memory.topics.page(state="open", limit=6),
        shown=shown,
        moved=moved,
        **_feed(memory),
    )


def _seen(request: Request, now: int) -> int:
    """When the person last marked everything as seen; a week ago if never."""
    given = request.cookies.get(SEEN_COOKIE, "")
    return int(given) if given.isdecimal() and len(given) < 16 else now - 7 * DAY


@routes.post("/seen")
def seen(visit: Changing) -> Response:
    """Mark everything as seen; the browser keeps the time."""
    answer = base.go(visit, "/")
    now = str(visit.memory.context.clock.now())
    answer.set_cookie(SEEN_COOKIE, now, max_age=10**8, httponly=True, samesite="strict", path=f"{visit.base}/")
    return answer


@routes.post("/undo")
def undo(visit: Changing, sent: base.Sent) -> Response:
    back = local_path(sent.text("back")).removeprefix(visit.base) or "/"
    restored = visit.memory.data.undo(change=sent.text("change"))
    many = f" for {counted(len(restored), 'record')}" if len(restored) > 1 else ""
    return base.go(visit, back, f"Undone{many}: {base.named(*restored)}")


@routes.get("/feed")
def feed(visit: Visiting) -> Response:
    return base.page("feed.html", visit, title="Feed", section="Home", **_feed(visit.memory))


def _feed(memory: Memory) -> dict[str, Any]:
    """The newest events that `parts.html` has words for, and the titles of their records."""
    said = base.environment().get_template("parts.html").module.said  # type: ignore[attr-defined]
    told = memory.work.latest(limit=FED, only=said)
    return {"feed": told, "titles": _titles(memory, told), "said": said}


def _titles(memory: Memory, told: Iterable[Event]) -> dict[str, str]:
    ids = list(dict.fromkeys(event.subject for event in told))
    found = {id: title for id, (title, _) in memory.texts.briefly(ids).items()}
    with suppress(NotFound):
        found |= {id: memory.topics.show(id).topic.name for id in ids if noun_of(id) == "topic"}
    return found


@routes.get("/feed/live")
async def live(request: Request, space: str, _: Looking) -> StreamingResponse:
    """Events that make the page reload its feed."""
    return StreamingResponse(_ticks(request.app, space), media_type="text/event-stream")


PAUSE = 1.0  # chosen: seconds between two indexed queries
ALIVE = 15  # chosen: queries after which an idle stream sends a comment
LASTS = 300  # chosen: queries after which a stream ends; a browser reconnects, others must not hold it for ever


async def _ticks(app: FastAPI, space: str) -> AsyncIterator[str]:
    last = await run_in_threadpool(_newest, app.state.spaces, space)
    yield "retry: 5000\n\n"
    for looks in range(1, LASTS):
        await asyncio.sleep(PAUSE)
        if getattr(app.state.server, "should_exit", False):
            return
        newest = await run_in_threadpool(_newest, app.state.spaces, space)
        if newest != last:
            last = newest
            yield f"data: {newest}\n\n"
        elif looks % ALIVE == 0:
            yield ": alive\n\n"


def _newest(spaces: Spaces, space: str) -> int:
    with spaces.using(space) as memory:
        return memory.work.last_number()


@routes.get("/health")
def health(visit: Visiting) -> Response:
    """The status, and the result of the last check since the server started."""
    began, findings = visit.request.app.state.checks.get(visit.space, (0, None))
    return base.page("health.html", visit, title="Health", now=visit.memory.status(), began=began, findings=findings)


@routes.post("/health")
def check(visit: Changing) -> Response:
    def verify(memory: Memory, progress: base.Progress) -> base.Ended:
        began = memory.context.clock.now()
        found = memory.data.verify(progress=progress)
        visit.request.app.state.checks[visit.space] = (began, found)
        said = "Everything was read back" + (f": {counted(len(found), 'fault')}" if found else "")
        return said, "", ""

    return base.begin(visit, "Reading everything back", "/health", verify)
