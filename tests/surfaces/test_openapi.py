"""The OpenAPI document holds: schemathesis makes requests from it, and every answer must be one that it describes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import get_args

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi import checks

from conftest import Opener
from recollect import Memory
from recollect.api.app import make_app
from recollect.api.bodies import Verb
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
                response = case.call(base_url=served.url, session=session, timeout=30, headers=headers)
                if token is None and case.path != "/health":
                    assert response.status_code in (400, 401, 415), response.text
                # JSON-RPC reports a wrong call inside an answer with status 200.
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


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_answer_is_one_that_the_document_describes(served: Served, mode: GenerationMode) -> None:
    assert broken(served, mode, "api") == {}


def test_without_a_token_every_operation_is_closed(served: Served) -> None:
    assert broken(served, GenerationMode.POSITIVE, None) == {}
