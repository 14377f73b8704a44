"""What one prompt is given: relevant learnings, and earlier log entries about the same thing. Words only, no vectors.

Each is shown once per context of a session. Choosing only reads; what was shown is remembered afterwards, because the
answer must reach the agent even when nothing can be written.
"""

from __future__ import annotations

from recollect.core.context import FARTHER
from recollect.core.records import record, replace, thousandths
from recollect.inject.learnings import (
    INJECTABLE,
    TRIAL_VERDICTS,
    Fitting,
    NewInjection,
    at_peace,
    has_subject,
    nearest,
    relevant,
    shown,
    task_question,
)
from recollect.search.rank import GLANCE, Candidates, best
from recollect.store import learnings as rows
from recollect.store import passages, sessions
from recollect.store.lookup import candidates
from recollect.store.passages import Narrow
from recollect.text.frame import ENTRIES_END, ENTRIES_HEADING, escape, one_line
from recollect.text.sentences import snippet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.core.context import Context, Tx
    from recollect.search.query import Question
    from recollect.search.rank import Scored
    from recollect.store.passages import Ranked, Stored
    from recollect.text.tokens import ContextBudget

LOG = Candidates(wanted=Narrow(kinds=("log",), trusts=INJECTABLE))
LOG_AND_DECISIONS = Candidates(wanted=Narrow(kinds=("log", "decision"), trusts=INJECTABLE))
EITHER = Candidates(wanted=Narrow(kinds=(rows.KIND, "log"), trusts=INJECTABLE))
GLANCED = 8  # hits of a ring that are looked at: a prompt is given five learnings and three entries in all
POSTINGS = 12_000  # index entries read of a ring: 91 % of its best learnings, 95 % with 25,000
LINE_CHARACTERS = 300  # of one entry; chosen, three lines of a terminal


@record
class Given:
    text: str
    learnings: tuple[str, ...]
    entries: tuple[str, ...]
    titles: tuple[str, ...] = ()


@record
class EntryLine:
    """A log entry that answers a prompt, and the line of it that does."""

    id: str
    title: str
    line: str
    relevance: float


def prompted(ctx: Context, prompt: str, *, session: str, task: str, room: ContextBudget, fresh: bool = False) -> Given:
    """What is relevant to a prompt and not in the agent's context yet; `fresh` says that the context begins with it.

    When the host's budget is too small, entries are dropped before learnings, the least relevant first.
    """
    if not prompt.strip():
        return Given(text="", learnings=(), entries=())
    known = ctx.read(sessions.in_context, session) if task == session and not fresh else set()
    wanted = NewInjection(task=task, outcome=session, title=prompt, known=tuple(known))

    def found_in(ring: Context) -> tuple[list[Fitting], list[EntryLine]]:
        with ring.db.read(ring.space) as tx:
            question = task_question(tx, prompt)
            if ring is not ctx:
                return _glance(tx, ring, wanted, question)
            return relevant(tx, ring, wanted, question), _entries(tx, ring, question, known, session)

    rings = [("", found_in(ctx)), *ctx.rings.ask(ctx, found_in)]
    learnings = nearest([(name, some) for name, (some, _) in rings], ctx.settings.inject.max_learnings)
    found = _nearest_entries([(name, some) for name, (_, some) in rings], known, ctx.settings.inject.entries)
    chosen = shown(learnings, ctx.settings.inject.budget)
    while not room.fits(text := "\n".join(part for part in (chosen.markdown, _section(found)) if part)):
        if found:
            found.pop()
        else:
            fitting = {one.id for one in chosen.learnings[:-1]}
            learnings = [one for one in learnings if one.learning.id in fitting]
            chosen = shown(learnings, ctx.settings.inject.budget)
    return Given(
        text=text,
        learnings=tuple(learning.id for learning in chosen.learnings),
        entries=tuple(entry.id for entry in found),
        titles=tuple(one_line(learning.title) for learning in chosen.learnings),
    )


def _nearest_entries(rings: list[tuple[str, list[EntryLine]]], known: set[str], most: int) -> list[EntryLine]:
    """Of the entries of all rings the most relevant; those of another ring have its name in front of their id."""
    found = list(rings[0][1])
    for step, (name, some) in enumerate(rings[1:], 1):
        ids = [replace(one, id=f"{name}:{one.id}", relevance=one.relevance * FARTHER**step) for one in some]
        found += [one for one in ids if one.id not in known]
    return sorted(found, key=lambda one: -one.relevance)[:most] if len(rings) > 1 else found


