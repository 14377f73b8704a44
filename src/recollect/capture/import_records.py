"""Importing records that another memory exported: checked and redacted like any text from outside, then stored or left.

Trust comes from the terms of the import, not from the record; counters begin at zero, and the confidence of external
learnings is capped. An id that other content has already is a conflict: what is stored stays. Decisions keep their
confidence and outcome.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Literal

from recollect.capture.change import adopt_known, record_new
from recollect.capture.decide import DECISION, new_decision
from recollect.capture.edit import LEARNING
from recollect.capture.learn import UNTOUCHED, initial_confidence
from recollect.core.choices import DISCOVERY_TYPES, STATUSES, Trust
from recollect.core.clock import ScriptedClock, iso, parse_time
from recollect.core.context import Context, Tx
from recollect.core.decision import Bridge, Decision, NewDecision, Reason, Review
from recollect.core.errors import BadInput
from recollect.core.learning import COIA, Discovery, Learning, LearningSource, Outcome, Task
from recollect.core.new_learning import NewLearning
from recollect.core.records import check_choice, decimal, record, replace, thousandths
from recollect.store import decisions, tasks
from recollect.store import learnings as rows
from recollect.store.files import content_hash
from recollect.text.storable import storable_id, storable_record

_ID = re.compile(r"[a-z]+_[0-9A-Za-z]{1,64}")

Fate = Literal["added", "adopted", "known", "conflict", "waiting"]
Values = Mapping[str, Any]


@record
class Terms:
    trust: Trust
    now: int
    change: str
    reason: str


DECISION_CONTENT = ("decision", "confidence", "category", "context", "reasons", "pattern", "decided_at")
ORIGIN = "import"
EXTERNAL_CEILING = 500  # thousandths: found by search (from 0.5), never injected (from 0.6)
NAME_LIMIT = 1000  # characters of a name or title: far above any that a tracker makes
DISCOVERY_LIMIT = 50_000  # characters; five times the longest field of a learning
SOURCES_LIMIT = 30_000  # as many as fit into the longest line of an export
VERSION_LIMIT = 1_000_000_000  # below the largest integer of every engine
CONTENT = ("title", *COIA, "tags", "domain", "pattern_type")


@record
class ImportedLearning:
    learning: Learning
    sources: tuple[LearningSource, ...]


Record = Outcome | Task | Discovery | ImportedLearning | Decision


def read(ctx: Context, terms: Terms, kind: str, values: Values) -> Record:
    """A record from one line of an export, without secrets; BadInput says what is wrong with it."""
    return _READERS[kind](ctx, terms, values)


def put(tx: Tx, ctx: Context, terms: Terms, record: Record) -> Fate:
    """Store a record unless it, or another under its id, is here already."""
    if isinstance(record, Outcome | Task):
        return _put_named(tx, record)
    if isinstance(record, Discovery):
        return _put_discovery(tx, record)
    if isinstance(record, Decision):
        return put_decision(tx, ctx, terms, record)
    return _put_learning(tx, ctx, terms, record)


def _read_outcome(_: Context, terms: Terms, values: Values) -> Outcome:
    outcome = Outcome(
        id=values.get("id", ""),
        name=text_of(values, "name", limit=NAME_LIMIT),
        created_at=time_of(values, "created_at", terms),
    )
    return storable_record(outcome)[0]


def _read_task(_: Context, terms: Terms, values: Values) -> Task:
    task = Task(
        id=values.get("id", ""),
        outcome_id=values.get("outcome_id"),
        title=text_of(values, "title", limit=NAME_LIMIT),
        created_at=time_of(values, "created_at", terms),
    )
    return storable_record(task)[0]


def _read_discovery(ctx: Context, terms: Terms, values: Values) -> Discovery:
    kind = values.get("discovery_type", "")
    check_choice(kind, "discovery_type", DISCOVERY_TYPES)
    given = Discovery(
        id="",
        type=kind,
        content=text_of(values, "content", limit=DISCOVERY_LIMIT),
        task_id=values.get("task_id", ""),
        outcome_id=values.get("outcome_id"),
        created_at=time_of(values, "created_at", terms),
        learning_id=reference(values, "learning_id"),
        skipped=text_of(values, "skipped", limit=NAME_LIMIT) or None,
    )
    found, _ = storable_record(given)
    if not found.content:
        raise BadInput("content is empty")
    return replace(found, id=row_id(values, "disc", f"{kind}:{found.task_id}:{found.content}"))


def _read_learning(ctx: Context, terms: Terms, values: Values) -> ImportedLearning:
    given = NewLearning(
        **{name: values.get(name, "") for name in ("title", *COIA)},
        tags=values.get("tags") or (),
        domain=values.get("domain"),
        pattern_type=values.get("pattern_type", "solution"),
        confidence=values.get("confidence"),
        source_outcome_id=values.get("source_outcome_id"),
        source_task_id=values.get("source_task_id"),
        source_discovery_id=reference(values, "source_discovery_id"),
    )
    new, _ = storable_record(given)
    outside = terms.trust == "external"
    stored = thousandths(initial_confidence(ctx.trusted_as(terms.trust), new))
    status = values.get("status", "active")
    check_choice(status, "status", STATUSES)
    successor = reference(values, "superseded_by")
    if status == "superseded" and successor is None:
        status = "archived"
    created = time_of(values, "created_at", terms)
    sources = _sources(values, new, created, terms)
    version = values.get("version", 1)
    brought = {
        "id": row_id(values, "learn", "\x1f".join((new.title, *(getattr(new, name) for name in COIA)))),
        "confidence": decimal(min(stored, EXTERNAL_CEILING) if outside else stored),
        "recurrence": len(sources),
        "status": status,
        "superseded_by": successor if status == "superseded" else None,
        "pinned": values.get("pinned") is True and not outside,
        "origin": ORIGIN,
        "trust": terms.trust,
        "version": version if type(version) is int and 1 <= version <= VERSION_LIMIT else 1,
        "created_at": created,
        "updated_at": max(created, time_of(values, "updated_at", terms)),
        "last_decayed_at": terms.now,  # its uses elsewhere are unknown, so decay begins today
    }
    return ImportedLearning(learning=Learning(**{**vars(new), **UNTOUCHED, **brought}), sources=sources)


def read_decision(ctx: Context, terms: Terms, values: Values) -> Decision:
    """A decision with its outcome; its confidence stays as it was stated."""
    names = ("decision", "confidence", "category", "stakes", "context", "pattern", "agent")
    given: dict[str, Any] = {name: values[name] for name in names if values.get(name) is not None}
    given |= {name: values[name] or () for name in ("reasons", "tags") if name in values}
    given |= {name: values[name] for name in ("bridge", "components") if values.get(name)}
    said = {name: values.get(name) or "" for name in ("outcome", "result", "lesson")}
    _refuse_unknown(given.get("bridge"), Bridge)
    for reason in given.get("reasons", ()):
        _refuse_unknown(reason, Reason)
    import msgspec  # heavy, and the cycle loads this module

    try:
        new = msgspec.convert(given, NewDecision)
        review = storable_record(msgspec.convert(said, Review))[0] if said["outcome"] else None
    except msgspec.ValidationError as problem:
        raise BadInput(str(problem)) from None
    decided = time_of(values, "decided_at", terms)
    status = values.get("status", "active")
    if status not in ("active", "reversed", "superseded"):
        raise BadInput(f"status {status!r:.40} is not one of active, reversed, superseded")
    successor = reference(values, "superseded_by") if status == "superseded" else None
    decision = new_decision(
        replace(ctx.trusted_as(terms.trust), clock=ScriptedClock(terms.now)),
        replace(new, decided_at=iso(decided)),
        id=row_id(values, "dec", f"{new.decision}:{decided}"),
    )
    closed = max(decided, time_of(values, "closed_at", terms)) if status != "active" else None
    return replace(
        decision.decision,
        status="superseded" if successor else ("active" if status == "active" else "reversed"),
        superseded_by=successor,
        closed_at=closed,
        preserve=values.get("preserve") is True and terms.trust != "external",
        outcome=review.outcome if review else None,
        result=review.result if review else "",
        lesson=review.lesson if review else "",
        reviewed_at=max(decided, time_of(values, "reviewed_at", terms)) if review else None,
        created_at=decided,
        updated_at=terms.now,
    )


def _refuse_unknown(values: object, kind: type[Reason | Bridge]) -> None:
    """Refuse unknown fields of a reason or bridge, whose text would be lost; a line may have any field."""
    if isinstance(values, Mapping) and (unknown := values.keys() - {field.name for field in fields(kind)}):
        raise BadInput(f"a {kind.__name__.lower()} has no field {', '.join(sorted(map(str, unknown)))[:200]}")


def put_decision(tx: Tx, ctx: Context, terms: Terms, given: Decision) -> Fate:
    known = decisions.many(tx, [given.id])
    if known:
        if any(getattr(known[0], name) != getattr(given, name) for name in DECISION_CONTENT):
            return "conflict"
        if known[0].trust == "external" and terms.trust != "external":
            adopt_known(DECISION, tx, ctx, known[0], change=terms.change, reason=terms.reason)
            return "adopted"
        return "known"
    if given.superseded_by is not None and not decisions.many(tx, [given.superseded_by]):
        given = replace(given, status="reversed", superseded_by=None)  # an export names successors first
    decisions.insert(tx, given)
    decisions.forget_wisdom(tx)
    record_new(DECISION, tx, ctx, given, terms.change, terms.reason)
    return "added"


_READERS: dict[str, Callable[[Context, Terms, Values], Record]] = {
    "outcome": _read_outcome,
    "task": _read_task,
    "discovery": _read_discovery,
    "learning": _read_learning,
    "decision": read_decision,
}
KINDS = tuple(_READERS)


def _put_named(tx: Tx, given: Outcome | Task) -> Fate:
    known = tasks.known(tx, type(given), given.id)
    if known is not None:
        names = ("title", "outcome_id") if isinstance(given, Task) else ("name",)
        pairs = [(getattr(known, name), getattr(given, name)) for name in names]
        if any(here and there and here != there for here, there in pairs):
            return "conflict"
        if not any(there and not here for here, there in pairs):  # nothing empty is filled in
            return "known"
    if isinstance(given, Task):
        tasks.ensure_task(tx, given.id, outcome=given.outcome_id, title=given.title, at=given.created_at)
    else:
        tasks.ensure_outcome(tx, given.id, name=given.name, at=given.created_at)
    return "added"


def _put_discovery(tx: Tx, given: Discovery) -> Fate:
    known = tasks.known(tx, Discovery, given.id)
    if known is not None:
        same = (known.type, known.content, known.task_id) == (given.type, given.content, given.task_id)
        return "known" if same else "conflict"
    tasks.ensure_task(tx, given.task_id, outcome=given.outcome_id, at=given.created_at)
    digest = content_hash(f"{given.type}:{given.content}")
    if not tasks.add_discovery(tx, given, digest=digest):
        return "known"  # the task reported the same discovery under another id
    return "added"


def foreseen(tx: Tx, terms: Terms, given: ImportedLearning) -> Fate:
    """What `put` would do with a learning."""
    learning = given.learning
    for known in rows.many(tx, [learning.id]):
        if any(getattr(known, name) != getattr(learning, name) for name in CONTENT):
            return "conflict"
        vouched = known.trust == "external" != terms.trust and known.status == "active"
        return "adopted" if vouched else "known"
    waits = learning.superseded_by is not None and not rows.many(tx, [learning.superseded_by])
    return "waiting" if waits else "added"


def _put_learning(tx: Tx, ctx: Context, terms: Terms, given: ImportedLearning) -> Fate:
    learning = given.learning
    fate = foreseen(tx, terms, given)
    if fate == "adopted":
        adopt_known(LEARNING, tx, ctx, rows.get(tx, learning.id), change=terms.change, reason=terms.reason)
    if fate != "added":
        return fate
    named = [(learning.source_outcome_id, learning.source_task_id, learning.created_at)]
    named += [(source.outcome_id, source.task_id, source.at) for source in given.sources]
    for outcome, task, at in named:
        if outcome is not None:
            tasks.ensure_outcome(tx, outcome, at=at)
        if task is not None:
            tasks.ensure_task(tx, task, outcome=outcome, at=at)
    rows.insert(tx, learning)
    for source in given.sources:
        rows.add_source(tx, learning.id, source)
    record_new(LEARNING, tx, ctx, learning, terms.change, terms.reason)
    return "added"


def _sources(values: Values, new: NewLearning, created: int, terms: Terms) -> tuple[LearningSource, ...]:
    given = values.get("sources")
    if given is None or given == []:
        return (new.source(origin=ORIGIN, trust=terms.trust, at=created),)
    if not isinstance(given, list) or len(given) > SOURCES_LIMIT or not all(isinstance(one, dict) for one in given):
        raise BadInput(f"sources must be a list of at most {SOURCES_LIMIT:,} objects")
    return tuple(
        LearningSource(
            outcome_id=caller_id(one, "outcome_id"),
            task_id=caller_id(one, "task_id"),
            discovery_id=reference(one, "discovery_id"),
            origin=ORIGIN,
            trust=terms.trust,
            at=time_of(one, "at", terms),
        )
        for one in given
    )


def text_of(values: Values, name: str, *, limit: int) -> str:
    value = values.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > limit:
        raise BadInput(f"{name} must be text of at most {limit:,} characters")
    return value


def time_of(values: Values, name: str, terms: Terms) -> int:
    """A time no later than now."""
    value = values.get(name)
    if value is None:
        return terms.now
    if not isinstance(value, str):
        raise BadInput(f"{name} must be an ISO 8601 time, not {value!r:.60}")
    return max(0, min(parse_time(value), terms.now))


def caller_id(values: Values, name: str) -> str | None:
    value = values.get(name)
    return None if value is None else storable_id(value, name)


def reference(values: Values, name: str) -> str | None:
    """The id of a row; None for anything that cannot be one."""
    value = values.get(name)
    return value if isinstance(value, str) and _ID.fullmatch(value) else None


def row_id(values: Values, prefix: str, content: str) -> str:
    """The given id when it is well-formed, else one derived from the content, so that a second import finds the row."""
    value = reference(values, "id")
    return value if value and value.startswith(prefix + "_") else f"{prefix}_{content_hash(content)[:16]}"
