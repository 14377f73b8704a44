"""The table of commands: its help page, and the names that commands had before."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from recollect.cli.app import COMMANDS, RENAMED, recollect
from shell import Shell

SCREEN = 45  # lines: a terminal window of a laptop


def test_the_help_page_fits_a_screen() -> None:
    page = CliRunner().invoke(recollect, ["--help"]).output
    assert len(page.splitlines()) <= SCREEN
    assert not [name for name in RENAMED if f"\n  {name} " in page]


@pytest.mark.parametrize("old", [name for name in RENAMED if name != "merge-driver"])
def test_an_old_name_runs_and_names_the_new_one(old: str) -> None:
    done = CliRunner().invoke(recollect, [old, "--help"])
    new = " ".join(RENAMED[old])
    assert (done.exit_code, done.stderr) == (0, f"`recollect {old}` is now `recollect {new}`.\n")
    assert done.stdout.startswith(f"Usage: recollect {new.split(' --')[0]} [OPTIONS]")
    assert old not in COMMANDS


def test_an_old_name_prints_and_exits_as_the_new_one(shell: Shell) -> None:
    id = shell.json("decide", "Use SQLite because it is one file", "--confidence", "0.8", "--category", "storage")["id"]
    calls = {
        ("decisions",): ("decision", "list", "--levels"),
        ("decisions", "--list"): ("decision", "list"),
        ("review-queue",): ("decision", "due", "--all"),
        ("review-queue", "--due"): ("decision", "due"),
        ("around", id, "--before", "1", "--after", "0"): ("get", id, "--around", "1"),
        ("verify", "nowhere.db"): ("store", "verify", "nowhere.db"),
    }
    for old, new in calls.items():
        was, now = shell.run(*old), shell.run(*new)
        note, *errors = was.stderr.splitlines(keepends=True)
        assert (was.returncode, was.stdout, b"".join(errors)) == (now.returncode, now.stdout, now.stderr)
        assert note.startswith(b"`recollect " + old[0].encode() + b"` is now `recollect ")


def test_git_calls_the_merge_driver_by_its_old_name_without_a_word(shell: Shell) -> None:
    for name in ("base", "ours", "theirs"):
        (shell.folder / name).write_text("# Learnings\n\n## Pin the tools\n\nThey float.\n")
    assert shell.said("merge-driver", "base", "ours", "theirs") == ""
