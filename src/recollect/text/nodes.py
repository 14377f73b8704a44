"""The tree as text: each node as a function of the nodes below it, and ROOT.md as one of the months.

A day is copied or summarised, days and weeks joined or summarised, and all of it read back. Nothing but its sources
goes into a body, so a tree grown day by day and one rebuilt from the logs are the same bytes. Knows nothing about
files, the clock, or which summariser is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from hashlib import sha256
from typing import Any

from recollect.core import calendar
from recollect.core.calendar import LEVELS, Level, Period, parse_period
from recollect.core.journal import KEPT, Entry, EntryType, Node, Point, Section, Source, Topic
from recollect.core.records import record
from recollect.text import entries, markdown, points, root
from recollect.text import summarise as text_summarise
from recollect.text.root import MonthDigest, Past, Wording, make_digest
from recollect.text.summarise import Budget, summarise

NO_NAMES: Mapping[str, str] = {}
"""Present names of topics by their entries' references; without one, a heading is the topic."""
SCHEMA = 1  # of a node's file; a reader of another one takes the file for another tool's
COPY = "copy"
OFFLINE = "offline/1"
FOREIGN = "foreign"
BYTES_PER_LINE = 100  # the byte bound beside every line threshold
SHARE = 0.4  # what a summary may take of the threshold that called for it
SMALLEST = 50  # bytes; a smaller file is no node
TOPICS = 60  # chosen: what the frontmatter of a busy month names
MORE_TOPICS = 12
"""Topics that a summary from outside left out and that get a line each; the entries of more are counted on one."""

_TITLES: tuple[tuple[Section, str, str, str], ...] = (
    ("topic", "Topics", "Topics", "Key Themes"),
    ("decision", "Key Decisions", "Key Decisions", "Major Decisions"),
    ("done", "Tasks Completed", "Tasks Completed", "Completed Work"),
    ("entity", "", "Entities Referenced", "Recurring Entities"),
    ("lesson", "Lessons Learned", "Lessons Learned", "Lessons & Patterns"),
    ("open", "Open Items", "Open Items", "Carried Forward"),
)
"""What each section is called on a day, which lists no entities, in a week and in a month."""
HEADINGS: dict[Level, tuple[tuple[Section, str], ...]] = {
    level: tuple((section, titles[at]) for section, *titles in _TITLES if titles[at]) for at, level in enumerate(LEVELS)
}
_SECTIONS: dict[str, Section] = {title.lower(): section for titles in HEADINGS.values() for section, title in titles}
_CHILD: dict[str, str] = {"weekly": "daily", "monthly": "weekly"}


@record
class Material:
    """What a summary of a period is to be made from. A summariser may use the points, the text, or both."""

    period: Period
    text: str
    points: tuple[Point, ...]
    budget: Budget
    entities: tuple[Point, ...] = ()


Summariser = Callable[[Material], tuple[str, str]]  # gives a body and the name of what made it


def offline(material: Material) -> tuple[str, str]:
    return layout(material.period, [*summarise(material.points, material.budget), *material.entities]), OFFLINE


def layout(period: Period, chosen: Iterable[Point]) -> str:
    by_section: dict[Section, list[Point]] = {}
    for point in chosen:
        by_section.setdefault("topic" if point.section in ("note", "more") else point.section, []).append(point)
    parts = [f"# {period.name} ({period.first} to {period.last})"] if period.level != "daily" else []
    for section, title in HEADINGS[period.level]:
        parts.append(f"## {title}\n{points.render(by_section.get(section, ()))}".rstrip("\n"))
    return "\n\n".join(parts)


def fits(bodies: Iterable[str], threshold: int) -> bool:
    """Whether the sources are small enough to be kept verbatim: lines and bytes."""
    lines = size = 0
    for body in bodies:
        lines += body.count("\n") + (not body.endswith("\n"))
        size += len(body.encode())
    return lines <= threshold and size <= threshold * BYTES_PER_LINE


def budget(threshold: int) -> Budget:
    lines = max(int(threshold * SHARE), 10)
    return Budget(lines=lines, chars=lines * BYTES_PER_LINE)


def daily_body(
    day: date,
    found: Sequence[Entry],
    raw: str | None,
    threshold: int,
    summariser: Summariser = offline,
    names: Mapping[str, str] = NO_NAMES,
) -> tuple[str, str]:
    """A day's log verbatim while it is small (`raw` is given), else its summary. External text is in neither."""
    period = parse_period(day.isoformat())
    ours = None if raw is None else entries.copied(raw)
    if raw is not None and ours is not None and fits([raw], threshold):
        return ours, COPY
    return summariser(
        Material(
            period=period,
            text=ours
            or "\n\n".join(
                f"## {entry.topic} [{entry.type}]\n\n{entry.text}" for entry in found if entry.trust != "external"
            ),
            points=tuple(_entry_points(found, names)),
            budget=budget(threshold),
        )
    )


