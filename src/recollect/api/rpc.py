"""JSON-RPC 2.0 over one `Memory`: a request text in, a response text (or nothing) out.

A method is a function whose signature declares its parameters: by name only, in camelCase or snake_case.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from pydantic import ValidationError, validate_call

from recollect.api.bodies import DecisionBody, DecisionsWanted, ReviewBody, explained, snaked, validated
from recollect.core.errors import BadInput, NotFound, RecollectError, Refused, Stale
from recollect.core.records import plain
from recollect.memory import Memory
from recollect.tend.tokens import TokenScope

PARSE_ERROR = -32700  # this and the next four are JSON-RPC 2.0's; -32000 to -32099 are left to servers
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
CODES: dict[type[RecollectError], int] = {
    BadInput: INVALID_PARAMS,
    NotFound: -32001,
    Stale: -32003,
    Refused: -32002,
    RecollectError: -32000,
}
"""In order: the first class that fits decides."""

MAX_BATCH = 100  # chosen: a batch is one request, and one request should not hold a thread for minutes

_strict = validate_call(config={"strict": True})  # no parameter is converted

Methods = Mapping[str, Callable[..., Any]]


class _Fault(Exception):
    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


def dispatch(request: bytes, methods: Methods) -> bytes | None:
    try:
        body = msgspec.json.decode(request)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return msgspec.json.encode(_failure(None, _Fault(PARSE_ERROR, "the request is not JSON")))
    if not isinstance(body, list):
        answer = _answer(body, methods)
        return None if answer is None else msgspec.json.encode(answer)
    if not body or len(body) > MAX_BATCH:
        fault = _Fault(INVALID_REQUEST, f"a batch has 1 to {MAX_BATCH} calls, not {len(body):,}")
        return msgspec.json.encode(_failure(None, fault))
    answers = [answer for call in body if (answer := _answer(call, methods)) is not None]
    return msgspec.json.encode(answers) if answers else None


def _answer(call: Any, methods: Methods) -> dict[str, Any] | None:
    known = _id_of(call)
    try:
        if not isinstance(call, Mapping) or call.get("jsonrpc") != "2.0" or not isinstance(call.get("method"), str):
            raise _Fault(INVALID_REQUEST, 'a call is {"jsonrpc": "2.0", "method": …, "params": {…}, "id": …}')
        if "id" in call and known != call["id"]:
            raise _Fault(INVALID_REQUEST, "id must be text, a number or null")
    except _Fault as fault:
        return _failure(known, fault)
    try:
        result = _call(methods, call["method"], call.get("params", {}))
    except _Fault as fault:
        return _failure(known, fault) if "id" in call else None
    return {"jsonrpc": "2.0", "id": known, "result": result} if "id" in call else None


def _call(methods: Methods, name: str, params: Any) -> Any:
    method = methods.get(name)
    if method is None:
        raise _Fault(METHOD_NOT_FOUND, f"no method {name[:80]!r}; the methods are {', '.join(sorted(methods))}")
    if not isinstance(params, Mapping):
        raise _Fault(INVALID_PARAMS, "give parameters by name, in an object")
    try:
        named = {name: value for name, value in snaked(params).items() if value is not None}  # null is not given
        return plain(_strict(method)(**named))
    except ValidationError as wrong:
        known = ", ".join(inspect.signature(method).parameters)
        raise _Fault(INVALID_PARAMS, f"{explained(wrong.errors())}. Parameters are {known}") from wrong
    except RecollectError as problem:
        code = next(code for kind, code in CODES.items() if isinstance(problem, kind))
        raise _Fault(code, str(problem)) from problem
    except Exception as problem:
        raise _Fault(INTERNAL_ERROR, f"internal error: {type(problem).__name__}") from problem


def _id_of(call: Any) -> str | int | float | None:
    given = call.get("id") if isinstance(call, Mapping) else None
    return given if isinstance(given, str | int | float) and not isinstance(given, bool) else None


def _failure(known: str | int | float | None, fault: _Fault) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": known, "error": {"code": fault.code, "message": str(fault)}}


# The shapes of the protocol's own client (`scripts/cstp.py` of tfatykhov/cognition-agent-decisions), beside ours.

_SIDES = ("structure", "function")
_FEATURES = {"tolerance": "may differ", "enforcement": "must hold", "prevention": "must not hold"}


def _in_our_fields(new: Mapping[str, Any]) -> dict[str, Any]:
    """A new decision in our fields. What has no field here is kept as text: strengths, features, the pull request."""
    ours = dict(new)
    if isinstance(reasons := ours.get("reasons"), list):
        ours["reasons"] = [_our_reason(each) for each in reasons]
    if isinstance(bridge := ours.get("bridge"), Mapping) and (given := [name for name in _SIDES if bridge.get(name)]):
        rest = {_FEATURES.get(name, name): value for name, value in bridge.items() if name not in _SIDES and value}
        told = [f"{name}: {_as_words(value)}" for name, value in rest.items()]
        last = "; ".join([str(bridge[given[-1]]), *told])
        ours["bridge"] = {**{name: bridge[name] for name in given}, given[-1]: last} if told else dict(bridge)
    if isinstance(project := ours.pop("project_context", None), Mapping):
        ours["tags"] = [*ours.get("tags", []), *([str(project["project"])] if project.get("project") else [])]
        rest = {name: value for name, value in project.items() if name != "project"}
        told = [f"{name}: {_as_words(value)}" for name, value in rest.items()]
        ours["context"] = "\n".join(filter(None, [str(ours.get("context", "")), *told]))
    return ours


def _our_reason(given: Any) -> Any:
    if not isinstance(given, Mapping):
        return given
    kept = {"kind" if name == "type" else name: value for name, value in given.items()}
    rest = [
        f"{name} {_as_words(kept.pop(name))}" for name in [*kept] if name not in ("kind", "text") and "text" in kept
    ]
    return {**kept, "text": f"{kept['text']} ({', '.join(rest)})"} if rest else kept


def _as_words(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_as_words, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else str(value)


def _as_hit(hit: dict[str, Any], rank: int) -> dict[str, Any]:
    """A hit with the fields that the client prints. Its rank serves as distance, because fused scores are none."""
    shown = hit["decision"]
    theirs = {name: shown.get(name, "") for name in ("category", "stakes", "confidence")}
    return {
        **hit,
        **theirs,
        "title": shown.get("decision") or shown.get("summary") or shown.get("text", ""),
        "distance": rank / 100,
    }


_READS = ("getCompacted", "getWisdom", "getCalibration", "queryDecisions", "getDecision")
SCOPES: dict[str, tuple[TokenScope, ...]] = {
    **{f"cstp.{name}": ("read",) for name in _READS},
    **{f"cstp.{name}": ("write", "import") for name in ("setPreserve", "recordDecision", "reviewDecision")},
    "cstp.compact": ("admin",),
}
"""Every method with its scopes; a token needs one of them."""


def methods(memory: Memory) -> dict[str, Callable[..., Any]]:
    decisions = memory.decisions

    def get_compacted(
        *,
        category: str | None = None,
        agent: str | None = None,
        level: str | None = None,
        budget: int | None = None,
        limit: int = 500,
        offset: int = 0,
    ) -> Any:
        page = {"limit": limit, "offset": offset}
        return decisions.compacted(category=category, agent=agent, level=level, budget=budget, **page)

    def set_preserve(*, id: str, preserve: bool = True) -> Any:
        return decisions.preserve(id, on=preserve)

    def get_wisdom(*, category: str | None = None, agent: str | None = None) -> Any:
        return {"wisdom": decisions.wisdom(category=category, agent=agent)}

    def record_decision(*, anyway: bool = False, **new: Any) -> Any:
        done = decisions.record(validated(DecisionBody, _in_our_fields(new)).record(), anyway=anyway)
        return {**vars(done.decision), "redacted": done.redacted, "indexed": True}

    def review_decision(*, id: str = "", decision_id: str = "", version: int | None = None, **review: Any) -> Any:
        if bool(id) == bool(decision_id):
            raise BadInput("give the decision's id once, with outcome, result, lesson or version")
        ours = {{"actual_result": "result", "lessons": "lesson"}.get(name, name): said for name, said in review.items()}
        done = decisions.review(id or decision_id, validated(ReviewBody, ours).record(), expect=version)
        return {**vars(done), "success": True}

    def query_decisions(
        *,
        query: str = "",
        limit: int = 20,
        offset: int = 0,
        filters: dict[str, Any] | None = None,
        retrieval_mode: str = "",
        bridge_side: str = "",
        **wanted: Any,
    ) -> Any:
        ours = {"tag" if name == "project" else name: value for name, value in (filters or {}).items()}
        rules = validated(DecisionsWanted, {**ours, **wanted})
        hits, total = decisions.query(query, limit=limit, offset=offset, **vars(rules))
        return {"decisions": [_as_hit(plain(hit), rank) for rank, hit in enumerate(hits)], "total": total}

    def get_decision(*, id: str) -> Any:
        found = plain(decisions.get(id))
        reasons = [{**each, "type": each["kind"]} for each in found["reasons"]]
        whole = {**found, "reasons": reasons, "date": found["decided_at"]}
        return {**found, "found": True, "decision": whole}

    def get_calibration(
        *,
        category: str | None = None,
        agent: str | None = None,
        window_days: int | None = None,
        project: str | None = None,  # a tag
    ) -> Any:
        of: dict[str, Any] = {"category": category, "agent": agent, "tag": project or None}
        made = plain(decisions.calibration(**of, window_days=window_days))
        overall = made["overall"]
        theirs = {
            "total_decisions": decisions.query("", limit=1, **of)[1],
            "reviewed_decisions": overall["decisions"],
            "accuracy": overall["success_rate"] or 0.0,
            "brier_score": overall["brier"] or 0.0,
            "interpretation": overall["verdict"],
        }
        return {**made, "overall": {**overall, **theirs}}

    return {
        "cstp.compact": lambda: decisions.compact(),
        "cstp.getCompacted": get_compacted,
        "cstp.setPreserve": set_preserve,
        "cstp.getWisdom": get_wisdom,
        "cstp.recordDecision": record_decision,
        "cstp.reviewDecision": review_decision,
        "cstp.queryDecisions": query_decisions,
        "cstp.getDecision": get_decision,
        "cstp.getCalibration": get_calibration,
    }
