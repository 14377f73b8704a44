"""`recollect why`."""

from __future__ import annotations

import click

from recollect.cli.command import Answer, answers
from recollect.cli.output import said
from recollect.core.clock import iso
from recollect.core.event import Event
from recollect.memory import Memory
from recollect.tend.why import Explanation
from recollect.tend.why_files import FileExplanation
from recollect.tend.why_journal import EntryExplanation, NodeExplanation, shown_refs


@click.command()
@click.argument("id")
@answers
def why(memory: Memory, id: str) -> Answer:
    """Say where a thing came from, who wrote it, how far it is trusted, and everything that happened to it."""
    found = memory.why(id)
    if isinstance(found, NodeExplanation):
        text = _node(found)
    elif isinstance(found, EntryExplanation):
        text = _entry(found)
    elif isinstance(found, FileExplanation):
        text = _in_file(found)
    else:
        text = _learning(found)
    return Answer(found, text)


def _learning(found: Explanation) -> str:
    how = "promoted from" if "/" in found.origin else "captured by"
    lines = [f"{found.id}: {found.title}", f"{how} {found.origin}, trusted as {found.trust}"]
    for source in found.sources:
        places = {"outcome": source.outcome_id, "task": source.task_id, "discovery": source.discovery_id}
        parts = [f"{name} {id}" for name, id in places.items() if id]
        lines.append(f"source     {iso(source.at)}  {', '.join(parts) or source.origin}")
    lines += [f"replaces   {old}" for old in found.replaces]
    lines += [f"replaced by {new}" for new in found.replaced_by]
    for shown in found.injections:
        lines.append(f"injected   {iso(shown.injected_at)}  task {shown.task_id}: {shown.feedback or 'no verdict'}")
    return "\n".join([*lines, *map(_event, found.events)])


def _node(found: NodeExplanation) -> str:
    lines = [f"{found.id}: {found.status}, made by {found.generator}"]
    lines += [f"from {source.path} {source.sha256[:12]}" for source in found.sources]
    lines += [f"could not be read: {path}" for path in found.incomplete]
    return "\n".join([*lines, *(f"{shown_refs(line):<22} {line.text}" for line in found.lines)])


def _entry(found: EntryExplanation) -> str:
    lines = [
        f"{found.id}: {found.topic} [{found.type}], trusted as {found.trust}",
        f"written {found.written or 'by hand'}" + (f" in session {found.session}" if found.session else ""),
        " → ".join([*found.way, found.id]) if found.way else "no node leads to it yet: recollect compact",
    ]
    return "\n".join([*lines, *map(_event, found.events)])


def _in_file(found: FileExplanation) -> str:
    lines = [f"{found.id}: {found.title}", f"{found.file}, trusted as {found.trust}"]
    lines += [f"{name:<10} {value}" for name, value in found.facts]
    return "\n".join([*lines, *map(_event, found.events)])


def _event(event: Event) -> str:
    moved = ", ".join(f"{name} {said(event.old.get(name))} → {said(value)}" for name, value in event.new.items())
    line = f"{event.what:<22} {iso(event.at)}  {event.who} ({event.trust}, {event.channel})  {moved}"
    line += f"  — {event.reason}" if event.reason else ""
    return " ".join(line.splitlines()).rstrip()  # stored words cannot forge an event
