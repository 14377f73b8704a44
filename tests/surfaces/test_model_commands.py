"""`recollect model`, `pending`, `apply` and `--offline`, as a user and an agent type them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recollect import Memory
from scripted import Fault, Reply, ScriptedServer
from shell import Shell
from stored import everything_stored

DISCOVERY = "DISCOVERY[blocker]: The staging database refuses connections from CI."
KEY = "sk-ant-api03-AbCdEf0123456789"
AGENT = {"RECOLLECT_MODELS_PROVIDER": "agent"}


def endpoint(server: ScriptedServer) -> dict[str, str]:
    return {
        "RECOLLECT_MODELS_PROVIDER": "anthropic",
        "RECOLLECT_MODELS_MODEL": "m-1",
        "RECOLLECT_MODELS_BASE_URL": server.url,
        "RECOLLECT_MODELS_KEY_ENV": "MY_KEY",
        "RECOLLECT_MODELS_PRICE_IN": "3",
        "MY_KEY": KEY,
    }


def observe(shell: Shell, *before: str, **environ: str) -> None:
    shell.said(*before, "task", "observe", "--task", "t", "--outcome", "o", stdin=DISCOVERY, **environ)


def test_check_says_latency_and_cost(shell: Shell) -> None:
    with ScriptedServer([Reply(text="ready", input_tokens=1000, output_tokens=2)]) as server:
        found = shell.json("model", "check", **endpoint(server))
    (provider,) = found["models"]
    assert (provider["name"], provider["ok"], provider["cost"]) == ("anthropic:m-1", True, 0.003)
    assert provider["seconds"] > 0


def test_check_fails_when_a_provider_does_and_never_shows_the_key(shell: Shell) -> None:
    with ScriptedServer([Fault(status=401, message=f"bad key {KEY}")]) as server:
        done = shell.run("model", "check", **endpoint(server))
    assert done.returncode == 1
    assert b"HTTP 401" in done.stdout
    assert KEY.encode() not in done.stdout + done.stderr


def test_a_key_reaches_neither_store_nor_any_output(shell: Shell) -> None:
    with ScriptedServer(lambda _: Fault(status=400, message=f"no: {KEY}")) as server:
        environ = endpoint(server)
        observe(shell, **environ)
        shown = shell.said("status", "--json", **environ) + shell.said("cycle", **environ)
    assert KEY not in shown
    with Memory.open(shell.folder, environ=shell.environ) as memory:
        assert KEY.encode() not in everything_stored(memory)


def test_offline_calls_nothing_whatever_is_configured(shell: Shell) -> None:
    with ScriptedServer(["never"]) as server:
        observe(shell, "--offline", **endpoint(server))
        observe(shell, RECOLLECT_OFFLINE="1", **endpoint(server))
        assert shell.json("--offline", "model", "check", **endpoint(server))["models"] == []
    assert server.requests == []


def test_a_repositorys_file_configures_nothing_before_it_is_trusted(shell: Shell) -> None:
    with (shell.folder / "recollect.toml").open("a") as file:
        file.write('[models]\nprovider = "command"\ncommand = ["touch", "/tmp/never-touched-by-recollect"]\n')
    done = shell.run("status")
    assert (done.returncode, b"recollect host trust" in done.stderr) == (2, True)
    assert not Path("/tmp/never-touched-by-recollect").exists()


def test_an_agent_answers_what_is_pending(shell: Shell) -> None:
    observe(shell, **AGENT)
    (waiting,) = shell.json("model", "pending")["pending"]
    assert set(waiting) == {"id", "kind", "subject", "instructions", "sources", "max_tokens", "opened_at"}
    answer = {
        "title": "CI cannot reach staging", "context": "c", "observation": "o", "implication": "i", "action": "a",
        "tags": ["ci", "database"], "domain": "infrastructure",
    }  # fmt: skip
    given = json.dumps({"id": waiting["id"], "answer": json.dumps(answer)})
    assert shell.said("model", "apply", stdin=given) == f"{waiting['id']}  taken\n"
    assert shell.said("model", "pending") == "nothing waits\n"
    shell.said("cycle", **AGENT)
    assert [each["title"] for each in shell.json("learn", "list")["learnings"]] == ["CI cannot reach staging"]


@pytest.mark.parametrize(
    ("given", "code"),
    [("", 2), ("[1", 2), ("[" * 100_000, 2), ("[]", 0), ("5", 1), ('{"id": "ask_1", "answer": "x"}', 1), ("[{}]", 1)],
)
def test_apply_says_what_it_could_not_take(shell: Shell, given: str, code: int) -> None:
    done = shell.run("model", "apply", stdin=given)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr


def test_settings_that_cannot_hold_are_refused(shell: Shell) -> None:
    done = shell.run("status", RECOLLECT_MODELS_PROVIDER="gpt")
    assert (done.returncode, b"models.provider must be one of" in done.stderr) == (2, True)
