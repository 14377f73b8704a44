"""`recollect topic`: what the journal is about."""

from __future__ import annotations

import click

from recollect.capture.topic_edits import STATES
from recollect.cli.command import Group, Output, answers, page_of, paged, table
from recollect.core.clock import iso
from recollect.memory import Memory
from recollect.store.topics import TopicRow
from recollect.text.sentences import counted


@click.group(cls=Group)
def topic() -> None:
    """List, rename, merge, split, close and open topics; TOPIC is an id or a name."""


@topic.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only these; dormant: no mention for 90 days.")
@paged
@answers
def list_(memory: Memory, state: str | None, limit: int, offset: int) -> Output:
    """List topics, latest mention first."""
    found, total = memory.topics.page(state=state, limit=limit, offset=offset)
    rows = [(each.id, each.name, each.state, each.entries, iso(each.last_at)[:10]) for each in found]
    text = table(("id", "name", "state", "entries", "last"), rows, "no topic yet; log entries make them")
    return page_of("topics", found, text, total=total, limit=limit, offset=offset)


@topic.command()
@click.argument("name", metavar="TOPIC")
@answers
def show(memory: Memory, name: str) -> Output:
    """Show a topic: its names, its state and its latest entries."""
    found = memory.topics.show(name)
    also = [f"also called: {', '.join(found.aliases)}"] if found.aliases else []
    entries = [f"{each.id}  {each.title}" for each in found.entries]
    return Output(found, "\n".join([_line(found.topic), *also, *entries]))


@topic.command()
@click.argument("name", metavar="TOPIC")
@click.argument("new", metavar="NAME")
@answers
def rename(memory: Memory, name: str, new: str) -> Output:
    """Call a TOPIC by another NAME; the old one still finds it."""
    return _told(memory.topics.rename(name, new))


@topic.command()
@click.argument("keep")
@click.argument("other")
@answers
def merge(memory: Memory, keep: str, other: str) -> Output:
    """Put the entries of OTHER under KEEP."""
    return _told(memory.topics.merge(keep, other))


@topic.command()
@click.argument("name", metavar="TOPIC")
@click.argument("entries", nargs=-1, required=True, metavar="ENTRY...")
@click.option("--name", "new", required=True, help="What the new topic is called.")
@answers
def split(memory: Memory, name: str, entries: tuple[str, ...], new: str) -> Output:
    """Put some entries of a TOPIC under a new one."""
    return _told(memory.topics.split(name, entries, new))


@topic.command()
@click.argument("name", metavar="TOPIC")
@answers
def close(memory: Memory, name: str) -> Output:
    """Say that a TOPIC is done; its next mention opens it again."""
    return _told(memory.topics.close(name))


@topic.command("open")
@click.argument("name", metavar="TOPIC")
@answers
def open_(memory: Memory, name: str) -> Output:
    """Say that a TOPIC is not done."""
    return _told(memory.topics.open(name))


def _told(found: TopicRow) -> Output:
    return Output(found, _line(found))


def _line(found: TopicRow) -> str:
    mentions = f"{iso(found.first_at)[:10]} to {iso(found.last_at)[:10]}"
    return f"{found.id}  {found.name}  ({found.state}, {counted(found.entries, 'entry')}, {mentions})"
