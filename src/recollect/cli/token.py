"""Commands about tokens: new, list, revoke."""

from __future__ import annotations

import click

from recollect.cli.command import Answer, Group, answers
from recollect.cli.output import table
from recollect.core.clock import iso
from recollect.core.token import TOKEN_CHANNELS, TRUST_OF, Token, TokenChannel
from recollect.memory import Memory


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
def new(memory: Memory, name: str, channel: TokenChannel, read_only: bool) -> Answer:
    """Make a token. Its secret is shown now and never again."""
    made, secret = memory.tokens.new(name, channel=channel, read_only=read_only)
    text = f"made {made.name} ({_terms(made)}). Keep it secret; it is not shown again:\n{secret}"
    return Answer({**vars(made), "secret": secret}, text)


@token.command("list")
@answers
def list_(memory: Memory) -> Answer:
    """List tokens, newest first. Secrets are not kept."""
    found = memory.tokens.list()
    rows = [
        (one.id, one.name, _terms(one), iso(one.created_at), iso(one.revoked_at) if one.revoked_at else "")
        for one in found
    ]
    text = table(("id", "name", "may", "made", "revoked"), rows) if rows else "no tokens; make one: recollect token new"
    return Answer({"tokens": found}, text)


@token.command()
@click.argument("name")
@answers
def revoke(memory: Memory, name: str) -> Answer:
    """Refuse a token from now on, named by its name or id."""
    gone = memory.tokens.revoke(name)
    return Answer(gone, f"revoked {gone.name}")


def _terms(one: Token) -> str:
    return f"{'read' if one.read_only else 'read and write'} as {one.channel} ({TRUST_OF[one.channel]})"
