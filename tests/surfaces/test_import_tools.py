"""`recollect store import --from`: where each tool's memory is found, what is said, and how it ends."""

from __future__ import annotations

import re

import foreign
from shell import Shell


def test_claude_codes_memory_of_this_folder_is_found_by_itself(shell: Shell) -> None:
    slug = re.sub(r"[^0-9A-Za-z]", "-", str(shell.folder.resolve()))
    foreign.make(shell.home / ".claude" / "projects" / slug / "memory", foreign.CLAUDE_CODE)
    assert shell.said("store", "import", "--from", "claude-code") == "added 5 entries, trusted as external\n"


def test_claude_codes_own_setting_says_where_its_memory_is(shell: Shell) -> None:
    slug = re.sub(r"[^0-9A-Za-z]", "-", str(shell.folder.resolve()))
    foreign.make(shell.home / "elsewhere" / "projects" / slug / "memory", foreign.CLAUDE_CODE)
    said = shell.said("store", "import", "--from", "claude-code", CLAUDE_CONFIG_DIR=str(shell.home / "elsewhere"))
    assert said == "added 5 entries, trusted as external\n"


def test_claude_mems_database_is_found_by_itself_and_asked_for_this_folders_project(shell: Shell) -> None:
    foreign.claude_mem(shell.home / ".claude-mem" / "claude-mem.db", project=shell.folder.name)
    said = shell.said("store", "import", "--from", "claude-mem")
    assert said.splitlines()[0] == "added 4 entries and 1 learning, trusted as external"
    assert "passed over observation 4: claude-mem marked it as sensitive" in said


def test_a_preview_shows_each_piece_with_its_day_and_place(shell: Shell) -> None:
    notes = foreign.make(shell.folder / "notes", foreign.NOTES)
    said = shell.said("store", "import", "--from", "markdown", str(notes), "--dry-run")
    assert "entry     2026-01-20  Authentication Design  (Authentication Design.md)" in said
    assert "would add 2 entries and 1 learning, trusted as external" in said
    assert shell.json("store", "import", "--from", "markdown", str(notes), "--preview")["added"] == {
        "entry": 2,
        "learning": 1,
    }
    assert not list((shell.data / "memory").glob("*.md"))


def test_what_could_not_be_taken_ends_with_1(shell: Shell) -> None:
    notes = foreign.make(shell.folder / "notes", foreign.NOTES)
    (notes / "link.md").symlink_to("/etc/hostname")
    done = shell.run("store", "import", "--from", "markdown", str(notes))
    assert done.returncode == 1
    assert b"passed over link.md: a link, which is not followed" in done.stdout


def test_an_agent_may_not_vouch_for_what_comes_in(shell: Shell) -> None:
    notes = foreign.make(shell.folder / "notes", foreign.NOTES)
    done = shell.run("store", "import", "--from", "markdown", str(notes), "--trust", "agent", CLAUDECODE="1")
    assert done.returncode == 1
    assert b"only a person" in done.stderr


def test_bad_use_is_told_apart_from_nothing_to_do(shell: Shell) -> None:
    for arguments in ([], ["x.jsonl", "--preview"], [str(shell.folder)], ["--from", "markdown"],
                      ["--from", "claude-code"], ["--from", "claude-mem"]):  # fmt: skip
        done = shell.run("store", "import", *arguments)
        assert (done.returncode, done.stdout) == (2, b""), arguments
        assert len(done.stderr.splitlines()) == 1
