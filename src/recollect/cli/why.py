"""`recollect why`."""

from __future__ import annotations

import click

from recollect.cli.opening import open_memory
from recollect.cli.output import common, emit, said
from recollect.core.clock import iso


@click.command()
@click.argument("id")
@common
def why(id: str, project: str | None, as_json: bool) -> None:
    """Say where a thing came from, who wrote it, how far it is trusted, and everything that happened to it."""
    with open_memory(project) as memory:
        found = memory.why(id)
    lines = [f"{found.id}: {found.title}", f"captured by {found.origin}, trusted as {found.trust}"]
    for source in found.sources:
        parts = [f"{name[:-3]} {source[name]}" for name in ("outcome_id", "task_id", "discovery_id") if source[name]]
        lines.append(f"source     {iso(source['at'])}  {', '.join(parts) or source['origin']}")
    lines += [f"replaces   {old}" for old in found.replaces]
    lines += [f"replaced by {new}" for new in found.replaced_by]
    for shown in found.injections:
        lines.append(f"injected   {iso(shown.injected_at)}  task {shown.task_id}: {shown.feedback or 'no verdict'}")
    for event in found.events:
        moved = ", ".join(f"{name} {said(event.old.get(name))} → {said(value)}" for name, value in event.new.items())
        lines.append(
            f"{event.what:<22} {iso(event.at)}  {event.who} ({event.trust}, {event.channel})  {moved}"
            + (f"  — {event.reason}" if event.reason else "")
        )
    emit(found, "\n".join(lines), as_json=as_json)
