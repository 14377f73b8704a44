"""The commands, by name. A command's module is imported when the command is used."""

from __future__ import annotations

import os
from importlib import import_module
from keyword import iskeyword

import click

from recollect.core.errors import RecollectError

COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("project", "Begin a memory in this folder."),
    "log": ("log", "Append to the raw logs and read them."),
    "learn": ("learn", "Add, show, edit and settle learnings."),
    "observe": ("work", "Learn from a finished task's output."),
    "search": ("search", "Find whatever is remembered."),
    "get": ("search", "Show the whole of what an id names."),
    "around": ("search", "Show what stands before and after."),
    "recall": ("tree", "Walk the tree down to the raw words that answer a question."),
    "inject": ("inject_help", "Show a task what is relevant, and remember that it was shown."),
    "hook": ("hook_help", "Answer an event of an agent program."),
    "feedback": ("feedback", "Count the verdicts in an agent's output."),
    "rate": ("feedback", "Say whether a learning helped."),
    "decide": ("decide", "Record a decision."),
    "review": ("decide", "Say what came of a decision."),
    "decision": ("decide", "Show, edit or take back one decision."),
    "decisions": ("decisions", "Decisions at the level their age asks for."),
    "preserve": ("decide", "Keep a decision whole at any age."),
    "review-queue": ("decisions", "Decisions that wait for an outcome."),
    "wisdom": ("decisions", "What old decisions taught."),
    "calibration": ("decisions", "Confidence against outcomes."),
    "rpc": ("decisions", "Answer a JSON-RPC request on standard input."),
    "mcp": ("mcp", "Speak MCP on standard input and output."),
    "finding": ("themes", "Findings of work units."),
    "themes": ("themes", "Themes that findings gather into."),
    "why": ("why", "Where a thing came from and what happened to it."),
    "undo": ("learn", "Take back the last change to learnings or decisions."),
    "inbox": ("inbox", "What waits for a person."),
    "stage": ("staging", "Jot down a learning between hand-offs."),
    "ages": ("staging", "How old each staged learning is, in active days."),
    "consolidate": ("staging", "Move staged learnings that have proved themselves into the documents."),
    "promote": ("promote", "Make a learning of a finding or of a staged entry."),
    "restore-entry": ("staging", "Stage an entry again that left the staging file."),
    "refactor": ("staging", "Split a permanent document that grew too long."),
    "index": ("staging", "Write the memory index again, or check it."),
    "merge-driver": ("staging", "Merge the staging file entry by entry; git calls it."),
    "outcome": ("work", "What tasks belong to."),
    "task": ("work", "Tasks, and what each was shown."),
    "discovery": ("work", "Raw discoveries and what became of them."),
    "tree": ("tree", "The compaction tree: status, tokens, topics."),
    "compact": ("tree", "Bring the tree up to date."),
    "cycle": ("project", "Do everything that is due."),
    "pause": ("setup", "Keep the hooks silent for a while."),
    "uninstall": ("setup", "Take our hooks out of every host's files."),
    "models": ("models", "Which models are configured, and whether they answer."),
    "pending": ("models", "Questions that wait for an agent's answer."),
    "apply": ("models", "Take in an agent's answers."),
    "status": ("project", "What is remembered, what waits, what is wrong."),
    "export": ("data", "Write everything as JSONL."),
    "import": ("data", "Take in an export, or what another tool kept."),
    "purge": ("data", "Remove a thing or a text for good."),
    "backup": ("care", "Copy the store while it is in use."),
    "restore": ("care", "Put a backup in the store's place."),
    "verify": ("care", "Hold everything derived against what it is derived from."),
    "doctor": ("care", "Look for what is wrong and say what to do."),
    "rebuild": ("care", "Make everything derived again."),
    "embed": ("care", "Make the vectors that wait, for search by meaning."),
    "db": ("db", "Make or upgrade a team's store on PostgreSQL."),
    "migrate": ("migrate", "Move this project's memory to another store."),
    "vault": ("vault", "Mirror a team's vault to files and back."),
    "serve": ("serve", "Serve the memory to programs and its page to you."),
    "token": ("token", "Who may speak to the server."),
    "trust": ("project", "Allow this repository's settings file to choose guarded settings."),
}


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
        with formatter.section("Commands"):
            formatter.write_dl([(name, doc) for name, (_, doc) in COMMANDS.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="recollect-memory", prog_name="recollect")
@click.option("--offline", is_flag=True, help="Call no model, whatever is configured.")
def recollect(offline: bool) -> None:
    """A memory for AI agents: it keeps every raw word, distils it, finds it, and learns from what helped."""
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
    except click.Abort:
        click.echo("recollect: stopped; nothing was changed", err=True)
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
