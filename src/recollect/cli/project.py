"""Commands about the project as a whole: init, status, cycle, trust."""

from __future__ import annotations

import os
from pathlib import Path

import click

from recollect.cli.opening import actor_of, open_memory
from recollect.cli.output import common, emit
from recollect.core.errors import Refused
from recollect.memory import Memory
from recollect.store import project as projects
from recollect.tend.status import Status
from recollect.text.counting import counted, named


@click.command()
@click.option("--space", help="Name of the project in the store (made from the folder's name when not given).")
@click.option("--timezone", help="IANA time zone that decides which day it is (the machine's when not given).")
@click.option("--merge-driver", is_flag=True, help="Have git merge the staging file entry by entry.")
@common
def init(space: str | None, timezone: str | None, merge_driver: bool, project: str | None, as_json: bool) -> None:
    """Begin a memory in this folder. Run again, it only fills in what is missing."""
    root = Path(project or ".").resolve()
    made = Memory.begin(root, actor=actor_of(os.environ), space=space, timezone=timezone)
    if merge_driver:
        from recollect.store import merge_driver as driver

        made += driver.install(root, projects.load(root, os.environ).settings.staging.file)
    text = "\n".join(f"made {line}" for line in made) or "nothing to do: this folder already has a memory"
    emit({"made": made}, text, as_json=as_json)


@click.command()
@common
def status(project: str | None, as_json: bool) -> None:
    """Say what is remembered, what waits, and what works on words alone."""
    with open_memory(project) as memory:
        found = memory.status()
    lines = [
        f"space       {found.space} ({found.engine}: {found.store})",
        f"learnings   {', '.join(f'{count} {name}' for name, count in found.learnings.items())}",
        f"injections  {found.injections}, of them {found.verdicts['helpful']} helpful, "
        f"{found.verdicts['not_helpful']} not helpful",
        f"discoveries {found.discoveries}",
        f"decisions   {found.decisions['total']}, {found.decisions['unreviewed']} not reviewed",
        f"findings    {found.findings['findings']} in {counted(found.findings['files'], 'raw file')}, "
        f"{counted(found.findings['themes'], 'theme')}",
        *(f"skipped     {skipped.path}: {skipped.reason}" for skipped in found.skipped_findings),
        f"tree        fixed: {found.tree['fixed']:,}; "
        + "; ".join(f"{name}: {named(nodes)}" for name, nodes in _unsettled(found).items()),
        f"inbox       {found.inbox} waiting" + (" (see: recollect inbox)" if found.inbox else ""),
        f"spool       {found.spooled} waiting",
        f"models      {found.models}",
        f"embedder    {found.embedder}",
        f"vectors     {found.vectors['passages']} passages, {found.vectors['waiting']} waiting",
        f"you are     {found.actor.name} ({found.actor.trust})",
    ]
    emit(found, "\n".join(lines), as_json=as_json)


def _unsettled(found: Status) -> dict[str, tuple[str, ...]]:
    return {"tentative": found.tentative, "waiting": found.waiting, "incomplete": found.incomplete}


@click.command()
@common
def cycle(project: str | None, as_json: bool) -> None:
    """Do everything that is due. Nothing due is fine; run it as often as you like."""
    with open_memory(project) as memory:
        report = memory.cycle()
    text = "another process is at it" if report.held else "\n".join(f"{name}: {did}" for name, did in report.steps)
    emit(report, text, as_json=as_json)


@click.command()
@common
def trust(project: str | None, as_json: bool) -> None:
    """Allow this repository's recollect.toml, as it is now, to choose commands, endpoints and outside places."""
    if actor_of(os.environ).trust != "human":
        raise Refused("only a person may trust a repository's settings; read the file and run this yourself")
    file = projects.trust(projects.root_of(Path(project or ".")), os.environ)
    emit({"trusted": str(file)}, f"trusted {file} as it is now; a change to it asks again", as_json=as_json)
