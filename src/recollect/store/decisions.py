"""Rows of decisions and their tags, and the derived rows, which are made again when lost: wordings of summaries, and
wisdom."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from recollect.core.context import Row, Tx
from recollect.core.decision import OUTCOMES, STAKES, Bridge, Decision, Reason
from recollect.core.errors import NotFound
from recollect.core.records import Passage, check_choice, decimal, record
from recollect.store import db, passages
from recollect.store.db import PAGE, add_row, among, every

KIND = "decision"
_PLAIN = tuple(name for name in Decision.__annotations__ if name not in ("tags", "bridge"))
_NAMES = (*_PLAIN, "bridge_structure", "bridge_function")
_COLUMNS = ", ".join(_NAMES)
_UNCOUNTED = {"context": "''", "result": "''", "reasons": "''", "components": "''"}
_COUNTED = ", ".join(_UNCOUNTED.get(name, name) for name in _NAMES)

_TESTS = {
    **{name: f"{name} = :{name}" for name in ("category", "agent", "outcome", "status", "stakes")},
    "tag": "id IN (SELECT decision_id FROM decision_tags WHERE space = :space AND tag = :tag)",
    "after": "decided_at > :after",
    "until": "decided_at <= :until",
}

HELD = "preserve = 1 OR outcome IS NULL"  # what stays whole at any age; must match the partial index


@record
class DecisionFilter:
    """None means any. Bounds on time: `after` < decided_at <= `until`."""

    category: str | None = None
    agent: str | None = None
    tag: str | None = None
    outcome: str | None = None
    status: str | None = None
    stakes: str | None = None
    reviewed: bool | None = None
    after: int | None = None
    until: int | None = None

    def __post_init__(self) -> None:
        known = {"outcome": OUTCOMES, "stakes": STAKES, "status": ("active", "reversed", "superseded")}
        for name, values in known.items():
            if (given := getattr(self, name)) is not None:
                check_choice(given, name, values)


def insert(tx: Tx, decision: Decision) -> None:
    add_row(tx, "decisions", **_values(decision))
    db.write_tags(tx, KIND, {decision.id: decision.tags})
    passages.put(tx, passage_of(decision))


def save(tx: Tx, decision: Decision, *, expect: int) -> None:
    db.save(tx, "decisions", decision.id, expect=expect, **_values(decision))
    db.write_tags(tx, KIND, {decision.id: decision.tags})
    passages.put(tx, passage_of(decision))


def get(tx: Tx, id: str) -> Decision:
    found = many(tx, [id])
    if not found:
        raise NotFound(f"There is no decision {id}. List the decisions with `recollect decision list`")
    return found[0]


def ids(tx: Tx) -> list[str]:
    return [id for (id,) in every(tx, "decisions", "id")]


def many(tx: Tx, ids: Sequence[str]) -> list[Decision]:
    """Decisions by id, in the order asked for; unknown ids are left out."""
    rows = list(among(tx, f"SELECT {_COLUMNS} FROM decisions WHERE space = :space AND id IN (:keys)", ids))
    found = {decision.id: decision for decision in _decisions(tx, rows)}
    return [found[id] for id in ids if id in found]


def listed(tx: Tx, wanted: DecisionFilter, *, limit: int, offset: int) -> tuple[list[Decision], int]:
    """A page of decisions, newest first, and how many there are in all."""
    where, params = _where(wanted)
    order = "decided_at DESC, id DESC"
    rows, total = db.page(tx, "decisions", _COLUMNS, where, order, limit=limit, offset=offset, **params)
    return _decisions(tx, rows), total


def passing(tx: Tx, ids: Sequence[str], wanted: DecisionFilter) -> set[str]:
    where, params = _where(wanted)
    sql = f"SELECT id FROM decisions WHERE space = :space AND id IN (:keys){where}"
    return {id for (id,) in among(tx, sql, ids, **params)}


def count(tx: Tx, wanted: DecisionFilter) -> int:
    where, params = _where(wanted)
    return db.count(tx, "decisions", where, **params)


def walk(tx: Tx, wanted: DecisionFilter, *, only: str = "", whole: bool = True) -> Iterator[Decision]:
    """Decisions newest first, in pages. `only` is "" or HELD; unless `whole`, without context, reasons, components and
    tags, for callers who count a hundred thousand."""
    where, params = _where(wanted)
    if only:
        where += f" AND ({only})"
    columns, size = (_COLUMNS, PAGE) if whole else (_COUNTED, 10 * PAGE)
    last: dict[str, Any] = {}
    while True:
        before = " AND (decided_at, id) < (:last_at, :last_id)" if last else ""
        rows = tx.rows(
            f"SELECT {columns} FROM decisions WHERE space = :space{where}{before} "
            f"ORDER BY decided_at DESC, id DESC LIMIT {size}",
            **params,
            **last,
        )
        page = _decisions(tx, rows) if whole else [_decision(row, []) for row in rows]
        yield from page
        if len(page) < size:
            return
        last = {"last_at": page[-1].decided_at, "last_id": page[-1].id}


def calibration_pairs(tx: Tx, wanted: DecisionFilter, *, reviewed_after: int | None) -> list[Row]:
    """(category, agent, confidence, outcome, reviewed_at) of reviewed decisions, without those from outside."""
    where, params = _where(wanted)
    if reviewed_after is not None:
        where += " AND reviewed_at > :reviewed_after"
        params["reviewed_after"] = reviewed_after
    return tx.rows(
        "SELECT category, agent, confidence, outcome, reviewed_at FROM decisions "
        f"WHERE space = :space AND outcome IS NOT NULL AND trust <> 'external'{where} ORDER BY decided_at, id",
        **params,
    )


def next_to_age(tx: Tx, after: int) -> int | None:
    """When the oldest decision after `after` was made."""
    found = tx.value("SELECT min(decided_at) FROM decisions WHERE space = :space AND decided_at > :after", after=after)
    return None if found is None else int(found)


def fingerprint(tx: Tx) -> tuple[int, int, int]:
    """Changes whenever any decision does: their number, the sum of their versions, the last change."""
    row = tx.row(
        "SELECT count(*), coalesce(sum(version), 0), coalesce(max(updated_at), 0) FROM decisions WHERE space = :space"
    )
    assert row is not None
    return row[0], int(row[1]), row[2]


def counts(tx: Tx) -> dict[str, int]:
    row = tx.row(
        "SELECT count(*), coalesce(sum(CASE WHEN outcome IS NULL AND status = 'active' THEN 1 ELSE 0 END), 0) "
        "FROM decisions WHERE space = :space"
    )
    assert row is not None
    return {"total": row[0], "unreviewed": row[1]}


def passage_of(decision: Decision) -> Passage:
    lines = (
        decision.decision,
        decision.context,
        *(reason.text for reason in decision.reasons),
        decision.pattern,
        decision.bridge.line() if decision.bridge else "",
        decision.result,
        decision.lesson,
    )
    return Passage(
        id=decision.id,
        kind=KIND,
        title=" ".join(decision.decision.split())[:100],
        lines=tuple(line for line in lines if line),
        keywords=(decision.category, *decision.tags),
        who=decision.agent,
        at=decision.decided_at,
        trust=decision.trust,
    )


def _where(wanted: DecisionFilter) -> tuple[str, dict[str, Any]]:
    given = {name: value for name, value in vars(wanted).items() if value is not None}
    tests = {**_TESTS, "reviewed": f"outcome IS {'NOT ' if wanted.reviewed else ''}NULL"}
    return "".join(f" AND {tests[name]}" for name in given), given


def _values(decision: Decision) -> dict[str, Any]:
    return {name: getattr(decision, name) for name in _PLAIN} | {
        "confidence": round(decision.confidence * 1000),
        "reasons": [[reason.kind, reason.text] for reason in decision.reasons],
        "bridge_structure": decision.bridge.structure if decision.bridge else None,
        "bridge_function": decision.bridge.function if decision.bridge else None,
        "components": {name: round(value * 1000) for name, value in decision.components.items()},
    }


def _decisions(tx: Tx, rows: Sequence[Row]) -> list[Decision]:
    tags = db.tags_of(tx, KIND, [row[0] for row in rows])
    return [_decision(row, tags.get(row[0], [])) for row in rows]


def _decision(row: Row, tags: list[str]) -> Decision:
    values = dict(zip(_NAMES, row, strict=True))
    structure, function = values.pop("bridge_structure"), values.pop("bridge_function")
    values["confidence"] = decimal(values["confidence"])
    reasons, components = values["reasons"], values["components"]
    values["reasons"] = tuple(Reason(kind=kind, text=text) for kind, text in json.loads(reasons)) if reasons else ()
    shares = json.loads(components) if components else {}
    values["components"] = {name: decimal(share) for name, share in shares.items()}
    values["preserve"] = bool(values["preserve"])
    bridge = None if structure is None else Bridge(structure=structure, function=function)
    return Decision(**values, tags=tuple(tags), bridge=bridge)


def wordings(tx: Tx, level: str, ids: Sequence[str]) -> dict[str, tuple[int, str, str]]:
    """The wording of each decision in a summary or digest: (version it was made from, wording, generator)."""
    sql = """
        SELECT decision_id, version, wording, generator FROM decision_wordings
        WHERE space = :space AND level = :level AND decision_id IN (:keys)"""
    return {id: (version, wording, generator) for id, version, wording, generator in among(tx, sql, ids, level=level)}


def put_wording(tx: Tx, id: str, level: str, *, version: int, wording: str, generator: str) -> int:
    """Store a wording unless the decision changed while it was made; 1 when stored."""
    return tx.run(
        """
        INSERT INTO decision_wordings (space, decision_id, level, version, wording, generator)
        SELECT :space, id, :level, version, :wording, :generator
        FROM decisions WHERE space = :space AND id = :id AND version = :version
        ON CONFLICT (space, decision_id, level) DO UPDATE SET version = excluded.version,
          wording = excluded.wording, generator = excluded.generator""",
        id=id,
        level=level,
        version=version,
        wording=wording,
        generator=generator,
    )


def get_wisdom(tx: Tx, scope: str, now: int) -> str | None:
    found = tx.value(
        "SELECT wisdom FROM decision_wisdom WHERE space = :space AND scope = :scope "
        "AND made_for <= :now AND valid_until > :now",
        scope=scope,
        now=now,
    )
    return None if found is None else str(found)


def put_wisdom(tx: Tx, *, scope: str, made_for: int, valid_until: int, wisdom: str) -> None:
    values = {"made_for": made_for, "valid_until": valid_until, "wisdom": wisdom}
    db.put_row(tx, "decision_wisdom", "scope", scope=scope, **values)


def forget_wisdom(tx: Tx) -> None:
    """For a changed decision: wisdom is made again."""
    tx.run("DELETE FROM decision_wisdom WHERE space = :space")
