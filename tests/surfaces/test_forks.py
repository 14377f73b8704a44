"""A command as a fork of a warm process does what the same command does in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from shell import Shell

SAID = "A webhook that comes twice must not be booked twice"
COMMANDS = (
    ("--version",),
    ("--help",),
    ("status",),
    ("search", "webhook"),
    ("get", "learn_nosuchlearning"),
    ("no-such-command",),
    ("log", "add", "-"),
    ("log", "add", b"not \xff UTF-8"),
    ("learn", "list", "--json"),
    ("inject", "--task", "a", "--outcome", "b", "--title", "c"),
    ("inject", "--no-such-option"),
    ("hook", "SessionStart", "--host", "claude-code"),
    ("verify",),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(map(str, command))[:40])
def test_a_fork_says_what_a_process_says(command: tuple[str | bytes, ...], tmp_path: Path) -> None:
    said = []
    for processes in (True, False):
        folder = tmp_path / str(processes)
        folder.mkdir()
        shell = Shell(folder, processes=processes)
        shell.said("init", "--space", "shop", "--timezone", "UTC")
        done = shell.run(*command, stdin=SAID)
        said.append((done.returncode, *(text.replace(bytes(folder), b"") for text in (done.stdout, done.stderr))))
    assert said[0] == said[1]


def test_a_fork_has_its_own_environment_and_leaves_nothing_behind(bare: Shell) -> None:
    bare.processes = False
    bare.said("--offline", "init", "--space", "shop", "--timezone", "UTC")
    assert bare.run("status", folder=bare.home).returncode == 2
    id = bare.json("log", "add", "Deployed the shop", USER="grace")["id"]
    assert "grace" in bare.said("why", id)
