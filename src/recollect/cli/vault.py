"""Commands about a team's vault: vault pull, vault push."""

from __future__ import annotations

import click

from recollect.cli.command import Group, common
from recollect.cli.opening import find_project
from recollect.cli.output import emit
from recollect.tend.mirror import Mirrored


@click.group(cls=Group)
def vault() -> None:
    """The vault of a team's store, mirrored to files and back."""


@vault.command("pull")
@click.option("--force", is_flag=True, help="Where both sides changed, take the team's text.")
@common
def vault_pull(force: bool, project: str | None, as_json: bool) -> None:
    """Bring the team's logs, nodes, findings and themes into the memory folder."""
    from recollect.memory.moving import pull_vault

    _report(pull_vault(find_project(project), force=force), pull=True, as_json=as_json)


@vault.command("push")
@click.option("--force", is_flag=True, help="Where both sides changed, take this folder's text.")
@common
def vault_push(force: bool, project: str | None, as_json: bool) -> None:
    """Bring what was changed in the memory folder to the team."""
    from recollect.memory.moving import push_vault

    _report(push_vault(find_project(project), force=force), pull=False, as_json=as_json)


def _report(done: Mirrored, *, pull: bool, as_json: bool) -> None:
    where, back, side = ("here", "push", "team") if pull else ("there", "pull", "folder")
    kept = "missing there, kept here" if pull else "missing here, kept in the store"
    lines = [f"wrote {path}" for path in done.written] + [f"removed {path}" for path in done.removed]
    lines += [f"newer {where}, left alone: {path}" for path in done.ahead]
    lines += [f"{kept}: {path}; bring it back with: recollect vault {back}" for path in done.missing]
    lines += [f"changed on both sides, left alone: {path}; --force takes the {side}'s" for path in done.conflicts]
    value = {name: getattr(done, name) for name in ("written", "removed", "ahead", "missing", "conflicts")}
    emit(value, "\n".join(lines) or "nothing to do: both sides are equal", as_json=as_json)
    if done.conflicts:
        raise click.exceptions.Exit(1)
