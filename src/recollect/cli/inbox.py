"""`recollect inbox`."""

from __future__ import annotations

import click

from recollect.cli.command import Answer, Group, answers, common
from recollect.cli.opening import open_memory
from recollect.cli.output import emit, said, table
from recollect.core.clock import iso
from recollect.memory import Memory


@click.group(cls=Group, invoke_without_command=True)
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
@answers
def show(memory: Memory, number: int) -> Answer:
    """Show a matter whole."""
    matter = memory.inbox.get(number)
    lines = [f"{matter.number} {matter.kind}: {matter.subject} {matter.other}".rstrip(), matter.reason]
    lines += [f"{name}: {said(value)}" for name, value in matter.detail.items()]
    lines.append(f"raised {iso(matter.created_at)}" + (f", settled: {matter.resolution}" if matter.resolution else ""))
    if not matter.resolution:
        verbs = memory.inbox.verbs(matter)
        lines.append(f"to settle it: recollect inbox resolve {number} {'|'.join(verbs)}")
    return Answer(matter, "\n".join(lines))


@inbox.command()
@click.argument("number", type=int)
@click.argument("verb")
@answers
def resolve(memory: Memory, number: int, verb: str) -> Answer:
    """Settle a matter with one of the verbs that `show` names."""
    matter = memory.inbox.resolve(number, verb)
    return Answer(matter, f"{number} is settled: {verb}")
