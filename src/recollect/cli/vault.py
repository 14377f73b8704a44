"""Commands about a team's vault: vault pull, vault push."""

from __future__ import annotations

import os
from pathlib import Path

import click

from recollect.cli.output import common, emit
from recollect.store import project as projects
from recollect.tend.mirror import Mirrored


@click.group()
def vault() -> None:
    """The vault of a team's store, mirrored to files and back."""


@vault.command("pull")
@click.option("--force", is_flag=True, help="Where both sides changed, take the team's text.")
@common
def vault_pull(force: bool, project: str | None, as_json: bool) -> None:
    """Bring the team's logs, nodes, findings and themes into the memory folder."""
    from recollect.memory.moving import pull_vault

    _report(pull_vault(projects.find(Path(project or "."), os.environ), force=force), "here", as_json=as_json)


@vault.command("push")
@click.option("--force", is_flag=True, help="Where both sides changed, take this folder's text.")
@common
def vault_push(force: bool, project: str | None, as_json: bool) -> None:
    """Bring what was changed in the memory folder to the team."""
    from recollect.memory.moving import push_vault

    _report(push_vault(projects.find(Path(project or "."), os.environ), force=force), "there", as_json=as_json)


def _report(done: Mirrored, where: str, *, as_json: bool) -> None:
    lines = [f"wrote {path}" for path in done.written] + [f"removed {path}" for path in done.removed]
    lines += [f"newer {where}, left alone: {path}" for path in done.ahead]
    lines += [f"changed on both sides, left alone: {path}" for path in done.conflicts]
    value = {"written": done.written, "removed": done.removed, "ahead": done.ahead, "conflicts": done.conflicts}
    emit(value, "\n".join(lines) or "nothing to do: both sides are equal", as_json=as_json)
    if done.conflicts:
        raise click.exceptions.Exit(1)
