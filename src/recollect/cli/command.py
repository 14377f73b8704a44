"""The table of commands, whose modules are imported when a command runs, and what commands share.

A program gets JSON, a person short lines; progress is told only on a terminal.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

import click

from recollect import __version__
from recollect.cli.printing import open_memory, put, read_stdin, visible
from recollect.core.choices import STATUSES
from recollect.core.errors import RecollectError
from recollect.core.records import plain

SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Everyday": {
        "init": ("project", "Start a memory in this folder."),
        "status": ("project", "Show what is stored, what is waiting and what is wrong."),
        "open": ("project", "Print the folder of this memory, or show it."),
        "brief": ("tasks", "Show what a session here starts with."),
        "search": ("search", "Find anything in memory."),
        "get": ("search", "Show the full text of an id, or the texts around it."),
        "last": ("tasks", "Show what the last session was given, and why."),
        "why": ("search", "Explain where a record came from and what happened to it."),
        "learn": ("learnings", "Add, list, edit, rate and retire learnings."),
        "log": ("journal", "Append to the raw logs, read them and compact them."),
        "decide": ("decisions", "Record a decision."),
        "inbox": ("staged", "List and resolve the questions that need a person."),
        "undo": ("learnings", "Undo the last change to learnings, decisions, topics or your log."),
        "serve": ("serve", "Serve the memory to programs, and its web page to you."),
        "doctor": ("store", "Find problems and say how to fix them."),
    },
    "By noun": {
        "topic": ("journal", "List, rename, merge and close the topics of the log."),
        "decision": ("decisions", "Review, list, edit and reverse decisions."),
        "theme": ("staged", "Add findings and group them into themes."),
        "staged": ("staged", "Stage learnings in a file and move them into documents."),
        "task": ("tasks", "Record what agents' tasks found and what they were shown."),
        "model": ("serve", "Check models, or answer their questions yourself."),
        "store": ("store", "Back up, verify, move, import and purge the store."),
        "host": ("project", "Pause or remove hooks, trust settings, manage tokens."),
    },
    "For programs": {
        "hook": ("tasks", "Answer an event of an agent program."),
        "inject": ("tasks", "Print the learnings that are relevant to a task."),
        "mcp": ("serve", "Speak MCP on standard input and output."),
        "rpc": ("serve", "Answer a JSON-RPC request on standard input."),
        "cycle": ("project", "Do all maintenance that is due."),
    },
}
"""Each command with its module and its help, in the order and under the headings of the help page."""
COMMANDS = {name: command for section in SECTIONS.values() for name, command in section.items()}


_MOVED = {
    "learn": "rate promote",
    "log": "tree compact",
    "decision": "review preserve wisdom calibration",
    "staged": "consolidate index merge-driver",
    "theme": "finding",
    "task": "observe feedback outcome discovery",
    "model": "pending apply embed",
    "store": "backup restore verify rebuild export import purge migrate vault db",
    "host": "pause uninstall trust token",
}
OLD_NAMES = {verb: f"{noun} {verb}" for noun, verbs in _MOVED.items() for verb in verbs.split()} | {
    "around": "get --around 3",
    "recall": "search --kind log",
    "decisions": "decision list",
    "review-queue": "decision due",
    "stage": "staged add",
    "ages": "staged list",
    "restore-entry": "staged restore",
    "refactor": "staged split",
    "themes": "theme",
    "models": "model",
}
"""Names of commands before version 0.2. They still run in 0.2; the next version drops them."""


class Commands(click.Group):
    """Knows the names and one-line help of its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        found = getattr(
            import_module(f"recollect.cli.{COMMANDS[cmd_name][0]}"), "open_" if cmd_name == "open" else cmd_name
        )
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        longest = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(longest), doc) for name, (_, doc) in commands.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="recollect")
@click.option("--offline", is_flag=True, help="Call no model, even if one is configured.")
def recollect(offline: bool) -> None:
    """A memory for AI agents: it keeps what was asked and answered word for word, distils it, finds
    it, and learns from what helped.
    Start with `recollect init`; --help explains each command.
    """
    if offline:
        os.environ["RECOLLECT_OFFLINE"] = "1"


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code: 0 fine, 1 no, 2 bad use, 3 the environment."""
    if arguments and (new := OLD_NAMES.get(arguments[0])):
        click.echo(f"recollect: {arguments[0]} is now called {new}; the next version drops the old name", err=True)
        arguments = [*new.split(), *arguments[1:]]
    try:
        code = recollect.main(arguments, prog_name="recollect", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except RecollectError as error:
        said = " ".join(str(error).splitlines()).replace("`anyway`", "`--anyway`")  # the option of the CLI
        click.echo(f"recollect: {said}", err=True)
        return error.exit_code
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort as stop:  # click names a cause for an interrupted command, none for an unanswered question
        left = "what was saved before that is kept" if stop.__cause__ else "nothing was changed"
        click.echo(f"recollect: stopped; {left}", err=True)
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code


HELD = "another process is doing this now; if it was killed, its lease ends after ten minutes at most"

BOLD = ("\ue000", "\ue001")
"""Marks around words that a terminal shows bold; `visible` removes them elsewhere."""


def emit(value: Any, text: str, *, as_json: bool) -> None:
    """Print the value as JSON or the text for a person; the value's warning goes to standard error."""
    if warning := getattr(value, "warning", ""):
        print(f"recollect: {visible(warning)}", file=sys.stderr)
    put(json.dumps(plain(value), ensure_ascii=False, indent=2) if as_json else _drawn_bold(text))


