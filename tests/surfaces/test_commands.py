"""The table of commands: its help page."""

from __future__ import annotations

from typing import Any

import click
import pytest
from click.testing import CliRunner

from recollect.cli.command import OLD_NAMES, recollect
from shell import Shell

SCREEN = 45  # lines: a terminal window of a laptop


def test_old_command_names_run_and_name_the_new_one(shell: Shell) -> None:
    id = shell.learn()
    done = shell.run("around", id)
    assert done.returncode == 0
    assert id in done.stdout.decode()
    named = "recollect: around is now called get --around 3; the next version drops the old name\n"
    assert done.stderr.decode() == named
    for old in ("decisions", "backup", "tree", "verify", "themes list", "token list", "recall webhooks"):
        assert shell.run(*old.split()).returncode == 0, old


@pytest.mark.parametrize("new", sorted(set(OLD_NAMES.values())))
def test_the_new_name_of_every_old_one_is_a_command(new: str) -> None:
    place: Any = recollect
    for word in new.partition(" --")[0].split():
        place = place.get_command(click.Context(place), word)
        assert place is not None


def test_the_help_page_fits_a_screen() -> None:
    page = CliRunner().invoke(recollect, ["--help"]).output
    assert len(page.splitlines()) <= SCREEN
