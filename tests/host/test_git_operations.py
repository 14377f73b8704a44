"""Thirty things that git does to a repository, between sessions of the real Claude Code: the memory notices none.

After each of them every entry has its id and its words, and a session starts with the brief of the day. Here the real
program runs after every sixth; torture runs it after each.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from agents import claude
from hooks import shown
from repos import Repo
from scripted import Reply, Request, ScriptedServer
from shell import ROOT, Shell

PLUGIN = ROOT / "plugins" / "claude-code"
TODAY = datetime.now(UTC).date()
EVERY = 1 if os.environ.get("RECOLLECT_TORTURE") else 6

Step = Callable[[Repo], object]


def git(*arguments: str) -> Step:
    return lambda repo: repo.git(*arguments)


def commit(name: str) -> Step:
    return lambda repo: repo.commit(TODAY, {name: f"{name}\n"}, message=f"add {name}")


def clone_again(*options: str) -> Step:
    """The repository is deleted and cloned to the same place."""

    def step(repo: Repo) -> None:
        origin = repo.root.parent / f"origin-{len(list(repo.root.parent.iterdir()))}"
        repo.git("clone", "-q", "--bare", str(repo.root), str(origin))
        shutil.rmtree(repo.root)
        Repo(origin, init=False).git("clone", "-q", *options, f"file://{origin}", str(repo.root))

    return step


def bisect(repo: Repo) -> None:
    repo.git("bisect", "start", "HEAD", "HEAD~3")
    repo.git("bisect", "good")
    repo.git("bisect", "reset")


def submodule(repo: Repo) -> None:
    other = Repo(repo.root.parent / "library")
    other.commit(TODAY, {"lib.py": "pass\n"})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.root), "library")
    repo.git("commit", "-qm", "add a submodule")


def rewrite(repo: Repo) -> None:
    """Every commit gets another author, and so another hash: the first one too."""
    repo.git("filter-branch", "-f", "--env-filter", "export GIT_AUTHOR_NAME=Grace", "--", "--all")


OPERATIONS: list[tuple[str, Step]] = [
    ("commit", commit("a.py")),
    ("amend", git("commit", "-q", "--amend", "--allow-empty", "-m", "amended")),
    ("stash with untracked files", lambda repo: (repo.write("new.txt", "x"), repo.git("stash", "-u"))),
    ("stash pop", git("stash", "pop", "-q")),
    ("clean", git("clean", "-fdq")),
    ("clean with ignored files", git("clean", "-fdxq")),
    ("new branch", git("checkout", "-qb", "feature")),
    ("commit on the branch", commit("b.py")),
    ("back to main", git("checkout", "-q", "main")),
    ("a branch without our settings file", git("checkout", "-q", "plain")),
    ("commit there", commit("c.py")),
    ("main again", git("checkout", "-q", "main")),
    ("merge", git("merge", "-q", "--no-edit", "plain")),
    ("cherry-pick", git("cherry-pick", "feature")),
    ("revert", git("revert", "--no-edit", "HEAD")),
    ("reset to a commit", git("reset", "-q", "--hard", "HEAD~2")),
    ("detached", git("checkout", "-q", "--detach", "HEAD~1")),
    ("attached", git("checkout", "-q", "main")),
    ("rebase", lambda repo: (repo.git("checkout", "-q", "feature"), repo.git("rebase", "-q", "main"))),
    ("back from the rebase", git("checkout", "-q", "main")),
    ("worktree add", git("worktree", "add", "-q", "../linked", "plain")),
    ("worktree remove", git("worktree", "remove", "../linked")),
    ("bisect", bisect),
    ("submodule", submodule),
    ("tag and garbage collection", lambda repo: (repo.git("tag", "v1"), repo.git("gc", "-q", "--prune=now"))),
    ("settings file out of git and cleaned away", lambda repo: _without_settings(repo)),
    ("settings file from another commit", git("checkout", "-q", "v1", "--", "recollect.toml")),
    ("clone again", clone_again()),
    ("shallow clone", clone_again("--depth=1")),
    ("rewritten history", rewrite),
]


def _without_settings(repo: Repo) -> None:
    repo.git("rm", "-q", "--cached", "recollect.toml")
    repo.git("clean", "-fdxq")
    assert not (repo.root / "recollect.toml").exists()


@pytest.mark.parametrize("start", range(0, len(OPERATIONS), EVERY))
def test_git_operations_between_sessions_lose_nothing(bare: Shell, start: int) -> None:
    """Each case plays all operations before its own without the program, so that cases can run side by side."""
    del bare.environ["RECOLLECT_NOW"]
    repo = Repo(bare.folder)
    repo.commit(TODAY, {"app.py": "print()\n", ".gitignore": "*.log\n"})
    repo.git("branch", "plain")
    bare.said("init", "--space", "shop", "--timezone", "UTC")
    for number in range(4):
        repo.commit(TODAY, message=f"work {number}")
    learning = bare.learn()
    known: dict[str, str] = {}

    def script(request: Request) -> Reply:
        return Reply(text=f"Session {len(known) + 1} ordered the refunds by creation.")

    def session() -> str:
        """A session of Claude Code; gives what the model was told first."""
        asked = len(server.asked)
        prompt = f"Order the Stripe refund webhooks, part {len(known) + 1}"
        claude(bare, server, "-p", prompt, "--plugin-dir", str(PLUGIN))
        id = f"log/{TODAY}#{len(known) + 1}"
        known[id] = bare.said("get", id)
        assert f"Session {len(known)} ordered" in known[id]
        return f"{server.asked[asked].system}\n{server.asked[asked].conversation}"

    with ScriptedServer(script) as server:
        session()
        for _, operation in OPERATIONS[:start]:
            operation(repo)
        for name, operation in OPERATIONS[start : start + EVERY]:
            before = _brief(bare)
            operation(repo)
            assert {id: bare.said("get", id) for id in known} == known, name
            assert _brief(bare) == before, name
            assert bare.json("learn", "show", learning)["id"] == learning, name
        told = session()
    assert "Session 1 ordered the refunds" in told, "the brief tells what was done before"
    assert f"_ID: {learning}_" in told
    status = repo.git("status", "--porcelain")
    assert not [line for line in status.splitlines() if "recollect" in line and "recollect.toml" not in line], status
    assert "everything agrees" in bare.said("store", "verify")


def _brief(shell: Shell) -> str:
    payload = f'{{"session_id": "look", "cwd": "{shell.folder}", "source": "startup"}}'
    return shown(shell.said("hook", "SessionStart", "--host", "claude-code", stdin=payload))
