"""Commands about work: observe, outcome, task, discovery.

`recollect task feedback` and `recollect learn rate`.

`recollect learn promote`: a finding or a staged entry becomes a learning.

The help page of `recollect hook`, whose own reader loads no click.

The help page of `recollect inject`, made from the same table its own reader uses.
"""

from __future__ import annotations

from textwrap import shorten
from typing import Any

import click

from recollect.cli.command import Group, Output, answers, common, emit, listing, table
from recollect.cli.inject import OPTIONS, run
from recollect.cli.printing import open_memory, read_stdin
from recollect.core.clock import iso
from recollect.hosts.hook import HOSTS
from recollect.memory import Memory
from recollect.text.markers import UNTYPED


@click.group(cls=Group)
def task() -> None:
    """Tasks, and what each was shown."""


@task.command()
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


@task.group(cls=Group)
def outcome() -> None:
    """Outcomes: what tasks belong to."""


@outcome.command("add")
@click.argument("id")
@click.option("--name", default="", help="What it is called.")
@answers
def outcome_add(memory: Memory, id: str, name: str) -> Output:
    """Name an outcome before it is used; unknown ids are created on first use anyway."""
    made = memory.work.add_outcome(id, name=name)
    return Output(made, f"outcome {made.id}")


@outcome.command("list")
@click.option("--limit", type=int, default=50, show_default=True, help="How many.")
@answers
def outcome_list(memory: Memory, limit: int) -> Output:
    """List outcomes, newest first."""
    found = memory.work.outcomes(limit=limit)
    rows = [(each.id, iso(each.created_at), each.name) for each in found]
    text = table(("id", "since", "name"), rows) if rows else "no outcomes yet"
    return Output(listing("outcomes", found, limit=limit), text)


@task.command("add")
@click.argument("id")
@click.option("--outcome", help="Id of what it belongs to.")
@click.option("--title", default="", help="What it is about.")
@answers
def task_add(memory: Memory, id: str, outcome: str | None, title: str) -> Output:
    """Name a task before it is used; unknown ids are created on first use anyway."""
    made = memory.work.add_task(id, outcome=outcome, title=title)
    return Output(made, f"task {made.id}")


@task.command("list")
@click.option("--outcome", help="Only of this outcome.")
@click.option("--limit", type=int, default=50, show_default=True, help="How many.")
@answers
def task_list(memory: Memory, outcome: str | None, limit: int) -> Output:
    """List tasks, newest first."""
    found = memory.work.tasks(outcome=outcome, limit=limit)
    rows = [(each.id, each.outcome_id or "", iso(each.created_at), each.title) for each in found]
    text = table(("id", "outcome", "since", "title"), rows) if rows else "no tasks yet"
    return Output(listing("tasks", found, limit=limit), text)


@task.command("shown")
@click.argument("id")
@answers
def task_shown(memory: Memory, id: str) -> Output:
    """What a task was shown, and the verdicts."""
    found = memory.work.injections(task=id)
    rows = [(each.learning_id, iso(each.injected_at), each.feedback or "no verdict") for each in found]
    text = table(("learning", "shown", "verdict"), rows) if rows else f"task {id} was shown nothing"
    return Output(listing("injections", found), text)


@task.group(cls=Group)
def discovery() -> None:
    """Raw discoveries and what became of them."""


@discovery.command("list")
@click.option("--task", help="Only of this task.")
@click.option("--limit", type=int, default=50, show_default=True, help="How many.")
@answers
def discovery_list(memory: Memory, task: str | None, limit: int) -> Output:
    """List discoveries, newest first."""
    found = memory.work.discoveries(task=task, limit=limit)
    rows = [(each.id, each.type, each.learning_id or each.skipped or "waiting", each.content) for each in found]
    text = table(("id", "type", "became", "content"), rows) if rows else "no discoveries yet"
    return Output(listing("discoveries", found, limit=limit), text)


@task.command()
@click.option("--task", required=True, help="Id of the task whose agent wrote the output.")
@common
def feedback(task: str, project: str | None, as_json: bool) -> None:
    """Read an agent's final message on standard input and count its verdicts on what it was shown."""
    output = read_stdin()  # first: what is refused must not break the pipe of an agent at work
    with open_memory(project) as memory:
        taken = memory.feedback(output, task=task)
    said = {
        "counted": taken.counted,
        "rated before": taken.repeated,
        "both verdicts at once, so none": taken.both,
        "never shown to this task": taken.not_injected,
    }
    lines = [f"{what}: {', '.join(ids)}" for what, ids in said.items() if ids]
    emit(taken, "\n".join(lines) or "no verdicts", as_json=as_json)


@click.command()
@click.argument("event")
@click.option("--host", type=click.Choice(list(HOSTS)), required=True, help="Whose event it is.")
def hook(event: str, host: str) -> int:
    """Answer EVENT of an agent program: its JSON on standard input, our answer on standard output.

    Hosts call it; `recollect init --host HOST` tells them to. It always exits with 0.
    """
    from recollect.cli.hook import main

    return main([event, "--host", host])


@click.command()
def inject(**given: Any) -> int:
    """Print the learnings that matter for a task, as Markdown, and remember that the task was shown them.

    Nothing relevant prints nothing and exits 0.
    """
    return run({name: value for name, value in given.items() if value})


for _option in OPTIONS:
    inject.params.append(
        click.Option(
            [_option.name],
            help=_option.doc,
            required=_option.needed,
            metavar="DIR" if _option.name == "--project" else None,
            is_flag=_option.kind is bool,
            multiple=_option.many,
            type=None if _option.kind is bool else _option.kind,
        )
    )
