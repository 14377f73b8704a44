"""Commands that tell hosts about the memory and take it back: the host part of init, uninstall, pause."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from recollect.cli.command import common
from recollect.cli.opening import find_project
from recollect.cli.output import emit
from recollect.hosts import setup
from recollect.hosts.flow import HOSTS
from recollect.hosts.quiet import PAUSED
from recollect.store.files import write_path
from recollect.store.project import Project


def tell_hosts(project: Project, hosts: Sequence[str], *, dry_run: bool) -> tuple[list[str], list[str]]:
    """Have hosts call us. Gives what was made or, for a dry run, the diffs; and what there is to say."""
    made, notes = [], []
    for host in hosts or setup.detected(project.root, os.environ):
        if host == "claude-code" and setup.has_plugin(project.root, os.environ):
            notes.append("claude-code has the plugin, which brings its own hooks: no file of the project is needed")
            doubled = setup.uninstalling(project, [host], os.environ)
            if dry_run:
                made += [change.diff() for change in doubled]
                continue
            setup.undo(project, [host], doubled)
            notes += [f"took our hooks and server out of {change.file}" for change in doubled]
            continue
        changes = setup.installing(project, host, os.environ, sys.executable)
        if dry_run:
            made += [change.diff() for change in changes]
            continue
        setup.apply(project, host, changes)
        made += [f"{change.file} ({host})" for change in changes]
    return made, notes


@click.command()
@click.option("--dry-run", is_flag=True, help="Show what would change, as a diff.")
@common
def uninstall(dry_run: bool, project: str | None, as_json: bool) -> None:
    """Take our hooks and servers out of every host's files. What is remembered stays."""
    found = find_project(project)
    changes = setup.uninstalling(found, HOSTS, os.environ)
    if dry_run:
        text = "".join(change.diff() for change in changes)
    else:
        setup.undo(found, HOSTS, changes)
        lines = [f"{'removed' if change.after is None else 'restored'} {change.file}" for change in changes]
        text = "\n".join([*(lines or ["nothing to do: no host was told about this memory"]), _STAYS])
    emit({"restored": [change.file for change in changes]}, text, as_json=as_json)


_STAYS = "what is remembered stays: recollect.toml, memory/ and .recollect/"


@click.command()
@click.option("--off", is_flag=True, help="Go on.")
@common
def pause(off: bool, project: str | None, as_json: bool) -> None:
    """Keep the hooks of this project silent: nothing is put in front of an agent, nothing is kept."""
    found = find_project(project)
    mark = found.data / PAUSED
    if off:
        mark.unlink(missing_ok=True)
    else:
        write_path(mark, "hooks are silent while this file is here; recollect pause --off removes it\n")
    text = "hooks answer again" if off else "hooks are silent; go on with: recollect pause --off"
    emit({"paused": not off}, text, as_json=as_json)
