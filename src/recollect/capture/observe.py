"""Observing a finished task: its discoveries are stored raw, and those that teach something become learnings.

A configured model finds the discoveries in a task's output and says what each teaches; without one, marked lines are
read and rules sort their sentences. Also names and lists outcomes and tasks.
"""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar, cast

from recollect.capture.edit import reword
from recollect.capture.import_notes import LEARNED_AS
from recollect.capture.learn import Captured, learn
from recollect.core.choices import DISCOVERY_TYPES, DiscoveryType
from recollect.core.clock import MINUTE
from recollect.core.context import Context, lowest
from recollect.core.errors import BadInput, Refused, Rejected, Stale, after
from recollect.core.learning import COIA, Discovery, Injection, Outcome, Task, TaskOutput
from recollect.core.new_learning import FIELD_LIMIT, NewLearning
from recollect.core.records import check_page, checked, record, replace
from recollect.models.ask import OFFLINE, Ask, ask, cached_answer, read_object, read_text
from recollect.models.budget import limited
from recollect.store import db, events, learnings, model_rows, tasks
from recollect.store.files import content_hash
from recollect.store.model_rows import OpenAsk
from recollect.text.markers import Coia, extract, read_discoveries, without_discoveries
from recollect.text.quality import WEIGHED, Refusal, learning_refusal
from recollect.text.storable import storable_record
from recollect.text.tokens import terms

MOST_FOUND = 10  # discoveries a model may report for one output; more is a list of everything
SAID = 0.7  # share of a discovery's words that must be in the output; a lower share let inventions through
LONGEST_COIA = 6_000  # characters of an answer: five fields, each a few sentences

Found = tuple[tuple[DiscoveryType, str], ...]
N = TypeVar("N", Outcome, Task)
P = TypeVar("P", Outcome, Task, Discovery)
ABANDONED = MINUTE  # after this time without a result, the process that observed was killed
WORTH_READING = 200  # characters; a shorter output holds no discovery beside the marked lines
SKIPPED_DEPENDENCY = "Dependencies are task-specific, not learnable"


@record
class Observed:
    discoveries: tuple[Discovery, ...]
    captured: tuple[Captured, ...]
    unknown_types: tuple[str, ...]
    known_before: int


def observe(ctx: Context, given: TaskOutput) -> Observed:
    """Read `DISCOVERY[type]: text` lines, and have a model read the others. The same output again changes nothing."""
    ctx = ctx.trusted_as(lowest(ctx.actor.trust, "agent"))  # the text is an agent's, even when a person brings it
    ctx = limited(ctx)
    given, _ = storable_record(given)
    marked = read_discoveries(given.output)
    with after("What was found so far is saved", "Run this again: no discovery is stored twice"):
        found = (*marked.discoveries, *_unmarked(ctx, given))
        seen = _kept(ctx, found, task=given.task, outcome=given.outcome, title=given.title)
    return replace(seen, unknown_types=marked.unknown_types)


def use_answers(ctx: Context) -> int:
    """Use agents' answers: discoveries they saw, and better words for learnings unchanged since; gives how many."""
    with ctx.db.read(ctx.space) as tx:
        answered = [*model_rows.answered_asks(tx, "observe"), *model_rows.answered_asks(tx, "extract")]
    used = sum(
        _use_observation(ctx, each) if each.kind == "observe" else _use_extraction(ctx, each) for each in answered
    )
    if answered:
        with ctx.db.write(ctx.space) as tx:
            for each in answered:
                model_rows.close_ask(tx, each.id)
    return used


def _unmarked(ctx: Context, given: TaskOutput) -> Found:
    """What a model finds in the lines that the author did not mark.

    External text is not shown to a model: a later answer counts as an agent's, and its source would be lost.
    """
    rest = without_discoveries(given.output).strip()
    if len(rest) < WORTH_READING or ctx.actor.trust == "external" or ctx.models.provider("observe") is None:
        return ()
    # A later answer needs what is known of the task.
    ctx.write(tasks.ensure_task, given.task, outcome=given.outcome, at=ctx.clock.now(), title=given.title)
    return ask(ctx, observation(rest, given.task)).value


def _use_observation(ctx: Context, answered: OpenAsk) -> bool:
    task = task_of(answered.subject)
    found = cached_answer(ctx, observation(answered.sources[0], task), closing=False)
    if found is None:
        return False
    _kept(ctx.trusted_as("agent"), found.value, task=task)
    return True


def _use_extraction(ctx: Context, answered: OpenAsk) -> bool:
    with ctx.db.read(ctx.space) as tx:
        discovery = tasks.known(tx, Discovery, answered.subject)
        about = tasks.known(tx, Task, discovery.task_id) if discovery else None
        learning = learnings.of_discovery(tx, answered.subject)
    if discovery is None or learning is None or learning.source_discovery_id != discovery.id:
        return False
    found = cached_answer(ctx, extraction(discovery, about.title if about else ""), closing=False)
    if found is None or learning.origin != f"observer:{OFFLINE}" or learning.version != 1:
        return False
    with suppress(Stale, Refused):
        reword(ctx, learning.id, found.value, origin=f"observer:{found.generator}", expect=1)
        return True
    return False