def glanced(tx: Tx, ctx: Context, wanted: NewInjection, question: Question) -> tuple[list[Scored], dict[str, int]]:
    """The few best of a ring, with the confidences of its learnings: one search for both kinds, in a third of the time
    of the project's own."""
    settings = ctx.settings.inject
    least = thousandths(min(settings.min_confidence, settings.explore_from))
    rules = rows.Filter(min_confidence=least, exclude_outcome=wanted.outcome, trusts=INJECTABLE)
    confidences: dict[str, int] = {}

    def passing(some: Sequence[Ranked]) -> set[str]:
        confidences.update(rows.passing(tx, [one.id for one in some if one.kind == rows.KIND], rules))
        return {one.id for one in some if one.kind != rows.KIND or one.id in confidences}

    docs = candidates(tx, question.query, most=GLANCE.walked, postings=POSTINGS)
    found = best(tx, question, replace(EITHER, keep=passing, docs=docs), limit=GLANCED, effort=GLANCE)
    return found, confidences


def _glance(tx: Tx, ctx: Context, wanted: NewInjection, question: Question) -> tuple[list[Fitting], list[EntryLine]]:
    settings = ctx.settings.inject
    learned: dict[str, float] = {}
    said: list[EntryLine] = []
    hits, confidences = glanced(tx, ctx, wanted, question)
    for hit in hits:
        id, relevance = hit.passage.id, hit.relevance
        if not has_subject(hit, question):
            continue
        if hit.passage.kind == rows.KIND:
            if relevance >= settings.learning_relevance and id not in wanted.known:
                learned[id] = relevance
        elif relevance >= settings.relevance and settings.entries and (entry := passages.by_id(tx, id)):
            line = _line(entry, frozenset(question.weights))
            said.append(EntryLine(id=id, title=entry.title, line=line, relevance=relevance))
    found = rows.many(tx, list(learned))
    trials = [confidences[one.id] < thousandths(settings.min_confidence) for one in found]
    fitting = [
        Fitting(learning=one, relevance=learned[one.id], on_trial=trial)
        for one, trial in zip(found, trials, strict=True)
        if not trial or one.verdicts < TRIAL_VERDICTS
    ]
    return at_peace(tx, fitting, wanted.known), said


def earlier(tx: Tx, ctx: Context) -> tuple[Candidates, dict[str, EntryLine]]:
    """The log entries that a prompt may be given, with the decisions that taught something; and what they taught."""
    principles = sessions.principles(tx, now=ctx.clock.now())
    taught = {
        id: EntryLine(id=ids[0], title=text, line=f"{len(ids)} decisions confirm it", relevance=0.0)
        for text, ids in reversed(principles)
        for id in ids
    }
    both = replace(
        LOG_AND_DECISIONS, keep=lambda some: {one.id for one in some if one.kind == "log" or one.id in taught}
    )
    return both if taught else LOG, taught


def _entries(tx: Tx, ctx: Context, question: Question, known: set[str], session: str) -> list[EntryLine]:
    """Log entries of other sessions that answer the prompt, each with the line that does; and what old decisions
    taught, where one of them answers it."""
    most = ctx.settings.inject.entries
    if not most:
        return []
    among, taught = earlier(tx, ctx)
    hits = best(tx, question, among, limit=most + len(known) + 5)
    found: list[EntryLine] = []
    works: set[tuple[str, str]] = set()
    for hit in hits:
        if len(found) == most or hit.relevance < ctx.settings.inject.relevance:
            break
        if not has_subject(hit, question):
            continue
        if principle := taught.get(hit.passage.id):
            if principle.id not in known and ("", principle.title) not in works:
                found.append(replace(principle, relevance=hit.relevance))
                works.add(("", principle.title))
            continue
        entry = passages.by_id(tx, hit.passage.id) if hit.passage.id not in known else None
        if not entry or entry.thread.endswith(f"/{session}"):
            continue
        work = (entry.thread, entry.title)  # the turns of one piece of work have one title
        if not (entry.text.startswith("- request:") and work in works):
            line = _line(entry, frozenset(question.weights))
            found.append(EntryLine(id=entry.id, title=entry.title, line=line, relevance=hit.relevance))
            works.add(work)
    return found


def _line(entry: Stored, terms: frozenset[str]) -> str:
    """The line of an entry with most of the prompt's words; the request itself only when there is no other line."""
    _, _, _, *bodies = entry.terms.split("\n")
    lines = entry.text.split("\n")
    places = [place for place, line in enumerate(lines) if not line.startswith("- request:")] or [0]
    best = max(places, key=lambda place: (len(terms.intersection(bodies[place].split())), -place))
    return snippet(lines[best].removeprefix("- "), terms, width=LINE_CHARACTERS)


def _section(found: Sequence[EntryLine]) -> str:
    if not found:
        return ""
    lines = [f"- {one.id} {escape(one_line(one.title))}: {escape(one_line(one.line))}" for one in found]
    return "\n".join([ENTRIES_HEADING, "", *lines, "", ENTRIES_END]) + "\n"
