"""Choosing the learnings for one task, by reading only. What was shown is recorded afterwards (`inject/injections.py`).

Two steps, because the choice must reach the agent even when the record cannot be written yet.
"""

from __future__ import annotations

from recollect.core.context import FARTHER
from recollect.core.errors import BadInput, Refused
from recollect.core.learning import Learning
from recollect.core.records import check_limit, record, replace, thousandths
from recollect.search.query import Question, ask
from recollect.search.rank import THOROUGH, Candidates, best, looked_up
from recollect.store import learnings as rows
from recollect.store.events import contradicted
from recollect.store.learnings import Filter
from recollect.store.passages import Narrow
from recollect.text.frame import section
from recollect.text.storable import storable_id
from recollect.text.tokens import of_a_subject, terms, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.core.context import Context, Tx
    from recollect.search.rank import Scored

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
class Fitting:
    """A learning that a task may be shown; `ring` is empty for the project's, and `on_trial` means not yet proven."""

    learning: Learning
    relevance: float
    on_trial: bool
    ring: str = ""
    contradicted: str = ""


@record
class Chosen:
    """What a task is shown."""

    learnings: tuple[Learning, ...]
    markdown: str


def choose(ctx: Context, wanted: NewInjection) -> Chosen:
    """The learnings for a task and the block that shows them; both may be empty."""

    def found_in(ring: Context) -> list[Fitting]:
        with ring.db.read(ring.space) as tx:
            return relevant(tx, ring, wanted, task_question(tx, f"{wanted.title} {wanted.description}"))

    budget = wanted.budget or ctx.settings.inject.budget
    if wanted.learnings:
        return shown(ctx.read(_named, wanted.learnings), budget)
    rings = [("", found_in(ctx)), *ctx.rings.ask(ctx, found_in)]
    return shown(nearest(rings, wanted.max_learnings or ctx.settings.inject.max_learnings), budget)


def nearest(rings: list[tuple[str, list[Fitting]]], slots: int) -> list[Fitting]:
    """Of the learnings of all rings the most relevant, in the last slot one on trial. Of two that are alike the nearer
    comes first; what the project knows too is not taken from a ring."""
    weighed = [
        (one.relevance * FARTHER**step, replace(one, ring=name))
        for step, (name, found) in enumerate(rings)
        for one in found
    ]
    if len(rings) > 1:
        weighed.sort(key=lambda pair: (pair[1].on_trial, -pair[0]))
    own = {one.learning.title for _, one in weighed if not one.ring}
    found = [one for _, one in weighed if not one.ring or one.learning.title not in own]
    proven, on_trial = ([one for one in found if one.on_trial == trial] for trial in (False, True))
    kept = on_trial[:1] if slots > 1 or not proven else []
    return _across_rings([*proven[: slots - len(kept)], *kept])


def _across_rings(found: list[Fitting]) -> list[Fitting]:
    """Without what contradicts another ring's learning that comes earlier: no inbox holds such a pair."""
    kept: list[Fitting] = []
    for one in found:
        others = [other.learning for other in kept if other.ring != one.ring]
        if not any(_at_odds(one.learning, other) for other in others):
            kept.append(one)
    return kept


def _at_odds(one: Learning, other: Learning) -> bool:
    said, known = set(terms(one.title)), set(terms(other.title))
    if 2 * len(said & known) < min(len(said), len(known)):  # comparing takes 0.1 s to load, and a prompt waits
        return False
    from recollect.text.claims import claims
    from recollect.text.compare import compare

    return compare(claims(one.title, one.action), claims(other.title, other.action)).conflicts


def shown(found: list[Fitting], budget: int) -> Chosen:
    """The learnings, best first, whose section costs at most `budget` tokens; one too long is passed over."""
    rings = {one.learning.id: one.ring for one in found}
    contradicted = {one.learning.id: one.contradicted for one in found}
    taken: list[Learning] = []
    for one in found:
        if tokens(section([*taken, one.learning], rings, contradicted)) <= budget:
            taken.append(one.learning)
    return Chosen(learnings=tuple(taken), markdown=section(taken, rings, contradicted))


def _named(tx: Tx, ids: tuple[str, ...]) -> list[Fitting]:
    """Learnings named by the caller: any confidence, but only active and injectable ones."""
    named = [rows.get(tx, id) for id in dict.fromkeys(ids)]
    for learning in named:
        if learning.status != "active":
            raise Refused(f"{learning.id} is {learning.status}; restore it first, or choose what replaced it")
        if learning.trust not in INJECTABLE:
            raise Refused(f"{learning.id} came from outside; adopt it first: recollect learn adopt {learning.id}")
    found = at_peace(tx, [Fitting(learning=one, relevance=1, on_trial=False) for one in named])
    if held := {one.id for one in named} - {one.learning.id for one in found}:
        raise Refused(f"{min(held)} may contradict another of these; resolve it first: recollect inbox")
    return found