def _kept(ctx: Context, found: Found, *, task: str, outcome: str | None = None, title: str = "") -> Observed:
    """Store discoveries and learn from them; a missing outcome or title is taken from the known task."""
    if about := ctx.read(tasks.known, Task, task):
        outcome, title = outcome or about.outcome_id, title or about.title
    discoveries: list[Discovery] = []
    captured: list[Captured] = []
    known_before = 0
    for kind, text in found:
        discovery = _keep(ctx, kind, text, task=task, outcome=outcome, title=title)
        if discovery is None:
            known_before += 1
            continue
        before = ctx.read(learnings.of_discovery, discovery.id)  # by an observer that was killed
        known = Captured(learning=before, merged=False, redacted=()) if before else None
        result = known or _learn_from(ctx, discovery, title)
        if isinstance(result, Captured):
            captured.append(result)
        learning, skipped = (None, result) if isinstance(result, str) else (result.learning.id, None)
        ctx.write(tasks.settle_discovery, discovery.id, learning=learning, skipped=skipped)
        discoveries.append(replace(discovery, learning_id=learning, skipped=skipped))
    return Observed(
        discoveries=tuple(discoveries),
        captured=tuple(captured),
        unknown_types=(),
        known_before=known_before,
    )


def _keep(
    ctx: Context, kind: DiscoveryType, text: str, *, task: str, outcome: str | None, title: str
) -> Discovery | None:
    """Store the raw discovery; None when this task reported it before, unless its observer was killed."""
    now = ctx.clock.now()
    found = Discovery(id=ctx.ids("disc"), type=kind, content=text, task_id=task, outcome_id=outcome, created_at=now)
    discovery, _ = storable_record(found)  # a model's words were not in the output
    with ctx.db.write(ctx.space) as tx:
        keep = ctx.actor.trust == "external"
        tasks.ensure_task(tx, task, outcome=outcome, at=discovery.created_at, title=title, keep=keep)
        digest = content_hash(f"{kind}:{discovery.content}")
        if not tasks.add_discovery(tx, discovery, digest=digest):
            return tasks.abandoned_discovery(tx, task, digest, before=discovery.created_at - ABANDONED)
        events.record(tx, ctx, subject=discovery.id, what="discovery.kept")
    return discovery


def _learn_from(ctx: Context, discovery: Discovery, title: str) -> Captured | str:
    if discovery.type == "dependency":
        return SKIPPED_DEPENDENCY
    answer = ask(ctx, extraction(discovery, title))
    coia = answer.value
    if refusal := _refusal(coia, discovery.type):
        return f"Not learned from: {refusal.why}"
    new = NewLearning(
        **{name: getattr(coia, name) for name in ("title", *COIA, "tags", "domain")},
        pattern_type=LEARNED_AS[discovery.type],
        source_outcome_id=discovery.outcome_id,
        source_task_id=discovery.task_id,
        source_discovery_id=discovery.id,
    )
    return learn(ctx, new, anyway=True, origin=f"observer:{answer.generator}")


def _refusal(coia: Coia, type: DiscoveryType) -> Refusal | None:
    """Only what the author said is judged. A decision is told in the past and still holds."""
    said = WEIGHED if type == "decision" else ("title", "observation", *coia.stated)
    return learning_refusal(**{name: getattr(coia, name) if name in said else "" for name in WEIGHED})


def learn_text(ctx: Context, text: str, *, anyway: bool = False, **given: Any) -> Captured:
    """Learn from one text: its sentences are sorted into the fields of a learning, `given` fields hold as they are."""
    kind = given.get("pattern_type")
    type: DiscoveryType = "blocker" if kind == "gotcha" else "constraint" if kind == "constraint" else "pattern"
    coia = extract(type, text, "", "")
    if not anyway and (refusal := _refusal(coia, type)):
        raise Rejected(f"not saved: {refusal.why}. {refusal.rephrase}")
    made = {name: getattr(coia, name) for name in ("title", *COIA, "tags", "domain")}
    return learn(ctx, checked(NewLearning, {**made, **given}), anyway=True)


def extraction(discovery: Discovery, title: str) -> Ask[Coia]:
    facts = {"type": discovery.type, "content": discovery.content, "task": title}
    # A host's session is both task and outcome; its id says nothing about either.
    outcome = discovery.outcome_id if discovery.outcome_id != discovery.task_id else None
    return Ask(
        kind="extract",
        subject=discovery.id,
        sources=(json.dumps(facts, ensure_ascii=False),),
        offline=partial(extract, discovery.type, discovery.content, title, outcome or ""),
        accept=_read_coia,
        longest=LONGEST_COIA,
    )


def observation(output: str, task: str) -> Ask[Found]:
    return Ask(
        kind="observe",
        subject=f"task {task}",
        sources=(output,),
        offline=tuple,
        accept=lambda text: _read_found(text, output),
    )