def parent_body(
    period: Period,
    children: Sequence[Node],
    threshold: int,
    summariser: Summariser = offline,
    names: Mapping[str, str] = NO_NAMES,
) -> tuple[str, str]:
    """The children joined while they are small together, else their summary."""
    if fits([child.body for child in children], threshold):
        return join(children), COPY
    found = [points_of(child.id, child.body, child.generator, names) for child in children]
    bodies = ("" if child.generator == COPY else child.body for child in children)
    known = (dict(markdown.sections(body, 2)).get("Entities Referenced", "") for body in bodies)
    return summariser(
        Material(
            period=period,
            text=join(children),
            points=tuple(point for each in found for point in each),
            budget=budget(threshold),
            entities=tuple(points.entities(zip(known, found, strict=True), least=1 + (period.level == "monthly"))),
        )
    )


def join(children: Sequence[Node]) -> str:
    """Bodies one under the other, each below its source mark and name, headings a level deeper, fences closed."""
    parts = []
    for child in children:
        level, _, name = child.id.partition("/")
        body = re.sub(rf"^(\\*<!-- source: {level}/)", r"\\\1", child.body, flags=re.MULTILINE)
        body = markdown.close_fence(markdown.demote(body))
        parts.append(f"<!-- source: {child.id} {child.generator} -->\n## {name}\n\n{body}")
    return "\n\n".join(parts)


def parted(level: str, body: str) -> list[tuple[str, str, str]]:
    """What `join` put together: (id, generator, body) of every child."""
    child = _CHILD[level]
    found = list(re.finditer(rf"^<!-- source: ({child}/\S+) (\S+) -->\n## .*$", body, re.MULTILINE))
    parts = []
    for here, after in zip(found, [*found[1:], None], strict=True):
        text = body[here.end() : after.start() if after else len(body)].strip("\n")
        text = re.sub(rf"^\\(\\*<!-- source: {child}/)", r"\1", text, flags=re.MULTILINE)
        parts.append((here[1], here[2], markdown.promote(text)))
    return parts


def points_of(node: str, body: str, generator: str, names: Mapping[str, str] = NO_NAMES) -> list[Point]:
    """The points of a node, however it was made; a stranger's node is read as far as it can be."""
    period = parse_period(node)
    if generator == COPY and period.level == "daily":
        return _entry_points(entries.parse(period.first, body, numbered=True), names)
    if generator == COPY:
        parts = parted(period.level, body)
        return [point for child, made_by, part in parts for point in points_of(child, part, made_by, names)]
    found: list[Point] = []
    for title, part in markdown.sections(body, 2):
        if (section := _SECTIONS.get(title.lower(), "topic")) != "entity":
            found += points.parse(section, part, fallback=(f"{period.first}#0",))
    return points.renamed(found, names)


def topics_of(found: Iterable[Point]) -> tuple[Topic, ...]:
    """Topics in the order of their first mention; what was named most often is not cut off."""
    counts: dict[Topic, int] = {}
    for point in found:
        if point.section != "more":
            topic = Topic(name=points.topic_name(point.topic), type=point.type)
            counts[topic] = counts.get(topic, 0) + max(len(point.refs), 1)
    best = set(sorted(counts, key=lambda topic: -counts[topic])[:TOPICS])
    return tuple(topic for topic in counts if topic in best)


def fault(body: str, material: Material) -> str | None:
    """Why a summary from outside must not replace a node, or None."""
    if not body.strip() or len(body.encode()) < SMALLEST:
        return "it is empty or too short"
    if text_summarise.refuses(body):
        return "it is a refusal"
    if len(body.encode()) > max(len(material.text.encode()), SMALLEST):
        return "it is longer than its source"
    if not {title for title, _ in markdown.sections(body, 2)} & {title for _, title in HEADINGS[material.period.level]}:
        return "it has none of the headings"
    if invented := _references(body) - {ref for point in material.points for ref in point.refs}:
        return f"it refers to {min(invented)}, which is not among its sources"
    return None


