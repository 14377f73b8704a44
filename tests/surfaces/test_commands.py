"""The table of commands: its help page."""

from __future__ import annotations

from click.testing import CliRunner

from recollect.cli.app import recollect

SCREEN = 45  # lines: a terminal window of a laptop


def test_the_help_page_fits_a_screen() -> None:
    page = CliRunner().invoke(recollect, ["--help"]).output
    assert len(page.splitlines()) <= SCREEN
