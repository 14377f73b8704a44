"""Commands about a team's store: db init.

The command that moves a project's memory to another store.

Commands about a team's vault: vault pull, vault push.

Commands about tokens: new, list, revoke.
"""

from __future__ import annotations

import os
from pathlib import Path

import click

from recollect.cli.command import Group, Output, answers, common, copying, emit, table
from recollect.cli.printing import find_project
from recollect.core.clock import iso
from recollect.core.token import TOKEN_CHANNELS, TRUST_OF, Token, TokenChannel
from recollect.memory import Memory
from recollect.tend.mirror import Mirrored
from recollect.text.sentences import counted


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
    from recollect.memory.admin import initialise_store, store_address

    url = store or store_address(Path(project or "."), os.environ)
    done = initialise_store(url, admin=admin)
    lines = [f"made {line}" for line in done.made] or ["nothing to do: the store is up to date"]
    emit(done, "\n".join([*lines, *done.notes]), as_json=as_json)


@click.command()
@click.option("--from", "source", required=True, metavar="STORE", help="`embedded`, or a postgresql:// address.")
@click.option("--to", "target", required=True, metavar="STORE", help="`embedded`, or a postgresql:// address.")
@common
def migrate(source: str, target: str, project: str | None, as_json: bool) -> None:
    """Copy this project's memory to another store, all of it or nothing. The source is only read."""
    from recollect.memory import admin

    with copying("migrated") as progress:
        done = admin.migrate(find_project(project), source=source, target=target, progress=progress)
    upgraded = "upgraded to this program's schema after a backup, and otherwise " if done.upgraded else ""
    text = (
        f"migrated {counted(sum(done.rows.values()), 'row')} and {counted(done.files, 'file')} from {done.source} to "
        f"{done.target}; counts and hashes agree.\n"
        f"{done.source} was {upgraded}not changed. "
        + ("Unset RECOLLECT_STORE to use" if target == "embedded" else "Set RECOLLECT_STORE to use")
        + " the new one."
    )
    emit(done, text, as_json=as_json)


@click.group(cls=Group)
def vault() -> None:
    """The vault of a team's store, mirrored to files and back."""


@vault.command("pull")
@click.option("--force", is_flag=True, help="Where both sides changed, take the team's text.")
@common
def vault_pull(force: bool, project: str | None, as_json: bool) -> None:
    """Bring the team's logs, nodes, findings and themes into the memory folder."""
    from recollect.memory.admin import pull_vault

    _report(pull_vault(find_project(project), force=force), pull=True, as_json=as_json)


@vault.command("push")
@click.option("--force", is_flag=True, help="Where both sides changed, take this folder's text.")
@common
def vault_push(force: bool, project: str | None, as_json: bool) -> None:
    """Bring what was changed in the memory folder to the team."""
    from recollect.memory.admin import push_vault

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


@click.group(cls=Group)
def token() -> None:
    """Make, list and revoke the tokens that programs show the server."""


@token.command()
@click.argument("name")
@click.option(
    "--channel",
    type=click.Choice(TOKEN_CHANNELS),
    default="api",
    show_default=True,
    help="What the holder is: api for agents, person for a program only you use, import for text from outside.",
)
@click.option("--read-only", is_flag=True, help="Refuse everything that would change the memory.")
@answers
def new(memory: Memory, name: str, channel: TokenChannel, read_only: bool) -> Output:
    """Make a token. Its secret is shown now and never again."""
    made, secret = memory.tokens.new(name, channel=channel, read_only=read_only)
    text = f"made {made.name} ({_terms(made)}). Keep it secret; it is not shown again:\n{secret}"
    return Output({**vars(made), "secret": secret}, text)


@token.command("list")
@answers
def list_(memory: Memory) -> Output:
    """List tokens, newest first. Secrets are not kept."""
    found = memory.tokens.list()
    rows = [
        (one.id, one.name, _terms(one), iso(one.created_at), iso(one.revoked_at) if one.revoked_at else "")
        for one in found
    ]
    text = table(("id", "name", "may", "made", "revoked"), rows) if rows else "no tokens; make one: recollect token new"
    return Output({"tokens": found}, text)


@token.command()
@click.argument("name")
@answers
def revoke(memory: Memory, name: str) -> Output:
    """Refuse a token from now on, named by its name or id."""
    gone = memory.tokens.revoke(name)
    return Output(gone, f"revoked {gone.name}")


def _terms(one: Token) -> str:
    return f"{'read' if one.read_only else 'read and write'} as {one.channel} ({TRUST_OF[one.channel]})"
