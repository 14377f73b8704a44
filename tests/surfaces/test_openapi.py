"""The OpenAPI document holds: schemathesis makes requests from it, and every answer must be one that it describes."""

from __future__ import annotations

import inspect
import json
import re
import unicodedata
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, get_args

import msgspec
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, assume, given, seed, settings, strategies
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi import checks

from conftest import Opener
from recollect import Memory
from recollect.api.app import make_app
from recollect.api.bodies import DecisionBody, DecisionsWanted, ReviewBody, Verb
from recollect.api.rpc import CODES, INVALID_REQUEST, MAX_BATCH, METHOD_NOT_FOUND, PARSE_ERROR, SCOPES, methods
from recollect.api.spaces import Spaces
from recollect.api.wire import document
from recollect.distil.inbox import EFFECTS
from recollect.tend.why import AnyExplanation
from scale import TORTURE
from serving import Served, serving

PROMISED = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.positive_data_acceptance,
    checks.negative_data_rejection,
]
ABOUT_DATA = (checks.positive_data_acceptance, checks.negative_data_rejection)
# A request of the right shape may still be refused: 412 names a stale version, 422 a text that teaches nothing or a
# decision of the future.
CONFIG = SchemathesisConfig.from_dict(
    {
        "checks": {
            "positive_data_acceptance": {
                "expected-statuses": ["2xx", "304", "401", "403", "404", "409", "412", "422"],
            }
        }
    }
)
EXAMPLES = 4 * TORTURE  # for each operation, engine and mode


@pytest.fixture
def memory(open_memory: Opener, environ: dict[str, str]) -> Memory:
    environ["RECOLLECT_SERVE_FAILURES_PER_MINUTE"] = environ["RECOLLECT_SERVE_REQUESTS_PER_MINUTE"] = "1000000"
    return open_memory()


@pytest.fixture
def served(memory: Memory) -> Iterator[Served]:
    with serving(memory) as running:
        api = running.client("api")
        fields = ("title", "context", "observation", "implication", "action")
        api.post("/api/learnings?anyway=true", json=dict.fromkeys(fields, "Webhooks overtake")).raise_for_status()
        api.post("/api/logs", json={"text": "Moved the webhook.", "topic": "refunds"}).raise_for_status()
        api.post("/api/tree/compact", json={}).raise_for_status()
        api.post(
            "/api/decisions", json={"decision": "Use a queue", "confidence": 0.8, "category": "design"}
        ).raise_for_status()
        yield running


def broken(served: Served, mode: GenerationMode, token: str | None) -> dict[str, str]:
    """The operations whose answers the document does not describe, with what was wrong."""
    described = deepcopy(document(served.app))
    headers = {}
    if token:  # every request is sent with it, so a missing or malformed one is not among the faults to invent
        headers["authorization"] = f"Bearer {served.secrets[token]}"
        for path in described["paths"].values():
            for operation in path.values():
                operation.pop("security", None)
    found: dict[str, str] = {}
    with requests.Session() as session:
        for result in schemathesis.openapi.from_dict(described, config=CONFIG).get_all_operations():
            operation = result.ok()

            @seed(1)
            @settings(
                max_examples=EXAMPLES,
                derandomize=False,
                database=None,
                deadline=None,
                phases=[Phase.explicit, Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(mode))
            def answers(case: schemathesis.Case) -> None:
                assume(mode == GenerationMode.NEGATIVE or is_unicode(case))
                response = case.call(base_url=served.url, session=session, timeout=30, headers=headers)
                if token is None and case.path != "/health":
                    assert response.status_code in (400, 401, 415), response.text
                if case.path == "/cstp" and token and response.status_code < 300:
                    assert_answers_calls(response)
                # JSON-RPC reports a wrong call inside an answer with status 200; the line above looks there.
                silent = ABOUT_DATA if token is None or case.path == "/cstp" else ()
                case.validate_response(response, checks=[check for check in PROMISED if check not in silent])

            try:
                answers()
            except Unsatisfiable:  # nothing can be wrong where there is nothing to give
                assert mode == GenerationMode.NEGATIVE
            except FailureGroup as group:
                found[operation.label] = "; ".join(str(one) for one in group.exceptions)[:2000]
            except AssertionError as problem:
                found[operation.label] = str(problem)[:2000]
    return found


def is_unicode(case: schemathesis.Case) -> bool:
    """Whether Unicode knows every character: schemathesis takes all of U+20D0 to U+20FF for `\\p{M}`, also U+20F3."""
    given = json.dumps([case.body, case.query, case.path_parameters], ensure_ascii=False, default=str)
    return all(unicodedata.category(letter) != "Cn" for letter in given)


def assert_answers_calls(response: Any) -> None:
    """Each call that is no notification has one answer, in order, with its id and either a result or an error."""
    try:
        body = msgspec.json.decode(response.request.body or b"")
    except (msgspec.MsgspecError, UnicodeDecodeError):
        assert (response.json()["id"], response.json()["error"]["code"]) == (None, PARSE_ERROR)
        return
    calls = body if isinstance(body, list) else [body]
    if not calls or len(calls) > MAX_BATCH:
        calls = [body]
    asked = [call for call in calls if not is_notification(call)]
    if not asked:
        assert (response.status_code, response.content) == (204, b"")
        return
    said = response.json()
    assert isinstance(said, list) == (isinstance(body, list) and calls == body)
    answers = said if isinstance(said, list) else [said]
    assert len(answers) == len(asked)
    for call, answer in zip(asked, answers, strict=True):
        assert answer["jsonrpc"] == "2.0"
        assert ("result" in answer) != ("error" in answer)
        if "error" in answer:
            assert answer["error"]["code"] in {*CODES.values(), INVALID_REQUEST, METHOD_NOT_FOUND}, answer
            assert answer["error"]["message"]
        if is_call(call):
            assert answer["id"] == call.get("id")
            assert answer.get("error", {}).get("code") != INVALID_REQUEST
            assert (answer.get("error", {}).get("code") == METHOD_NOT_FOUND) == (call["method"] not in SCOPES)
        else:
            assert answer["error"]["code"] == INVALID_REQUEST


def is_call(given: Any) -> bool:
    if not isinstance(given, dict) or given.get("jsonrpc") != "2.0" or not isinstance(given.get("method"), str):
        return False
    id = given.get("id")
    return not isinstance(id, bool) and isinstance(id, str | int | float | None)


def is_notification(given: Any) -> bool:
    return is_call(given) and "id" not in given


def test_every_operation_has_a_name_that_reads_well(memory: Memory) -> None:
    paths = document(make_app(Spaces(memory)))["paths"]
    names = [operation["operationId"] for path in paths.values() for operation in path.values()]
    assert len(names) == len(set(names)) > 60
    assert {"list_learnings", "get_decision", "merge_learning", "preview_injection", "undo"} <= set(names)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in names), names


