"""REST: logs, the tree made from them and their topics, search over everything, and the memory as a whole."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path, Query, Request, Response
from pydantic import Field, WithJsonSchema

from recollect.api.auth import Maintains, Reads, Writes
from recollect.api.bodies import (
    DATE,
    PATTERNS,
    VISIBLE,
    Body,
    CompactTree,
    Empty,
    EntryBody,
    Instant,
    Resolution,
    Share,
)
from recollect.api.learnings import Hits
from recollect.api.wire import Found, Paged, answer, document, page, page_of, router, search_page, shape, sliced
from recollect.capture.log import Logged
from recollect.capture.logs import LogDay
from recollect.capture.topic_edits import TopicView
from recollect.core.decision import Decision
from recollect.core.errors import BadInput, NotFound
from recollect.core.journal import Entry, Point
from recollect.core.learning import Learning
from recollect.core.records import FURTHEST
from recollect.distil.tree import Compacted, NodeView
from recollect.inject.brief import Brief
from recollect.search.everything import KINDS, TRUSTS
from recollect.store.events import Escalation
from recollect.store.topics import TopicRow
from recollect.tend.cycle import CycleReport
from recollect.tend.kinds import FullText, Neighbouring
from recollect.tend.status import Status
from recollect.tend.why import AnyExplanation
from recollect.text.topic_names import NAME_LIMIT

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


LogFile = shape("LogFile", day=str, text=str)
NodeFile = shape("NodeFile", id=str, text=str, sources=tuple[Point, ...])
TreePass = shape("TreePass", done=Compacted, warning=str)  # the warning is that the re-index command failed
Undone = shape(  # only one of them has any
    "Undone", learnings=tuple[Learning, ...], decisions=tuple[Decision, ...], topics=tuple[TopicRow, ...]
)


@routes.get("/logs", response_model=page_of("days", LogDay), summary="List the days with a log, newest first")
def list_logs(memory: Reads, window: Paged) -> Response:
    return sliced("days", memory.journal.days(), window)


@routes.post("/logs", status_code=201, response_model=Logged, summary="Append an entry to a log")
def add_log_entry(memory: Writes, new: EntryBody) -> Response:
    """The entry goes to today's log, or to the log of the day on which its session began."""
    logged = memory.journal.add(new.record())
    place = logged.id.removeprefix("log/").replace("#", "/")  # the log itself while the entry has no number yet
    return answer(logged, status=201, headers={"location": f"/api/logs/{place}"})


@routes.get("/logs/{day}", response_model=LogFile, summary="Get a day's log")
def get_log(memory: Reads, day: Day) -> Response:
    return answer({"day": day, "text": memory.journal.show(day)})


@routes.get("/logs/{day}/{number}", summary="Get an entry of a log")
def get_log_entry(memory: Reads, day: Day, number: EntryNumber) -> Entry:
    return memory.journal.entry(f"log/{day}#{number}")


@routes.post("/logs/{day}/{number}/adopt", summary="Vouch for an entry; only a person may")
def adopt_log_entry(memory: Writes, day: Day, number: EntryNumber, body: Empty) -> Entry:
    return memory.journal.adopt(f"log/{day}#{number}")


@routes.get(
    "/tree", response_model=page_of("nodes", NodeView), summary="List nodes: the root and all months, or one period"
)
def list_nodes(memory: Reads, window: Paged, period: Period | None = None) -> Response:
    """With a period, everything below it is listed too."""
    return sliced("nodes", memory.journal.tree(period), window)


@routes.post("/tree/compact", response_model=TreePass, summary="Bring the tree up to date")
def compact_tree(memory: Maintains, wanted: CompactTree) -> Response:
    done, warning = memory.journal.compact(everything=wanted.everything)
    return answer({"done": done, "warning": warning})


@routes.get("/tree/{id:anything}", response_model=NodeFile, summary="Get a node, such as root or monthly/2026-03")
def get_node(memory: Reads, id: str) -> Response:
    try:
        text = memory.journal.node(id)
    except BadInput as no_period:
        raise NotFound(str(no_period)) from None
    return answer({"id": id, "text": text, "sources": memory.journal.sources(id)})


@text_routes.get("/search", response_model=Hits, summary="Search everything for any text; without one list the latest")
def search(
    memory: Reads,
    part: Found,
    query: str = "",
    kind: Kinds = None,
    trust: Trusts = None,
    tag: str | None = None,
    since: Instant | None = None,
    until: Instant | None = None,
    topic: str | None = None,
    min_confidence: Share | None = None,
    exclude_outcome: str | None = None,
    strategy: Literal["hybrid", "bm25", "semantic"] = "hybrid",
    semantic_weight: Share | None = None,
    recency: bool = True,
    confidence: bool = True,
    explain: bool = False,
) -> Response:
    return search_page(
        memory,
        query,
        part,
        kinds=tuple(kind.split(",")) if kind else (),
        trusts=tuple(trust.split(",")) if trust else (),
        tag=tag,
        since=since,
        until=until,
        topic=topic,
        min_confidence=min_confidence,
        exclude_outcome=exclude_outcome,
        strategy=strategy,
        semantic_weight=semantic_weight,
        recency=recency,
        confidence=confidence,
        explain=explain,
    )


