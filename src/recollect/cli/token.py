"""Commands about tokens: new, list, revoke."""

from __future__ import annotations

import click

from recollect.cli.opening import open_memory
from recollect.cli.output import common, emit, table
from recollect.core.clock import iso
from recollect.core.token import TOKEN_CHANNELS, TRUST_OF, Token, TokenChannel


@click.group()
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
@common
def new(name: str, channel: TokenChannel, read_only: bool, project: str | None, as_json: bool) -> None:
    """Make a token. Its secret is shown now and never again."""
    with open_memory(project) as memory:
        made, secret = memory.tokens.new(name, channel=channel, read_only=read_only)
    text = f"made {made.name} ({_terms(made)}). Keep it secret; it is not shown again:\n{secret}"
    emit({**vars(made), "secret": secret}, text, as_json=as_json)


@token.command("list")
@common
def list_(project: str | None, as_json: bool) -> None:
    """List tokens, newest first. Secrets are not kept."""
    with open_memory(project) as memory:
        found = memory.tokens.list()
    rows = [
        (one.id, one.name, _terms(one), iso(one.created_at), iso(one.revoked_at) if one.revoked_at else "")
        for one in found
    ]
    text = table(("id", "name", "may", "made", "revoked"), rows) if rows else "no tokens; make one: recollect token new"
    emit({"tokens": found}, text, as_json=as_json)


@token.command()
@click.argument("name")
@common
def revoke(name: str, project: str | None, as_json: bool) -> None:
    """Refuse a token from now on, named by its name or id."""
    with open_memory(project) as memory:
        gone = memory.tokens.revoke(name)
    emit(gone, f"revoked {gone.name}", as_json=as_json)


def _terms(one: Token) -> str:
    return f"{'read' if one.read_only else 'read and write'} as {one.channel} ({TRUST_OF[one.channel]})"
