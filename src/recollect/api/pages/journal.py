"""Journal: the tree from a year down to the raw words, a year of days, and a form for an entry.

Topics: what entries are about, by their last mention; a page each with its life line and what belongs to it.

Search: everything remembered, with filters and why it matched; and any text by its id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query, Response

from recollect.api.auth import Changing, Notice, PageRequest, Visiting
from recollect.api.pages import base
from recollect.api.pages.prose import period_name, place
from recollect.api.wire import Offset
from recollect.capture.topics import SHOWN, STATES
from recollect.core.calendar import ROOT, Period, parent, parse_day, parse_period, week
from recollect.core.calendar import day as day_period
from recollect.core.clock import DAY, zone_named
from recollect.core.errors import BadInput, NotFound
from recollect.core.journal import ENTRY_TYPES, Entry, NewEntry
from recollect.core.records import FURTHEST, record
from recollect.memory import Memory
from recollect.search.everything import KINDS, STRATEGIES, TRUSTS, Hit, nothing_found
from recollect.text.markdown import frontmatter
from recollect.text.sentences import clip, counted

routes = base.page_router()
ROWS = 25  # chosen: entries of a day on a page
WEEKS = 53  # of the map of the year
SHADES = (1, 3, 6, 10)  # entries a day from which its cell is one shade darker


@record
class TreeDay:
    """A day with entries, and its periods; a week belongs to the month of its Thursday."""

    day: date
    entries: int

    @property
    def weekly(self) -> str:
        return week(self.day).id

    @property
    def monthly(self) -> str:
        month = parent(week(self.day))
        return month.id if month else self.weekly


@routes.get("/journal")
def tree(visit: Visiting, year: Annotated[int, Query(ge=0, le=9999)] = 0) -> Response:
    return _tree(visit, year=year)


@routes.post("/journal")
def add(visit: Changing, sent: base.Sent) -> Response:
    try:
        kind = sent.given("type") or "project"
        entry = NewEntry(text=sent.text("text"), topic=sent.given("topic"), type=kind)  # type: ignore[arg-type]
        logged, change = base.changing_once(visit, lambda memory: memory.journal.add(entry))
    except BadInput as wrong:
        return _tree(visit, sent, problem=str(wrong))
    day = logged.id.removeprefix("log/").partition("#")[0]
    return base.done(visit, f"/journal/log/{day}", "Wrote", logged, change, undo="/journal/undo")


@routes.post("/journal/undo")
def take_back(visit: Changing, sent: base.Sent) -> Response:
    """Take back an entry; the form shows its words again."""
    entry = visit.memory.data.undo(change=sent.text("change"))[0]
    if not isinstance(entry, Entry):  # the form named a change that added no entry
        return base.go(visit, "/journal", "Undone")
    said = f"Took back “{entry.topic}”; its words are in the form"
    visit.session.notices.append(Notice(space=visit.space, text=said))
    topic = "" if entry.titled else entry.topic or ""
    return _tree(visit, base.Fields({"text": (entry.text,), "topic": (topic,), "type": (entry.type,)}))


@routes.post("/journal/compact")
def compact(visit: Changing) -> Response:
    def do(memory: Memory, progress: base.Progress) -> base.Ended:
        done, warning = memory.journal.compact(progress=progress)
        changed = len(done.changes)
        said = "Everything was up to date" if not changed else f"Brought {counted(changed, 'node')} up to date"
        return f"{said}. {warning}" if warning else said, "", ""

    return base.begin(visit, "Bringing the journal up to date", "/journal", do)


@routes.get("/journal/log/{day}")
def log(visit: Visiting, day: str, offset: Offset = 0) -> Response:
    when = parse_day(day)
    daily = day_period(when)
    entries = visit.memory.journal.entries(when)
    shown = entries[offset : offset + ROWS]
    return base.page(
        "log.html",
        visit,
        title=f"Log of {period_name(daily.id)}",
        above=[*_above(daily), daily.id],
        topics=visit.memory.topics.of_entries([each.entry.id for each in shown], now=0),
        **base.paged(shown, len(entries), offset, ROWS, lambda offset: f"/journal/log/{day}?offset={offset}"),
    )


@routes.get("/journal/{level}/{period}")
def node(visit: Visiting, level: str, period: str) -> Response:
    return _node(visit, f"{level}/{period}")


@routes.get("/journal/root")
def root(visit: Visiting) -> Response:
    return _node(visit, ROOT)


def _tree(visit: PageRequest, typed: base.Fields = base.BLANK, *, year: int = 0, problem: str = "") -> Response:
    journal = visit.memory.journal
    counts = {each.day: each.entries for each in journal.days()}
    views = {one.id: one for one in journal.tree()}
    years = sorted({each.year for each in counts} | {int(id[8:12]) for id in views if id != ROOT}, reverse=True)
    year = year or (years[0] if years else journal.today().year)
    months = [id for id in views if id.startswith(f"monthly/{year}")]
    written = [TreeDay(day=day, entries=counts[day]) for day in sorted(counts, reverse=True)]
    written = [one for one in written if one.monthly.startswith(f"monthly/{year}")]
    return base.page(
        "journal.html",
        visit,
        title="Journal",
        status=400 if problem else 200,
        problem=problem,
        year=year,
        years=years,
        root=views.get(ROOT),
        months=[
            (id, [one for one in written if one.monthly == id])
            for id in sorted({*months, *(one.monthly for one in written)}, reverse=True)
        ],
        made=set(journal.nodes()),
        topics={id: views[id].topics[:6] for id in months},
        days=_year_of_days(counts, journal.today()),
        last=max((day for day, count in counts.items() if count and day <= journal.today()), default=None),
        shades=SHADES,
        typed=typed,
        types=ENTRY_TYPES,
    )


def _year_of_days(counts: Mapping[date, int], today: date) -> list[tuple[date, int, int]]:
    """The days of the last year, from a Monday on, each with its number of entries and its shade."""
    monday = today - timedelta(days=today.weekday(), weeks=WEEKS - 1)
    days = [monday + timedelta(days=number) for number in range((today - monday).days + 1)]
    return [(day, counts.get(day, 0), sum(counts.get(day, 0) >= least for least in SHADES)) for day in days]


def _node(visit: PageRequest, id: str) -> Response:
    journal = visit.memory.journal
    text = journal.node(id)
    views = journal.tree(None if id == ROOT else id)
    itself = next((view for view in views if view.id == id), None)
    if itself is None:
        raise NotFound(f"There is no node {id}. Bring the journal up to date to make those that are due")
    level = {ROOT: "monthly", "monthly": "weekly", "weekly": "daily"}.get(itself.level if id != ROOT else ROOT, "")
    return base.page(
        "node.html",
        visit,
        title=period_name(id),
        above=[] if id == ROOT else _above(parse_period(id)),
        node=itself,
        text=frontmatter(text)[1],
        below=[view for view in views if view.id != id and view.level == level],
        day=id.partition("/")[2] if itself.level == "daily" else "",
        points=[] if id == ROOT else journal.sources(id),
    )


def _above(period: Period) -> list[str]:
    """The ids of the nodes above a period, from the root down."""
    up = parent(period)
    return [ROOT] if up is None else [*_above(up), up.id]


TOPIC_ROWS = 50  # chosen: these lines are short
SPANS = 16  # chosen: bars of a life line at most
NEAR = 8  # chosen: learnings and decisions beside a topic


@routes.get("/topics")
def topics(visit: Visiting, state: str = "open", offset: Offset = 0) -> Response:
    found, total = visit.memory.topics.page(state=state or None, limit=TOPIC_ROWS, offset=offset)
    now = visit.memory.context.clock.now()
    begin = min((one.first_at for one in found), default=now)
    return base.page(
        "topics.html",
        visit,
        title="Topics",
        begin=begin,
        now=now,
        state=state,
        states=(*STATES, ""),
        **base.paged(found, total, offset, TOPIC_ROWS, lambda offset: f"/topics?state={state}&offset={offset}"),
    )


@routes.post("/topics/{id}/{verb}")
def act(visit: Changing, id: str, verb: str, sent: base.Sent) -> Response:
    """Rename, close, open or split a topic, or merge another into it."""
    said = {"rename": "Renamed it to", "close": "Closed", "open": "Opened", "merge": "Merged another into"}
    said["split"] = "Split off"
    if verb not in said:
        raise NotFound(f"a topic has no action {verb!r}")
    chosen = (sent.every("entry"),) if verb == "split" else ()
    given = (*chosen, sent.text("name").strip()) if verb in ("rename", "merge", "split") else ()
    topic, change = base.changing_once(visit, lambda memory: getattr(memory.topics, verb)(id, *given))
    return base.done(visit, f"/topics/{id}", said[verb], topic, change)


@routes.get("/topics/{id}")
def topic(visit: Visiting, id: str, offset: Offset = 0) -> Response:
    memory = visit.memory
    view = memory.topics.show(id, offset=offset)
    said = memory.texts.briefly([entry.id for entry in view.entries])
    entries = [(entry, clip(said[entry.id][1], 24) if entry.id in said else "") for entry in view.entries]
    near = memory.in_its_space().search(view.topic.name, kinds=("learning", "decision"), limit=NEAR)
    bar = memory.context.settings.inject.relevance
    return base.page(
        "topic.html",
        visit,
        title=view.topic.name,
        view=view,
        **base.paged(entries, view.topic.entries, offset, SHOWN, lambda offset: f"/topics/{id}?offset={offset}"),
        line=_life_line(visit, [at for _, at in memory.topics.entries(view.topic.id)]),
        near=[hit for hit in near if hit.relevance >= bar],
        others=[one.name for one in memory.topics.page(limit=TOPIC_ROWS)[0] if one.id != view.topic.id],
    )


def _life_line(visit: PageRequest, times: Sequence[int]) -> list[base.Bar]:
    """Numbers of entries over the life of a topic, in equal spans of whole days."""
    if not times:
        return []
    first, last = min(times), max(*times, visit.memory.context.clock.now())
    span = max(1, -(-(last - first) // (SPANS * DAY)))
    zone = zone_named(visit.memory.project.settings.timezone)
    begins = datetime.fromtimestamp(first / 1000, zone)
    counts = Counter((at - first) // (span * DAY) for at in times)
    return [
        base.Bar(label=f"{begins + timedelta(days=span * number):%d %b %y}", up=counts[number])
        for number in range((last - first) // (span * DAY) + 1)
    ]


HITS = 20  # two screens, each hit with its snippet; chosen
MOST_HITS = 200  # chosen: for more, narrow the query
RAW = 64_000  # characters of a text in a page; escaping them takes a millisecond


@routes.get("/search")
def search(
    visit: Visiting,
    q: str = "",
    kind: str = "",
    trust: str = "",
    tag: str = "",
    topic: str = "",
    since: str = "",
    until: str = "",
    strategy: str = "",
    where: str = "",
    limit: Annotated[int, Query(ge=1, le=MOST_HITS)] = HITS,
) -> Response:
    hits: list[Hit] = []
    problem = ""
    memory = visit.memory.in_its_space() if where else visit.memory
    if q.strip():
        try:
            filters = {"kinds": kind and (kind,), "trusts": trust and (trust,), "tag": tag, "topic": topic}
            filters |= {"since": since, "until": until, "strategy": strategy}
            hits = memory.search(q, **base.given(filters), limit=limit, explain=True)
        except (BadInput, NotFound) as wrong:  # a topic of that name may not exist
            problem = str(wrong)
    narrow = {"kind": kind, "trust": trust, "tag": tag, "topic": topic, "since": since, "until": until}
    wanted = {"q": q, **narrow, "strategy": strategy, "where": where}
    context = visit.memory.context
    more = min(2 * limit, MOST_HITS) if len(hits) == limit < MOST_HITS else 0
    return base.page(
        "search.html",
        visit,
        title="Search",
        problem=problem,
        wanted=wanted,
        nothing=nothing_found(q, [name for name, value in narrow.items() if value]),
        hits=hits,
        bases=base.ring_bases(visit, [hit.ring for hit in hits]),
        rings=context.rings.names,
        at=place,
        more=f"/search?{urlencode({**wanted, 'limit': more})}" if more else "",
        kinds=("", *KINDS),
        trusts=("", *TRUSTS),
        strategies=STRATEGIES,
    )


@routes.get("/text/{id:path}")
def whole(visit: Visiting, id: str) -> Response:
    """Any text by its id, with the texts before and after it."""
    text = visit.memory.texts.get(id)
    beside = visit.memory.texts.around(id)
    return base.page("text.html", visit, title=text.title or id, whole=text, beside=beside)


@routes.post("/text/{id:path}/adopt")
def adopt(visit: Changing, id: str) -> Response:
    last = visit.memory.work.last_number()
    made = visit.memory.journal.adopt(id)
    new = any(event.seq > last for event in visit.memory.work.of_change(made.key))
    return base.done(visit, place("", made.id), "Adopted", made, made.key if new else "")


@routes.get("/raw/{id:path}")
def raw(visit: Visiting, id: str, part: Annotated[int, Query(ge=1, le=FURTHEST)] = 1) -> Response:
    """A part, as written, of a text that is too long for one page."""
    text = visit.memory.texts.get(id).text
    first, parts = (part - 1) * RAW, max(1, -(-len(text) // RAW))
    if part > parts:
        raise NotFound(f"{id} has {counted(parts, 'part')}, and none is number {part}")
    shown = text[first : first + RAW]
    numbers = {"number": part, "first": first, "last": first + len(shown), "total": len(text)}
    return base.page("part.html", visit, title=f"Part {part} of {id}", section="Search", id=id, text=shown, **numbers)