def at_peace(tx: Tx, found: list[Fitting], known: tuple[str, ...] = ()) -> list[Fitting]:
    """What the inbox asks about is marked, or left out beside what is better proven."""
    ids = [one.learning.id for one in found]
    held, by = contradicted(tx, ids, {*known, *ids})
    return [replace(one, contradicted=by.get(one.learning.id, "")) for one in found if one.learning.id not in held]


def task_question(tx: Tx, text: str) -> Question:
    """Search terms of a task. Unlike in a question, odd spellings are names and dates do not narrow the search."""
    return ask(tx, text, respell=False)


def has_subject(hit: Scored, question: Question) -> bool:
    """Whether a hit holds a word of the task that names a subject: "ok", "the second" and "explain" name none."""
    return not of_a_subject(question.terms).isdisjoint(hit.passage.terms.split())


def eligible(tx: Tx, ctx: Context, wanted: NewInjection, question: Question) -> dict[int, int]:
    """The confidences of learnings that a task may be shown, proven or on trial, by document, most promising first."""
    bar = _bar(ctx, wanted)
    least = min(bar, thousandths(ctx.settings.inject.explore_from))
    rules = Filter(min_confidence=least, exclude_outcome=wanted.outcome, trusts=INJECTABLE)
    walked = 0
    found: dict[int, int] = {}
    for portion in looked_up(tx, question, LEARNINGS):
        walked += len(portion)
        confidences = rows.confidences_of(tx, portion, rules)
        found |= {doc: confidences[doc] for doc in portion if doc in confidences}
        proven_enough = sum(confidence >= bar for confidence in found.values()) >= THOROUGH.pool
        if proven_enough or (found and walked >= THOROUGH.walked):  # read on only while nothing can be shown
            break
    return found


def proven_and_on_trial(ctx: Context, wanted: NewInjection, found: dict[int, int]) -> tuple[Candidates, Candidates]:
    """Two rankings, because in a young store many learnings are on trial and would crowd out the proven."""
    bar = _bar(ctx, wanted)
    proven = [doc for doc, confidence in found.items() if confidence >= bar]
    on_trial = [doc for doc, confidence in found.items() if confidence < bar]
    return Candidates(wanted=LEARNINGS, docs=proven), Candidates(wanted=LEARNINGS, docs=on_trial)


def _bar(ctx: Context, wanted: NewInjection) -> int:
    return thousandths(ctx.settings.inject.min_confidence if wanted.min_confidence is None else wanted.min_confidence)


def relevant(tx: Tx, ctx: Context, wanted: NewInjection, question: Question) -> list[Fitting]:
    """Proven learnings, and in the last slot one that still has to prove itself."""
    settings = ctx.settings.inject
    slots = wanted.max_learnings or settings.max_learnings
    # A search for an id finds it in any state; a task that mentions an id is not such a search.
    question = replace(question, ids=())
    first, second = proven_and_on_trial(ctx, wanted, eligible(tx, ctx, wanted, question))
    left_out = set(wanted.known)

    def fitting(among: Candidates, limit: int, *, on_trial: bool) -> list[Fitting]:
        while True:
            found = best(tx, question, among, limit=limit + len(left_out))
            near = [hit for hit in found if hit.relevance >= settings.learning_relevance]
            relevance = {hit.passage.id: hit.relevance for hit in near if has_subject(hit, question)}
            ids = [id for id in relevance if id not in left_out][:limit]
            repeated = rows.from_outcome(tx, ids, wanted.outcome)
            if not repeated:
                return [
                    Fitting(learning=one, relevance=relevance[one.id], on_trial=on_trial) for one in rows.many(tx, ids)
                ]
            left_out.update(repeated)  # checked for the chosen ones only, because a prompt waits

    proven = fitting(first, slots, on_trial=False)
    trials: list[Fitting] = []
    # A caller who sets the bar wants none on trial.
    if wanted.min_confidence is None and second.docs and (slots > 1 or not proven):
        waiting = fitting(second, LOOKED_AT, on_trial=True)
        trials = [one for one in waiting if one.learning.verdicts < TRIAL_VERDICTS]
    found = at_peace(tx, [*proven, *trials], wanted.known)
    proven, trials = ([one for one in found if one.on_trial == trial] for trial in (False, True))
    return [*proven[: slots - len(trials[:1])], *trials[:1]]
