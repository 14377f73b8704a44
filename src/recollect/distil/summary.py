"""Which summaries a model writes: one per level and pass, newest first, plus the one that waited longest.

Everything else is written by the offline twin at once, so the tree is never behind; what a model may still improve
waits its turn. Answers that are already known cost nothing and are always used.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.core.calendar import Level, Period
from recollect.core.context import Context
from recollect.core.errors import BadInput
from recollect.core.journal import Node
from recollect.models.asking import OFFLINE, Ask, ask
from recollect.models.meaning import for_distilling
from recollect.models.prompts import load_prompt
from recollect.store import answers
from recollect.store.files import content_hash
from recollect.store.journal import NodeRow
from recollect.text import nodes
from recollect.text.nodes import Material, Summariser

ASK = "summarise"
LONGEST = 200_000
"""Characters a model is given; a longer source is the offline twin's."""


class ModelSummaries:
    """The summarisers of one pass, and how many questions they asked."""

    def __init__(self, ctx: Context, *, unlimited: bool = False):
        self._ctx = ctx
        self._unlimited = unlimited
        self.configured = ctx.models.provider(ASK) is not None
        self._by_meaning = for_distilling(ctx)
        self._allowed: set[str] = set()
        self.calls = 0

    def allow(self, node: str) -> None:
        self._allowed.add(node)

    def allow_newest(self, level: Level, order: Sequence[Period]) -> None:
        """The newest node of a level may cost a question."""
        if order:
            self._allowed.add(order[-1].id)

    def wanted(self, row: NodeRow) -> bool:
        """Whether an unchanged node is to be made again because a model may now write it."""
        return self.configured and row.waiting and (self._unlimited or row.id in self._allowed)

    def waits(self, node: Node) -> bool:
        return self.configured and node.generator == nodes.OFFLINE and node.id != "root"

    def summariser(self, node: str) -> Summariser:
        if self.configured:
            return self._asked(node)
        return nodes.offline_by_meaning(self._by_meaning[1], self._by_meaning[0]) if self._by_meaning else nodes.offline

    def _asked(self, node: str) -> Summariser:
        def summarise(material: Material) -> tuple[str, str]:
            known = self._known(material)
            if len(material.text) > LONGEST or not (known or self._unlimited or node in self._allowed):
                return nodes.offline(material)
            self.calls += not known
            prompt = load_prompt(ASK)
            answer = ask(
                self._ctx,
                Ask(
                    kind=ASK,
                    version=prompt.version,
                    instructions=prompt.text,
                    sources=[_data(material)],
                    offline=lambda: nodes.offline(material)[0],
                    accept=lambda text: _accepted(text, material),
                    max_tokens=4_000,
                    timeout=120.0,
                ),
            )
            made_by = nodes.OFFLINE if answer.generator == OFFLINE else "-".join(answer.generator.split())
            return answer.value, made_by

        return summarise

    def _known(self, material: Material) -> bool:
        version = load_prompt(ASK).version
        with self._ctx.db.read(self._ctx.space) as tx:
            return answers.get(tx, kind=ASK, version=version, source_hash=content_hash(_data(material))) is not None


def _data(material: Material) -> str:
    titles = "\n".join(f"## {title}" for _, title in nodes.HEADINGS[material.period.level])
    return f"Period: {material.period.id}\nLines: at most {material.budget.lines}\n{titles}\n\n{material.text}"


def _accepted(text: str, material: Material) -> str:
    """A model's summary with nothing in it that could pose as something else, or a reason to ask again."""
    body = text.strip().removeprefix("```markdown").removeprefix("```").removesuffix("```").strip()
    reason = nodes.fault(body, material)
    if reason:
        raise BadInput(f"the summary was not used: {reason}")
    return body
