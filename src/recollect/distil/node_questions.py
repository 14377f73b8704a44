"""What a model would be asked now about a node or the root: what a pass asks, made from the files alone."""

from __future__ import annotations

from recollect.capture import log_files as logs
from recollect.core import calendar
from recollect.core.context import Context
from recollect.distil import patterns, summary
from recollect.models.asking import Ask
from recollect.store import journal
from recollect.text import nodes
from recollect.text.capsule import LATEST, unpacked
from recollect.text.nodes import BYTES_PER_LINE, Material
from recollect.text.root import patterns_of
from recollect.text.tree import path_of


def node_question(ctx: Context, id: str) -> Ask[str] | None:
    """The question about a day, week or month; None when it is short enough to be kept as it is, or gone."""
    seen: list[Material] = []

    def look(material: Material) -> tuple[str, str]:
        seen.append(material)
        return "", nodes.OFFLINE

    period = calendar.parse_period(id)
    limits = ctx.settings.tree
    if period.level == "daily":
        log = logs.read(ctx, period.first, copied=limits.daily_lines * BYTES_PER_LINE)
        nodes.daily_body(period.first, log.entries, log.raw, limits.daily_lines, look)
    else:
        below = "daily" if period.level == "weekly" else "weekly"
        with ctx.db.read(ctx.space) as tx:
            rows = journal.nodes_between(tx, below, period.first, period.last)
        texts = [(row.id, ctx.vault.read(path_of(row.id))) for row in rows]
        children = [nodes.parse(child, text) for child, text in texts if text is not None]
        threshold = limits.weekly_lines if period.level == "weekly" else limits.monthly_lines
        if children:
            nodes.parent_body(period, children, threshold, look)
    return summary.question(seen[0]) if seen else None


def root_question(ctx: Context) -> Ask[list[str]] | None:
    """The question about the recent patterns; None when there are none."""
    with ctx.db.read(ctx.space) as tx:
        months = list(journal.body_hashes(tx, "monthly"))[-LATEST:]
        latest = [unpacked(text) for text in journal.capsules(tx, months)]
    lines = patterns_of(latest, ctx.settings.tree.root_max_tokens)
    return patterns.question(lines) if lines else None
