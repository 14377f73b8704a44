"""Two processes that ask the same at once: one of them pays, both get the answer, neither blocks a writer."""

from __future__ import annotations

import json
import subprocess
import sys

from recollect import Memory
from scripted import Reply, ScriptedServer
from shell import Shell

ANSWER = {
    "title": "CI cannot reach the staging database",
    "context": "Running migrations from CI",
    "observation": "The staging database refuses connections from CI",
    "implication": "Migrations fail before they start",
    "action": "Allow the CI range first",
    "tags": ["ci", "database"],
    "domain": "infrastructure",
}


def test_two_processes_never_pay_for_the_same_ask_twice(shell: Shell) -> None:
    observe = (
        sys.executable,
        "-m",
        "recollect",
        "task",
        "observe",
        "--title",
        "Migrate",
        "--outcome",
        "launch",
        "--task",
    )
    with ScriptedServer([Reply(text=json.dumps(ANSWER), delay=3.0)] * 2) as server:
        environ = {
            **shell.environ,
            "RECOLLECT_MODELS_PROVIDER": "openai",
            "RECOLLECT_MODELS_MODEL": "m",
            "RECOLLECT_MODELS_BASE_URL": f"{server.url}/v1",
        }
        running = [
            subprocess.Popen([*observe, task], cwd=shell.folder, env=environ, stdin=subprocess.PIPE, text=True)
            for task in ("one", "other")
        ]
        for process in running:
            assert process.stdin is not None
            process.stdin.write("DISCOVERY[blocker]: The staging database refuses connections from CI.\n")
            process.stdin.close()
        with Memory.open(shell.folder, environ=shell.environ) as memory:
            meanwhile = memory.learn(
                title="Payout events carry no currency",
                context="Reading payout events",
                observation="The currency stands on the balance transaction only",
                implication="A payout alone cannot be booked",
                action="Fetch the balance transaction first",
            ).learning
        assert [process.wait(60) for process in running] == [0, 0]
    assert len(server.asked) == 1
    with Memory.open(shell.folder, environ=shell.environ) as memory:
        assert memory.learnings.get(meanwhile.id) == meanwhile
        learned = [each for each in memory.learnings.page()[0] if each.id != meanwhile.id]
        assert [(each.title, each.recurrence) for each in learned] == [(ANSWER["title"], 2)]
        used = memory.status().models.all_time
        assert (used.calls, used.fallbacks) == (1, 0)
