import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.api.bodies import snake
from recollect.api.rpc import MAX_BATCH, dispatch
from recollect.core.errors import BadInput, NotFound, Refused, Stale, StoreBusy

CALLS: list[str] = []


def add(*, first_number: int, second_number: int = 1) -> int:
    CALLS.append("add")
    return first_number + second_number


def failing(*, how: str) -> None:
    raise {
        "bad": BadInput("confidence must be a number"),
        "missing": NotFound("no decision dec_x"),
        "refused": Refused("already reversed"),
        "stale": Stale("changed"),
        "busy": StoreBusy("locked"),
        "bug": ZeroDivisionError("secret path /home/x"),
    }[how]


METHODS = {"math.add": add, "math.fail": failing}


def ask(request: Any) -> Any:
    raw = request if isinstance(request, bytes) else json.dumps(request).encode()
    answer = dispatch(raw, METHODS)
    return None if answer is None else json.loads(answer)


def call(method: str = "math.add", **rest: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "id": 1} | rest


@pytest.mark.parametrize("params", [{"firstNumber": 2, "secondNumber": 3}, {"first_number": 2, "second_number": 3}])
def test_parameters_are_named_in_camel_or_snake_case(params: dict[str, int]) -> None:
    assert ask(call(params=params)) == {"jsonrpc": "2.0", "id": 1, "result": 5}


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (b"{", -32700),
        (b"", -32700),
        (b"\xff", -32700),
        (b"[" * 200_000, -32700),
        (b'{"jsonrpc": "2.0", "method": "math.add", "params": {"firstNumber": NaN}, "id": 1}', -32700),
        ([], -32600),
        (5, -32600),
        ({"method": "math.add", "id": 1}, -32600),
        (call(jsonrpc="1.0"), -32600),
        (call(method=5), -32600),
        (call(id=True), -32600),
        (call(id={}), -32600),
        (call("math.none"), -32601),
        (call("__class__"), -32601),
        (call(params=[1, 2]), -32602),
        (call(params={}), -32602),
        (call(), -32602),
        (call(params={"firstNumber": 1, "third": 2}), -32602),
        (call(params={"firstNumber": 1, "first_number": 2}), -32602),
        (call(params=None), -32602),
        (call("math.fail", params={"how": "bad"}), -32602),
        (call("math.fail", params={"how": "missing"}), -32001),
        (call("math.fail", params={"how": "refused"}), -32002),
        (call("math.fail", params={"how": "stale"}), -32003),
        (call("math.fail", params={"how": "busy"}), -32000),
        (call("math.fail", params={"how": "bug"}), -32603),
        ([call()] * (MAX_BATCH + 1), -32600),
    ],
)
def test_each_fault_has_its_standard_code(request_: Any, code: int) -> None:
    answer = ask(request_)
    assert answer["error"]["code"] == code
    assert answer["jsonrpc"] == "2.0"


def test_a_fault_keeps_the_id_and_an_inner_error_tells_nothing_private() -> None:
    answer = ask(call("math.fail", params={"how": "bug"}, id="abc"))
    assert answer["id"] == "abc"
    assert "/home" not in answer["error"]["message"]


def test_a_notification_is_done_and_not_answered() -> None:
    CALLS.clear()
    notification = {"jsonrpc": "2.0", "method": "math.add", "params": {"firstNumber": 1}}
    assert ask(notification) is None
    assert ask([notification, notification]) is None
    assert CALLS == ["add"] * 3
    assert ask({"jsonrpc": "2.0", "method": "none"}) is None


def test_a_null_id_is_a_call_and_is_answered() -> None:
    assert ask(call(id=None, params={"firstNumber": 1})) == {"jsonrpc": "2.0", "id": None, "result": 2}


def test_a_batch_answers_each_call_and_one_bad_call_spoils_nothing() -> None:
    answers = ask(
        [call(id=1, params={"firstNumber": 1}), 7, call("none", id=2), call("math.fail", id=3, params={"how": "bug"})]
    )
    assert [(a["id"], a.get("result"), a.get("error", {}).get("code")) for a in answers] == [
        (1, 2, None),
        (None, None, -32600),
        (2, None, -32601),
        (3, None, -32603),
    ]


@pytest.mark.parametrize(
    ("given_", "made"), [("asOf", "as_of"), ("as_of", "as_of"), ("id", "id"), ("reviewIn2Weeks", "review_in2_weeks")]
)
def test_camel_case_becomes_snake_case(given_: str, made: str) -> None:
    assert snake(given_) == made


@given(st.binary(max_size=100))
def test_no_bytes_raise(data: bytes) -> None:
    dispatch(data, METHODS)
