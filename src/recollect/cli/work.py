"""Commands about work: observe, outcome, task, discovery."""

from __future__ import annotations

from textwrap import shorten

import click

from recollect.cli.command import Answer, Group, answers, common
from recollect.cli.opening import open_memory
from recollect.cli.output import emit, table
from recollect.cli.printing import read_stdin
from recollect.core.clock import iso
from recollect.memory import Memory
from recollect.text.coia import UNTYPED


@click.command()
@click.option("--task", required=True, help="Id of the finished task.")
@click.option("--outcome", help="Id of what it belongs to.")
@click.option("--title", default="", help="What the task was about.")
@common
def observe(task: str, outcome: str | None, title: str, project: str | None, as_json: bool) -> None:
    """Read a finished task's output on standard input, keep its DISCOVERY[type]: lines and learn from them."""
    output = read_stdin()  # first: what is refused must not break the pipe of an agent at work
    with open_memory(project) as memory:
        seen = memory.observe(output, task=task, outcome=outcome, title=title)
    lines = []
    for discovery in seen.discoveries:
        became = f"→ {discovery.learning_id}" if discovery.learning_id else f"skipped: {discovery.skipped}"
        lines.append(f"{discovery.type}: {shorten(discovery.content, 100, placeholder=' …')} {became}")
    if seen.known_before:
        lines.append(f"{seen.known_before} known from before")
    if seen.unknown_types:
        lines.append(f"unknown types, kept as {UNTYPED}: {', '.join(seen.unknown_types)}")
    emit(seen, "\n".join(lines) or "no discoveries", as_json=as_json)


@click.group(cls=Group)
def outcome() -> None:
    """Outcomes: what tasks belong to."""


@outcome.command("add")
@click.argument("id")
@click.option("--name", default="", help="What it is called.")
@answers
def outcome_add(memory: Memory, id: str, name: str) -> Answer:
    """Name an outcome before it is used; unknown ids are created on first use anyway."""
    made = memory.work.add_outcome(id, name=name)
    return Answer(made, f"outcome {made.id}")


@outcome.command("list")
@click.option("--limit", type=int, default=50, show_default=True, help="How many.")
@answers
def outcome_list(memory: Memory, limit: int) -> Answer:
    """List outcomes, newest first."""
    found = memory.work.outcomes(limit=limit)
    rows = [(each.id, iso(each.created_at), each.name) for each in found]
    return Answer(found, table(("id", "since", "name"), rows) if rows else "no outcomes yet")


@click.group(cls=Group)
def task() -> None:
    """Tasks, and what each was shown."""


@task.command("add")
@click.argument("id")
@click.option("--outcome", help="Id of what it belongs to.")
@click.option("--title", default="", help="What it is about.")
@answers
def task_add(memory: Memory, id: str, outcome: str | None, title: str) -> Answer:
    """Name a task before it is used; unknown ids are created on first use anyway."""
    made = memory.work.add_task(id, outcome=outcome, title=title)
    return Answer(made, f"task {made.id}")


@task.command("list")
@click.option("--outcome", help="Only of this outcome.")
@click.option("--limit", type=int, default=50, show_default=True, help="How many.")
@answers
def task_list(memory: Memory, outcome: str | None, limit: int) -> Answer:
    """List tasks, newest first."""
    found = memory.work.tasks(outcome=outcome, limit=limit)
    rows = [(each.id, each.outcome_id or "", iso(each.created_at), each.title) for each in found]
    return Answer(found, table(("id", "outcome", "since", "title"), rows) if rows else "no tasks yet")


@task.command("shown")
@click.argument("id")
@answers
def task_shown(memory: Memory, id: str) -> Answer:
    """What a task was shown, and the verdicts."""
    found = memory.work.injections(task=id)
    rows = [(each.learning_id, iso(each.injected_at), each.feedback or "no verdict") for each in found]
    return Answer(found, table(("learning", "shown", "verdict"), rows) if rows else "it was shown nothing")


@click.group(cls=Group)
def discovery() -> None:
    """Raw discoveries and what became of them."""


@discovery.command("list")
@click.option("--task", help="Only of this task.")
@click.option("--limit", type=int, default=50, show_default=True, help="How many.")
@answers
def discovery_list(memory: Memory, task: str | None, limit: int) -> Answer:
    """List discoveries, newest first."""
    found = memory.work.discoveries(task=task, limit=limit)
    rows = [(each.id, each.type, each.learning_id or each.skipped or "waiting", each.content) for each in found]
    return Answer(found, table(("id", "type", "became", "content"), rows) if rows else "no discoveries yet")
