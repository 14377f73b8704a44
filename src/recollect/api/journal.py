"""REST: logs and the tree made from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from recollect.api.access import Reads, Writes
from recollect.api.route import Route
from recollect.api.wire import Paged, answer, gives, sliced, taken
from recollect.capture.log import Logged
from recollect.capture.log_files import LogDay
from recollect.core.journal import Entry, NewEntry, Point
from recollect.core.limits import MOST
from recollect.distil.tree import Compacted, NodeView
from recollect.search.recall import Recall

routes = APIRouter(prefix="/api", tags=["journal"], route_class=Route)

Day = Annotated[str, Path(examples=["2026-03-01"])]
Number = Annotated[int, Path(ge=0, le=10**9)]


@dataclass(frozen=True, kw_only=True)
class LogFile:
    """A day's log as it stands."""

    day: str
    text: str


@dataclass(frozen=True, kw_only=True)
class NodeFile:
    """A node's file, and each of its lines with the entries it was taken from."""

    id: str
    text: str
    sources: tuple[Point, ...]


@dataclass(frozen=True, kw_only=True)
class CompactTree:
    everything: bool = False
    dry_run: bool = False


@dataclass(frozen=True, kw_only=True)
class TreePass:
    """What a pass over the tree did; `warning` when the configured re-index command failed."""

    done: Compacted
    warning: str


@routes.get("/logs", summary="List the days with a log, newest first")
@gives(LogDay, listed="days")
def days(memory: Reads, request: Request, window: Paged) -> Response:
    return sliced(request, "days", memory.journal.days(), window)


@routes.post("/logs", status_code=201, summary="Append an entry to today's log, or its session's")
@gives(Logged)
def add(memory: Writes, new: Annotated[NewEntry, taken(NewEntry)]) -> Response:
    logged = memory.journal.add(new)
    place = logged.id.removeprefix("log/").replace("#", "/")  # the log itself while nobody knows the entry's number
    return answer(logged, status=201, headers={"location": f"/api/logs/{place}"})


@routes.get("/logs/{day}", summary="Get a day's log")
@gives(LogFile)
def log(memory: Reads, day: Day) -> Response:
    return answer(LogFile(day=day, text=memory.journal.show(day)))


@routes.get("/logs/{day}/{number}", summary="Get one entry of a log")
@gives(Entry)
def entry(memory: Reads, day: Day, number: Number) -> Response:
    return answer(memory.journal.entry(f"log/{day}#{number}"))


@routes.post("/logs/{day}/{number}/adopt", summary="Vouch for an entry that came from outside; only a person may")
@gives(Entry)
def adopt(memory: Writes, day: Day, number: Number) -> Response:
    return answer(memory.journal.adopt(f"log/{day}#{number}"))


@routes.get("/tree", summary="List nodes: the root and all months, or one period with everything below it")
@gives(NodeView, listed="nodes")
def tree(memory: Reads, request: Request, window: Paged, period: str | None = None) -> Response:
    return sliced(request, "nodes", memory.journal.tree(period), window)


@routes.post("/tree/compact", summary="Bring the tree up to date")
@gives(TreePass)
def compact(memory: Writes, wanted: Annotated[CompactTree, taken(CompactTree)]) -> Response:
    done, warning = memory.journal.compact(everything=wanted.everything, dry_run=wanted.dry_run)
    return answer(TreePass(done=done, warning=warning))


@routes.get("/tree/{id:anything}", summary="Get a node: root, monthly/2026-03, weekly/2026-W10, daily/2026-03-01")
@gives(NodeFile)
def node(memory: Reads, id: str) -> Response:
    text = memory.journal.node(id)
    return answer(NodeFile(id=id, text=text, sources=tuple(memory.journal.sources(id))))


@routes.get("/recall", summary="Walk from the root down to the raw words that answer a question")
@gives(Recall)
def recall(memory: Reads, q: str, limit: Annotated[int, Query(ge=1, le=MOST)] = 5) -> Response:
    return answer(memory.recall(q, limit=limit))
