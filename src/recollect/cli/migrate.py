"""The command that moves a project's memory to another store."""

from __future__ import annotations

import os
import sys

import click

from recollect.cli.command import common
from recollect.cli.opening import find_project
from recollect.cli.output import emit
from recollect.core.clock import clock_from
from recollect.text.counting import counted


@click.command()
@click.option("--from", "source", required=True, metavar="STORE", help="`embedded`, or a postgresql:// address.")
@click.option("--to", "target", required=True, metavar="STORE", help="`embedded`, or a postgresql:// address.")
@click.option("--restart", is_flag=True, help="Empty what an unfinished move left in the target, and begin again.")
@common
def migrate(source: str, target: str, restart: bool, project: str | None, as_json: bool) -> None:
    """Move this project's memory to another store. The source is only read; a move that was stopped goes on."""
    from recollect.memory.moving import move_memory

    done = move_memory(
        find_project(project),
        source=source,
        target=target,
        clock=clock_from(os.environ),
        restart=restart,
        progress=_progress,
    )
    if sys.stderr.isatty():
        click.echo("\r\033[K", err=True, nl=False)
    total = sum(done.rows.values())
    upgraded = "upgraded to this program's schema after a backup, and else " if done.upgraded else ""
    text = (
        f"moved {counted(total, 'row')} and {counted(done.files, 'file')} from {done.source} to {done.target}; "
        "counts and hashes agree.\n"
        f"{done.source} was {upgraded}not changed. "
        + ("Unset RECOLLECT_STORE to use" if target == "embedded" else "Set RECOLLECT_STORE to use")
        + " the new one."
    )
    emit(done, text, as_json=as_json)


def _progress(what: str, done: int, of: int) -> None:
    """One line that moves on a terminal; in a log, a line when something is complete."""
    if sys.stderr.isatty():
        click.echo(f"\r\033[K{what}: {done:,} of {of:,}", err=True, nl=False)
    elif done == of and of:
        click.echo(f"{what}: {of:,}", err=True)
