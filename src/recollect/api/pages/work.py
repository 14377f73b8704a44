"""Work that may outlast a request: it runs in a thread, every page says how far it is, and one may leave meanwhile.

What came of it is said on the next page, like any change.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from fastapi import Response
from fastapi.responses import HTMLResponse

from recollect.api.auth import Notice, PageRequest, Visiting
from recollect.api.pages.base import bare, go, page_router
from recollect.api.spaces import Spaces
from recollect.core.errors import RecollectError
from recollect.memory import Memory

routes = page_router()
PATIENCE = 2.0  # seconds that the request waits: most work is done by then, and its page shows it
Progress = Callable[..., object]


@dataclass
class LongWork:
    """Work that goes on, and the step it is at."""

    name: str
    step: str = ""

    def at(self, step: str, *counts: int) -> None:
        self.step = f"{step}, {counts[0]} of {counts[1]}" if counts else step


def begin(visit: PageRequest, name: str, path: str, do: Callable[[Memory, Progress], str]) -> Response:
    """Do the work beside other requests, unless it goes on already; `do` gives the sentence that says what it did."""
    works: dict[str, list[LongWork]] = visit.request.app.state.works
    here = works.setdefault(visit.space, [])
    if all(each.name != name for each in here):
        here.append(work := LongWork(name))
        thread = threading.Thread(target=_do, args=(visit, work, do, here), daemon=True)
        thread.start()
        thread.join(PATIENCE)
    return go(visit, path)


def _do(visit: PageRequest, work: LongWork, do: Callable[[Memory, Progress], str], here: list[LongWork]) -> None:
    spaces: Spaces = visit.request.app.state.spaces
    try:
        with spaces.using(visit.space) as memory:
            said = do(memory.acting_as(visit.memory.context.actor), work.at)
    except RecollectError as wrong:
        said = f"{work.name} did not work: {wrong}"
    except Exception as error:  # noqa: BLE001 — the edge of the thread: the page shows it
        said = f"{work.name} ended early: {type(error).__name__}: {error}"
    visit.session.notices.append(Notice(space=visit.space, text=said))
    here.remove(work)


@routes.get("/work")
def work(visit: Visiting) -> HTMLResponse:
    """What goes on, for the line that asks again every other second."""
    works = tuple(visit.request.app.state.works.get(visit.space, ()))
    return bare("work.html", visit.request, base=visit.base, works=works, ended=not works)
