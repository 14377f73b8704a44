"""Choosing the learnings for one task, by reading only. What was shown is recorded afterwards (`inject/injections.py`).

Two steps, because the choice must reach the agent even when the record cannot be written yet.
"""

from __future__ import annotations

from recollect.core.errors import BadInput, Refused
from recollect.core.learning import Learning
from recollect.core.records import check_limit, record, replace
from recollect.core.values import FULL, thousandths
from recollect.search.query import Question, ask
from recollect.search.rank import QUICK, Candidates, best, looked_up
from recollect.store import learnings as rows
from recollect.store.learnings import Filter
from recollect.store.passages import Narrow
from recollect.text.frame import fit
from recollect.text.storable import storable_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.core.context import Context, Tx

INJECTABLE = ("human", "agent")  # external learnings wait until a person adopts them
LEARNINGS = Narrow(kinds=(rows.KIND,), trusts=INJECTABLE)
LIMIT = 50  # learnings a caller may ask for; more would drown the task
MOST_TOKENS = 1_000_000  # of a budget; the largest context of a model
LOOKED_AT = 10  # hits between the two bars; some of them may have had their trial already
TRIAL_VERDICTS = 3  # a learning below the bar is tried until it has so many: two helpful ones lift 0.5 over 0.6


@record
class NewInjection:
    """A task that asks for learnings. When `learnings` names some, nothing is searched."""

    task: str
    outcome: str
    title: str
    description: str = ""
    learnings: tuple[str, ...] = ()
    max_learnings: int | None = None
    min_confidence: float | None = None
    budget: int | None = None
    known: tuple[str, ...] = ()
    """Learnings that are in front of the agent already."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "task", storable_id(self.task, "task"))
        object.__setattr__(self, "outcome", storable_id(self.outcome, "outcome"))
        if not isinstance(self.title, str) or not isinstance(self.description, str):
            raise BadInput("title and description must be text")
        for name in ("learnings", "known"):
            if not isinstance(getattr(self, name), tuple | list):
                raise BadInput(f"{name} must be a list of ids")
        if not self.title.strip() and not self.learnings:
            raise BadInput("title is empty; say what the task is about")
        if self.max_learnings is not None:
            check_limit(self.max_learnings, "max learnings", most=LIMIT)
        if self.min_confidence is not None:
            thousandths(self.min_confidence, "min confidence")
        if self.budget is not None:
            check_limit(self.budget, "budget", most=MOST_TOKENS)


@record
class Chosen:
    """The learnings that a task is shown, and the block that shows them."""

    learnings: tuple[Learning, ...]
    markdown: str


def choose(ctx: Context, wanted: NewInjection) -> Chosen:
    """The learnings for a task and the block that shows them; both may be empty."""
    settings = ctx.settings.inject
    with ctx.db.read(ctx.space) as tx:
        if wanted.learnings:
            found = _named(tx, wanted.learnings)
        else:
            found = relevant(tx, ctx, wanted, task_question(tx, f"{wanted.title} {wanted.description}"))
    return shown(found, wanted.budget or settings.budget)


def shown(found: list[Learning], budget: int) -> Chosen:
    """As many learnings as fit, and the block that shows them."""
    fitting, markdown = fit(found, budget)
    return Chosen(learnings=fitting, markdown=markdown)


def _named(tx: Tx, ids: tuple[str, ...]) -> list[Learning]:
    """Learnings named by the caller: any confidence, but only active and injectable ones."""
    named = [rows.get(tx, id) for id in dict.fromkeys(ids)]
    for learning in named:
        if learning.status != "active":
            raise Refused(f"{learning.id} is {learning.status}; restore it first, or choose what replaced it")
        if learning.trust not in INJECTABLE:
            raise Refused(f"{learning.id} came from outside; adopt it first: recollect learn adopt {learning.id}")
    return named


def task_question(tx: Tx, text: str) -> Question:
    """Search terms of a task. Unlike in a question, odd spellings are names and dates do not narrow the search."""
    return ask(tx, text, respell=False)


def relevant(tx: Tx, ctx: Context, wanted: NewInjection, question: Question) -> list[Learning]:
    """Proven learnings, and in the last slot one that still has to prove itself."""
    settings = ctx.settings.inject
    slots = wanted.max_learnings or settings.max_learnings
    bar = thousandths(settings.min_confidence if wanted.min_confidence is None else wanted.min_confidence)
    explore_from = thousandths(settings.explore_from)

    # A search for an id finds it in any state; a task that mentions an id is not such a search.
    question = replace(question, ids=())
    rules = Filter(min_confidence=min(bar, explore_from), exclude_outcome=wanted.outcome, trusts=INJECTABLE)
    docs: list[int] = []
    confidences: dict[int, int] = {}
    for portion in looked_up(tx, question, LEARNINGS, effort=QUICK):
        docs += portion
        confidences |= rows.confidences_of(tx, portion, rules)
        proven_enough = sum(confidence >= bar for confidence in confidences.values()) >= QUICK.pool
        if proven_enough or (confidences and len(docs) >= QUICK.walked):  # read on only while nothing can be shown
            break

    left_out = set(wanted.known)

    def between(limit: int, *, least: int, below: int = FULL + 1) -> list[Learning]:
        some = [doc for doc in docs if least <= confidences.get(doc, -1) < below]
        among = Candidates(wanted=LEARNINGS, docs=some)
        while True:
            found = best(tx, question, among, limit=limit + len(left_out), effort=QUICK)
            near = [hit.passage.id for hit in found if hit.relevance >= settings.learning_relevance]
            near = [id for id in near if id not in left_out][:limit]
            repeated = rows.from_outcome(tx, near, wanted.outcome)
            if not repeated:
                records = {learning.id: learning for learning in rows.many(tx, near)}
                return [records[id] for id in near]
            left_out.update(repeated)  # checked for the chosen ones only, because a prompt waits

    # Two rankings, because in a young store many learnings are on trial and would crowd out the proven.
    proven = between(slots, least=bar)
    on_trial: list[Learning] = []
    # A caller who sets the bar wants none on trial.
    if wanted.min_confidence is None and explore_from < bar and (slots > 1 or not proven):
        waiting = between(LOOKED_AT, least=explore_from, below=bar)
        on_trial = [learning for learning in waiting if learning.verdicts < TRIAL_VERDICTS][:1]
    chosen = [*proven[: slots - len(on_trial)], *on_trial]
    contradicted = rows.contradicted(tx, [learning.id for learning in chosen])
    return [learning for learning in chosen if learning.id not in contradicted]