def completed(body: str, material: Material) -> str:
    """A summary from outside in which every line leads back: lines without a reference get their topic's, and topics
    whose entries no line refers to get a line. User and feedback items stand in it as they were said."""
    by_topic: dict[str, list[str]] = {}
    for point in material.points:
        for spelled in (point.topic, point.text if point.section == "topic" else ""):  # a log's headings may be titles
            by_topic.setdefault(spelled.casefold(), []).extend(point.refs)
    body = "\n".join(_referring(line, by_topic) for line in body.split("\n"))
    by_words: dict[tuple[Section, str, EntryType, str], list[str]] = {}
    for point in material.points:
        if point.kept and point.text:
            by_words.setdefault((point.section, point.topic, point.type, point.text), []).extend(point.refs)
    kept = [
        Point(section=section, topic=topic, type=kind, text=text, refs=tuple(dict.fromkeys(refs)))
        for (section, topic, kind, text), refs in by_words.items()
    ]
    for section, title in HEADINGS[material.period.level]:
        if lines := [point for point in (*kept, *material.entities) if point.section == section]:
            body = _with_lines(body, title, lines)
    said = _references(body)
    missing: dict[Topic, list[str]] = {}
    for point in material.points:
        if left := [ref for ref in point.refs if ref not in said]:
            missing.setdefault(Topic(name=point.topic, type=point.type), []).extend(left)
    lines = [
        Point(section="topic", topic=each.name, type=each.type, refs=tuple(refs)) for each, refs in missing.items()
    ]
    if len(lines) > MORE_TOPICS or any(not point.topic for point in lines):
        lines = [Point(section="more", topic="", refs=tuple(dict.fromkeys(ref for each in lines for ref in each.refs)))]
    return _with_lines(body, HEADINGS[material.period.level][0][1], lines) if lines else body


def _with_lines(body: str, title: str, lines: Sequence[Point]) -> str:
    """A body with more points at the beginning of a section, which is made where it is missing."""
    before, found, after = f"\n{body}".partition(f"\n## {title}")
    if not found:
        return f"## {title}\n{points.render(lines)}\n\n{body}"
    return f"{before}{found}\n{points.render(lines)}{after}".lstrip("\n")


def without_kept(text: str, found: Sequence[Point] = ()) -> str:
    """A text without what user and feedback items say: no model is asked about them, and none may reword them.

    Headings stay, because entries are numbered by them. A line that refers only to such items of `found` goes too.
    """
    other = {ref for point in found if not point.kept for ref in point.refs}
    theirs = {ref for point in found if point.kept for ref in point.refs} - other
    lines = text.split("\n")
    headings = set(markdown.headings(lines))
    left, inside = [], 0
    for at, line in enumerate(lines):
        mark = markdown.heading(line) if at in headings else None
        if mark and (not inside or mark[0] <= inside):
            inside = mark[0] if entries.type_tag(mark[1])[1] in KEPT else 0
            left.append(line)
        elif not inside and not _says_kept(line, theirs):
            left.append(line)
    return "\n".join(left)


def _says_kept(line: str, refs: set[str]) -> bool:
    if not line.lstrip().startswith(("- ", "* ")):
        return False
    (point,) = points.parse("topic", line) or (Point(section="topic", topic=""),)
    return point.kept or (bool(point.refs) and refs.issuperset(point.refs))


def _referring(line: str, by_topic: Mapping[str, list[str]]) -> str:
    if not line.startswith(("- ", "* ")):
        return line
    (point,) = points.parse("topic", line)
    refs = () if point.refs else by_topic.get(point.topic.casefold(), ())
    return f"{line.rstrip()} ({points.show_refs(refs)})" if refs else line


def _references(body: str) -> set[str]:
    return {
        ref
        for title, part in markdown.sections(body, 2)
        for point in points.parse(_SECTIONS.get(title.lower(), "topic"), part)
        for ref in point.refs
    }


def render(node: Node) -> str:
    level, _, name = node.id.partition("/")
    fields: dict[str, Any] = {"type": level, "status": node.status}
    period = parse_period(node.id)
    fields["period"] = period.first if level == "daily" else name
    if level == "weekly":
        fields["dates"] = f"{period.first} to {period.last}"
    if level == "monthly":
        fields["weeks"] = [source.path.rpartition("/")[2].removesuffix(".md") for source in node.sources]
    fields["topics"] = [str(topic) for topic in node.topics]
    fields["source-files"] = [{"path": source.path, "sha256": source.sha256} for source in node.sources]
    if node.incomplete:
        fields["incomplete"] = list(node.incomplete)
    return markdown.with_frontmatter({**fields, "generator": node.generator, "schema": SCHEMA}, node.body)


def parse(node: str, text: str) -> Node:
    """A node's file, ours or another tool's: without hashes it has no sources and so counts as out of date."""
    fields, body = markdown.frontmatter(text)
    ours = fields.get("schema") == str(SCHEMA) and not markdown.has_conflict(text)
    return Node(
        id=node,
        status="fixed" if fields.get("status") == "fixed" else "tentative",
        topics=_topics(fields.get("topics")),
        sources=_sources(fields.get("source-files")) if ours else (),
        generator=str(fields.get("generator", FOREIGN)) if ours else FOREIGN,
        body=body.strip("\n"),
        incomplete=tuple(map(str, _list(fields.get("incomplete")))),
    )