def task_of(subject: str) -> str:
    return subject.removeprefix("task ")


def _read_coia(text: str) -> Coia:
    given = read_object(text)
    tags, domain = given.get("tags"), given.get("domain") or None
    if not isinstance(tags, list) or len(tags) < 2:
        raise BadInput("tags must be a list of two to five words")
    fields = {name: given.get(name) for name in ("title", *COIA)}
    checked = NewLearning(**fields, tags=tuple(tags[:5]), domain=domain)  # type: ignore[arg-type]
    return Coia(**fields, tags=checked.tags, domain=domain)  # type: ignore[arg-type]


def _read_found(text: str, output: str) -> Found:
    """A model's answer: discoveries in the output's own words; any other is an invention and refused."""
    given = read_object(text).get("discoveries")
    if not isinstance(given, list) or len(given) > MOST_FOUND:
        raise BadInput(f"discoveries must be a list of at most {MOST_FOUND}")
    spoken = set(terms(output))
    found: dict[tuple[DiscoveryType, str], None] = {}
    for each in given:
        if not isinstance(each, dict) or each.get("type") not in DISCOVERY_TYPES:
            raise BadInput(f"a discovery's type must be one of {', '.join(DISCOVERY_TYPES)}")
        content = read_text(each, "content", most=FIELD_LIMIT)
        words = set(terms(content))
        if len(words & spoken) < SAID * max(len(words), 1):
            raise BadInput(f"the output does not say {content[:80]!r}")
        found[cast(DiscoveryType, each["type"]), content] = None
    return tuple(found)


def name_outcome(ctx: Context, id: str, *, name: str = "") -> Outcome:
    """Make an outcome known and give it a name; a caller from outside names only new ones."""
    return _named(ctx, Outcome(id=id, name=name, created_at=ctx.clock.now()))


def name_task(ctx: Context, id: str, *, outcome: str | None = None, title: str = "") -> Task:
    """Make a task known, give it a title, and an outcome if it has none; a caller from outside names only new ones."""
    return _named(ctx, Task(id=id, outcome_id=outcome, title=title, created_at=ctx.clock.now()))


def _named(ctx: Context, given: N) -> N:
    given, _ = storable_record(given)
    kind, keep = type(given), ctx.actor.trust == "external"
    with ctx.db.write(ctx.space) as tx:
        before = tasks.known(tx, kind, given.id)
        if isinstance(given, Task):
            tasks.ensure_task(tx, given.id, outcome=given.outcome_id, at=given.created_at, title=given.title, keep=keep)
        else:
            tasks.ensure_outcome(tx, given.id, at=given.created_at, name=given.name, keep=keep)
        after = tasks.get(tx, kind, given.id)
        if after != before:
            said = {"title": after.title} if isinstance(after, Task) else {"name": after.name}
            events.record(tx, ctx, subject=given.id, what=f"{kind.__name__.lower()}.named", new=said)
        return after


def titles(ctx: Context, *, task: str, outcome: str) -> tuple[str, str]:
    with ctx.db.read(ctx.space) as tx:
        about, serves = tasks.known(tx, Task, task), tasks.known(tx, Outcome, outcome)
        return about.title if about else "", serves.name if serves else ""


# Lists, a page at a time, with how many there are in all. An unknown id is an error: it may be a misspelt one.


def outcome_page(ctx: Context, *, limit: int = 50, offset: int = 0) -> tuple[list[Outcome], int]:
    return _page(ctx, Outcome, limit=limit, offset=offset)


def task_page(ctx: Context, *, outcome: str | None = None, limit: int = 50, offset: int = 0) -> tuple[list[Task], int]:
    return _page(ctx, Task, limit=limit, offset=offset, outcome_id=outcome)


def discovery_page(
    ctx: Context, *, task: str | None = None, limit: int = 50, offset: int = 0
) -> tuple[list[Discovery], int]:
    return _page(ctx, Discovery, limit=limit, offset=offset, task_id=task)


def _page(ctx: Context, kind: type[P], *, limit: int, offset: int, **of: str | None) -> tuple[list[P], int]:
    check_page(limit, offset)
    with ctx.db.read(ctx.space) as tx:
        for name, id in of.items():
            if id is not None:
                tasks.get(tx, Outcome if name == "outcome_id" else Task, id)
        return tasks.page(tx, kind, limit=limit, offset=offset, **of)


def injection_page(
    ctx: Context, *, task: str | None = None, limit: int = 50, offset: int = 0
) -> tuple[list[Injection], int]:
    """What a task was shown, in order; without a task, what was shown lately."""
    check_page(limit, offset)
    with ctx.db.read(ctx.space) as tx:
        if task is None:
            return tasks.latest_injections(tx, limit=limit, offset=offset), db.count(tx, "injections")
        shown = tasks.injections_of_task(tx, tasks.get(tx, Task, task).id)
        return shown[offset : offset + limit], len(shown)
