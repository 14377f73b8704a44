"""Progress of long work: drawn on a terminal, silent in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


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
