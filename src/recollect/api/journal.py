"""REST: logs and the tree made from them.

REST: one search over everything, and the whole of what it found.

REST: the inbox, the state of the whole, why a thing is what it is, and the cycle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from recollect.api.auth import Reads, Writes
from recollect.api.wire import DryRun, Paged, Route, Share, answer, gives, sliced, taken
from recollect.capture.log import Logged
from recollect.capture.logs import LogDay
from recollect.core.journal import Entry, NewEntry, Point
from recollect.core.records import MOST
from recollect.distil.tree import Compacted, NodeView
from recollect.search.everything import Hit
from recollect.search.recall import Recall
from recollect.store.events import Escalation
from recollect.tend.cycle import CycleReport
from recollect.tend.kinds import FullText, Neighbouring
from recollect.tend.status import Status
from recollect.tend.why import EntryExplanation, Explanation, FileExplanation, NodeExplanation

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


text_routes = APIRouter(prefix="/api", tags=["search"], route_class=Route)

Several = Query(description="Several are separated by commas.")


@text_routes.get("/search", summary="Whatever is remembered for any text, best first")
@gives(Hit, listed="results")
def search(
    memory: Reads,
    request: Request,
    window: Paged,
    q: str,
    kind: Annotated[str, Several] = "",
    trust: Annotated[str, Several] = "",
    since: str | None = None,
    until: str | None = None,
    min_confidence: Annotated[float | None, Share] = None,
    exclude_outcome_id: str | None = None,
    strategy: str = "hybrid",
    semantic_weight: Annotated[float | None, Share] = None,
    recency: bool = True,
    confidence: bool = True,
    explain: bool = False,
) -> Response:
    hits = memory.search(
        q,
        kinds=_several(kind),
        trusts=_several(trust),
        since=since,
        until=until,
        min_confidence=min_confidence,
        exclude_outcome=exclude_outcome_id,
        strategy=strategy,
        semantic_weight=semantic_weight,
        recency=recency,
        confidence=confidence,
        explain=explain,
        limit=min(window.limit + window.offset, MOST),
    )
    return sliced(request, "results", hits, window)


@text_routes.get("/texts/{id:anything}", summary="The whole of whatever an id names")
@gives(FullText)
def whole(memory: Reads, id: str) -> Response:
    return answer(memory.texts.get(id))


@text_routes.get("/around/{id:anything}", summary="What stands before and after a text")
@gives(Neighbouring, listed="texts")
def around(
    memory: Reads,
    request: Request,
    window: Paged,
    id: str,
    before: Annotated[int, Query(ge=0, le=100)] = 3,
    after: Annotated[int, Query(ge=0, le=100)] = 3,
) -> Response:
    return sliced(request, "texts", memory.texts.around(id, before=before, after=after), window)


def _several(given: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in given.split(",") if part.strip())


upkeep_routes = APIRouter(prefix="/api", tags=["upkeep"], route_class=Route)

MatterNumber = Annotated[int, Path(ge=1, lt=2**31)]


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """What to do with a matter; which verbs there are depends on its kind."""

    verb: str


@upkeep_routes.get("/inbox", summary="What waits for a person")
@gives(Escalation, listed="matters")
def inbox(memory: Reads, request: Request, window: Paged) -> Response:
    return sliced(request, "matters", memory.inbox.waiting(), window)


@upkeep_routes.get("/inbox/{number}", summary="Get a matter")
@gives(Escalation)
def matter(memory: Reads, number: MatterNumber) -> Response:
    return answer(memory.inbox.get(number))


@upkeep_routes.post("/inbox/{number}/resolve", summary="Settle a matter; only a person may")
@gives(Escalation)
def resolve(memory: Writes, number: MatterNumber, given: Annotated[Resolution, taken(Resolution)]) -> Response:
    return answer(memory.inbox.resolve(number, given.verb))


@upkeep_routes.get("/status", summary="What is remembered, what waits, what is wrong")
@gives(Status)
def status(memory: Reads) -> Response:
    return answer(memory.status())


@upkeep_routes.get("/why/{id:anything}", summary="Where a thing came from and what happened to it")
@gives(Explanation | NodeExplanation | EntryExplanation | FileExplanation)
def why(memory: Reads, id: str) -> Response:
    return answer(memory.why(id))


@upkeep_routes.post("/cycle", summary="Do everything that is due")
@gives(CycleReport)
def cycle(memory: Writes, wanted: Annotated[DryRun, taken(DryRun)]) -> Response:
    return answer(memory.cycle(dry_run=wanted.dry_run))
