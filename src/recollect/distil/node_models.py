"""Which summaries a model writes: one per level and pass, newest first, plus the one that waited longest.

Everything else is written by the offline twin at once, so the tree is never behind; what a model may still improve
waits its turn. Answers that are already known cost nothing and are always used.

The recent patterns of ROOT.md in a model's words: the same lessons, each leading to the same entry.

What a model would be asked now about a node or the root: what a pass asks, made from the files alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.capture import logs
from recollect.core import calendar
from recollect.core.calendar import LEVELS, ROOT, Level, Period
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput
from recollect.core.journal import Node
from recollect.models.ask import LONGEST, OFFLINE, RETOLD, Ask, ask, known, load_prompt, unwrapped
from recollect.models.embed import for_distilling
from recollect.store import journal, model_rows
from recollect.store.journal import NodeRow
from recollect.text import nodes, points, root
from recollect.text.nodes import BYTES_PER_LINE, Material, Summariser
from recollect.text.root import LATEST, Wording, patterns_of, unpack_digest
from recollect.text.tree import path_of

PROMPT = "summarise"
MADE_BY = "summaries by"
"""The name under which the tree remembers which prompt its summaries were asked for with."""


class ModelSummaries:
    """The summarisers of one pass, and how many questions they asked."""

    def __init__(self, ctx: Context, *, unlimited: bool = False, asking: bool = True):
        self._ctx = ctx
        self._unlimited = unlimited and asking
        self._asking = asking
        self._configured = {level for level in LEVELS if ctx.models.provider(level) is not None}
        by_meaning = for_distilling(ctx)
        self._twin = nodes.offline_by_meaning(by_meaning[1], by_meaning[0]) if by_meaning else nodes.offline
        self._allowed: set[str] = set()
        self.calls = 0
        self.failed: set[str] = set()
        """Nodes that a model was asked for in vain."""

    def due(self, tx: Tx, level: Level) -> list[str]:
        """Nodes a model may write now: the one that waited longest, and those an agent has answered for."""
        if level not in self._configured:
            return []
        waiting = journal.longest_waiting(tx, level)
        found = [*([waiting.id] if waiting else []), *(each.subject for each in model_rows.answered_asks(tx, level))]
        self._allowed.update(found)
        return found

    def allow_newest(self, order: Sequence[Period]) -> None:
        """The newest node of a level may cost a question."""
        if order:
            self._allowed.add(order[-1].id)

    def wanted(self, row: NodeRow) -> bool:
        """Whether an unchanged node is to be made again because a model may now write it."""
        return row.level in self._configured and row.waiting and (self._unlimited or row.id in self._allowed)

    def waits(self, node: Node) -> bool:
        level = node.id.partition("/")[0]
        return level in self._configured and _improvable(node.generator, _version())

    def renew(self) -> None:
        """Once a model comes, goes or is asked with another prompt: which nodes wait for it."""
        made_by = " ".join([_version(), *sorted(self._configured)]) if self._configured else ""
        with self._ctx.db.read(self._ctx.space) as tx:
            if journal.state(tx, MADE_BY) == made_by:
                return
        with self._ctx.db.write(self._ctx.space) as tx:
            for level in LEVELS:
                for generator in journal.generators(tx, level):
                    waits = level in self._configured and _improvable(generator, _version())
                    journal.set_waiting(tx, level, generator, waiting=waits)
            journal.put_state(tx, MADE_BY, made_by)

    def summariser(self, node: str) -> Summariser:
        return self._asked(node) if node.partition("/")[0] in self._configured else self._twin

    def _asked(self, node: str) -> Summariser:
        def summarise(material: Material) -> tuple[str, str]:
            asked = summary_question(material)
            found = known(self._ctx, asked)
            if found is None:
                may = self._unlimited or (self._asking and node in self._allowed)
                if not may or len(material.text) > LONGEST:
                    return self._twin(material)
                self.calls += 1
                found = ask(self._ctx, asked)
            if found.generator == OFFLINE:
                self.failed.add(node)
                return self._twin(material)
            return found.value, found.generator

        return summarise


def summary_question(material: Material) -> Ask[str]:
    """What a model is asked about the notes of one period."""
    titles = "\n".join(f"## {title}" for _, title in nodes.HEADINGS[material.period.level])
    head = f"Period: {material.period.id}\nLines: at most {material.budget.lines}\n{titles}"
    return Ask(
        kind=material.period.level,
        subject=material.period.id,
        prompt=PROMPT,
        sources=(head, material.text),
        must_keep=[point.text for point in material.points if point.kept],
        own_words=RETOLD,
        offline=lambda: nodes.offline(material)[0],
        accept=lambda text: _accepted(text, material),
        max_tokens=4_000,
        timeout=120.0,
    )


def _accepted(text: str, material: Material) -> str:
    """A model's summary with nothing in it that could pose as something else, or a reason to ask again."""
    body = unwrapped(text)
    reason = nodes.fault(body, material)
    if not reason:
        body = nodes.completed(body, material)
        reason = nodes.fault(body, material)
    if reason:
        raise BadInput(f"the summary was not used: {reason}")
    return body


