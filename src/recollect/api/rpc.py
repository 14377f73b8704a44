"""JSON-RPC 2.0 over one `Memory`: a request text in, a response text (or nothing) out.

Names and parameters are the protocol's: named parameters only, in camelCase or snake_case. A method is a function with
keyword parameters; its signature says which exist and which are needed. Knows nothing about HTTP.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from pydantic import ValidationError, validate_call

from recollect.api.bodies import DecisionBody, DecisionsWanted, ReviewBody, explained, snaked, validated
from recollect.core.errors import BadInput, NotFound, RecollectError, Refused, Stale
from recollect.core.records import plain
from recollect.memory import Memory

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
# The codes above are JSON-RPC's own; -32000 to -32099 are left to servers.
CODES: dict[type[RecollectError], int] = {
    BadInput: INVALID_PARAMS,
    NotFound: -32001,
    Stale: -32003,
    Refused: -32002,
    RecollectError: -32000,
}
"""In order: the first class that fits decides."""

MAX_BATCH = 100  # chosen: a batch is one request, and one request should not hold a thread for minutes

_strict = validate_call(config={"strict": True})  # a parameter is what its annotation says, and is never converted

Methods = Mapping[str, Callable[..., Any]]


class _Fault(Exception):
    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


def dispatch(request: bytes, methods: Methods) -> bytes | None:
    """Answer one request or a batch; None when there is nothing to say (notifications only)."""
    try:
        body = msgspec.json.decode(request)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return msgspec.json.encode(_failure(None, _Fault(PARSE_ERROR, "the request is not JSON")))
    if not isinstance(body, list):
        answer = _answer(body, methods)
        return None if answer is None else msgspec.json.encode(answer)
    if not body or len(body) > MAX_BATCH:
        fault = _Fault(INVALID_REQUEST, f"a batch holds 1 to {MAX_BATCH} calls, not {len(body):,}")
        return msgspec.json.encode(_failure(None, fault))
    answers = [answer for call in body if (answer := _answer(call, methods)) is not None]
    return msgspec.json.encode(answers) if answers else None


def _answer(call: Any, methods: Methods) -> dict[str, Any] | None:
    """One call's response; None for a notification, even one that failed."""
    known = _id_of(call)
    try:
        _check_envelope(call)
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


def _check_envelope(call: Any) -> None:
    if not isinstance(call, Mapping) or call.get("jsonrpc") != "2.0" or not isinstance(call.get("method"), str):
        raise _Fault(INVALID_REQUEST, 'a call is {"jsonrpc": "2.0", "method": …, "params": {…}, "id": …}')
    if "id" in call and _id_of(call) != call["id"]:
        raise _Fault(INVALID_REQUEST, "id must be text, a number or null")


def _id_of(call: Any) -> str | int | float | None:
    given = call.get("id") if isinstance(call, Mapping) else None
    return given if isinstance(given, str | int | float) and not isinstance(given, bool) else None


def _failure(known: str | int | float | None, fault: _Fault) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": known, "error": {"code": fault.code, "message": str(fault)}}


ADMIN = frozenset({"cstp.compact"})
READS = frozenset(f"cstp.{name}" for name in "getCompacted getWisdom queryDecisions getDecision getCalibration".split())
"""The methods that change nothing."""


def methods(memory: Memory) -> dict[str, Callable[..., Any]]:
    decisions = memory.decisions

    def compact() -> Any:
        return decisions.compact()

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
        done = decisions.record(validated(DecisionBody, new).record(), anyway=anyway)
        return {**vars(done.decision), "redacted": done.redacted}

    def review_decision(*, id: str, version: int | None = None, **review: Any) -> Any:
        return decisions.review(id, validated(ReviewBody, review).record(), expect=version)

    def query_decisions(*, query: str = "", limit: int = 20, offset: int = 0, **wanted: Any) -> Any:
        rules = validated(DecisionsWanted, wanted)
        hits, total = decisions.query(query, limit=limit, offset=offset, **vars(rules))
        return {"decisions": hits, "total": total}

    def get_decision(*, id: str) -> Any:
        return decisions.get(id)

    def get_calibration(
        *, category: str | None = None, agent: str | None = None, window_days: int | None = None
    ) -> Any:
        return decisions.calibration(category=category, agent=agent, window_days=window_days)

    return {
        "cstp.compact": compact,
        "cstp.getCompacted": get_compacted,
        "cstp.setPreserve": set_preserve,
        "cstp.getWisdom": get_wisdom,
        "cstp.recordDecision": record_decision,
        "cstp.reviewDecision": review_decision,
        "cstp.queryDecisions": query_decisions,
        "cstp.getDecision": get_decision,
        "cstp.getCalibration": get_calibration,
    }
