"""Commands about work: observe, outcome, task, discovery."""

from __future__ import annotations

from textwrap import shorten

import click

from recollect.cli.opening import open_memory
from recollect.cli.output import common, emit, table
from recollect.cli.printing import read_stdin
from recollect.core.clock import iso
from recollect.text.coia import UNTYPED


@click.command()
@click.option("--task", required=True, help="Id of the finished task.")
@click.option("--outcome", help="Id of what it belongs to.")
@click.option("--title", default="", help="What the task was about.")
@common
def observe(task: str, outcome: str | None, title: str, project: str | None, as_json: bool) -> None:
    """Read a finished task's output on standard input, keep its DISCOVERY[type]: lines and learn from them."""
    output = read_stdin()
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


@click.group()
def outcome() -> None:
    """Outcomes: what tasks belong to."""


@outcome.command("add")
@click.argument("id")
@click.option("--name", default="", help="What it is called.")
@common
def outcome_add(id: str, name: str, project: str | None, as_json: bool) -> None:
    """Name an outcome before it is used; unknown ids are created on first use anyway."""
    with open_memory(project) as memory:
        made = memory.work.add_outcome(id, name=name)
    emit(made, f"outcome {made.id}", as_json=as_json)


@outcome.command("list")
@click.option("--limit", type=int, default=50, show_default=True, help="How many.")
@common
def outcome_list(limit: int, project: str | None, as_json: bool) -> None:
    """List outcomes, newest first."""
    with open_memory(project) as memory:
        found = memory.work.outcomes(limit=limit)
    rows = [(each.id, iso(each.created_at), each.name) for each in found]
    emit(found, table(("id", "since", "name"), rows) if rows else "no outcomes yet", as_json=as_json)


@click.group()
def task() -> None:
    """Tasks, and what each was shown."""


@task.command("add")
@click.argument("id")
@click.option("--outcome", help="Id of what it belongs to.")
@click.option("--title", default="", help="What it is about.")
@common
def task_add(id: str, outcome: str | None, title: str, project: str | None, as_json: bool) -> None:
    """Name a task before it is used; unknown ids are created on first use anyway."""
    with open_memory(project) as memory:
        made = memory.work.add_task(id, outcome=outcome, title=title)
    emit(made, f"task {made.id}", as_json=as_json)


@task.command("list")
@click.option("--outcome", help="Only of this outcome.")
@click.option("--limit", type=int, default=50, show_default=True, help="How many.")
@common
def task_list(outcome: str | None, limit: int, project: str | None, as_json: bool) -> None:
    """List tasks, newest first."""
    with open_memory(project) as memory:
        found = memory.work.tasks(outcome=outcome, limit=limit)
    rows = [(each.id, each.outcome_id or "", iso(each.created_at), each.title) for each in found]
    emit(found, table(("id", "outcome", "since", "title"), rows) if rows else "no tasks yet", as_json=as_json)


@task.command("shown")
@click.argument("id")
@common
def task_shown(id: str, project: str | None, as_json: bool) -> None:
    """What a task was shown, and the verdicts."""
    with open_memory(project) as memory:
        found = memory.work.injections(task=id)
    rows = [(each.learning_id, iso(each.injected_at), each.feedback or "no verdict") for each in found]
    emit(found, table(("learning", "shown", "verdict"), rows) if rows else "it was shown nothing", as_json=as_json)


@click.group()
def discovery() -> None:
    """Raw discoveries and what became of them."""


@discovery.command("list")
@click.option("--task", help="Only of this task.")
@click.option("--limit", type=int, default=50, show_default=True, help="How many.")
@common
def discovery_list(task: str | None, limit: int, project: str | None, as_json: bool) -> None:
    """List discoveries, newest first."""
    with open_memory(project) as memory:
        found = memory.work.discoveries(task=task, limit=limit)
    rows = [(each.id, each.type, each.learning_id or each.skipped or "waiting", each.content) for each in found]
    emit(found, table(("id", "type", "became", "content"), rows) if rows else "no discoveries yet", as_json=as_json)