def _improvable(generator: str, version: str) -> bool:
    """Whether a node was summarised without a model, or by one that was asked in other words."""
    return generator not in (nodes.COPY, nodes.FOREIGN) and not generator.endswith(f"@{version}")


def _version() -> str:
    return load_prompt(PROMPT).version


PATTERNS_KIND = "root"
_LINE = re.compile(r"- (.+?): (.+) → log/(\d{4}-\d{2}-\d{2}#\d+)")


def patterns_wording(ctx: Context, *, asking: bool = True) -> Wording:
    """How a pass words the patterns: by a model if one is configured, as they were found otherwise."""
    if ctx.models.provider(PATTERNS_KIND) is None:
        return root.as_found

    def word(lines: Sequence[str]) -> tuple[list[str], str]:
        if not lines:
            return root.as_found(lines)
        asked = patterns_question(lines)
        found = ask(ctx, asked) if asking else known(ctx, asked)
        return root.as_found(lines) if found is None or found.generator == OFFLINE else (found.value, found.generator)

    return word


def patterns_question(lines: Sequence[str]) -> Ask[list[str]]:
    """What a model is asked about the patterns of the latest months."""
    return Ask(
        kind=PATTERNS_KIND,
        subject=ROOT,
        sources=("\n".join(lines),),
        own_words=RETOLD,
        offline=lambda: list(lines),
        accept=lambda text: _patterns_accepted(text, lines),
        max_tokens=1_500,
    )


def _patterns_accepted(text: str, lines: Sequence[str]) -> list[str]:
    wanted = {found[3] for line in lines if (found := _LINE.fullmatch(line))}
    said: dict[str, str] = {}
    for raw in unwrapped(text).splitlines():
        if not raw.strip():
            continue
        found = _LINE.fullmatch(points.plain(raw))
        if found is None:
            raise BadInput("a line is not `- topic: text → log/…`")
        if found[3] not in wanted or found[3] in said:
            raise BadInput(f"log/{found[3]} is not among the sources, or is there twice")
        said[found[3]] = found[0]
    if said.keys() != wanted:
        raise BadInput("it loses patterns")
    return list(said.values())


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
    return summary_question(seen[0]) if seen else None


def root_question(ctx: Context) -> Ask[list[str]] | None:
    """The question about the recent patterns; None when there are none."""
    with ctx.db.read(ctx.space) as tx:
        months = list(journal.body_hashes(tx, "monthly"))[-LATEST:]
        latest = [unpack_digest(text) for text in journal.capsules(tx, months)]
    lines = patterns_of(latest, ctx.settings.tree.root_max_tokens)
    return patterns_question(lines) if lines else None
