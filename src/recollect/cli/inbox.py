"""`recollect inbox`."""

from __future__ import annotations

import click

from recollect.cli.opening import open_memory
from recollect.cli.output import common, emit, said, table
from recollect.core.clock import iso


@click.group(invoke_without_command=True)
@common
@click.pass_context
def inbox(ctx: click.Context, project: str | None, as_json: bool) -> None:
    """What waits for a person. Without a sub-command, the list."""
    if ctx.invoked_subcommand is not None:
        return
    with open_memory(project) as memory:
        waiting = memory.inbox.waiting()
    rows = [(each.number, each.kind, each.subject, each.reason) for each in waiting]
    emit(waiting, table(("n", "kind", "about", "why"), rows) if rows else "nothing waits", as_json=as_json)


@inbox.command()
@click.argument("number", type=int)
@common
def show(number: int, project: str | None, as_json: bool) -> None:
    """Show a matter whole."""
    with open_memory(project) as memory:
        matter = memory.inbox.get(number)
        verbs = memory.inbox.verbs(matter)
    lines = [f"{matter.number} {matter.kind}: {matter.subject} {matter.other}".rstrip(), matter.reason]
    lines += [f"{name}: {said(value)}" for name, value in matter.detail.items()]
    lines.append(f"raised {iso(matter.created_at)}" + (f", settled: {matter.resolution}" if matter.resolution else ""))
    if not matter.resolution:
        lines.append(f"to settle it: recollect inbox resolve {number} {'|'.join(verbs)}")
    emit(matter, "\n".join(lines), as_json=as_json)


@inbox.command()
@click.argument("number", type=int)
@click.argument("verb")
@common
def resolve(number: int, verb: str, project: str | None, as_json: bool) -> None:
    """Settle a matter with one of the verbs that `show` names."""
    with open_memory(project) as memory:
        matter = memory.inbox.resolve(number, verb)
    emit(matter, f"{number} is settled: {verb}", as_json=as_json)