def _drawn_bold(text: str) -> str:
    begin, end = ("\x1b[1m", "\x1b[0m") if sys.stdout is not None and sys.stdout.isatty() else ("", "")
    first, *others = text.split(BOLD[0])
    return visible(first) + "".join(f"{begin}{end.join(map(visible, each.split(BOLD[1])))}" for each in others)


def redactions(kinds: Sequence[str]) -> str:
    return f" (redacted: {', '.join(dict.fromkeys(kinds))})" if kinds else ""


def said(value: object) -> str:
    """A value as a person reads it: a dash for none, words for a list."""
    if value is None or value == []:
        return "–"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


LEAST_ROOM = 20  # columns that a terminal must leave for the last column to be wrapped


def table(headings: Sequence[str], rows: Sequence[Sequence[object]], empty: str = "") -> str:
    """Aligned columns; `empty` when there are no rows. On a terminal the last column is wrapped below itself."""
    if not rows:
        return empty
    lines = [[*headings], *([" ".join(str(cell).splitlines()) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    before = sum(widths[:-1]) + 2 * (len(widths) - 1)
    room = 0
    if sys.stdout is not None and sys.stdout.isatty():
        from shutil import get_terminal_size
        from textwrap import wrap

        room = get_terminal_size().columns - before
    told = []
    for *cells, last in lines:
        start = "".join(cell.ljust(width + 2) for cell, width in zip(cells, widths, strict=False))
        parts = wrap(last, room) if LEAST_ROOM < room < len(last) else [last]
        told += [f"{start if not at else ' ' * before}{part}".rstrip() for at, part in enumerate(parts)]
    return "\n".join(told)


F = TypeVar("F", bound=Callable[..., Any])


class Output(NamedTuple):
    """A command's answer: a value for programs, a text for people, and the exit code."""

    value: Any
    text: str
    code: int = 0
    note: str = ""
    """Goes to standard error, unless JSON is asked for."""


def listing(
    key: str,
    found: Sequence[object],
    *,
    total: int | None = None,
    limit: int | None = None,
    offset: int = 0,
    **more: Any,
) -> dict[str, Any]:
    """A list in the form of `--json` and REST: the records under their noun, and which page they are."""
    return {key: found, "total": len(found) if total is None else total, "limit": limit, "offset": offset, **more}


in_project = click.option("--project", metavar="DIR", help="Folder of the project, instead of the current one.")
of_status = click.option(
    "--status",
    default="active",
    show_default=True,
    type=click.Choice([*STATUSES, "all"]),
    help="Only learnings of this status.",
)
expecting = click.option("--version", type=int, help="Refuse if it has changed since this version.")
because = click.option("--reason", default="", help="The reason, which `why` shows.")


def paged(command: F) -> F:
    command = click.option("--offset", type=int, default=0, help="How many to skip.")(command)
    return click.option("--limit", type=int, default=50, show_default=True, help="How many to list.")(command)


def page_of(key: str, found: Sequence[object], text: str, *, total: int, limit: int, offset: int) -> Output:
    more = f"\n{len(found)} of {total}; --offset shows more" if total > len(found) + offset else ""
    return Output(listing(key, found, total=total, limit=limit, offset=offset), text + more)


def common(command: F) -> F:
    command = click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)
    return in_project(command)


def prints(command: Callable[..., Output | None]) -> Callable[..., int]:
    """Give a command the folder of its project, and print its answer."""

    @common
    @wraps(command)
    def run(as_json: bool, **given: Any) -> int:
        answer = command(**given)
        if answer is None:
            return 0
        if answer.note and not as_json:
            click.echo(answer.note, err=True)
        emit(answer.value, answer.text, as_json=as_json)
        return answer.code

    return run


def answers(command: Callable[..., Output | None]) -> Callable[..., int]:
    """Give a command the memory of its project, and print its answer after closing the memory."""

    @prints
    @wraps(command)
    def run(project: str | None, **given: Any) -> Output | None:
        with open_memory(project) as memory:
            at = memory
            if isinstance(given.get("id"), str):  # in any ring
                at, given["id"] = memory.holding(given["id"])
            return command(at, **given)

    return run


def reads_input(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command standard input as `output`.

    It is read before anything can fail: a command that ends without reading breaks the pipe of an agent that writes.
    """

    @wraps(command)
    def run(**given: Any) -> int:
        return command(output=read_stdin(), **given)

    return run


class Group(click.Group):
    """Lists commands in the order of their definition, each with its whole first sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(limit=1000)) for name, one in self.commands.items()])


@contextmanager
def progress(label: str) -> Iterator[Callable[..., object] | None]:
    """A callback that tells the progress of long work on a terminal; None in a pipe.

    Call it with the number of items just done, (remaining, total), (part,) or (part, done, total).
    """
    if not sys.stderr.isatty():
        yield None
        return
    made, told_at = 0, 0.0

    def tell(*said: Any) -> None:
        nonlocal made, told_at
        match said:
            case (str(part), *counts):
                line = " of ".join([f"{label} {part}", *map(str, counts)])
            case (remaining, total):
                line = f"{label} {total - remaining} of {total}"
            case (more,):
                made += more
                line = f"{label} {made}"
        if (now := time.monotonic()) > told_at + 0.1:  # seconds
            told_at = now
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    try:
        yield tell
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
