"""REST: logs and the tree made from them, search over everything, and the memory as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Path, Query, Request, Response
from pydantic import WithJsonSchema

from recollect.api.auth import Reads, Writes
from recollect.api.bodies import DATE, PATTERNS, CompactTree, DryRun, Empty, EntryBody, Instant, Resolution, Share
from recollect.api.learnings import Hits
from recollect.api.wire import Paged, SearchPaged, answer, document, page_of, router, sliced
from recollect.capture.log import Logged
from recollect.capture.logs import LogDay
from recollect.core.decision import Decision
from recollect.core.errors import BadInput, NotFound
from recollect.core.journal import Entry, Point
from recollect.core.learning import Learning
from recollect.core.records import FURTHEST, MOST
from recollect.distil.tree import Compacted, NodeView
from recollect.search.everything import KINDS, TRUSTS
from recollect.search.recall import Recall
from recollect.store.events import Escalation
from recollect.tend.cycle import CycleReport
from recollect.tend.kinds import FullText, Neighbouring
from recollect.tend.status import Status
from recollect.tend.why import AnyExplanation

routes = router("/api", "journal")
text_routes = router("/api", "search")
upkeep_routes = router("/api", "upkeep")

Day = Annotated[str, Path(), WithJsonSchema({"type": "string", "format": "date", "pattern": DATE})]
_YEAR = "^(19|[2-8][0-9])[0-9]{2}"
Period = Annotated[
    str,
    Query(description="A day, week or month."),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "format": "date", "pattern": DATE},
                {"type": "string", "pattern": f"{_YEAR}-(0[1-9]|1[0-2])$"},
                {"type": "string", "pattern": f"{_YEAR}-W(0[1-9]|[1-4][0-9]|5[0-2])$"},
            ]
        }
    ),
]
EntryNumber = Annotated[int, Path(ge=0, le=10**9)]
ItemNumber = Annotated[int, Path(ge=1, le=FURTHEST)]


def _several(words: tuple[str, ...]) -> str:
    pattern = f"^({'|'.join(words)})(,({'|'.join(words)}))*$"
    PATTERNS[pattern] = f"must be one of {', '.join(words)}, or several separated by commas"
    return pattern


Kinds = Annotated[str | None, Query(pattern=_several(KINDS), description="One, or several separated by commas.")]
Trusts = Annotated[str | None, Query(pattern=_several(TRUSTS), description="One, or several separated by commas.")]


@dataclass(frozen=True, kw_only=True)
class LogFile:
    """A day's log."""

    day: str
    text: str


@dataclass(frozen=True, kw_only=True)
class NodeFile:
    """A node's file, and each of its lines with the entries it was taken from."""

    id: str
    text: str
    sources: tuple[Point, ...]


@dataclass(frozen=True, kw_only=True)
class TreePass:
    """What a pass over the tree did; `warning` when the configured re-index command failed."""

    done: Compacted
    warning: str


@dataclass(frozen=True, kw_only=True)
class Undone:
    """The records that an undo restored; one of the two lists is empty."""

    learnings: tuple[Learning, ...]
    decisions: tuple[Decision, ...]


@routes.get("/logs", response_model=page_of("days", LogDay), summary="List the days with a log, newest first")
def list_logs(memory: Reads, request: Request, window: Paged) -> Response:
    return sliced(request, "days", memory.journal.days(), window)


@routes.post("/logs", status_code=201, response_model=Logged, summary="Append an entry to a log")
def add_log_entry(memory: Writes, new: EntryBody) -> Response:
    """The entry goes to today's log, or to the log of the day on which its session began."""
    logged = memory.journal.add(new.record())
    place = logged.id.removeprefix("log/").replace("#", "/")  # the log itself while the entry has no number yet
    return answer(logged, status=201, headers={"location": f"/api/logs/{place}"})


@routes.get("/logs/{day}", response_model=LogFile, summary="Get a day's log")
def get_log(memory: Reads, day: Day) -> Response:
    return answer(LogFile(day=day, text=memory.journal.show(day)))


@routes.get("/logs/{day}/{number}", response_model=Entry, summary="Get an entry of a log")
def get_log_entry(memory: Reads, day: Day, number: EntryNumber) -> Response:
    return answer(memory.journal.entry(f"log/{day}#{number}"))


@routes.post("/logs/{day}/{number}/adopt", response_model=Entry, summary="Vouch for an entry; only a person may")
def adopt_log_entry(memory: Writes, day: Day, number: EntryNumber, body: Empty) -> Response:
    return answer(memory.journal.adopt(f"log/{day}#{number}"))


@routes.get(
    "/tree", response_model=page_of("nodes", NodeView), summary="List nodes: the root and all months, or one period"
)
def list_nodes(memory: Reads, request: Request, window: Paged, period: Period | None = None) -> Response:
    """With a period, everything below it is listed too."""
    return sliced(request, "nodes", memory.journal.tree(period), window)


