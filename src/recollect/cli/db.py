"""Commands about a team's store: db init."""

from __future__ import annotations

import os
from pathlib import Path

import click

from recollect.cli.command import Group, common
from recollect.cli.output import emit


@click.group(cls=Group)
def db() -> None:
    """A team's store on PostgreSQL."""


@db.command("init")
@click.option("--store", metavar="URL", help="The store to make (store.url or RECOLLECT_STORE when not given).")
@click.option(
    "--admin",
    metavar="URL",
    envvar="RECOLLECT_ADMIN",
    help="Address of somebody who may make databases and roles; also read from RECOLLECT_ADMIN.",
)
@common
def db_init(store: str | None, admin: str | None, project: str | None, as_json: bool) -> None:
    """Make a team's store, or bring its tables up to this program's. Run again, it only does what is missing."""
    from recollect.memory.moving import initialise_store, store_address

    url = store or store_address(Path(project or "."), os.environ)
    done = initialise_store(url, admin=admin)
    lines = [f"made {line}" for line in done.made] or ["nothing to do: the store is up to date"]
    emit(done, "\n".join([*lines, *done.notes]), as_json=as_json)
