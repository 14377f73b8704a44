"""The commands, by name. A command's module is imported when the command is used."""

from __future__ import annotations

import os
from importlib import import_module
from keyword import iskeyword

import click

from recollect.core.errors import RecollectError

SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Begin": {
        "init": ("project", "Begin a memory in this folder."),
        "status": ("project", "Say what is remembered, what waits, what is wrong."),
        "doctor": ("store", "Look for what is wrong and say what to do."),
        "pause": ("project", "Keep the hooks silent for a while."),
        "uninstall": ("project", "Take our hooks out of every host's files."),
        "trust": ("project", "Let this repository's file choose guarded settings."),
    },
    "Find": {
        "search": ("search", "Find whatever is remembered."),
        "get": ("search", "Show the whole of what an id names."),
        "around": ("search", "Show what stands before and after."),
        "recall": ("journal", "Walk the tree down to the raw words of an answer."),
        "tree": ("journal", "Show the compaction tree: status, tokens, topics."),
        "why": ("search", "Say where a thing came from and what happened to it."),
    },
    "Learnings": {
        "learn": ("learnings", "Add, show, edit and settle learnings."),
        "undo": ("learnings", "Take back the last change to learnings or decisions."),
        "inbox": ("staging", "See and settle what waits for a person."),
    },
    "Journal": {
        "log": ("journal", "Append to the raw logs and read them."),
        "compact": ("journal", "Bring the tree up to date."),
    },
    "Tasks of agents": {
        "inject": ("tasks", "Show a task what is relevant, and remember that it was shown."),
        "observe": ("tasks", "Learn from a finished task's output."),
        "feedback": ("tasks", "Count the verdicts in an agent's output."),
        "rate": ("tasks", "Say whether a learning helped."),
        "outcome": ("tasks", "Name and list outcomes, which tasks belong to."),
        "task": ("tasks", "Name and list tasks, and see what each was shown."),
        "discovery": ("tasks", "List raw discoveries and what became of them."),
    },
    "Decisions": {
        "decide": ("decisions", "Record a decision."),
        "review": ("decisions", "Say what came of a decision."),
        "decision": ("decisions", "Show, edit or take back one decision."),
        "decisions": ("decisions", "Show decisions at the level their age asks for."),
        "preserve": ("decisions", "Keep a decision whole at any age."),
        "review-queue": ("decisions", "List decisions that wait for an outcome."),
        "wisdom": ("decisions", "Show what old decisions taught."),
        "calibration": ("decisions", "Hold confidence against outcomes."),
    },
    "Findings and themes": {
        "finding": ("staging", "Add and show findings of work units."),
        "themes": ("staging", "Gather findings into themes, and read them."),
        "promote": ("tasks", "Make a learning of a finding or of a staged entry."),
    },
    "Staged learnings and documents": {
        "stage": ("staging", "Jot down a learning between hand-offs."),
        "ages": ("staging", "Say how old each staged learning is, in active days."),
        "consolidate": ("staging", "Move staged learnings that proved themselves into documents."),
        "restore-entry": ("staging", "Stage an entry again that left the staging file."),
        "refactor": ("staging", "Split a permanent document that grew too long."),
        "index": ("staging", "Write the memory index again, or check it."),
        "merge-driver": ("staging", "Merge the staging file entry by entry; git calls it."),
    },
    "Models and upkeep": {
        "cycle": ("project", "Do everything that is due."),
        "models": ("store", "Try the models that are configured."),
        "pending": ("store", "List questions that wait for an agent's answer."),
        "apply": ("store", "Take in an agent's answers."),
        "embed": ("store", "Make the vectors that wait, for search by meaning."),
        "rebuild": ("store", "Make everything derived again."),
        "verify": ("store", "Hold everything derived against what it is derived from."),
    },
    "The store": {
        "backup": ("store", "Copy the store while it is in use."),
        "restore": ("store", "Put a backup in the store's place."),
        "export": ("store", "Write the store's rows as JSONL."),
        "import": ("store", "Take in an export, or what another tool kept."),
        "purge": ("store", "Remove a thing or a text for good."),
        "migrate": ("team", "Move this project's memory to another store."),
        "db": ("team", "Make or upgrade a team's store on PostgreSQL."),
        "vault": ("team", "Mirror a team's vault to files and back."),
    },
    "For programs": {
        "hook": ("tasks", "Answer an event of an agent program."),
        "mcp": ("serve", "Speak MCP on standard input and output."),
        "rpc": ("decisions", "Answer a JSON-RPC request on standard input."),
        "serve": ("serve", "Serve the memory to programs and its page to you."),
        "token": ("team", "Say who may speak to the server."),
    },
}
"""Each command with its module and what it does, in the order and under the headings of the help page."""

COMMANDS = {name: command for section in SECTIONS.values() for name, command in section.items()}


class Commands(click.Group):
    """A group that knows its commands' names and one-line help without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"recollect.cli.{COMMANDS[cmd_name][0]}")
        name = cmd_name.replace("-", "_")
        found = getattr(module, f"{name}_" if iskeyword(name) else name)
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        longest = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(longest), doc) for name, (_, doc) in commands.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="recollect-memory", prog_name="recollect")
@click.option("--offline", is_flag=True, help="Call no model, whatever is configured.")
def recollect(offline: bool) -> None:
    """A memory for AI agents: it keeps every raw word, distils it, finds it, and learns from what helped.

    Begin with: recollect init. Each command says more about itself with --help.
    """
    if offline:
        os.environ["RECOLLECT_OFFLINE"] = "1"


def run(arguments: list[str]) -> int:
    """Run one command and give its exit code: 0 fine, 1 no, 2 bad use, 3 the environment."""
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