def looks_like(text: str, body_hash: str, generator: str) -> bool:
    """Whether a file still says what it said when it was made; cheaper than parsing it."""
    head, mark, body = text.partition("\n---\n\n")
    return bool(mark) and f"\ngenerator: {generator}\n" in f"{head}\n" and digest(body.strip("\n")) == body_hash


def _entry_points(found: Iterable[Entry], names: Mapping[str, str]) -> list[Point]:
    ours = (entry for entry in found if entry.trust != "external")
    return [point for entry in ours for point in points.extract_points(entry, names.get(entry.ref, ""))]


def _topics(value: Any) -> tuple[Topic, ...]:
    names = value.split(",") if isinstance(value, str) else _list(value)
    tags = (entries.type_tag(name.strip()) for name in names if isinstance(name, str) and name.strip())
    return tuple(Topic(name=topic, type=kind) for topic, kind in tags)


def _sources(value: Any) -> tuple[Source, ...]:
    return tuple(
        Source(path=str(item["path"]), sha256=str(item["sha256"]))
        for item in _list(value)
        if isinstance(item, Mapping) and "path" in item and "sha256" in item
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


RECENT = timedelta(days=root.ACTIVE_DAYS)


@record
class Limits:
    """Lines up to which sources are kept verbatim, and the tokens of ROOT.md."""

    daily: int = 200
    weekly: int = 300
    monthly: int = 500
    root_tokens: int = 3_000

    def of(self, level: Level) -> int:
        return {"daily": self.daily, "weekly": self.weekly, "monthly": self.monthly}[level]


def digest(text: str | bytes) -> str:
    return sha256(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text).hexdigest()


def path_of(node: str) -> str:
    """Where a node is kept, relative to the memory folder."""
    return "ROOT.md" if node == calendar.ROOT else f"{node}.md"


def log_path(day: date) -> str:
    return f"{day.isoformat()}.md"


def daily_node(
    day: date,
    found: Sequence[Entry],
    raw: str | None,
    sha: str,
    *,
    today: date,
    limits: Limits,
    summariser: Summariser = offline,
    names: Mapping[str, str] = NO_NAMES,
) -> Node:
    """The node of a day. `raw` is the log itself where it is small enough to be copied."""
    period = calendar.day(day)
    body, generator = daily_body(day, found, raw, limits.daily, summariser, names)
    return Node(
        id=period.id,
        status="fixed" if today >= period.fixed_from else "tentative",
        topics=topics_of(points_of(period.id, body, generator, names)),
        sources=(Source(path=log_path(day), sha256=sha),),
        generator=generator,
        body=body,
    )


def parent_node(
    period: Period,
    children: Sequence[Node],
    *,
    today: date,
    limits: Limits,
    incomplete: Sequence[str] = (),
    summariser: Summariser = offline,
    names: Mapping[str, str] = NO_NAMES,
) -> Node:
    """The node of a week or a month. It is fixed when its time has come and everything below it is."""
    body, generator = parent_body(period, children, limits.of(period.level), summariser, names)
    settled = today >= period.fixed_from and not incomplete
    return Node(
        id=period.id,
        status="fixed" if settled and all(child.status == "fixed" for child in children) else "tentative",
        topics=topics_of(points_of(period.id, body, generator, names)),
        sources=tuple(Source(path=path_of(child.id), sha256=digest(child.body)) for child in children),
        generator=generator,
        body=body,
        incomplete=tuple(incomplete),
    )


def month_digest_of(month: Node, names: Mapping[str, str] = NO_NAMES) -> MonthDigest:
    return make_digest(month.id.partition("/")[2], points_of(month.id, month.body, month.generator, names))


def root_files(
    past: Past,
    latest: Sequence[MonthDigest],
    recent: Sequence[Node],
    *,
    today: date,
    limits: Limits,
    word: Wording = root.as_found,
    names: Mapping[str, str] = NO_NAMES,
    done: Collection[str] = (),
) -> dict[str, str | None]:
    """ROOT.md and its overflow; None for a file that must not be there."""
    points = [point for node in recent for point in points_of(node.id, node.body, node.generator, names)]
    text, overflow = root.build(past, latest, points, today, limits.root_tokens, word, done)
    return {"ROOT.md": text, root.OVERFLOW: overflow}


def recent_days(days: Sequence[date], today: date) -> list[date]:
    """The last seven days that can be shown; after a long absence, the last seven before it, marked as such."""
    past = [day for day in days if day <= today] or list(days)
    if not past:
        return []
    until = today if today - past[-1] < RECENT else past[-1]
    return [day for day in past if until - day < RECENT]
