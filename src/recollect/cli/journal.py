"""`recollect log`: the raw journal.

`recollect log compact` and `tree`: the compaction tree.
"""

from __future__ import annotations

import sys

import click

from recollect.cli.command import (
    HELD,
    Group,
    Output,
    answers,
    common,
    emit,
    listing,
    page_of,
    paged,
    progress,
    redactions,
    table,
)
from recollect.cli.printing import open_memory, read_stdin
from recollect.core.calendar import ROOT
from recollect.core.journal import ENTRY_TYPES, NewEntry
from recollect.core.records import check_page
from recollect.distil.tree import Compacted
from recollect.memory import Memory
from recollect.text.sentences import counted


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
def adopt(memory: Memory, id: str) -> Output:
    """Vouch for an entry that came from outside: it is written once more, for the tree to hold."""
    after = memory.journal.adopt(id)
    return Output(after, f"{after.id}  {after.topic}")


@log.command("list")
@paged
@answers
def list_(memory: Memory, limit: int, offset: int) -> Output:
    """List the days that have a log, newest first."""
    check_page(limit, offset)
    days = memory.journal.days()
    shown = days[offset : offset + limit]
    text = table(
        ("day", "entries"), [(each.day, each.entries) for each in shown], "no log yet; begin with: recollect log add"
    )
    return page_of("days", shown, text, total=len(days), limit=limit, offset=offset)


@log.command()
@answers
def accept(memory: Memory) -> Output:
    """Trust what others wrote and will write into the shared folder as an agent's; only a person may."""
    done = memory.journal.accept()
    return Output(done, f"accepted {counted(done.entries, 'entry')} of others on {counted(done.days, 'day')}")


@log.command()
@click.argument("date")
@answers
def show(memory: Memory, date: str) -> Output:
    """Show the log of a DATE (2026-03-01, today, yesterday), or one entry (log/2026-03-01#3)."""
    if "#" in date:
        entry = memory.journal.entry(date)
        return Output(entry, f"## {entry.topic} [{entry.type}]\n\n{entry.text}")
    text = memory.journal.show(date.removeprefix("log/"))
    return Output({"day": date, "text": text}, text.rstrip("\n"))


@log.command()
@click.option("--all", "everything", is_flag=True, help="Look at every log and node, and ask for all that waits.")
@answers
def compact(memory: Memory, everything: bool) -> Output:
    """Bring the tree up to date: raw → daily → weekly → monthly → ROOT.md."""
    with progress("nodes") as told:
        done, warning = memory.journal.compact(everything=everything, progress=told)
    if warning:
        click.echo(f"recollect: {warning}", err=True)
    return Output(done, _told(done))


@log.command()
@click.option("--period", help="A day 2026-03-01, a week 2026-W09 or a month 2026-03, with everything below it.")
@click.argument("id", required=False)
@answers
def tree(memory: Memory, period: str | None, id: str | None) -> Output:
    """Show the tree: status, tokens and topics of its nodes; with an ID (daily/2026-03-01, root) that node's text."""
    if id:
        text = memory.journal.node(id)
        return Output({"id": id, "text": text}, text.rstrip("\n"))
    found = memory.journal.tree(period)
    indent = {ROOT: "", "monthly": "", "weekly": "  ", "daily": "    "}
    rows = [
        (
            indent[node.level] + node.id,
            node.status + (" (incomplete)" if node.incomplete else "") + (" (waiting)" if node.waiting else ""),
            node.tokens,
            ", ".join(node.topics[:6]) + (f" and {len(node.topics) - 6} more" if len(node.topics) > 6 else ""),
        )
        for node in found
    ]
    nothing = "nothing yet; begin with: recollect log add"
    return Output(listing("nodes", found), table(("node", "status", "tokens", "topics"), rows) if rows else nothing)


def _told(done: Compacted) -> str:
    if done.held:
        return HELD
    lines = [f"{change.id} {change.what}" for change in done.changes] or ["nothing due"]
    lines += [f"{path} keeps text that was written into a node. Write into a log instead" for path in done.kept]
    lines += [f"{path} cannot be read; its period stays tentative" for path in done.unreadable]
    if done.waiting:
        lines.append(f"waiting for a model: {counted(done.waiting, 'node')}")
    if done.clock_behind:
        lines.append("the clock is more than 48 hours behind the last run: nothing was called final")
    return "\n".join(lines)
