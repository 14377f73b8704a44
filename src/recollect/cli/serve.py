"""`recollect serve`, `mcp` and `rpc` for other programs, and `recollect model` for the models that the memory asks."""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from recollect.cli.command import Group, Output, answers, in_project, listing, progress, table
from recollect.cli.printing import actor_of, open_memory, speak_mcp, visible
from recollect.core.context import Actor
from recollect.core.errors import BadInput, RecollectError, StoreBusy, Trouble
from recollect.core.records import ALPHABET
from recollect.memory import Memory
from recollect.models.configured import KINDS, ProviderCheck
from recollect.search.meaning import NO_EMBEDDER
from recollect.store import register
from recollect.store.files import held, text_in, write_path
from recollect.text.sentences import counted

if TYPE_CHECKING:
    from recollect.api.spaces import Spaces

STOP_SECONDS = 5  # chosen: how long Ctrl-C waits for a running cycle
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 takes any free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--expose", is_flag=True, help="Allow an address that other machines can reach.")
@click.option(
    "--allow-host", "names", multiple=True, metavar="NAME", help="Another name of the server, such as a proxy's."
)
@click.option("--no-cycle", is_flag=True, help="Do not run the daily cycle.")
@in_project
def serve(
    port: int | None, host: str, expose: bool, names: tuple[str, ...], no_cycle: bool, project: str | None
) -> None:
    """Serve your memory: REST, JSON-RPC, MCP and a page for every space you have. Ctrl-C stops it."""
    if host not in LOOPBACK and not expose:
        raise BadInput(
            f"{host} can be reached by other machines: any of them may try tokens and codes, and nothing is "
            "encrypted. Put a TLS proxy in front of loopback instead (docs/serve.md), or add --expose"
        )
    try:
        from recollect.api.app import make_app, make_server
        from recollect.api.auth import caller
        from recollect.api.spaces import Spaces
        from recollect.mcp.protocol import PATH, endpoint
    except ImportError:
        raise Trouble("the server needs its packages; run: pip install 'recollect-memory[serve]'") from None
    starter = actor_of(os.environ)
    with open_memory(project) as memory:
        settings = memory.context.settings.serve
        try:
            listening = _listen(host, settings.port if port is None else port)
        except Trouble:
            with _only_server(memory, ""):  # ours may have the port
                raise
        at = listening.getsockname()[1]
        address = f"http://{_in_address(host)}:{at}"
        # Every browser takes a name below .localhost for this machine; another machine needs the real address.
        own = page_name(memory.project.home) if host in (*LOOPBACK, "0.0.0.0", "::") else _in_address(host)

        def announce(code: str) -> None:
            _say(f"sign in at http://{own}:{at}/sign-in with the code {code}")

        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, _stop)
        running = f"{address} (process {os.getpid()}), begun in {memory.project.root}; page: http://{own}:{at}/"
        with suppress(SystemExit), listening, _only_server(memory, running):
            handler = logging.StreamHandler()  # the only one; uvicorn would install its own
            handler.setFormatter(_Visible("%(levelname)s %(name)s: %(message)s"))
            logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
            spaces = Spaces(memory, places=partial(places, memory), opener=lambda folder: open_memory(str(folder)))
            first, *others = spaces.names()
            more = f" and {counted(len(others), 'other space')}" if others else ""
            _say(f"serving {first}{more} at {address}; Ctrl-C stops it")
            if starter.trust != "human":
                _say(f"{starter.name} started this, so nobody can sign in to the page; start it from your own terminal")
            app = make_app(
                spaces,
                person=starter.name,
                hosts=frozenset({_in_address(host)}),
                page_hosts=frozenset({own, *(name.lower() for name in names)}),
                announce=announce if starter.trust == "human" else None,
                neighbours={PATH: endpoint(caller)},
            )
            with nullcontext() if no_cycle else _cycling(spaces, settings.cycle_hours):
                make_server(app, head_seconds=settings.body_seconds).run(sockets=[listening])


def _stop(*_: object) -> None:
    """Raise SystemExit: a KeyboardInterrupt during `exec` would kill Python even where it is caught."""
    raise SystemExit(0)


def places(memory: Memory) -> dict[str, Path]:
    """Every space of the user with a folder that uses it."""
    found = register.read(memory.project.home)
    return {one.space: Path(one.shown) for one in found if os.path.isdir(one.shown)}


def page_name(home: Path) -> str:
    """The host name of the page, made once for each user. Programs that do not know it never receive its cookie."""
    file = home / "page-name"
    with suppress(OSError, BadInput):
        name = text_in(file).strip()
        if re.fullmatch(r"r-[0-9a-z]{10}[.]localhost", name):
            return name
    name = f"r-{''.join(secrets.choice(ALPHABET) for _ in range(10))}.localhost"  # 50 bits
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_path(file, f"{name}\n", mode=0o600)
    return name


