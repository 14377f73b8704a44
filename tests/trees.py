"""A month of logs as an agent wrote them, the whole tree that any logs must grow into whatever happened
before, and what it means that an entry can be reached from the root."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path

from recollect.core import calendar
from recollect.core.journal import Node
from recollect.text import entries, nodes
from recollect.text.root import LATEST, fold

MONTH = Path(__file__).parent / "data" / "month"
LOGS = {date.fromisoformat(path.stem): path.read_text("utf-8") for path in (MONTH / "logs").glob("*.md")}

SHOUTED = {date(2026, 2, 28): "## x\n" + "Auth auth AUTH aUTH retry Retry RETRY rETRY\n" * 220}
"""A day whose words are spelled in many ways: which spelling is shown must not depend on the process."""


def grow(
    logs: Mapping[date, str], today: date, limits: nodes.Limits | None = None, names: Mapping[str, str] = nodes.NO_NAMES
) -> dict[str, str]:
    """Every file of the tree, by path, from nothing but logs, a day and what the topics of entries are called."""
    limits = limits or nodes.Limits()
    fixed = {"today": today, "limits": limits, "names": names}
    made: dict[str, Node] = {}
    for day, text in sorted(logs.items()):
        node = nodes.daily_node(day, entries.parse(day, text), text, nodes.digest(text), **fixed)
        made[node.id] = node
    for level in calendar.LEVELS[1:]:
        below: dict[str, list[Node]] = {}
        for node in list(made.values()):
            above = calendar.parent(calendar.parse_period(node.id))
            if above and above.level == level:
                below.setdefault(above.name, []).append(node)
        for name, children in sorted(below.items()):
            node = nodes.parent_node(calendar.parse_period(name), children, **fixed)
            made[node.id] = node
    files: dict[str, str] = {nodes.path_of(node.id): nodes.render(node) for node in made.values()}
    months = [node for node in made.values() if node.id.startswith("monthly/")]
    if months:
        recent = [made[calendar.day(day).id] for day in nodes.recent_days(sorted(logs), today)]
        capsules = [nodes.month_digest_of(node, names) for node in sorted(months, key=lambda node: node.id)]
        past, latest = fold(capsules[:-LATEST], limits.root_tokens), capsules[-LATEST:]
        roots = nodes.root_files(past, latest, recent, **fixed)
        files |= {path: text for path, text in roots.items() if text is not None}
    return files


def reachable(files: dict[str, str]) -> set[str]:
    """The entries one arrives at from ROOT.md: every node on the way names its child as it stands, and the entry."""
    found: set[str] = set()
    periods = [line[2:].partition(":")[0] for line in files["ROOT.md"].split("\n") if line.startswith("- 20")]
    for path in files:
        if path.startswith("monthly/") and any(_covers(period, path[8:15]) for period in periods):
            month = _looked_at(path, files[path])
            for week in _children(month, files):
                for day in _children(week, files):
                    found |= month.entries & week.entries & day.entries
    return found


@dataclass(frozen=True)
class _Looked:
    hash: str
    sources: tuple[tuple[str, str], ...]
    entries: frozenset[str]


@lru_cache(maxsize=10_000)
def _looked_at(path: str, text: str) -> _Looked:
    node = nodes.parse(path[:-3], text)
    named = nodes.points_of(node.id, node.body, node.generator)
    return _Looked(
        nodes.digest(node.body),
        tuple((source.path, source.sha256) for source in node.sources),
        frozenset(ref for point in named for ref in point.refs),
    )


def _children(node: _Looked, files: dict[str, str]) -> list[_Looked]:
    below = [(sha, _looked_at(path, files[path])) for path, sha in node.sources]
    return [child for sha, child in below if child.hash == sha]


def _covers(period: str, month: str) -> bool:
    first, _, last = period.partition("~")
    last = last if len(last) == 7 else (first[:5] + last if last else first)
    return first <= month <= last
