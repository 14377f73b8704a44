"""The agent as a provider: what waits for its answer, and taking its answers in.

An ask is stale when its source has changed. Every answer has to pass the same checks as a model's; a refused one is
reported with its reason and does not stop the others. The next cycle uses the answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from recollect.capture import observe
from recollect.capture.stage import find_entry
from recollect.core.calendar import LEVELS
from recollect.core.context import Context
from recollect.core.errors import BadInput, NotFound, Refused
from recollect.core.learning import Discovery, Task
from recollect.core.records import record
from recollect.distil import decision_levels, decisions, node_models, staged, staging_checks, themes, wisdom
from recollect.distil.node_models import node_question, root_question
from recollect.distil.themes import planned_from_file
from recollect.models.ask import Ask, check_answer, generator_of, load_prompt, redact_answer
from recollect.models.embed import similarity_to
from recollect.store import decisions as decision_rows
from recollect.store import model_rows, tasks
from recollect.store.model_rows import OpenAsk
from recollect.text.staging import StagedEntry


@record
class PendingAsk:
    """One open ask. `instructions` is the prompt, `sources` what it is about; both are for the agent."""

    id: str
    kind: str
    subject: str
    instructions: str
    sources: tuple[str, ...]
    max_tokens: int
    opened_at: int


@record
class Applied:
    id: str
    taken: bool
    reason: str = ""


def pending(ctx: Context, *, limit: int | None = None) -> list[PendingAsk]:
    """Open asks, oldest first, without those whose subject has changed or gone."""
    found = ctx.read(model_rows.waiting_asks)
    worth = (each for each in found if (now := _question(ctx, each)) is not None and now.id == each.id)
    return [_shown(each) for each in islice(worth, limit)]


def apply(ctx: Context, answers: Sequence[Any]) -> list[Applied]:
    """Each answer is `{"id": …, "answer": …}`."""
    return [_applied(ctx, each) for each in answers]


def _applied(ctx: Context, given: Any) -> Applied:
    id = given.get("id") if isinstance(given, Mapping) else None
    answer = given.get("answer") if isinstance(given, Mapping) else None
    if not isinstance(id, str) or not isinstance(answer, str | dict | list):
        return Applied(id=str(id), taken=False, reason="an answer is an object with `id` and `answer`")
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    try:
        _take(ctx, id, text)
    except (BadInput, Refused, NotFound) as refusal:
        return Applied(id=id, taken=False, reason=str(refusal))
    return Applied(id=id, taken=True)


def _take(ctx: Context, id: str, text: str) -> None:
    opened = ctx.read(model_rows.get_ask, id)
    if opened is None:
        raise Refused("stale: this ask no longer exists. List the asks with `recollect model pending`")
    if opened.answered_at is not None:
        raise Refused("this ask was answered before; the next cycle uses that answer")
    question = _question(ctx, opened)
    if question is None or question.id != id:
        ctx.write(model_rows.close_ask, id)
        raise Refused("stale: its source has changed; the next cycle asks again")
    text = redact_answer(question, text)
    check_answer(question, text)
    with ctx.db.write(ctx.space) as tx:
        generator = generator_of(f"agent:{ctx.actor.name}", question)
        model_rows.put_answer(tx, question.key, generator=generator, answer=text, at=ctx.clock.now())
        model_rows.mark_ask_answered(tx, id, at=ctx.clock.now())


def _shown(ask: OpenAsk) -> PendingAsk:
    return PendingAsk(
        id=ask.id,
        kind=ask.kind,
        subject=ask.subject,
        instructions=load_prompt(ask.prompt).text,
        sources=ask.sources,
        max_tokens=ask.max_tokens,
        opened_at=ask.opened_at,
    )


def _question(ctx: Context, opened: OpenAsk) -> Ask[Any] | None:
    """The question as it would be asked now; None when it would not be asked."""
    try:
        return _QUESTIONS[opened.kind](ctx, opened)
    except (NotFound, BadInput):
        return None


def _extraction(ctx: Context, opened: OpenAsk) -> Ask[Any] | None:
    with ctx.db.read(ctx.space) as tx:
        discovery = tasks.known(tx, Discovery, opened.subject)
        about = tasks.known(tx, Task, discovery.task_id) if discovery else None
    return observe.extraction(discovery, about.title if about else "") if discovery else None


def _decision(ctx: Context, opened: OpenAsk) -> Ask[Any]:
    decision = ctx.read(decision_rows.get, opened.subject)
    return decision_levels.wording_question(decision, "summary" if opened.kind == "decision-summary" else "digest")


def _principle(ctx: Context, opened: OpenAsk) -> Ask[Any] | None:
    questions = (
        wisdom.principle_question(one.category, saying) for one in decisions.wisdom(ctx) for saying in one.principles
    )
    return next((each for each in questions if each.id == opened.id), None)


def _entry(ctx: Context, opened: OpenAsk) -> StagedEntry:
    return find_entry(ctx, opened.subject.partition(" ")[0])


def _compared(ctx: Context, opened: OpenAsk) -> Ask[Any] | None:
    entry, id = _entry(ctx, opened), opened.subject.partition(" ")[2]
    known = staging_checks.all_known(ctx, staged.load_documents(ctx), entry)
    return next((staging_checks.compare_question(entry, each) for each in known if each.id == id), None)


def _routed(ctx: Context, opened: OpenAsk) -> Ask[Any] | None:
    router = staging_checks.learn_places(ctx, staged.load_documents(ctx), similarity_to(ctx))
    return staging_checks.route_question(_entry(ctx, opened), router)


_QUESTIONS: dict[str, Callable[[Context, OpenAsk], Ask[Any] | None]] = {
    "extract": _extraction,
    "observe": lambda _, opened: observe.observation(opened.sources[0], observe.task_of(opened.subject)),
    **dict.fromkeys(LEVELS, lambda ctx, opened: node_question(ctx, opened.subject)),
    "root": lambda ctx, _: root_question(ctx),
    "decision-summary": _decision,
    "decision-digest": _decision,
    "principle": _principle,
    "topic": lambda ctx, opened: node_models.open_question(ctx, opened.subject),
    "theme": lambda ctx, opened: themes.summary_question(planned_from_file(ctx, opened.subject.removeprefix("theme/"))),
    "compare": _compared,
    "quality": lambda ctx, opened: staging_checks.quality_question(_entry(ctx, opened)),
    "route": _routed,
    "rewrite": lambda ctx, opened: staging_checks.rewrite_question(_entry(ctx, opened)),
}