class _Visible(logging.Formatter):
    """Removes control characters: a client's text must not control the terminal that shows the code."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only for a socket of explicit type TCP does asyncio switch Nagle's algorithm off, which costs 40 ms an answer.
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
def _only_server(memory: Memory, running: str) -> Iterator[None]:
    """One server per user and machine: two would print two codes and run two timers."""
    try:
        with held(memory.project.home / "serve.lock", running):
            yield
    except StoreBusy as other:
        raise Trouble(f"your spaces are served already at {other}. Open that page, or stop that server first") from None


@contextmanager
def _cycling(spaces: Spaces, hours: float) -> Iterator[None]:
    """Run the cycle of every space now and then every so many hours, in a thread."""
    stop = threading.Event()

    def run() -> None:
        while True:
            for name in spaces.names():
                if stop.is_set():
                    return
                try:
                    with spaces.using(name) as memory:
                        memory.acting_as(Actor(name="serve", channel="timer", trust="agent")).cycle()
                except RecollectError as error:
                    _say(f"the cycle of {name} did not finish: {error}")
            if stop.wait(hours * 3600):
                return

    thread = threading.Thread(target=run, name="cycle", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(STOP_SECONDS)  # the next cycle continues one that is cut off


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@click.command()
@in_project
def mcp(project: str | None) -> None:
    """Speak MCP on standard input and output, for one client. Nothing but the protocol is printed there."""
    speak_mcp(project)


@click.command()
@in_project
def rpc(project: str | None) -> None:
    """Answer the JSON-RPC 2.0 request (or batch) on standard input: the cstp.* methods."""
    from recollect.api.rpc import dispatch, methods

    request = sys.stdin.buffer.read()
    with open_memory(project) as memory:
        answer = dispatch(request, methods(memory))
    if answer is not None:
        click.echo(answer.decode())


EMBEDDER_MISSING = "pip install 'recollect-memory[embeddings]' brings an embedder"
MOST_BYTES = 50_000_000  # chosen: thousands of the longest answers; a larger file is probably the wrong one


@click.group(cls=Group)
def model() -> None:
    """Models, and the questions that wait for an agent's answer."""


@model.command()
@answers
def check(memory: Memory) -> Output:
    """Show which model does which job, and test each with one tiny call."""
    found = memory.models.check()
    embedder = memory.status().embedder
    rows = [
        (each.name, "all" if len(each.kinds) == len(KINDS) else ", ".join(each.kinds), _how(each)) for each in found
    ]
    text = table(("provider", "kinds", "answer"), rows, "no model is configured: everything works offline")
    return Output(
        listing("models", found, embedder=embedder),
        f"{text}\nembedder: {embedder}",
        code=1 if not all(each.ok for each in found) else 0,
    )


def _how(found: ProviderCheck) -> str:
    if found.seconds is None:
        return found.reason if found.ok else f"failed: {found.reason}"
    cost = "cost not known" if found.cost is None else f"cost {found.cost:.6f}"
    used = f"{found.seconds:.2f} s, {found.input_tokens} + {found.output_tokens} tokens, {cost}"
    return f"fine: {used}" if found.ok else f"failed: {found.reason} ({used})"


@model.command()
@click.option("--limit", type=click.IntRange(min=1), help="How many to show at most.")
@answers
def pending(memory: Memory, limit: int | None) -> Output:
    """List the questions that wait for an agent, oldest first; --json has all that is needed to answer them."""
    found = memory.models.pending(limit=limit)
    rows = [(each.id, each.kind, each.subject, each.max_tokens) for each in found]
    return Output(
        listing("pending", found, limit=limit), table(("id", "kind", "about", "tokens"), rows, "nothing waits")
    )


def _read_answers(ctx: click.Context, param: click.Parameter, file: BinaryIO) -> list[Any]:
    """The answers in a file, read before the memory opens."""
    raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise BadInput(f"more than {MOST_BYTES:,} bytes; apply fewer answers at a time")
    try:
        given = json.loads(raw)
    except (ValueError, RecursionError):
        raise BadInput('not JSON; write {"id": "ask_…", "answer": "…"} or a list of such objects') from None
    return given if isinstance(given, list) else [given]


@model.command()
@click.argument("file", type=click.File("rb"), default="-", callback=_read_answers)
@answers
def apply(memory: Memory, file: list[Any]) -> Output:
    """Apply answers from FILE or standard input: `{"id": …, "answer": …}`, or a list of such objects."""
    done = memory.models.apply(file)
    lines = [f"{each.id}  {'taken' if each.taken else f'refused: {each.reason}'}" for each in done]
    text = "\n".join(lines) or "nothing to apply"
    return Output(listing("answers", done), text, code=0 if all(each.taken for each in done) else 1)


@model.command()
@answers
def embed(memory: Memory) -> Output:
    """Embed every passage that has no vectors yet, so that search finds it by meaning."""
    with progress("passages") as told:
        done = memory.data.embed(progress=told)
    text = done.why_not or f"passages embedded: {done.made}; waiting: {done.waiting}"
    if done.why_not == NO_EMBEDDER:
        text += "; embed.use is off" if memory.context.settings.embed.use == "off" else f"; {EMBEDDER_MISSING}"
    return Output(done, f"{text}; {done.note}" if done.note else text, code=1 if done.why_not else 0)
