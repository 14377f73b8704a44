"""What commands have in common: their options, the memory they are given, how they answer, how a group lists them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import click

from recollect.cli.opening import open_memory
from recollect.cli.output import emit

F = TypeVar("F", bound=Callable[..., Any])


class Answer(NamedTuple):
    """What a command found out: a value for programs, a text for people, and the exit code."""

    value: Any
    text: str
    code: int = 0


def common(command: F) -> F:
    """The options every command takes."""
    command = click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)
    return click.option("--project", metavar="DIR", help="Folder of the project, instead of the current one.")(command)


def answers(command: Callable[..., Answer | None]) -> Callable[..., int]:
    """A command over the memory: it is given the memory, and its answer, if any, is printed when that is closed."""

    @common
    @wraps(command)
    def run(project: str | None, as_json: bool, **given: Any) -> int:
        with open_memory(project) as memory:
            answer = command(memory, **given)
        if answer is None:
            return 0
        emit(answer.value, answer.text, as_json=as_json)
        return answer.code

    return run


class Group(click.Group):
    """Lists its commands in the order they were written, each with its whole first sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(limit=1000)) for name, one in self.commands.items()])
