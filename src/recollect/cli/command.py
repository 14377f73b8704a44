"""What commands share: options, the memory they are given, printing, tables, progress, and help pages of groups.

A program gets JSON, a person short lines; tables and progress are drawn only on a terminal.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import click

from recollect.cli.printing import open_memory, put, read_stdin, visible
from recollect.core.records import plain

HELD = "another process is at it; one that was killed keeps its turn for ten minutes at most"


BOLD = ("\ue000", "\ue001")
"""Marks around words that a terminal shows bold. Elsewhere they disappear, as all private characters do."""


def emit(value: Any, text: str, *, as_json: bool) -> None:
    """Print the value as JSON or the text for a person; a warning in the value goes to standard error."""
    if warning := getattr(value, "warning", ""):
        print(f"recollect: {visible(warning)}", file=sys.stderr)
    put(json.dumps(plain(value), ensure_ascii=False, indent=2) if as_json else _drawn_bold(text))


def _drawn_bold(text: str) -> str:
    begin, end = ("\x1b[1m", "\x1b[0m") if sys.stdout is not None and sys.stdout.isatty() else ("", "")
    first, *others = text.split(BOLD[0])
    return visible(first) + "".join(f"{begin}{end.join(map(visible, each.split(BOLD[1])))}" for each in others)


def redactions(kinds: Sequence[str]) -> str:
    return f" (redacted: {', '.join(kinds)})" if kinds else ""


def said(value: object) -> str:
    """A value for a person: a dash for none, words for a list."""
    if value is None or value == []:
        return "–"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def table(headings: Sequence[str], rows: Sequence[Sequence[object]], empty: str = "") -> str:
    """Aligned columns in a pipe, a drawn table on a terminal; `empty` when there are no rows."""
    if not rows:
        return empty
    cells = [[" ".join(str(cell).splitlines()) for cell in row] for row in rows]
    if sys.stdout is not None and sys.stdout.isatty():
        return _drawn(headings, cells)
    lines = [list(headings), *cells]
    widths = [max(len(line[i]) for line in lines) for i in range(len(headings))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _drawn(headings: Sequence[str], cells: list[list[str]]) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(*headings, box=None, header_style="none", pad_edge=False)
    drawn.columns[0].no_wrap = True  # an id must stay one word to be copied
    for column in drawn.columns[1:]:
        column.overflow = "fold"  # no letter of the others may be cut off
    for row in cells:
        drawn.add_row(*(Text(cell) for cell in row))  # Text: stored words are never markup
    console = Console(color_system=None)
    with console.capture() as captured:
        console.print(drawn)
    return captured.get().rstrip("\n")


F = TypeVar("F", bound=Callable[..., Any])


class Output(NamedTuple):
    """A command's answer: a value for programs, a text for people, and the exit code."""

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


def paged(command: F) -> F:
    command = click.option("--offset", type=int, default=0, help="How many to skip.")(command)
    return click.option("--limit", type=int, default=50, show_default=True, help="How many.")(command)


def page_of(key: str, found: Sequence[object], text: str, *, total: int, limit: int, offset: int) -> Output:
    more = f"\n{len(found)} of {total}; --offset shows more" if total > len(found) + offset else ""
    return Output(listing(key, found, total=total, limit=limit, offset=offset), text + more)


def common(command: F) -> F:
    command = click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)
    return click.option("--project", metavar="DIR", help="Folder of the project, instead of the current one.")(command)


def prints(command: Callable[..., Output | None]) -> Callable[..., int]:
    """A command that is given the folder of its project; its answer, if any, is printed."""

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
    """A command that is given the memory of its project; its answer is printed when the memory is closed."""

    @prints
    @wraps(command)
    def run(project: str | None, **given: Any) -> Output | None:
        with open_memory(project) as memory:
            at = memory
            if isinstance(given.get("id"), str):  # of whichever ring has it
                at, given["id"] = memory.holding(given["id"])
            return command(at, **given)

    return run


def reads_input(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command standard input as `output`, read before the memory is opened.

    A command that is refused without reading would break the pipe of an agent that is still writing.
    """

    @wraps(command)
    def run(**given: Any) -> int:
        return command(output=read_stdin(), **given)

    return run


class Group(click.Group):
    """Lists its commands in the order they were written, each with its whole first sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(limit=1000)) for name, one in self.commands.items()])


@contextmanager
def progress(label: str) -> Iterator[Callable[..., object] | None]:
    """What long work calls to report its progress, drawn on a terminal; None in a pipe.

    Work tells how many more are done, how much remains of how much, what it is at, or all of these about a part.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task(label, total=None)

        def tell(*said: Any) -> None:
            match said:
                case (str(part), done, total):
                    drawn.update(task, description=part, completed=done, total=total)
                case (str(part),):
                    drawn.update(task, description=f"{label} {part}")
                case (remaining, total):
                    drawn.update(task, completed=total - remaining, total=total)
                case (more,):
                    drawn.advance(task, more)

        yield tell
