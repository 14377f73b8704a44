"""REST: logs, tree, topics, search, inbox and upkeep; findings, themes and staged learnings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import Depends, Path, Query, Request, Response
from pydantic import Field, WithJsonSchema

from recollect.api import bodies
from recollect.api.auth import Maintains, Reads, Writes
from recollect.api.records import Hits
from recollect.api.wire import Found, Paged, answer, document, page, page_of, router, search_page, shape, sliced
from recollect.capture.learn import Captured
from recollect.capture.log import Logged
from recollect.capture.logs import LogDay
from recollect.capture.stage import Staged
from recollect.capture.topics import TopicView
from recollect.core.decision import Decision
from recollect.core.errors import BadInput, NotFound
from recollect.core.finding import AddedFinding, Finding, SkippedFile, Theme, WorkFile
from recollect.core.journal import Entry, Point
from recollect.core.learning import Learning
from recollect.core.records import FURTHEST
from recollect.distil.inbox import RestoredEntry
from recollect.distil.staged import Consolidation, EntryAge
from recollect.distil.themes import Gathering
from recollect.distil.tree import Compacted, NodeView
from recollect.inject.brief import Brief
from recollect.search.everything import KINDS, TRUSTS
from recollect.store.events import Escalation
from recollect.store.topics import TopicRow
from recollect.tend.cycle import CycleReport
from recollect.tend.kinds import FullText, Neighbouring
from recollect.tend.status import Status
from recollect.tend.why import AnyExplanation
from recollect.text.topics import NAME_LIMIT

routes = router("/api", "journal")
text_routes = router("/api", "search")
upkeep_routes = router("/api", "upkeep")

Day = Annotated[str, Path(), WithJsonSchema({"type": "string", "format": "date", "pattern": bodies.DATE})]
_YEAR = "^(19|[2-8][0-9])[0-9]{2}"
Period = Annotated[
    str,
    Query(description="A day, week or month."),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "format": "date", "pattern": bodies.DATE},
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
    bodies.PATTERNS[pattern] = f"must be one of {', '.join(words)}, or several separated by commas"
    return pattern


Kinds = Annotated[str | None, Query(pattern=_several(KINDS), description="One, or several separated by commas.")]
Trusts = Annotated[str | None, Query(pattern=_several(TRUSTS), description="One, or several separated by commas.")]


LogFile = shape("LogFile", day=str, text=str)
NodeFile = shape("NodeFile", id=str, text=str, sources=tuple[Point, ...])
TreePass = shape("TreePass", done=Compacted, warning=str)  # warning: the re-index command failed
UNDONE = {"learnings": Learning, "decisions": Decision, "topics": TopicRow, "entries": Entry}
Undone = shape("Undone", **{name: tuple[kind, ...] for name, kind in UNDONE.items()})  # type: ignore[valid-type]


@routes.get("/logs", response_model=page_of("days", LogDay), summary="List the days with a log, newest first")
def list_logs(memory: Reads, window: Paged) -> Response:
    return sliced("days", memory.journal.days(), window)


@routes.post("/logs", status_code=201, response_model=Logged, summary="Append an entry to a log")
def add_log_entry(memory: Writes, new: bodies.EntryBody) -> Response:
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
def adopt_log_entry(memory: Writes, day: Day, number: EntryNumber, body: bodies.Empty) -> Entry:
    return memory.journal.adopt(f"log/{day}#{number}")


@routes.get(
    "/tree", response_model=page_of("nodes", NodeView), summary="List nodes: the root and all months, or one period"
)
def list_nodes(memory: Reads, window: Paged, period: Period | None = None) -> Response:
    """With a period, everything below it is listed too."""
    return sliced("nodes", memory.journal.tree(period), window)


@routes.post("/tree/compact", response_model=TreePass, summary="Bring the tree up to date")
def compact_tree(memory: Maintains, wanted: bodies.CompactTree) -> Response:
    done, warning = memory.journal.compact(everything=wanted.everything)
    return answer({"done": done, "warning": warning})


@routes.get("/tree/{id:anything}", response_model=NodeFile, summary="Get a node, such as root or monthly/2026-03")
def get_node(memory: Reads, id: str) -> Response:
    try:
        text = memory.journal.node(id)
    except BadInput as no_period:
        raise NotFound(str(no_period)) from None
    return answer({"id": id, "text": text, "sources": memory.journal.sources(id)})


@dataclass(kw_only=True)
class _Narrowed:
    kind: Kinds = None
    trust: Trusts = None
    tag: str | None = None
    since: bodies.TimeOrWords | None = None
    until: bodies.TimeOrWords | None = None
    topic: str | None = None
    min_confidence: bodies.Share | None = None
    exclude_outcome: str | None = None
    strategy: Literal["hybrid", "bm25", "semantic"] = "hybrid"
    semantic_weight: bodies.Share | None = None
    recency: bool = True
    confidence: bool = True
    explain: bool = False


@text_routes.get("/search", response_model=Hits, summary="Search everything for a text; without one, list the latest")
def search(memory: Reads, part: Found, narrowed: Annotated[_Narrowed, Depends()], query: str = "") -> Response:
    wanted = vars(narrowed)
    kinds, trusts = (tuple(said.split(",")) if (said := wanted.pop(name)) else () for name in ("kind", "trust"))
    return search_page(memory, query, part, kinds=kinds, trusts=trusts, **wanted)


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


@upkeep_routes.post("/inbox/{number}/resolve", summary="Resolve an item; only a person may")
def resolve_inbox_item(memory: Writes, number: ItemNumber, given: bodies.Resolution) -> Escalation:
    return memory.inbox.resolve(number, given.verb)


@upkeep_routes.post(
    "/undo", response_model=Undone, summary="Take back the last change to learnings, decisions, topics or the log"
)
def undo(memory: Writes, body: bodies.Empty) -> Response:
    """One list has what was restored. A second call undoes the change before; a person also undoes what agents did."""
    restored = memory.data.undo()
    return answer({name: [each for each in restored if isinstance(each, kind)] for name, kind in UNDONE.items()})


@upkeep_routes.get("/brief", response_model=Brief, summary="What a session starts with")
def get_brief(memory: Reads) -> Response:
    return answer(memory.brief())


@upkeep_routes.get("/status", response_model=Status, summary="What is remembered, what waits, what is wrong")
def get_status(memory: Reads) -> Response:
    """`store`, `folder` and `places` are names without their folders, which stay private."""
    now = memory.status()
    store, folder, *places = (path.rpartition("/")[2] for path in (now.store, now.folder, *now.places))
    return answer({**vars(now), "store": store, "folder": folder, "places": places})


@upkeep_routes.get("/why/{id:anything}", summary="Where a record came from and what happened to it")
def explain(memory: Reads, id: str) -> AnyExplanation:
    return memory.why(id)


@upkeep_routes.post("/cycle", summary="Do all maintenance that is due")
def run_cycle(memory: Maintains, body: bodies.Empty) -> CycleReport:
    return memory.cycle()


@upkeep_routes.get("/openapi.json", include_in_schema=False)
def openapi(memory: Reads, request: Request) -> Response:
    return answer(document(request.app))


topic_routes = router("/api", "topics")

Name = Annotated[str, Field(max_length=NAME_LIMIT, pattern=bodies.VISIBLE)]


class TopicName(bodies.Body):
    name: Name


class OtherTopic(bodies.Body):
    """The topic that is merged into the one of the address, by id or name."""

    other: str


class SplitOff(bodies.Body):
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


@topic_routes.post("/topics/{topic}/rename", summary="Rename a topic")
def rename_topic(memory: Writes, topic: str, given: TopicName) -> TopicRow:
    return memory.topics.rename(topic, given.name)


@topic_routes.post("/topics/{topic}/merge", summary="Merge another topic into this one")
def merge_topic(memory: Writes, topic: str, given: OtherTopic) -> TopicRow:
    return memory.topics.merge(topic, given.other)


@topic_routes.post("/topics/{topic}/split", summary="Move some entries of a topic to a new one")
def split_topic(memory: Writes, topic: str, given: SplitOff) -> TopicRow:
    return memory.topics.split(topic, given.entries, given.name)


@topic_routes.post("/topics/{topic}/close", summary="Close a topic")
def close_topic(memory: Writes, topic: str, body: bodies.Empty) -> TopicRow:
    return memory.topics.close(topic)


@topic_routes.post("/topics/{topic}/open", summary="Open a topic again")
def open_topic(memory: Writes, topic: str, body: bodies.Empty) -> TopicRow:
    return memory.topics.open(topic)


theme_routes = router("/api", "themes")
staging_routes = router("/api", "staging")

Entries = page_of("staged", EntryAge, file_lines=int, last_consolidation=date | None)
ThemeFile = shape("ThemeFile", theme=Theme, text=str)
AdoptedEntry = shape("AdoptedEntry", slug=str, title=str, body=str)
FindingNumber = Annotated[int, Path(ge=1, le=10**9)]


@theme_routes.get(
    "/findings",
    response_model=page_of("files", WorkFile, skipped=tuple[SkippedFile, ...]),
    summary="List the files of findings, and the skipped ones",
)
def list_findings(memory: Reads, window: Paged) -> Response:
    seen = memory.themes.survey()
    return sliced("files", seen.files, window, skipped=seen.skipped)


@theme_routes.post("/findings", status_code=201, response_model=AddedFinding, summary="Add a finding to a work unit")
def add_finding(memory: Writes, new: bodies.FindingBody) -> Response:
    made = memory.themes.add(new.work_id, new.record())
    return answer(made, status=201, headers={"location": f"/api/findings/{quote(made.work_id)}/{made.number}"})


@theme_routes.get("/findings/{work_id}/{number}", summary="Get a finding")
def get_finding(memory: Reads, work_id: str, number: FindingNumber) -> Finding:
    return memory.themes.finding(f"finding/{work_id}#{number}")


@theme_routes.post("/findings/{work_id}/{number}/promote", summary="Make a finding a learning")
def promote_finding(memory: Writes, work_id: str, number: FindingNumber, given: bodies.PromotionBody) -> Captured:
    return memory.themes.promote(f"finding/{work_id}#{number}", title=given.title)


@theme_routes.post("/findings/{work_id}/{number}/adopt", summary="Vouch for it; only a person may")
def adopt_finding(memory: Writes, work_id: str, number: FindingNumber, body: bodies.Empty) -> Finding:
    return memory.themes.adopt(f"finding/{work_id}#{number}")


@theme_routes.get("/themes", response_model=page_of("themes", Theme), summary="List themes")
def list_themes(memory: Reads, window: Paged) -> Response:
    return sliced("themes", memory.themes.list(), window)


@theme_routes.post("/themes/run", summary="Gather findings into themes, if that is due")
def run_themes(memory: Maintains, wanted: bodies.Gather) -> Gathering:
    return memory.themes.run(always=wanted.always)


@theme_routes.get("/themes/{name}", response_model=ThemeFile, summary="Get a theme and its file")
def get_theme(memory: Reads, name: str) -> Response:
    found, text = memory.themes.show(name)
    return answer({"theme": found, "text": text})


@theme_routes.patch("/themes/{name}", summary="Rename a theme; the machine then leaves its name alone")
def rename_theme(memory: Writes, name: str, new: bodies.Rename) -> Theme:
    return memory.themes.rename(name, new.name)


@staging_routes.get("/staged", response_model=Entries, summary="List staged learnings with their age in active days")
def list_staged(memory: Reads, window: Paged) -> Response:
    ages = memory.staging.ages()
    about = {"file_lines": ages.file_lines, "last_consolidation": ages.last_consolidation}
    return sliced("staged", ages.entries, window, **about)


@staging_routes.post("/staged", status_code=201, response_model=Staged, summary="Stage a learning")
def stage_learning(memory: Writes, new: bodies.StagedBody) -> Response:
    made = memory.staging.stage(new.title, new.body)
    return answer(made, status=200 if made.repeated else 201)


@staging_routes.post("/staged/{slug}/promote", response_model=Captured, summary="Make a staged learning a learning")
def promote_staged(memory: Writes, slug: str, given: bodies.StagedPromotion) -> Response:
    made = memory.staging.promote(slug, context=given.context, implication=given.implication, action=given.action)
    return answer(made)


@staging_routes.post("/staged/{slug}/adopt", response_model=AdoptedEntry, summary="Vouch for it; only a person may")
def adopt_staged(memory: Writes, slug: str, body: bodies.Empty) -> Response:
    kept = memory.staging.adopt(slug)
    return answer({"slug": kept.slug, "title": kept.title, "body": kept.body})


@staging_routes.post("/staged/{slug}/restore", summary="Stage a removed entry again")
def restore_staged(memory: Writes, slug: str, body: bodies.Empty) -> RestoredEntry:
    return memory.staging.restore(slug)


@staging_routes.post("/consolidate", summary="Move staged learnings into documents")
def consolidate(memory: Maintains, wanted: bodies.DryRun) -> Consolidation:
    """Only if a consolidation is due; a dry run says what it would do."""
    return memory.staging.consolidate(dry_run=wanted.dry_run)