@routes.post("/tree/compact", response_model=TreePass, summary="Bring the tree up to date")
def compact_tree(memory: Writes, wanted: CompactTree) -> Response:
    done, warning = memory.journal.compact(everything=wanted.everything, dry_run=wanted.dry_run)
    return answer(TreePass(done=done, warning=warning))


@routes.get("/tree/{id:anything}", response_model=NodeFile, summary="Get a node, such as root or monthly/2026-03")
def get_node(memory: Reads, id: str) -> Response:
    try:
        text = memory.journal.node(id)
    except BadInput as no_period:
        raise NotFound(str(no_period)) from None
    return answer(NodeFile(id=id, text=text, sources=tuple(memory.journal.sources(id))))


@routes.get("/recall", response_model=Recall, summary="Walk from the root down to the raw words on a question")
def recall(memory: Reads, query: str, limit: Annotated[int, Query(ge=1, le=100)] = 5) -> Response:
    return answer(memory.recall(query, limit=limit))


@text_routes.get("/search", response_model=Hits, summary="Search everything for any text, best first")
def search(
    memory: Reads,
    request: Request,
    window: SearchPaged,
    query: str,
    kind: Kinds = None,
    trust: Trusts = None,
    since: Instant | None = None,
    until: Instant | None = None,
    min_confidence: Share | None = None,
    exclude_outcome: str | None = None,
    strategy: Literal["hybrid", "bm25", "semantic"] = "hybrid",
    semantic_weight: Share | None = None,
    recency: bool = True,
    confidence: bool = True,
    explain: bool = False,
) -> Response:
    hits = memory.search(
        query,
        kinds=tuple(kind.split(",")) if kind else (),
        trusts=tuple(trust.split(",")) if trust else (),
        since=since,
        until=until,
        min_confidence=min_confidence,
        exclude_outcome=exclude_outcome,
        strategy=strategy,
        semantic_weight=semantic_weight,
        recency=recency,
        confidence=confidence,
        explain=explain,
        limit=min(window.limit + window.offset, MOST),
    )
    return sliced(request, "results", hits, window)


@text_routes.get("/texts/{id:anything}", response_model=FullText, summary="Get the whole text that an id names")
def get_text(memory: Reads, id: str) -> Response:
    return answer(memory.texts.get(id))


@text_routes.get(
    "/around/{id:anything}",
    response_model=page_of("texts", Neighbouring),
    summary="List what is before and after a text",
)
def list_neighbours(
    memory: Reads,
    request: Request,
    window: Paged,
    id: str,
    before: Annotated[int, Query(ge=0, le=100)] = 3,
    after: Annotated[int, Query(ge=0, le=100)] = 3,
) -> Response:
    return sliced(request, "texts", memory.texts.around(id, before=before, after=after), window)


@upkeep_routes.get("/inbox", response_model=page_of("items", Escalation), summary="List what waits for a person")
def list_inbox(memory: Reads, request: Request, window: Paged) -> Response:
    return sliced(request, "items", memory.inbox.waiting(), window)


@upkeep_routes.get("/inbox/{number}", response_model=Escalation, summary="Get an item of the inbox")
def get_inbox_item(memory: Reads, number: ItemNumber) -> Response:
    return answer(memory.inbox.get(number))


@upkeep_routes.post("/inbox/{number}/resolve", response_model=Escalation, summary="Settle an item; only a person may")
def resolve_inbox_item(memory: Writes, number: ItemNumber, given: Resolution) -> Response:
    return answer(memory.inbox.resolve(number, given.verb))


@upkeep_routes.post("/undo", response_model=Undone, summary="Take back the last change to learnings or decisions")
def undo(memory: Writes, body: Empty) -> Response:
    """Undoing again goes one change further back. Only a person may take back what a person did."""
    restored = memory.data.undo()
    learnings = [each for each in restored if isinstance(each, Learning)]
    decisions = [each for each in restored if isinstance(each, Decision)]
    return answer({"learnings": learnings, "decisions": decisions})


@upkeep_routes.get("/status", response_model=Status, summary="What is remembered, what waits, what is wrong")
def get_status(memory: Reads) -> Response:
    return answer(memory.status())


@upkeep_routes.get(
    "/why/{id:anything}",
    response_model=AnyExplanation,
    summary="Where a record came from and what happened to it",
)
def explain(memory: Reads, id: str) -> Response:
    return answer(memory.why(id))


@upkeep_routes.post("/cycle", response_model=CycleReport, summary="Do everything that is due")
def run_cycle(memory: Writes, wanted: DryRun) -> Response:
    return answer(memory.cycle(dry_run=wanted.dry_run))


@upkeep_routes.get("/openapi.json", include_in_schema=False)
def openapi(memory: Reads, request: Request) -> Response:
    return answer(document(request.app))
