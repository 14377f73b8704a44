"""`recollect mcp`: the memory for an MCP client, on standard input and output."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import click

from recollect.cli.opening import open_memory
from recollect.core.errors import NotInitialised, Trouble
from recollect.store import project as projects


@click.command()
@click.option("--project", metavar="DIR", help="Folder of the project, instead of the current one.")
def mcp(project: str | None) -> None:
    """Speak MCP on standard input and output, for one client. Nothing but the protocol is printed there."""
    found = projects.find(Path(project or "."), os.environ)
    if not projects.is_begun(found):  # a host starts this by itself, also in a clone that carries somebody else's store
        raise NotInitialised(f"you did not begin the memory in {found.root}; begin with: recollect init")
    with open_memory(project) as memory:
        try:
            from recollect.mcp.server import make_server
        except ImportError:
            raise Trouble("MCP needs its SDK; run: pip install 'recollect-memory[mcp]'") from None
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # the SDK reads in a thread that only the end of its input stops
        make_server(memory).run("stdio")
