"""Why a prompt is given what it is given: every candidate with the words that matched, and what held it back.

For the page; no hook loads it. It does not repeat the choice of `inject/prompt.py`: what was chosen comes in, and each
other candidate is held against the bars in their order.
"""

from __future__ import annotations

from collections.abc import Collection

from recollect.core.context import Context
from recollect.core.learning import Learning
from recollect.core.records import record
from recollect.inject.learnings import INJECTABLE, task_question
from recollect.search import words
from recollect.search.rank import Candidates, Scored, best
from recollect.store import learnings as rows
from recollect.store.passages import Narrow

LOOKED_AT = 20  # candidates a person reads through
CANDIDATES = Candidates(wanted=Narrow(kinds=(rows.KIND, "log")))


@record
class Considered:
    """Something that a prompt might be shown; `held_back` says why it was not, empty for what was."""

    id: str
    kind: str
    title: str
    relevance: float
    words: tuple[str, ...]
    confidence: float | None
    held_back: str


def candidates(ctx: Context, prompt: str, *, shown: Collection[str]) -> list[Considered]:
    """What was looked at for a prompt, what was shown first, then the most relevant."""
    with ctx.db.read(ctx.space) as tx:
        question = task_question(tx, prompt)
        hits = best(tx, question, CANDIDATES, limit=LOOKED_AT)
        learnings = {one.id: one for one in rows.many(tx, [hit.passage.id for hit in hits])}
        found = [
            Considered(
                id=hit.passage.id,
                kind=hit.passage.kind,
                title=hit.passage.title,
                relevance=round(hit.relevance, 2),
                words=words.matched(hit.passage.terms, question)[1],
                confidence=learning.confidence if learning else None,
                held_back="" if hit.passage.id in shown else _held_back(ctx, hit, learning),
            )
            for hit in hits
            for learning in [learnings.get(hit.passage.id)]
        ]
    return sorted(found, key=lambda one: (bool(one.held_back), -one.relevance))


def _held_back(ctx: Context, hit: Scored, learning: Learning | None) -> str:
    """The first bar that a candidate does not pass."""
    settings = ctx.settings.inject
    if learning and learning.status != "active":
        return learning.out_of_use
    if hit.passage.trust not in INJECTABLE:
        return "came from outside, and nobody adopted it"
    floor = settings.learning_relevance if learning else settings.relevance
    if hit.relevance < floor:
        return f"relevance {hit.relevance:.2f} is below {floor:.2f}"
    if learning and learning.confidence < settings.explore_from:
        return f"confidence {learning.confidence:.2f} is below {settings.explore_from:.2f}"
    if learning and learning.confidence < settings.min_confidence:
        return (
            f"confidence {learning.confidence:.2f} is below {settings.min_confidence:.2f}, and the trial slot is taken"
        )
    most = settings.max_learnings if learning else settings.entries
    return f"no room: {most} at most, and those shown fit better"