def test_the_verbs_of_the_inbox_are_those_that_settle_something() -> None:
    assert set(get_args(Verb)) == {verb for verbs in EFFECTS.values() for verb in verbs}


def test_why_answers_with_every_kind_of_explanation_that_the_document_names(memory: Memory) -> None:
    kinds = [kind.__name__ for kind in get_args(AnyExplanation)]
    described = document(make_app(Spaces(memory)))["paths"]["/api/why/{id}"]["get"]["responses"]["200"]
    assert sorted(kinds) == sorted(re.findall(r"schemas/(\w+)", str(described)))


def test_the_document_names_every_method_of_json_rpc(memory: Memory) -> None:
    assert set(methods(memory)) == set(SCOPES)


def test_every_method_answers_whatever_its_parameters_are(memory: Memory, served: Served) -> None:
    """Parameters by the names and types of each method, or of a wrong type; often a decision that is there."""
    api = served.client("api")
    known = [each["id"] for each in api.get("/api/decisions").json()["decisions"]]
    odd = strategies.one_of(
        strategies.none(), strategies.booleans(), strategies.integers(), strategies.floats(-9, 9),
        strategies.text(max_size=20), strategies.lists(strategies.integers(), max_size=3),
        strategies.dictionaries(strategies.text(max_size=5), strategies.text(max_size=5), max_size=3),
    )  # fmt: skip
    names = {name: list(inspect.signature(method).parameters) for name, method in methods(memory).items()}
    fields = [*DecisionBody.model_fields, *ReviewBody.model_fields, *DecisionsWanted.model_fields]
    answered: set[tuple[str, bool]] = set()

    @seed(1)
    @settings(max_examples=20 * EXAMPLES, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        method=strategies.sampled_from(sorted(SCOPES)),
        id=strategies.one_of(strategies.integers(), strategies.text(max_size=5), strategies.none()),
        sure=strategies.fixed_dictionaries({}, optional=dict.fromkeys(fields, odd)),
        data=strategies.data(),
    )
    def answers(method: str, id: object, sure: dict[str, Any], data: strategies.DataObject) -> None:
        params: dict[str, Any] = data.draw(
            strategies.fixed_dictionaries({}, optional=dict.fromkeys(names[method], odd))
        )
        if data.draw(strategies.booleans()):
            params = {name: value for name, value in params.items() if name != "new"} | sure
        if "id" in names[method] and data.draw(strategies.booleans()):
            params["id"] = data.draw(strategies.sampled_from(known))
        call: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params, "id": id}
        response = requests.post(
            f"{served.url}/cstp", json=call, headers={"authorization": f"Bearer {served.secrets['api']}"}, timeout=30
        )
        assert_answers_calls(response)
        answered.add((method, "result" in response.json()))

    answers()
    assert {method for method, _ in answered} == set(SCOPES)


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_answer_is_one_that_the_document_describes(served: Served, mode: GenerationMode) -> None:
    assert broken(served, mode, "api") == {}


def test_without_a_token_every_operation_is_closed(served: Served) -> None:
    assert broken(served, GenerationMode.POSITIVE, None) == {}
