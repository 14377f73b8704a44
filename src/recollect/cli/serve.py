"""`recollect serve`: one process on loopback with REST, JSON-RPC, MCP and the page; it also does the daily cycle.

`recollect mcp`: the memory for an MCP client, on standard input and output.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.printing import actor_of, open_memory
from recollect.core.context import Actor
from recollect.core.errors import BadInput, NotInitialised, RecollectError, StoreBusy, Trouble
from recollect.memory import Memory
from recollect.store import project as projects
from recollect.store.files import held

if TYPE_CHECKING:
    from recollect.api.app import Neighbour

STOP_SECONDS = 5
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 takes any free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--expose", is_flag=True, help="Allow an address that other machines can reach.")
@click.option(
    "--allow-host", "names", multiple=True, metavar="NAME", help="A name the server goes by, as a proxy sends it."
)
@click.option("--no-cycle", is_flag=True, help="Leave the daily cycle to something else.")
@click.option("--project", metavar="DIR", help="Folder of the project, instead of the current one.")
def serve(
    port: int | None, host: str, expose: bool, names: tuple[str, ...], no_cycle: bool, project: str | None
) -> None:
    """Serve this project's memory: REST, JSON-RPC, MCP and a page for its owner. Ctrl-C stops it."""
    if host not in LOOPBACK and not expose:
        raise BadInput(
            f"{host} can be reached by other machines: whoever finds it may try tokens and codes, and nothing is "
            "encrypted. Put a TLS proxy in front of loopback instead (docs/serve.md), or say --expose"
        )
    try:
        from recollect.api.app import make_app, make_server
    except ImportError:
        raise Trouble("the server needs its packages; run: pip install 'recollect-memory[serve]'") from None
    starter = actor_of(os.environ)
    with open_memory(project) as memory:
        settings = memory.context.settings.serve
        listening = _listen(host, settings.port if port is None else port)
        address = f"http://{_in_address(host)}:{listening.getsockname()[1]}"
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # SIGTERM ends the server as Ctrl-C does
        with suppress(KeyboardInterrupt), listening, _only_server(memory, address):
            _say(f"serving {memory.context.space} at {address}; Ctrl-C stops it")
            if starter.trust != "human":
                _say(f"started by {starter.name}, so nobody can sign in to the page; start it from your own terminal")
            app = make_app(
                memory,
                person=starter.name,
                hosts=frozenset({*names, _in_address(host)}),
                announce=partial(_announce, address) if starter.trust == "human" else None,
                neighbours=mcp_endpoint(memory),
            )
            with nullcontext() if no_cycle else _cycling(memory):
                make_server(app, head_seconds=settings.body_seconds).run(sockets=[listening])


def mcp_endpoint(memory: Memory) -> dict[str, Neighbour]:
    """MCP at its address, where its SDK is installed."""
    from recollect.api.auth import caller

    try:
        from recollect.mcp.server import PATH, endpoint
    except ImportError:
        return {}
    return {PATH: endpoint(memory, caller)}


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, or asyncio does not switch Nagle's algorithm off and every answer takes 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(512)
    except OSError as error:
        listening.close()
        raise Trouble(f"cannot listen on {host}:{port}: {error.strerror}; choose another with --port") from None
    return listening


@contextmanager
def _only_server(memory: Memory, address: str) -> Iterator[None]:
    """One server per project and machine: two would print two codes and run two timers."""
    try:
        with held(memory.project.data / "serve.lock", f"{address} (process {os.getpid()})"):
            yield
    except StoreBusy as other:
        raise Trouble(f"this project is served already at {other}") from None


@contextmanager
def _cycling(memory: Memory) -> Iterator[None]:
    """The daily cycle, at once and then every so often, in a thread of its own."""
    stop = threading.Event()
    timer = memory.acting_as(Actor(name="serve", channel="timer", trust="agent"))
    seconds = memory.context.settings.serve.cycle_hours * 3600

    def run() -> None:
        while True:
            try:
                timer.cycle()
            except RecollectError as error:
                _say(f"the cycle did not finish: {error}")
            if stop.wait(seconds):
                return

    thread = threading.Thread(target=run, name="cycle", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(STOP_SECONDS)  # a cycle that is cut off goes on where it was


def _announce(address: str, code: str) -> None:
    _say(f"sign in at {address}/sign-in with the code {code}")


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


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


@click.command()
@click.option("--project", metavar="DIR", help="Folder of the project, instead of the current one.")
def rpc(project: str | None) -> None:
    """Answer the JSON-RPC 2.0 request (or batch) on standard input: the cstp.* methods."""
    from recollect.api.rpc import dispatch, methods

    request = sys.stdin.buffer.read()
    with open_memory(project) as memory:
        answer = dispatch(request, methods(memory))
    if answer is not None:
        click.echo(answer.decode())
