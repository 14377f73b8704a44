"""Observing a finished task: its discoveries are kept raw, and those that teach something become learnings."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial

from recollect.capture.learn import Captured, learn
from recollect.core.actor import lowest
from recollect.core.clock import MINUTE
from recollect.core.context import Context
from recollect.core.errors import BadInput
from recollect.core.ids import check_id
from recollect.core.learning import COIA, PatternType
from recollect.core.new_learning import NewLearning
from recollect.core.task import Discovery, DiscoveryType
from recollect.models.asking import Ask, ask
from recollect.models.prompts import load_prompt
from recollect.store import events, learnings, tasks
from recollect.store.files import content_hash
from recollect.text.coia import Coia, extract, read_discoveries
from recollect.text.frame import strip
from recollect.text.insight import WEIGHED, Refusal, refused
from recollect.text.kept import kept

ABANDONED = MINUTE  # a discovery that nobody learned from for so long: its observer was killed
SKIPPED_DEPENDENCY = "Dependencies are task-specific, not learnable"
PATTERNS: dict[str, PatternType] = {
    "blocker": "gotcha",
    "constraint": "constraint",
    "pattern": "best-practice",
    "decision": "solution",
}


@dataclass(frozen=True, kw_only=True)
class Observed:
    """What was seen in one task's output."""

    discoveries: tuple[Discovery, ...]
    captured: tuple[Captured, ...]
    unknown_types: tuple[str, ...]
    known_before: int


def observe(ctx: Context, output: str, *, task: str, outcome: str | None = None, title: str = "") -> Observed:
    """Read `DISCOVERY[type]: text` lines. Reading the same output twice changes nothing."""
    # The text is an agent's, whoever carries it here.
    ctx = replace(ctx, actor=replace(ctx.actor, trust=lowest(ctx.actor.trust, "agent")))
    task = check_id(task, "task")
    outcome = check_id(outcome, "outcome") if outcome is not None else None
    title = kept(title)
    found = read_discoveries(strip(output))
    discoveries: list[Discovery] = []
    captured: list[Captured] = []
    known_before = 0
    for kind, text in found.discoveries:
        discovery = _keep(ctx, kind, text, task=task, outcome=outcome, title=title)
        if discovery is None:
            known_before += 1
            continue
        result = _learned_before(ctx, discovery) or _learn_from(ctx, discovery, title)
        if isinstance(result, Captured):
            captured.append(result)
        discoveries.append(_settled(ctx, discovery, result))
    return Observed(
        discoveries=tuple(discoveries),
        captured=tuple(captured),
        unknown_types=found.unknown_types,
        known_before=known_before,
    )


def _keep(
    ctx: Context, kind: DiscoveryType, text: str, *, task: str, outcome: str | None, title: str
) -> Discovery | None:
    """The raw discovery as a row; None when this task reported it before, unless nobody came to learn from it."""
    content = kept(text)
    discovery = Discovery(
        id=ctx.ids("disc"),
        type=kind,
        content=content,
        task_id=task,
        outcome_id=outcome,
        created_at=ctx.clock.now(),
    )
    with ctx.db.write(ctx.space) as tx:
        tasks.ensure_task(tx, task, outcome=outcome, at=discovery.created_at, title=title)
        digest = content_hash(f"{kind}:{content}")
        if not tasks.add_discovery(tx, discovery, digest=digest):
            return tasks.abandoned_discovery(tx, task, digest, before=discovery.created_at - ABANDONED)
        events.record(tx, ctx, change=ctx.ids("change"), subject=discovery.id, what="discovery.kept")
    return discovery


def _learned_before(ctx: Context, discovery: Discovery) -> Captured | None:
    """What an observer that was killed had already learned from it."""
    with ctx.db.read(ctx.space) as tx:
        found = learnings.of_discovery(tx, discovery.id)
    return Captured(learning=found, merged=False, redacted=()) if found else None


def _learn_from(ctx: Context, discovery: Discovery, title: str) -> Captured | str:
    """The learning, or why there is none in it."""
    if discovery.type == "dependency":
        return SKIPPED_DEPENDENCY
    prompt = load_prompt("extract")
    facts = json.dumps({"type": discovery.type, "content": discovery.content, "task": title}, ensure_ascii=False)
    answer = ask(
        ctx,
        Ask(
            kind="extract",
            version=prompt.version,
            instructions=prompt.text,
            sources=[facts],
            offline=partial(extract, discovery.type, discovery.content, title, discovery.outcome_id or ""),
            accept=_read_coia,
        ),
    )
    coia = answer.value
    if refusal := _refused(discovery.type, coia):
        return f"Not learned from: {refusal.why}"
    new = NewLearning(
        title=coia.title,
        context=coia.context,
        observation=coia.observation,
        implication=coia.implication,
        action=coia.action,
        tags=coia.tags,
        domain=coia.domain,
        pattern_type=PATTERNS[discovery.type],
        confidence=getattr(ctx.settings.capture, discovery.type),
        source_outcome_id=discovery.outcome_id,
        source_task_id=discovery.task_id,
        source_discovery_id=discovery.id,
    )
    return learn(ctx, new, anyway=True, origin=f"observer:{answer.generator}")


def _refused(type: DiscoveryType, coia: Coia) -> Refusal | None:
    """Only what the discovery itself says is weighed. A decision is told in the past and holds on."""
    said = WEIGHED if type == "decision" else ("title", "observation", *coia.stated)
    return refused(**{name: getattr(coia, name) if name in said else "" for name in WEIGHED})


def _settled(ctx: Context, discovery: Discovery, result: Captured | str) -> Discovery:
    learning, skipped = (None, result) if isinstance(result, str) else (result.learning.id, None)
    with ctx.db.write(ctx.space) as tx:
        tasks.settle_discovery(tx, discovery.id, learning=learning, skipped=skipped)
    return Discovery(**{**vars(discovery), "learning_id": learning, "skipped": skipped})


def _read_coia(text: str) -> Coia:
    """A model's answer, checked like any stranger's."""
    try:
        given = json.loads(text.strip().removeprefix("```json").removeprefix("```").removesuffix("```"))
        fields = {name: given[name] for name in ("title", *COIA)}
        tags = given.get("tags") or []
        domain = given.get("domain") or None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadInput(f"not the JSON that was asked for: {error}") from None
    if not isinstance(tags, list):
        raise BadInput("tags must be a list of words")
    checked = NewLearning(**fields, tags=tuple(tags[:5]), domain=domain)
    return Coia(**fields, tags=checked.tags, domain=domain)
