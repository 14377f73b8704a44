"""Why a prompt is given what it is given: every candidate with the words that matched, and what held it back.

For the page; no hook loads it. It does not repeat the choice of `inject/prompt.py`: what was chosen comes in, and each
other candidate is held against the bars in their order. Also what the last session was given, prompt by prompt, each
with its candidates, of the rings too, as they are judged now.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import partial

from recollect.capture.log import unlogged
from recollect.core.context import PROJECT, Context
from recollect.core.errors import NotFound
from recollect.core.learning import Learning
from recollect.core.records import record, replace
from recollect.inject.learnings import INJECTABLE, task_question
from recollect.search import words
from recollect.search.everything import id_in, named
from recollect.search.rank import Candidates, Scored, best
from recollect.store import learnings as rows
from recollect.store import sessions
from recollect.store.passages import Narrow
from recollect.store.sessions import ReportedEvent
from recollect.text.tokens import terms

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
    """What was looked at for a prompt, what was shown first, then the most relevant.

    Of a prompt of the past: its session, what that was given `before` it, and its time, after which nothing counts.
    """
    said = {term: word.lower() for word in re.findall(r"[\w'-]+", prompt) for term in terms(word)}
    with ctx.db.read(ctx.space) as tx:
        question = task_question(tx, prompt)
        hits = best(tx, question, CANDIDATES, limit=LOOKED_AT)
        learnings = {one.id: one for one in rows.many(tx, [hit.passage.id for hit in hits])}
        found = []
        for hit in hits:
            one, learning = hit.passage, learnings.get(hit.passage.id)
            if one.id in shown:
                held_back = ""
            elif one.id in before:
                held_back = "was shown earlier in this session"
            elif (at is not None and one.at >= at) or (session and one.thread.endswith(f"/{session}")):
                continue  # said later, or by this session itself
            else:
                held_back = _held_back(ctx, hit, learning)
            found.append(
                Considered(
                    id=one.id,
                    kind=one.kind,
                    title=one.title,
                    relevance=round(hit.relevance, 2),
                    words=tuple(said.get(term, term) for term in words.matched(one.terms, question)[1]),
                    confidence=learning.confidence if learning else None,
                    held_back=held_back,
                )
            )
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


NEAR = 8  # candidates of one prompt that are told; chosen, a screen


@record
class GivenAt:
    """One event of a session: what it was given, and for a prompt what else was near, with what held it back."""

    event: str
    at: int
    prompt: str
    given: tuple[str, ...]
    considered: tuple[Considered, ...]


def _near(ctx: Context, prompt: str, event: ReportedEvent, before: Collection[str]) -> list[Considered]:
    """The candidates of a prompt of the past, here and in each ring."""
    looked_at = partial(candidates, prompt=prompt, session=event.session, at=event.at)
    near = looked_at(ctx, shown=event.given, before=before)
    shown, earlier = ({id.rpartition(":")[2] for id in ids if ":" in id or named(id)} for ids in (event.given, before))
    for name, found in ctx.rings.ask(ctx, lambda ring: looked_at(ring, shown=shown, before=earlier)):
        near += [replace(one, ring=name, id=id_in(name, one.id)) for one in found]
    return sorted(near, key=lambda one: (bool(one.held_back), -one.relevance))


@record
class LastSession:
    id: str
    host: str
    began_at: int
    events: tuple[GivenAt, ...]


def last(ctx: Context, host: str = "") -> LastSession:
    """The session that was heard of last, with everything it was given."""
    with ctx.db.read(ctx.space) as tx:
        found = sessions.latest_session(tx, host)
        if found is None:
            raise NotFound("no session was heard of yet: start one, or set a program up: recollect init --host HOST")
        events = sessions.events_of(tx, found.id)
    asked = list(unlogged(found))
    prompts = []
    for each in reversed(events):
        waits = "prompt" not in each.why and each.event in sessions.PROMPTS and asked
        prompts.append(asked.pop() if waits else each.why.get("prompt", ""))
    told = []
    before: set[str] = set()
    for each, prompt in zip(events, reversed(prompts), strict=True):
        near = _near(ctx, prompt, each, before) if prompt else []
        before |= {*each.given}
        if each.given or prompt:
            told.append(
                GivenAt(event=each.event, at=each.at, prompt=prompt, given=each.given, considered=tuple(near[:NEAR]))
            )
    return LastSession(id=found.id, host=found.host, began_at=found.began_at, events=tuple(told))
