"""The help page of `recollect hook`, whose own reader loads no click."""

from __future__ import annotations

import click

from recollect.hosts.flow import HOSTS


@click.command()
@click.argument("event")
@click.option("--host", type=click.Choice(list(HOSTS)), required=True, help="Whose event it is.")
def hook(event: str, host: str) -> int:
    """Answer EVENT of an agent program: its JSON on standard input, our answer on standard output.

    Hosts call it; `recollect init --host HOST` tells them to. It always exits with 0.
    """
    from recollect.cli.hook import main

    return main([event, "--host", host])
