"""Why a prompt is given what it is given: every candidate with the words that matched, and what held it back.

For the page and `recollect last`. Candidates are ranked in the pools of `inject/prompt.py`: a relevance depends on the
others of its pool. Each that was not shown is held against the bars in their order.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from recollect.capture.turns import unlogged
from recollect.core.context import PROJECT, Context, Tx
from recollect.core.errors import NotFound
from recollect.core.learning import Learning
from recollect.core.records import record, replace
from recollect.inject.learnings import (
    INJECTABLE,
    TRIAL_VERDICTS,
    NewInjection,
    eligible,
    has_subject,
    proven_and_on_trial,
    task_question,
)
from recollect.inject.prompt import earlier, glanced
from recollect.search import words
from recollect.search.everything import id_in
from recollect.search.query import Question
from recollect.search.rank import Candidates, Scored, best
from recollect.store import events, sessions
from recollect.store import learnings as rows
from recollect.store.passages import Narrow
from recollect.text.tokens import terms

LOOKED_AT = 10  # candidates of a pool that a person reads through
LEARNINGS = Candidates(wanted=Narrow(kinds=(rows.KIND,)))
FROM_OUTSIDE = Candidates(wanted=Narrow(kinds=("log",), trusts=("external",)))


@record
class Considered:
    """Something that a prompt might be shown; `held_back` says why it was not."""

    id: str
    kind: str
    title: str
    relevance: float
    words: tuple[str, ...]
    confidence: float | None
    held_back: str
    ring: str = PROJECT


def candidates(
    ctx: Context,
    prompt: str,
    *,
    shown: Collection[str],
    before: Collection[str] = (),
    session: str = "",
    at: int | None = None,
) -> list[Considered]:
    """What was looked at for a prompt, here and in each ring: what was shown first, then the most relevant.

    For a past prompt: its `session`, what that was given `before`, and its time `at`, after which nothing counts.
    """
    said = {term: word.lower() for word in re.findall(r"[\w'-]+", prompt) for term in terms(word)}
    wanted = NewInjection(task=session or "none", outcome=session or "none", title=prompt)

    def near(place: Context) -> list[Considered]:
        with place.db.read(place.space) as tx:
            question = task_question(tx, prompt)
            if place is ctx:
                hits = list(_ranked(tx, ctx, wanted, question, LOOKED_AT + len(before)))
            else:
                hits = [(hit, "", "") for hit in glanced(tx, place, wanted, question)[0]]
            ids = [hit.passage.id for hit, _, _ in hits if hit.passage.kind == rows.KIND]
            learnings = {one.id: one for one in rows.many(tx, ids)}
            own = rows.from_outcome(tx, ids, wanted.outcome)
            contradicted, by = events.contradicted(tx, ids, {*shown, *before})
            works = {(hit.passage.thread, hit.passage.title) for hit, _, _ in hits if hit.passage.id in shown}
            found: dict[str, Considered] = {}
            for hit, id, title in hits:
                one, learning = hit.passage, learnings.get(hit.passage.id)
                if (at is not None and one.at >= at) or (session and one.thread.endswith(f"/{session}")):
                    continue  # said later, or by this session itself
                held_back = _held_back(place, hit, learning, shown)
                if not has_subject(hit, question):
                    held_back = "only everyday words match"
                if one.id in own:
                    held_back = "was learned in this session"
                elif one.id in contradicted:
                    held_back = f"contradicted by what is better proven (see the inbox): {by[one.id]}"
                elif not learning and (one.thread, one.title) in works:
                    held_back = "another turn of the same work is shown"
                found.setdefault(
                    id or one.id,
                    Considered(
                        id=id or one.id,
                        kind=one.kind,
                        title=title or one.title,
                        relevance=round(hit.relevance, 2),
                        words=tuple(said.get(term, term) for term in words.matched(one.terms, question)[1]),
                        confidence=learning.confidence if learning else None,
                        held_back=held_back,
                    ),
                )
            return list(found.values())

    told: list[Considered] = []
    here = near(ctx)
    known = {one.title for one in here if one.kind == rows.KIND}
    for ring, found in [(PROJECT, here), *ctx.rings.ask(ctx, near)]:
        for one in found:
            id, held_back = id_in(ring, one.id), one.held_back
            if ring != PROJECT and one.kind == rows.KIND and one.title in known:
                held_back = "the project has learned the same"
            if id in shown:
                held_back = ""
            elif id in before:
                held_back = "was shown earlier in this session"
            told.append(replace(one, id=id, ring=ring, held_back=held_back))
    return sorted(told, key=lambda one: (bool(one.held_back), -one.relevance))


def _ranked(
    tx: Tx, ctx: Context, wanted: NewInjection, question: Question, limit: int
) -> Iterator[tuple[Scored, str, str]]:
    """The best of each pool, the pools that a prompt is shown first; and the id and title of the principle that tells
    it."""
    without_ids = replace(question, ids=())
    pools = [*proven_and_on_trial(ctx, wanted, eligible(tx, ctx, wanted, without_ids)), LEARNINGS]
    among, taught = earlier(tx, ctx)
    for pool, asked in (*((one, without_ids) for one in pools), (among, question), (FROM_OUTSIDE, question)):
        for hit in best(tx, asked, pool, limit=limit):
            principle = taught.get(hit.passage.id)
            yield hit, principle.id if principle else "", principle.title if principle else ""


def _held_back(ctx: Context, hit: Scored, learning: Learning | None, shown: Collection[str]) -> str:
    """The first bar that a candidate does not pass."""
    settings = ctx.settings.inject
    if learning and learning.status != "active":
        return learning.out_of_use
    if hit.passage.trust not in INJECTABLE:
        return "came from outside, and nobody adopted it"
    if learning and learning.confidence < settings.explore_from:
        return f"confidence {learning.confidence:.2f} is below {settings.explore_from:.2f}"
    floor = settings.learning_relevance if learning else settings.relevance
    if hit.relevance < floor:
        return f"relevance {hit.relevance:.2f} is below {floor:.2f}"
    if learning and learning.confidence < settings.min_confidence:
        why = "it had its trial" if learning.verdicts >= TRIAL_VERDICTS else "the trial slot is taken"
        return f"confidence {learning.confidence:.2f} is below {settings.min_confidence:.2f}, and {why}"
    most = settings.max_learnings if learning else settings.entries
    return f"no room: {most} at most, and those shown fit better" if shown else "would be shown by now"


NEAR = 8  # candidates of one prompt that are told; chosen, a screen


@record
class GivenAt:
    """One event of a session: what it was given, and for a prompt what else was near, with what held it back."""

    event: str
    at: int
    prompt: str
    given: tuple[str, ...]
    considered: tuple[Considered, ...]


@record
class LastSession:
    id: str
    host: str
    began_at: int
    events: tuple[GivenAt, ...]


def last(ctx: Context, host: str = "") -> LastSession:
    """The last session, with everything it was given."""
    with ctx.db.read(ctx.space) as tx:
        found = sessions.latest_session(tx, host)
        if found is None:
            raise NotFound("no session began here yet; to set up an agent program: recollect init --host HOST")
        events = sessions.events_of(tx, found.id)
    asked = list(unlogged(found))
    prompts = []
    for each in reversed(events):
        waits = "prompt" not in each.why and each.event in sessions.PROMPTS and asked
        prompts.append(asked.pop() if waits else each.why.get("prompt", ""))
    told = []
    before: set[str] = set()
    for each, prompt in zip(events, reversed(prompts), strict=True):
        near = candidates(ctx, prompt, shown=each.given, before=before, session=found.id, at=each.at) if prompt else []
        before |= {*each.given}
        if each.given or prompt:
            told.append(
                GivenAt(event=each.event, at=each.at, prompt=prompt, given=each.given, considered=tuple(near[:NEAR]))
            )
    return LastSession(id=found.id, host=found.host, began_at=found.began_at, events=tuple(told))
