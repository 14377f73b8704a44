"""`recollect log`: the raw journal."""

from __future__ import annotations

import sys

import click

from recollect.cli.command import Answer, Group, answers, common
from recollect.cli.opening import open_memory
from recollect.cli.output import emit, redactions
from recollect.cli.printing import read_stdin
from recollect.core.journal import ENTRY_TYPES, NewEntry
from recollect.memory import Memory


@click.group(cls=Group)
def log() -> None:
    """Append to the raw logs and read them."""


@log.command()
@click.argument("text", required=False)
@click.option("--topic", help="What it is about (taken from the text when not given).")
@click.option(
    "--type",
    "kind",
    type=click.Choice(ENTRY_TYPES),
    default="project",
    show_default=True,
    help="user and feedback are kept whole at every level.",
)
@click.option("--session", help="The session it belongs to; the day the session began decides the log.")
@click.option("--request", help="What was asked for.")
@click.option("--analysis", help="What was found out.")
@click.option("--decision", "decisions", multiple=True, help="A choice and its reason; may be repeated.")
@click.option("--outcome", help="How it ended.")
@click.option("--reference", "references", multiple=True, help="A file or address; may be repeated.")
@click.option("--rule", help="Feedback: what to do differently.")
@click.option("--why", help="Feedback: the reason.")
@click.option("--how-to-apply", help="Feedback: when and how.")
@common
def add(
    text: str | None,
    kind: str,
    decisions: tuple[str, ...],
    references: tuple[str, ...],
    project: str | None,
    as_json: bool,
    **given: str | None,
) -> None:
    """Append an entry to today's log; without TEXT and fields, or with -, it is read from standard input."""
    fields = [value for name, value in given.items() if name not in ("topic", "session")]
    if text == "-" or (text is None and not any((*fields, decisions, references)) and not sys.stdin.isatty()):
        text = read_stdin()
    new = NewEntry(text=text or "", type=kind, decisions=decisions, references=references, **given)  # type: ignore[arg-type]
    with open_memory(project) as memory:
        logged = memory.journal.add(new)
    emit(logged, f"{logged.id}  {logged.topic}{redactions(logged.redacted)}", as_json=as_json)


@log.command()
@click.argument("id")
@answers
def adopt(memory: Memory, id: str) -> Answer:
    """Vouch for an entry that came from outside: it is written once more, for the tree to hold."""
    after = memory.journal.adopt(id)
    return Answer(after, f"{after.id}  {after.topic}")


@log.command()
@click.argument("date")
@answers
def show(memory: Memory, date: str) -> Answer:
    """Show the log of a DATE (2026-03-01, today, yesterday), or one entry (log/2026-03-01#3)."""
    if "#" in date:
        entry = memory.journal.entry(date)
        return Answer(entry, f"## {entry.topic} [{entry.type}]\n\n{entry.text}")
    text = memory.journal.show(date.removeprefix("log/"))
    return Answer({"day": date, "text": text}, text.rstrip("\n"))
