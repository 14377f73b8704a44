"""Learnings written in the user's editor; a small script stands for the editor."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from shell import Shell

FORM = """\
# a comment
title: Stripe webhooks arrive out of order
context: Billing
  and refunds
observation: note: an update may come first
implication: Order says nothing
action: Compare times
"""


def test_adding_opens_the_editor_on_a_form(shell: Shell) -> None:
    seen = shell.home / "seen"
    id = shell.json("learn", "add", "--tag", "stripe", EDITOR=_editor(shell, FORM, seen=seen))["id"]
    assert [line.partition(":")[0] for line in seen.read_text().splitlines() if not line.startswith("#")] == [
        *("title", "context", "observation", "implication", "action")
    ]
    learning = shell.json("learn", "show", id)
    assert learning["context"] == "Billing\nand refunds"
    assert learning["observation"] == "note: an update may come first"
    assert learning["tags"] == ["stripe"]
    assert _left_over(shell) == []


def test_editing_opens_the_editor_on_the_learning(shell: Shell) -> None:
    id = shell.learn()
    seen = shell.home / "seen"
    shell.said("learn", "edit", id, EDITOR=_editor(shell, FORM, seen=seen))
    assert "title: Stripe webhooks arrive out of order" in seen.read_text()
    assert shell.json("learn", "show", id)["action"] == "Compare times"
    assert _left_over(shell) == []


LINES = "Events:\r\n\n- # of tries  is kept\n  - nested\naction: none\n\nThe end"


def test_a_text_that_was_not_touched_keeps_its_lines(shell: Shell) -> None:
    id = shell.learn(observation=LINES)
    shell.said("learn", "edit", id, EDITOR=_editor(shell, None, also="sed -i 's/^title: .*/title: Stripe retries/' $1"))
    after = shell.json("learn", "show", id)
    assert (after["title"], after["observation"], after["version"]) == ("Stripe retries", LINES, 2)


def test_lines_that_are_typed_stay_lines(shell: Shell) -> None:
    id = shell.learn(observation=LINES)
    shell.said("learn", "edit", id, EDITOR=_editor(shell, None, also="sed -i 's/nested/moved/' $1"))
    assert shell.json("learn", "show", id)["observation"] == LINES.replace("nested", "moved").replace("\r", "")


def test_an_editor_that_fails_leaves_nothing_behind(shell: Shell) -> None:
    id = shell.learn()
    for command in (("learn", "add"), ("learn", "edit", id)):
        done = shell.run(*command, EDITOR=_editor(shell, None, also="exit 3"))
        assert (done.returncode, b"Editing failed; nothing was changed" in done.stderr) == (1, True)
    assert _left_over(shell) == []


def test_what_was_typed_before_the_editor_failed_is_kept_in_a_file(shell: Shell) -> None:
    id = shell.learn()
    also = "sed -i 's/^title: .*/title: Half a tit/' $1; exit 3"
    done = shell.run("learn", "edit", id, EDITOR=_editor(shell, None, also=also))
    error = done.stderr.decode()
    assert (done.returncode, "Editing failed; nothing was changed" in error) == (1, True)
    assert "title: Half a tit\n" in Path(error.rpartition("kept in ")[2].strip()).read_text()
    assert shell.json("learn", "show", id)["version"] == 1


@pytest.mark.parametrize("typed", [None, "", "# only a comment\n", "title:\ncontext:\n"])
def test_nothing_written_changes_nothing(shell: Shell, typed: str | None) -> None:
    id = shell.learn()
    for command in (("learn", "add"), ("learn", "edit", id)):
        done = shell.run(*command, EDITOR=_editor(shell, typed))
        assert (done.returncode, b"nothing was changed" in done.stderr) == (2, True)
    assert shell.json("learn", "show", id)["version"] == 1
    assert shell.json("learn", "list")["total"] == 1
    assert _left_over(shell) == []


@pytest.mark.parametrize(
    ("typed", "message"),
    [(FORM.replace("webhooks", "webhooks " * 20), "100 is the most"), (FORM.partition("action")[0], "--action")],
)
def test_what_cannot_be_used_is_kept_in_a_file(shell: Shell, typed: str, message: str) -> None:
    done = shell.run("learn", "add", EDITOR=_editor(shell, typed))
    error = done.stderr.decode()
    assert (done.returncode, message in error) == (2, True)
    assert ". What you typed is kept in" in error
    kept = Path(error.rpartition("kept in ")[2].strip())
    assert kept.read_text() == typed
    assert kept.stat().st_mode & 0o077 == 0


def test_an_edit_that_somebody_overtook_is_refused_and_kept(shell: Shell) -> None:
    id = shell.learn()
    overtake = f"{_recollect()} learn edit {id} --title Theirs"
    done = shell.run("learn", "edit", id, EDITOR=_editor(shell, FORM, also=overtake))
    error = done.stderr.decode()
    assert (done.returncode, "Nothing was overwritten" in error) == (1, True)
    assert Path(error.rpartition("kept in ")[2].strip()).read_text() == FORM
    assert shell.json("learn", "show", id)["title"] == "Theirs"


def test_a_form_that_was_saved_with_a_byte_order_mark_keeps_its_first_field(shell: Shell) -> None:
    id = shell.learn()
    shell.said(
        "learn", "edit", id, EDITOR=_editor(shell, "\ufeff" + "title: From another editor\naction: Compare times\n")
    )
    assert shell.json("learn", "show", id)["title"] == "From another editor"


def test_words_that_belong_to_no_field_are_refused_and_kept(shell: Shell) -> None:
    id = shell.learn()
    typed = "Title: Mine\naction: Compare times\n"
    done = shell.run("learn", "edit", id, EDITOR=_editor(shell, typed))
    error = done.stderr.decode()
    assert (done.returncode, "'Title: Mine' belongs to no field" in error) == (2, True)
    assert Path(error.rpartition("kept in ")[2].strip()).read_text() == typed
    assert shell.json("learn", "show", id)["version"] == 1


def test_a_version_that_is_not_the_present_one_is_refused_whatever_it_is(shell: Shell) -> None:
    id = shell.learn()
    done = shell.run("learn", "edit", id, "--version", "0", EDITOR=_editor(shell, FORM))
    assert (done.returncode, b"Nothing was overwritten" in done.stderr) == (1, True)


def _editor(shell: Shell, typed: str | None, *, seen: Path | None = None, also: str = "true") -> str:
    """An editor that keeps what it was shown, lets something else happen, and saves `typed`."""
    shell.environ["TMPDIR"] = str(shell.home / "tmp")
    (shell.home / "tmp").mkdir(exist_ok=True)
    text = shell.home / "typed"
    text.write_text(typed or "")
    save = f'cp {text} "$1"' if typed is not None else "true"
    script = shell.home / "editor"
    script.write_text(f'#!/bin/sh\ncp "$1" {seen or "/dev/null"}\n{also} >/dev/null\n{save}\n')
    script.chmod(0o755)
    return str(script)


def _recollect() -> str:
    return f"{sys.executable} -m recollect"


def _left_over(shell: Shell) -> list[str]:
    return [path.name for path in (shell.home / "tmp").iterdir()]


def test_without_a_terminal_and_an_editor_the_fields_are_asked_for(shell: Shell) -> None:
    done = shell.run("learn", "add")
    assert done.returncode == 2
    assert b"$EDITOR" in done.stderr
