"""`recollect log`: the raw journal and its tree of summaries; `recollect topic`: what the journal is about."""

from __future__ import annotations

import sys

import click

from recollect.capture.topics import STATES
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
from recollect.core.clock import iso
from recollect.core.journal import ENTRY_TYPES, NewEntry
from recollect.core.records import check_page
from recollect.distil.tree import Compacted
from recollect.memory import Memory
from recollect.store.topics import TopicRow
from recollect.text.sentences import counted


@click.group(cls=Group)
def log() -> None:
    """Append to the raw logs and read them."""


@log.command()
@click.argument("text", required=False)
@click.option("--topic", help="What it is about; by default taken from the text.")
@click.option(
    "--type",
    "kind",
    type=click.Choice(ENTRY_TYPES),
    default="project",
    show_default=True,
    help="Summaries keep user and feedback entries whole.",
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
    """Append an entry to today's log. Without TEXT and fields, or with -, it reads standard input."""
    fields = [value for name, value in given.items() if name not in ("topic", "session")]
    if text == "-" or (text is None and not any((*fields, decisions, references)) and not sys.stdin.isatty()):
        text = read_stdin()
    new = NewEntry(text=text or "", type=kind, decisions=decisions, references=references, **given)  # type: ignore[arg-type]
    with open_memory(project) as memory:
        logged = memory.journal.add(new)
    emit(logged, f"{logged.id}  {logged.topic or logged.title}{redactions(logged.redacted)}", as_json=as_json)


@log.command()
@click.argument("id")
@answers
def adopt(memory: Memory, id: str) -> Output:
    """Vouch for an entry from outside: it is logged again, so that summaries include it."""
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
    """Trust all entries of others in the shared folder, now and later, as an agent's; only a person may."""
    done = memory.journal.accept()
    return Output(done, f"accepted {counted(done.entries, 'entry')} of others on {counted(done.days, 'day')}")


@log.command()
@click.argument("date", default="today")
@answers
def show(memory: Memory, date: str) -> Output:
    """Show today's log, that of a DATE (2026-03-01, yesterday), or one entry (log/2026-03-01#3)."""
    if "#" in date:
        entry = memory.journal.entry(date)
        return Output(entry, f"## {entry.topic} [{entry.type}]\n\n{entry.text}")
    text = memory.journal.show(date.removeprefix("log/"))
    return Output({"day": date, "text": text}, text.rstrip("\n"))


@log.command()
@click.option("--all", "everything", is_flag=True, help="Check every log and node, and ask models for all that waits.")
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
    lines += [f"{path} was edited by hand and keeps that text. Write into a log instead" for path in done.kept]
    lines += [f"{path} cannot be read; its period stays tentative" for path in done.unreadable]
    if done.waiting:
        lines.append(f"waiting for a model: {counted(done.waiting, 'node')}")
    if done.clock_behind:
        lines.append("the clock is more than 48 hours behind the last run, so no period was made final")
    return "\n".join(lines)


@click.group(cls=Group)
def topic() -> None:
    """List, rename, merge, split, close and open topics; TOPIC is an id or a name."""


@topic.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only topics in this state; dormant: no mention for 90 days.")
@paged
@answers
def list_topics(memory: Memory, state: str | None, limit: int, offset: int) -> Output:
    """List topics, latest mention first."""
    found, total = memory.topics.page(state=state, limit=limit, offset=offset)
    rows = [(each.id, each.name, each.state, each.entries, iso(each.last_at)[:10]) for each in found]
    text = table(("id", "name", "state", "entries", "last"), rows, "no topics yet; log entries create them")
    return page_of("topics", found, text, total=total, limit=limit, offset=offset)


@topic.command("show")
@click.argument("name", metavar="TOPIC")
@answers
def show_topic(memory: Memory, name: str) -> Output:
    """Show a topic: its names, its state and its latest entries."""
    found = memory.topics.show(name)
    also = [f"also called: {', '.join(found.aliases)}"] if found.aliases else []
    entries = [f"{each.id}  {each.title}" for each in found.entries]
    return Output(found, "\n".join([_topic_line(found.topic), *also, *entries]))


@topic.command()
@click.argument("name", metavar="TOPIC")
@click.argument("new", metavar="NAME")
@answers
def rename(memory: Memory, name: str, new: str) -> Output:
    """Rename a TOPIC; its old name still finds it."""
    return _topic_told(memory.topics.rename(name, new))


@topic.command()
@click.argument("keep")
@click.argument("other")
@answers
def merge(memory: Memory, keep: str, other: str) -> Output:
    """Put the entries of OTHER under KEEP."""
    return _topic_told(memory.topics.merge(keep, other))


@topic.command()
@click.argument("name", metavar="TOPIC")
@click.argument("entries", nargs=-1, required=True, metavar="ENTRY...")
@click.option("--name", "new", required=True, help="What the new topic is called.")
@answers
def split(memory: Memory, name: str, entries: tuple[str, ...], new: str) -> Output:
    """Put some entries of a TOPIC under a new one."""
    return _topic_told(memory.topics.split(name, entries, new))


@topic.command()
@click.argument("name", metavar="TOPIC")
@answers
def close(memory: Memory, name: str) -> Output:
    """Mark a TOPIC as done; its next mention opens it again."""
    return _topic_told(memory.topics.close(name))


@topic.command("open")
@click.argument("name", metavar="TOPIC")
@answers
def open_(memory: Memory, name: str) -> Output:
    """Mark a TOPIC as open again."""
    return _topic_told(memory.topics.open(name))


def _topic_told(found: TopicRow) -> Output:
    return Output(found, _topic_line(found))


def _topic_line(found: TopicRow) -> str:
    mentions = f"{iso(found.first_at)[:10]} to {iso(found.last_at)[:10]}"
    return f"{found.id}  {found.name}  ({found.state}, {counted(found.entries, 'entry')}, {mentions})"
