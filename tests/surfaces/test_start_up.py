"""What a worker's process loads: `inject` is paid for on every task, `hook` on every prompt."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from shell import Shell

HEAVY = """click msgspec pydantic yaml re2 rich asyncio subprocess onnxruntime numpy psycopg fastapi mcp
  dataclasses inspect tomllib typing zoneinfo signal threading urllib.parse""".split()
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


def test_what_was_not_loaded_for_paths_is_there_for_whoever_asks(shell: Shell) -> None:
    asked = "from pathlib import Path; print(Path('/a b').as_uri(), file=sys.stderr)"
    asked += "; from urllib.parse import urlsplit; print(urlsplit('http://b/c').path, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", RUN + asked, *INJECT],
        cwd=shell.folder,
        env=shell.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.splitlines()[-2:] == ["file:///a%20b", "/c"]
