"""What commands have in common: their options, the memory they are given, how they answer, how a group lists them.

Printing: JSON for programs, short lines for people, drawn tables only on a terminal.

Progress of long work: drawn on a terminal, silent in a pipe.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import click

from recollect.cli.printing import open_memory, put, visible
from recollect.core.records import plain

HELD = "another process is at it; one that was killed keeps its turn for ten minutes at most"


def emit(value: Any, text: str, *, as_json: bool) -> None:
    """The value as JSON, or its text for a person; what it warns of goes to standard error."""
    if warning := getattr(value, "warning", ""):
        print(f"recollect: {visible(warning)}", file=sys.stderr)
    put(json.dumps(plain(value), ensure_ascii=False, indent=2) if as_json else visible(text))


def redactions(kinds: Sequence[str]) -> str:
    """What was taken out of a text before it was kept, to be said behind it."""
    return f" (redacted: {', '.join(kinds)})" if kinds else ""


def said(value: object) -> str:
    """A value for a person's eyes: a dash for none, words for a list."""
    if value is None or value == []:
        return "–"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Aligned columns in a pipe, a drawn table on a terminal."""
    cells = [[" ".join(str(cell).splitlines()) for cell in row] for row in rows]
    if sys.stdout is not None and sys.stdout.isatty():
        return _drawn(headings, cells)
    widths = [max(len(row[i]) for row in [list(headings), *cells]) for i in range(len(headings))]
    lines = [list(headings), *cells]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in lines
    )


def _drawn(headings: Sequence[str], cells: list[list[str]]) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(*headings, box=None, header_style="none", pad_edge=False)
    drawn.columns[0].no_wrap = True  # an id must stay one word to be copied
    for column in drawn.columns[1:]:
        column.overflow = "fold"  # and no letter of another may be cut off
    for row in cells:
        drawn.add_row(*(Text(cell) for cell in row))  # Text: stored words are never markup
    console = Console(color_system=None)
    with console.capture() as captured:
        console.print(drawn)
    return captured.get().rstrip("\n")


F = TypeVar("F", bound=Callable[..., Any])


class Output(NamedTuple):
    """What a command found out: a value for programs, a text for people, and the exit code."""

    value: Any
    text: str
    code: int = 0
    note: str = ""
    """For a person, on standard error; a program that asked for JSON reads the value."""


def listing(
    key: str,
    found: Sequence[object],
    *,
    total: int | None = None,
    limit: int | None = None,
    offset: int = 0,
    **more: Any,
) -> dict[str, Any]:
    """A list as `--json` prints it and REST answers it: the records under their noun, and which page they are."""
    return {key: found, "total": len(found) if total is None else total, "limit": limit, "offset": offset, **more}


def common(command: F) -> F:
    """The options every command takes."""
    command = click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)
    return click.option("--project", metavar="DIR", help="Folder of the project, instead of the current one.")(command)


def answers(command: Callable[..., Output | None]) -> Callable[..., int]:
    """A command over the memory: it is given the memory, and its answer, if any, is printed when that is closed."""

    @common
    @wraps(command)
    def run(project: str | None, as_json: bool, **given: Any) -> int:
        with open_memory(project) as memory:
            answer = command(memory, **given)
        if answer is None:
            return 0
        if answer.note and not as_json:
            click.echo(answer.note, err=True)
        emit(answer.value, answer.text, as_json=as_json)
        return answer.code

    return run


class Renamed(click.Command):
    """A command that still takes `--type` for `--pattern-type`, and says so."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        new = [f"--pattern-type{arg[6:]}" if arg == "--type" or arg.startswith("--type=") else arg for arg in args]
        if new != args:
            click.echo("`--type` is now `--pattern-type`.", err=True)
        return super().parse_args(ctx, new)


class Group(click.Group):
    """Lists its commands in the order they were written, each with its whole first sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(limit=1000)) for name, one in self.commands.items()])


@contextmanager
def counting(label: str) -> Iterator[Callable[[int], object] | None]:
    """Something to call with how many more are done; None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task(label, total=None)
        yield lambda more: drawn.advance(task, more)


@contextmanager
def copying(label: str) -> Iterator[Callable[[int, int], object] | None]:
    """The same for work that knows what remains of how much."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task(label, total=None)
        yield lambda remaining, total: drawn.update(task, total=total, completed=total - remaining)


@contextmanager
def levels() -> Iterator[Callable[[str, int, int], object] | None]:
    """The same for work on the levels of the tree, a bar for each."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as drawn:
        tasks = {level: drawn.add_task(level, total=None, visible=False) for level in ("daily", "weekly", "monthly")}
        yield lambda level, done, total: drawn.update(tasks[level], completed=done, total=total, visible=True)


@contextmanager
def naming() -> Iterator[Callable[[str], object] | None]:
    """The same for work that says what it is at."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status("looking") as drawn:
        yield lambda name: drawn.update(f"looking at {name}")
