"""The table of commands, and the program that runs one. A command's module is imported when the command is used."""

from __future__ import annotations

import os
from importlib import import_module

import click

from recollect import __version__
from recollect.core.errors import RecollectError

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
        "inbox": ("staged", "List and resolve what needs a person."),
        "undo": ("learnings", "Take back the last change to learnings, decisions or topics."),
        "serve": ("serve", "Serve the memory to programs, and its web page to you."),
        "doctor": ("store", "Find problems and say how to fix them."),
    },
    "By noun": {
        "topic": ("journal", "List, rename, merge and close what the journal is about."),
        "decision": ("decisions", "Review, list, edit and reverse decisions."),
        "theme": ("staged", "Add findings and group them into themes."),
        "staged": ("staged", "Stage learnings in a file and move them into documents."),
        "task": ("tasks", "Record what agents' tasks found and what they were shown."),
        "model": ("models", "Check models, and answer the questions they are asked."),
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
"""Each command with its module and what it does, in the order and under the headings of the help page."""

NAMED = {"open": "open_"}
"""Functions that may not be named as their command."""
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
"""Commands as versions before 0.2 called them. They run in 0.2 and go with the version after it."""


class Commands(click.Group):
    """A group that knows its commands' names and one-line help without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        found = getattr(import_module(f"recollect.cli.{COMMANDS[cmd_name][0]}"), NAMED.get(cmd_name, cmd_name))
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
    """A memory for AI agents: it keeps every raw word, distils it, finds it, and learns from what helped.
    Start with `recollect init`; --help explains each command.
    """
    if offline:
        os.environ["RECOLLECT_OFFLINE"] = "1"


def run(arguments: list[str]) -> int:
    """Run one command and give its exit code: 0 fine, 1 no, 2 bad use, 3 the environment."""
    if arguments and (new := OLD_NAMES.get(arguments[0])):
        click.echo(f"recollect: {arguments[0]} is called {new} now; the next version drops the old name", err=True)
        arguments = [*new.split(), *arguments[1:]]
    try:
        code = recollect.main(arguments, prog_name="recollect", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except RecollectError as error:
        said = " ".join(str(error).splitlines()).replace("`anyway`", "`--anyway`")  # as it is typed here
        click.echo(f"recollect: {said}", err=True)
        return error.exit_code
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort as stop:  # a question that was not answered has no cause, an interrupted command has one
        left = "what was saved before that stays" if stop.__cause__ else "nothing was changed"
        click.echo(f"recollect: stopped; {left}", err=True)
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
