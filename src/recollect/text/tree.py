"""Each node as a function of the nodes below it, and ROOT.md as one of the months.

Because nothing else goes in, growing day by day and rebuilding give the same tree. Knows nothing about files or locks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from hashlib import sha256

from recollect.core import calendar
from recollect.core.calendar import Level, Period
from recollect.core.journal import Entry, Node, Source
from recollect.core.records import record
from recollect.text import nodes, root
from recollect.text.nodes import Summariser, offline
from recollect.text.root import MonthDigest, Past, Wording, make_digest

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
) -> Node:
    """The node of a day. `raw` is the log itself where it is small enough to be copied."""
    period = calendar.day(day)
    body, generator = nodes.daily_body(day, found, raw, limits.daily, summariser)
    return Node(
        id=period.id,
        status="fixed" if today >= period.fixed_from else "tentative",
        topics=nodes.topics_of(nodes.points_of(period.id, body, generator)),
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
) -> Node:
    """The node of a week or a month. It is fixed when its time has come and everything below it is."""
    body, generator = nodes.parent_body(period, children, limits.of(period.level), summariser)
    settled = today >= period.fixed_from and not incomplete
    return Node(
        id=period.id,
        status="fixed" if settled and all(child.status == "fixed" for child in children) else "tentative",
        topics=nodes.topics_of(nodes.points_of(period.id, body, generator)),
        sources=tuple(Source(path=path_of(child.id), sha256=digest(child.body)) for child in children),
        generator=generator,
        body=body,
        incomplete=tuple(incomplete),
    )


def month_digest_of(month: Node) -> MonthDigest:
    found = nodes.points_of(month.id, month.body, month.generator)
    return make_digest(month.id.partition("/")[2], found)


def root_files(
    past: Past,
    latest: Sequence[MonthDigest],
    recent: Sequence[Node],
    *,
    today: date,
    limits: Limits,
    sources: str,
    word: Wording = root.as_found,
) -> dict[str, str | None]:
    """ROOT.md and its overflow; None for a file that must not be there."""
    points = [point for node in recent for point in nodes.points_of(node.id, node.body, node.generator)]
    text, overflow = root.build(past, latest, points, today, limits.root_tokens, sources, word)
    return {"ROOT.md": text, root.OVERFLOW: overflow}


def recent_days(days: Sequence[date], today: date) -> list[date]:
    """The last seven days that can be shown; after a long absence, the last seven before it, marked as such."""
    past = [day for day in days if day <= today] or list(days)
    if not past:
        return []
    until = today if today - past[-1] < RECENT else past[-1]
    return [day for day in past if until - day < RECENT]


def month_key(months: Mapping[str, str]) -> str:
    """One hash for all months a root was made from."""
    return digest("\n".join(f"{month} {sha}" for month, sha in sorted(months.items())))
