"""Which summaries a model writes: one per level and pass, newest first, plus the one that waited longest.

Everything else is written by the offline twin at once, so the tree is never behind; what a model may still improve
waits its turn. Answers that are already known cost nothing and are always used.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.core.calendar import LEVELS, Level, Period
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput
from recollect.core.journal import Node
from recollect.models.asking import LONGEST, OFFLINE, RETOLD, Ask, ask, known
from recollect.models.meaning import for_distilling
from recollect.models.prompts import load_prompt
from recollect.models.reading import unwrapped
from recollect.store import asks, journal
from recollect.store.journal import NodeRow
from recollect.text import nodes
from recollect.text.nodes import Material, Summariser

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
        found = [*([waiting.id] if waiting else []), *(each.subject for each in asks.answered(tx, level))]
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
            asked = question(material)
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


def question(material: Material) -> Ask[str]:
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