@text_routes.get("/texts/{id:anything}", summary="Get the whole text that an id names")
def get_text(memory: Reads, id: str) -> FullText:
    return memory.texts.get(id)


@text_routes.get(
    "/around/{id:anything}",
    response_model=page_of("texts", Neighbouring),
    summary="List what is before and after a text",
)
def list_neighbours(
    memory: Reads,
    window: Paged,
    id: str,
    before: Annotated[int, Query(ge=0, le=100)] = 3,
    after: Annotated[int, Query(ge=0, le=100)] = 3,
) -> Response:
    return sliced("texts", memory.texts.around(id, before=before, after=after), window)


@upkeep_routes.get("/inbox", response_model=page_of("items", Escalation), summary="List what waits for a person")
def list_inbox(memory: Reads, window: Paged) -> Response:
    return sliced("items", memory.inbox.waiting(), window)


@upkeep_routes.get("/inbox/{number}", summary="Get an item of the inbox")
def get_inbox_item(memory: Reads, number: ItemNumber) -> Escalation:
    return memory.inbox.get(number)


@upkeep_routes.post("/inbox/{number}/resolve", summary="Settle an item; only a person may")
def resolve_inbox_item(memory: Writes, number: ItemNumber, given: Resolution) -> Escalation:
    return memory.inbox.resolve(number, given.verb)


@upkeep_routes.post(
    "/undo", response_model=Undone, summary="Take back the last change to learnings, decisions or topics"
)
def undo(memory: Writes, body: Empty) -> Response:
    """Undoing again goes one change further back. Only a person may take back what a person did."""
    restored = memory.data.undo()
    nouns = {"learnings": Learning, "decisions": Decision, "topics": TopicRow}
    return answer({name: [each for each in restored if isinstance(each, kind)] for name, kind in nouns.items()})


@upkeep_routes.get("/brief", response_model=Brief, summary="What a session starts with")
def get_brief(memory: Reads) -> Response:
    return answer(memory.brief())


@upkeep_routes.get("/status", response_model=Status, summary="What is remembered, what waits, what is wrong")
def get_status(memory: Reads) -> Response:
    """`store`, `folder` and `places` are names without their folders: where they are on the machine is not said."""
    now = memory.status()
    store, folder, *places = (path.rpartition("/")[2] for path in (now.store, now.folder, *now.places))
    return answer({**vars(now), "store": store, "folder": folder, "places": places})


@upkeep_routes.get(
    "/why/{id:anything}",
    summary="Where a record came from and what happened to it",
)
def explain(memory: Reads, id: str) -> AnyExplanation:
    return memory.why(id)


@upkeep_routes.post("/cycle", summary="Do everything that is due")
def run_cycle(memory: Maintains, body: Empty) -> CycleReport:
    return memory.cycle()


@upkeep_routes.get("/openapi.json", include_in_schema=False)
def openapi(memory: Reads, request: Request) -> Response:
    return answer(document(request.app))


topic_routes = router("/api", "topics")

Name = Annotated[str, Field(max_length=NAME_LIMIT, pattern=VISIBLE)]


class TopicName(Body):
    name: Name


class OtherTopic(Body):
    """The topic that is merged into the one of the address, by id or name."""

    other: str


class SplitOff(Body):
    """The entries that a new topic takes, and its name."""

    name: Name
    entries: Annotated[list[str], Field(min_length=1)]


@topic_routes.get("/topics", response_model=page_of("topics", TopicRow), summary="List topics, latest mention first")
def list_topics(
    memory: Reads, window: Paged, state: Annotated[Literal["open", "done", "dormant"] | None, Query()] = None
) -> Response:
    found, total = memory.topics.page(state=state, **window.part)
    return page("topics", found, total, window)


@topic_routes.get("/topics/{topic}", summary="Get a topic, by id or name, with its latest entries")
def get_topic(memory: Reads, topic: str) -> TopicView:
    return memory.topics.show(topic)


@topic_routes.post("/topics/{topic}/rename", summary="Call a topic by another name")
def rename_topic(memory: Writes, topic: str, given: TopicName) -> TopicRow:
    return memory.topics.rename(topic, given.name)


@topic_routes.post("/topics/{topic}/merge", summary="Put the entries of another topic under this one")
def merge_topic(memory: Writes, topic: str, given: OtherTopic) -> TopicRow:
    return memory.topics.merge(topic, given.other)


@topic_routes.post("/topics/{topic}/split", summary="Put some entries of a topic under a new one")
def split_topic(memory: Writes, topic: str, given: SplitOff) -> TopicRow:
    return memory.topics.split(topic, given.entries, given.name)


@topic_routes.post("/topics/{topic}/close", summary="Say that a topic is done")
def close_topic(memory: Writes, topic: str, body: Empty) -> TopicRow:
    return memory.topics.close(topic)


@topic_routes.post("/topics/{topic}/open", summary="Say that a topic is not done")
def open_topic(memory: Writes, topic: str, body: Empty) -> TopicRow:
    return memory.topics.open(topic)
