"""The places of a memory: what git does to a working tree loses nothing, and no other place borrows a space."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from conftest import PERSON, Opener
from hooks import shown
from recollect import Memory, NotInitialised, Refused
from recollect.core.errors import BadInput
from recollect.store import project as projects
from recollect.store import register
from repos import Repo
from shell import Shell

DAY = date(2026, 3, 1)
SAID = "The refund webhook retries are idempotent now."


@pytest.fixture
def repo(bare: Shell) -> Repo:
    """A repository with a commit, whose settings file is committed on the branch that is checked out."""
    repo = Repo(bare.folder)
    repo.commit(DAY, {"app.py": "print()\n", ".gitignore": "*.log\n"})
    repo.git("branch", "plain")
    bare.said("init", "--space", "shop", "--timezone", "UTC")
    repo.commit(DAY)
    return repo


def session(shell: Shell, number: int, folder: Path | None = None) -> str:
    """A session by hooks; gives the brief it began with."""

    def fire(event: str, **given: Any) -> str:
        payload = json.dumps({"session_id": f"s-{number}", "cwd": str(folder or shell.folder), **given})
        return shell.said("hook", event, "--host", "claude-code", stdin=payload, folder=folder)

    brief = fire("SessionStart", source="startup")
    fire("UserPromptSubmit", prompt=f"Make the refund webhooks idempotent, part {number}")
    fire("Stop", last_assistant_message=f"{SAID} Part {number} is done.")
    fire("SessionEnd")
    fire("Cycle")
    return shown(brief) if brief else ""


def test_the_place_is_where_platformdirs_has_it(
    tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for given in ({}, {"XDG_DATA_HOME": str(tmp_path)}):
        monkeypatch.setenv("HOME", environ["HOME"])
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        assert projects.home_folder({**environ, **given}) == Path(platformdirs.user_data_dir("recollect"))
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("XDG_DATA_HOME")
    assert projects.home_folder({}) == Path(platformdirs.user_data_dir("recollect"))
    assert projects.home_folder({**environ, "RECOLLECT_HOME": "/srv/mine"}) == Path("/srv/mine")
    with pytest.raises(BadInput, match="absolute"):
        projects.home_folder({**environ, "RECOLLECT_HOME": "mine"})


def test_sessions_leave_nothing_of_ours_in_the_working_tree(bare: Shell, repo: Repo) -> None:
    for number in range(3):
        session(bare, number)
    assert repo.git("status", "--porcelain", "--ignored") == ""
    bare.said(
        "staged", "add", "Always retry uploads of the nightly export", "--body", "Uploads are retried three times."
    )
    assert repo.git("status", "--porcelain").split() == ["??", "memory/"]
    assert [path.name for path in (bare.folder / "memory").iterdir()] == ["learnings.md"]


def _stash(repo: Repo) -> None:
    repo.write("new.txt", "x")
    repo.git("stash", "-u")


def _clean(repo: Repo) -> None:
    repo.git("rm", "-q", "--cached", "recollect.toml")
    repo.git("clean", "-fdx", "-q")
    assert not (repo.root / "recollect.toml").exists()


def _branch(repo: Repo) -> None:
    repo.git("checkout", "-q", "plain")
    assert not (repo.root / "recollect.toml").exists()


def _clone_again(repo: Repo) -> None:
    other = repo.root.parent / "origin"
    repo.git("clone", "-q", "--bare", str(repo.root), str(other))
    shutil.rmtree(repo.root)
    other_repo = Repo(other, init=False)
    other_repo.git("clone", "-q", "-b", "plain", str(other), str(repo.root))


def _worktrees(repo: Repo) -> None:
    repo.git("worktree", "add", "-q", "../linked", "plain")
    repo.git("worktree", "remove", "../linked")


def _rebase(repo: Repo) -> None:
    repo.git("checkout", "-q", "plain")
    repo.commit(DAY, {"other.py": "pass\n"})
    repo.git("checkout", "-q", "main")
    repo.git("rebase", "-q", "plain")


def _bisect(repo: Repo) -> None:
    repo.git("bisect", "start", "HEAD", "plain")
    repo.git("bisect", "reset")
    repo.git("checkout", "-q", "--detach", "plain")


def _new_beginning(repo: Repo) -> None:
    """A history that was written anew, as by a filter."""
    repo.git("checkout", "-q", "--orphan", "fresh")
    repo.commit(DAY, {"fresh.py": "pass\n"})
    repo.git("branch", "-q", "-D", "main", "plain")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")


def _move_away_and_back(repo: Repo) -> None:
    aside = repo.root.rename(repo.root.parent / "aside")
    aside.rename(repo.root)


@pytest.mark.parametrize(
    "operation",
    [_stash, _clean, _branch, _clone_again, _worktrees, _rebase, _bisect, _new_beginning, _move_away_and_back],
)
def test_what_git_does_to_the_working_tree_loses_nothing(
    bare: Shell, repo: Repo, operation: Callable[[Repo], None]
) -> None:
    id = bare.learn()
    session(bare, 1)
    entry = bare.said("get", "log/2026-03-02#1")
    assert SAID in session(bare, 2)
    operation(repo)
    assert bare.json("learn", "show", id)["id"] == id
    assert bare.said("get", "log/2026-03-02#1") == entry
    assert SAID in session(bare, 3)
    assert "Part 3" in bare.said("get", "log/2026-03-02#3")
    assert "everything agrees" in bare.said("store", "verify")


def test_a_worktree_of_a_branch_without_settings_is_the_same_memory(bare: Shell, repo: Repo) -> None:
    id = bare.learn()
    repo.git("worktree", "add", "-q", "../linked", "plain")
    linked = bare.folder.parent / "linked"
    assert bare.json("learn", "show", id, folder=linked)["id"] == id
    session(bare, 1, folder=linked)
    assert Repo(linked, init=False).git("status", "--porcelain", "--ignored") == ""
    assert SAID in session(bare, 2)


def test_another_repository_at_the_same_path_is_a_stranger(bare: Shell, repo: Repo) -> None:
    session(bare, 1)
    settings = (bare.folder / "recollect.toml").read_text()
    shutil.rmtree(bare.folder)
    stranger = Repo(bare.folder)
    stranger.commit(DAY, {"other.txt": "another beginning"})
    assert b"recollect init" in bare.run("search", "refund").stderr
    (bare.folder / "recollect.toml").write_text(settings)
    done = bare.run("search", "refund")
    assert (done.returncode, done.stdout) == (2, b"")
    assert session(bare, 2) == ""


def test_a_moved_repository_is_recognised_without_a_settings_file(bare: Shell, repo: Repo) -> None:
    id = bare.learn()
    repo.git("checkout", "-q", "plain")
    moved = bare.folder.rename(bare.folder.parent / "moved")
    assert bare.json("learn", "show", id, folder=moved)["id"] == id
    places = register.read(projects.home_folder(bare.environ))
    assert [place.shown for place in places] == [str(moved)]


def test_a_folder_that_becomes_a_repository_is_the_same_place(shell: Shell) -> None:
    id = shell.learn()
    repo = Repo(shell.folder)
    assert shell.json("learn", "show", id)["id"] == id
    repo.commit(DAY)
    assert shell.json("learn", "show", id)["id"] == id
    _clone_again_with_settings(repo)
    assert shell.json("learn", "show", id)["id"] == id


def _clone_again_with_settings(repo: Repo) -> None:
    other = repo.root.parent / "origin"
    repo.git("clone", "-q", "--bare", str(repo.root), str(other))
    shutil.rmtree(repo.root)
    Repo(other, init=False).git("clone", "-q", str(other), str(repo.root))


def test_parts_of_one_repository_have_memories_of_their_own(bare: Shell) -> None:
    repo = Repo(bare.folder)
    repo.commit(DAY, {"one/a.txt": "a", "two/b.txt": "b"})
    for name in ("one", "two"):
        bare.said("init", "--space", name, folder=bare.folder / name)
        bare.said("log", "add", f"A note for {name}", folder=bare.folder / name)
    repo.git("clean", "-fdxq")
    for name in ("one", "two"):
        (bare.folder / name / "deep").mkdir()
        assert bare.json("status", folder=bare.folder / name / "deep")["space"] == name
    assert bare.run("status").returncode == 2


# A space belongs to the places that began it


@pytest.fixture
def stranger(shell: Shell, tmp_path: Path) -> Path:
    """A repository of somebody else whose settings file names a space of mine."""
    shell.learn(title="Where the vault payment keys are")
    hostile = Repo(tmp_path / "hostile")
    hostile.commit(DAY, {"recollect.toml": 'space = "shop"\ntimezone = "UTC"\n', "code.py": "print()\n"})
    return hostile.root


@pytest.mark.parametrize(
    "command",
    [
        ("search", "payment keys"),
        ("inject", "--task", "t", "--outcome", "o", "--title", "Where the vault payment keys are"),
        ("status",),
        ("learn", "add", "--title", "Poison"),
        ("log", "add", "Poison"),
        ("store", "export"),
        ("serve", "--port", "0"),
        ("rpc",),
        ("doctor",),
        ("open",),
        ("store", "restore", "x.db"),
        ("host", "pause"),
    ],
    ids=lambda command: "-".join(command[:2]),
)
def test_a_strangers_settings_file_reads_no_memory_of_mine(
    shell: Shell, stranger: Path, command: tuple[str, ...]
) -> None:
    before = shell.said("store", "export")
    done = shell.run(*command, folder=stranger, stdin="{}")
    assert (done.returncode, done.stdout) == (2, b"")
    assert f"space shop belongs to {shell.folder}" in done.stderr.decode()
    assert b"recollect init" in done.stderr
    assert shell.said("store", "export") == before


def test_the_mcp_server_offers_a_strangers_repository_only_a_beginning(shell: Shell, stranger: Path) -> None:
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "search", "arguments": {"query": "keys"}},
        },
    ]
    done = shell.run("mcp", folder=stranger, stdin="".join(f"{json.dumps(one)}\n" for one in asked))
    listed, called = (json.loads(line) for line in done.stdout.splitlines())
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["begin"]
    assert "payment" not in json.dumps(called)


def test_hooks_are_silent_in_a_strangers_repository(shell: Shell, stranger: Path) -> None:
    assert session(shell, 1, folder=stranger) == ""
    assert not (shell.data / "memory").exists()


def test_python_joins_no_space_that_another_place_began(shell: Shell, stranger: Path) -> None:
    with pytest.raises(NotInitialised, match="belongs to"):
        Memory.open(stranger, environ=shell.environ)
    with pytest.raises(Refused, match=r"holds 1 learning.*recollect init --join"):
        Memory.open(stranger, create=True, environ=shell.environ)


@pytest.mark.parametrize("engine", ["postgres"])
def test_a_space_that_colleagues_began_on_the_server_is_joined_by_a_person_only(
    open_memory: Opener, tmp_path: Path, environ: dict[str, str]
) -> None:
    memory = open_memory(PERSON)
    memory.journal.add(text="Rotate the vault payment keys")
    colleague = {**environ, "HOME": str(tmp_path / "colleague")}
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    (hostile / "recollect.toml").write_text(f'space = "{memory.context.space}"\n')
    with pytest.raises(NotInitialised, match="you did not begin a memory"):
        Memory.open(hostile, environ=colleague)
    with pytest.raises(Refused, match=r"holds 0 learnings and 1 log entry.*used by no place of yours"):
        Memory.open(hostile, create=True, environ=colleague)


def test_only_a_person_adds_a_place_to_a_space(shell: Shell, stranger: Path) -> None:
    for flags in ((), ("--join",)):
        done = shell.run("init", *flags, folder=stranger, CLAUDECODE="1")
        assert (done.returncode, b"Only a person" in done.stderr) == (1, True)
    done = shell.run("init", folder=stranger)
    assert done.returncode == 1
    said = done.stderr.decode()
    assert f"Space shop holds 1 learning and 0 log entries. ada began it. It is used by {shell.folder}." in said
    assert "recollect init --join" in said
    assert shell.run("status", folder=stranger).returncode == 2
    assert "an entry in your register" in shell.said("init", "--join", folder=stranger)
    assert shell.json("search", "payment keys", folder=stranger)["total"] == 1


def test_a_place_that_left_is_refused_until_init_adds_it_again(shell: Shell, stranger: Path) -> None:
    shell.said("init", "--join", folder=stranger)
    assert shell.json("learn", "list", folder=stranger)["total"] == 1
    refused = shell.run("store", "leave", str(stranger), CLAUDECODE="1")
    assert (refused.returncode, b"only a person" in refused.stderr) == (1, True)
    assert shell.json("store", "leave", str(stranger)) == {"left": str(stranger)}
    assert shell.run("learn", "list", folder=stranger).returncode != 0
    again = shell.run("store", "leave", str(stranger))
    assert (again.returncode, b"does not use this memory" in again.stderr) == (1, True)
    assert shell.json("learn", "list")["total"] == 1


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 1)])
def test_init_asks_a_person_at_a_terminal(shell: Shell, stranger: Path, answer: bytes, code: int) -> None:
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            [sys.executable, "-m", "recollect", "init"],
            cwd=stranger,
            env=shell.environ,
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as run:
            os.write(ours, answer)
            said = run.communicate(timeout=60)[1].decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert (run.returncode, "Space shop holds 1 learning" in said) == (code, True)
    assert shell.run("status", folder=stranger).returncode == (0 if code == 0 else 2)


def test_a_second_clone_without_settings_is_offered_the_space_of_the_first(bare: Shell, repo: Repo) -> None:
    id = bare.learn()
    other = bare.folder.parent / "other"
    repo.git("clone", "-q", "-b", "plain", str(bare.folder), str(other))
    done = bare.run("init", folder=other)
    assert (done.returncode, b"is a clone of the same repository and uses space shop" in done.stderr) == (0, True)
    assert bare.json("status", folder=other)["space"] != "shop"
    third = bare.folder.parent / "third"
    repo.git("clone", "-q", "-b", "plain", str(bare.folder), str(third))
    bare.said("init", "--join", folder=third)
    assert bare.json("learn", "show", id, folder=third)["id"] == id


def test_a_file_in_place_of_git_borrows_no_memory(bare: Shell, repo: Repo) -> None:
    """An archive brings what a clone cannot: a `.git` that leads into another repository."""
    bare.learn(title="Where the vault payment keys are")
    repo.git("worktree", "add", "-q", "../linked", "plain")
    for number, made in enumerate((_gitdir("../shop/.git"), _gitdir("../shop/.git/worktrees/linked"), _git_link)):
        hostile = bare.folder.parent / f"hostile-{number}"
        hostile.mkdir()
        made(hostile)
        for settings in (None, 'space = "shop"\n'):
            if settings:
                (hostile / "recollect.toml").write_text(settings)
            done = bare.run("search", "payment keys", folder=hostile)
            assert (done.returncode, done.stdout) == (2, b""), number


def _gitdir(target: str) -> Callable[[Path], object]:
    return lambda folder: (folder / ".git").write_text(f"gitdir: {target}\n")


def _git_link(folder: Path) -> None:
    (folder / ".git").symlink_to("../shop/.git")


def test_a_pulled_settings_file_cannot_switch_to_another_space_of_mine(shell: Shell, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    shell.said("init", "--space", "other", folder=other)
    (other / "recollect.toml").write_text('space = "shop"\n')
    done = shell.run("status", folder=other)
    assert (done.returncode, b"space shop belongs to" in done.stderr) == (2, True)


def test_a_register_that_cannot_be_read_says_what_to_do(shell: Shell) -> None:
    file = projects.home_folder(shell.environ) / register.FILE
    good = file.read_text()
    for bad in ("", "{", '{"places": [{}]}', '{"places": 1}'):
        file.write_text(bad)
        done = shell.run("status")
        assert (done.returncode, b"move the file away" in done.stderr) == (3, True), bad
    file.unlink()
    assert shell.run("status").returncode == 2
    shell.said("init", "--join")
    shell.said("status")
    file.write_text(good)


def test_two_homes_that_share_a_folder_have_memories_of_their_own(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "container").mkdir()
    other = {"HOME": str(tmp_path / "container")}
    id = shell.learn()
    assert shell.run("status", **other).returncode == 2
    shell.said("init", **other)
    assert shell.run("learn", "show", id, **other).returncode == 1
    assert shell.json("learn", "show", id)["id"] == id


def test_a_container_that_mounts_the_data_folder_shares_the_memory_at_another_path(
    bare: Shell, repo: Repo, tmp_path: Path
) -> None:
    """As a devcontainer does: the repository under another path, another home, other programs."""
    repo.commit(date(2026, 3, 1), {"a.py": "pass\n"})
    bare.said("init", "--space", "shop", "--timezone", "UTC", "--host", "claude-code")
    id, here = bare.learn(), bare.folder
    mounted = here.rename(tmp_path / "workspaces")
    inside: dict[str, Any] = {"folder": mounted, "HOME": str(tmp_path / "container")}
    command = json.loads((mounted / ".claude/settings.local.json").read_text())["hooks"]["Stop"][0]["hooks"][0][
        "command"
    ]
    done = subprocess.run(["/bin/sh", "-c", command], env={"HOME": inside["HOME"]}, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), (
        "no Recollect there: the host's hooks are silent"
    )
    start = json.dumps({"session_id": "s-1", "source": "startup", "cwd": str(mounted)})
    told = json.loads(bare.said("hook", "SessionStart", "--host", "claude-code", stdin=start, **inside))
    assert "not on this machine" in told["systemMessage"]
    assert "hookSpecificOutput" not in told
    inside["RECOLLECT_HOME"] = str(bare.home / ".local/share/recollect")
    told = json.loads(bare.said("hook", "SessionStart", "--host", "claude-code", stdin=start, **inside))
    assert told["systemMessage"] == "Recollect: 1 learning"
    assert bare.json("learn", "show", id, **inside)["id"] == id
    mounted.rename(here)
    assert bare.json("learn", "show", id)["id"] == id, "and the owner finds it as before"


def test_a_clone_is_told_of_themes_that_its_store_does_not_know(shell: Shell, tmp_path: Path) -> None:
    with (shell.folder / "recollect.toml").open("a") as settings:
        settings.write('[findings]\nfolder = "findings"\n')
    for number in range(5):
        shell.said("theme", "finding", "add", f"The build cache key misses hash {number}", "--work", f"wu-{number}")
    shell.said("theme", "run")
    (tmp_path / "other").mkdir()
    there: dict[str, Any] = {"folder": tmp_path / "clone", "HOME": str(tmp_path / "other")}
    shutil.copytree(shell.folder, tmp_path / "clone")
    shell.said("init", **there)
    assert "theme run --always" in shell.said("theme", "list", **there)
    shell.said("theme", "run", "--always", **there)
    assert shell.said("theme", "list", **there) == shell.said("theme", "list")


def test_open_prints_the_folder_of_the_memory(shell: Shell) -> None:
    assert shell.said("open") == f"{shell.data}\n"
    assert shell.json("open") == {"folder": str(shell.data)}


def test_status_and_doctor_tell_the_places_and_a_missing_settings_file(bare: Shell, repo: Repo) -> None:
    found = bare.json("status")
    assert (found["folder"], found["places"]) == (str(bare.data), [str(bare.folder)])
    assert "nothing is wrong" in bare.said("doctor")
    repo.git("checkout", "-q", "plain")
    assert "recollect.toml: it is missing" in bare.said("doctor")
    other = bare.folder.parent / "other"
    repo.git("clone", "-q", "-b", "main", str(bare.folder), str(other))
    bare.said("init", "--join", folder=other)
    shutil.rmtree(other)
    assert f"{other}: it uses this memory and is not there" in bare.said("doctor")


def test_a_folder_without_git_is_known_without_its_settings_file(bare: Shell) -> None:
    bare.said("init", "--space", "shop", "--timezone", "UTC")
    bare.said("log", "add", SAID)
    (bare.folder / "recollect.toml").unlink()
    assert SAID in bare.said("get", "log/2026-03-02#1")
    assert "made recollect.toml (space shop, time zone UTC)" in bare.said("init")
    (bare.folder / "recollect.toml").unlink()
    bare.folder.rename(bare.folder.with_name("elsewhere"))
    bare.folder.mkdir()
    assert bare.run("status").returncode == 2, "another folder at the same path is not known by its path alone"


def test_doctor_tells_that_git_took_a_hosts_files_away(bare: Shell, repo: Repo) -> None:
    bare.said("init", "--host", "claude-code")
    assert "host claude-code" not in bare.said("doctor")
    repo.git("clean", "-fdxq")
    told = bare.said("doctor")
    assert "notice: host claude-code: does not use this memory here: no .claude/settings.local.json" in told
    assert "do: recollect init --host claude-code" in told
    probed = bare.run("doctor", "--host", "claude-code").stdout.decode()
    assert probed.startswith("claude-code is not set up for this memory; run: recollect init --host claude-code")


def test_a_refused_place_is_told_how_to_get_a_memory_of_its_own(shell: Shell, stranger: Path) -> None:
    for command in (["status"], ["init"]):
        told = shell.run(*command, folder=stranger).stderr.decode()
        assert "For a separate memory, change the space in recollect.toml" in told
    assert "would ask whether" in shell.said("init", "--dry-run", folder=stranger)
    (stranger / "recollect.toml").write_text('space = "mine"\ntimezone = "UTC"\n')
    shell.said("init", folder=stranger)
