"""What a worker's process loads: `inject` is paid for on every task, `hook` on every prompt."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from shell import Shell

HEAVY = """click msgspec pydantic yaml re2 rich asyncio subprocess onnxruntime numpy psycopg fastapi mcp
  dataclasses inspect tomllib typing zoneinfo signal threading""".split()
RUN = """
import sys
from recollect.__main__ import run
assert run(sys.argv[1:]) == 0
print(*sys.modules, file=sys.stderr)
"""


INJECT = ("inject", "--task", "TASK-2", "--outcome", "billing", "--title", "Stripe webhooks")
PROMPT = json.dumps({"session_id": "s-1", "prompt": "Stripe webhooks"})


@pytest.fixture(params=["inject", "hook"])
def loaded(shell: Shell, request: pytest.FixtureRequest) -> set[str]:
    """The modules of a process that found, printed and recorded a learning."""
    id = shell.learn()
    shell.inject("TASK-1")
    arguments = INJECT if request.param == "inject" else ("hook", "UserPromptSubmit", "--host", "claude-code")
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        input=PROMPT,
        cwd=shell.folder,
        env=shell.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert id in done.stdout
    assert shell.json("learn", "show", id)["times_injected"] == 2
    return set(done.stderr.split())


def test_a_prompt_loads_nothing_heavy(loaded: set[str]) -> None:
    assert "apsw" in loaded
    assert sorted(loaded & {*HEAVY, "hashlib"}) == []


@pytest.mark.parametrize("loaded", ["inject"], indirect=True)
def test_a_task_does_not_wait_for_the_patterns_of_json(loaded: set[str]) -> None:
    assert "json" not in loaded


def test_a_prompt_loads_no_room_it_does_not_need(loaded: set[str]) -> None:
    rooms = {name.split(".")[1] for name in loaded if name.startswith("recollect.")}
    assert not rooms & {"models", "capture", "distil", "feedback", "tend", "api", "mcp"}


def test_a_session_start_loads_nothing_heavy(shell: Shell) -> None:
    shell.said("log", "add", "Refunds go through the queue now.", "--topic", "refunds")
    shell.said("cycle")
    done = subprocess.run(
        [sys.executable, "-c", RUN, "hook", "SessionStart", "--host", "claude-code"],
        input=json.dumps({"session_id": "s-1", "source": "startup"}),
        cwd=shell.folder,
        env=shell.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Refunds go through the queue now." in done.stdout
    loaded = set(done.stderr.split())
    assert sorted(loaded & set(HEAVY)) == []
    assert not any(name.startswith("recollect.search") for name in loaded)


def test_the_list_of_mcp_tools_loads_nothing_heavy(shell: Shell) -> None:
    requests = (
        {"jsonrpc": "2.0", "id": id, "method": method} for id, method in enumerate(("initialize", "tools/list"))
    )
    done = subprocess.run(
        [sys.executable, "-c", RUN, "mcp"],
        input="".join(f"{json.dumps(request)}\n" for request in requests),
        cwd=shell.folder,
        env=shell.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"name": "search"' in done.stdout
    loaded = set(done.stderr.split())
    assert sorted(loaded & set(HEAVY)) == []
    assert not any(name.startswith(("recollect.search", "recollect.tend", "recollect.distil")) for name in loaded)


@pytest.mark.parametrize(
    ("line", "unwanted"),
    [
        ("--version", "click pathlib recollect.core.errors"),
        ("status", "yaml msgspec re2 rich recollect.distil recollect.text.compare recollect.hosts.install"),
        ("search webhooks", "yaml msgspec re2 rich subprocess recollect.tend recollect.distil recollect.text.compare"),
        ("cycle", "yaml msgspec re2 rich subprocess difflib recollect.hosts.install"),
    ],
)
def test_a_command_loads_only_what_it_uses(shell: Shell, line: str, unwanted: str) -> None:
    shell.learn()
    shell.said("cycle")  # the next one is idle
    done = subprocess.run(
        [sys.executable, "-c", RUN, *line.split()],
        cwd=shell.folder,
        env=shell.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = done.stderr.splitlines()[-1].split()
    assert sorted(set(loaded) & set(unwanted.split())) == []
