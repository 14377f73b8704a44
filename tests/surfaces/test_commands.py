"""The table of commands: its help page."""

from __future__ import annotations

from click.testing import CliRunner

from recollect.cli.command import recollect
from shell import Shell

SCREEN = 45  # lines: a terminal window of a laptop


def test_an_old_command_name_is_none(shell: Shell) -> None:
    done = shell.run("recall", "webhooks")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"No such command 'recall'" in done.stderr


def test_the_help_page_fits_a_screen() -> None:
    page = CliRunner().invoke(recollect, ["--help"]).output
    assert len(page.splitlines()) <= SCREEN
