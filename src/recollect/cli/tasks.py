"""`recollect brief`, `last` and `task`: what sessions and tasks were shown."""

from __future__ import annotations

import os
from collections.abc import Iterator
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import Group, Output, answers, page_of, paged, reads_input, table
from recollect.cli.inject import OPTIONS, run
from recollect.cli.printing import answer_hook
from recollect.core.clock import iso
from recollect.core.context import PROJECT
from recollect.core.records import noun_of, replace
from recollect.hosts.hook import program
from recollect.hosts.payloads import HOSTS
from recollect.inject.brief import PARTS
from recollect.memory import Memory
from recollect.text.markers import UNTYPED

if TYPE_CHECKING:
    from recollect.inject.reasons import Considered


@click.command()
@click.option(
    "--host", type=click.Choice(list(HOSTS)), default="claude-code", show_default=True, help="Use its limits."
)
@answers
def brief(memory: Memory, host: str) -> Output:
    """Print what a session here starts with, byte for byte."""
    room = HOSTS[host].room
    if host != "claude-code":  # whose hooks extend its PATH instead
        room = replace(room, program=program(memory.project, os.environ))
    shown = memory.brief(room)
    return Output(shown, shown.text.removesuffix("\n"))


@click.command()
@click.option("--host", type=click.Choice(list(HOSTS)), help="Only of this agent program.")
@answers
def last(memory: Memory, host: str | None) -> Output:
    """Show what the last session was given, prompt by prompt, and why; and how to correct it."""
    found = memory.sessions.last(host or "")
    lines = [f"session {found.id} of {found.host}, begun {iso(found.began_at)}; reasons are judged as of now"]
    for each in found.events:
        lines.append(f"\n{iso(each.at)} {each.event}" + (f": {shorten(each.prompt, 100)}" if each.prompt else ""))
        why = {one.id: one for one in each.considered}
        for id in each.given:
            if id in ("me", *memory.project.settings.rings.shared):
                lines.append(f"    From ring {id}: what people asked for, then what helped or a person wrote")
            else:
                lines += _given(id, why.get(id))
        lines += [] if each.given else ["  nothing"]
        for one in each.considered:
            if one.id not in each.given:
                lines.append(f"  left out: {one.id}  {shorten(one.title, 60)}: {one.held_back}")
    return Output(found, "\n".join(lines))


def _given(id: str, one: Considered | None) -> Iterator[str]:
    if id in PARTS:
        yield f"    {': '.join(PARTS[id])}"
        return
    yield f"  {id}" + (f"  {shorten(one.title, 90)}" if one else "")
    if one:
        sure = f", confidence {one.confidence:.2f}" if one.confidence is not None else ""
        ring = f", ring {one.ring}" if one.ring != PROJECT else ""
        yield f"    why: relevance {one.relevance:.2f}{sure}, words {', '.join(one.words)}{ring}"
    corrections = {
        "learning": f"learn edit {id}, learn archive {id}, learn rate {id} --verdict not_helpful",
        "decision": f"decision edit {id}, decision reverse {id}",
        "log": f"get {id}, store purge {id}",
    }
    if how := corrections.get(noun_of(id)):
        yield f"    do: recollect {how}"


@click.group(cls=Group)
def task() -> None:
    """Tasks, and what each was shown."""


@task.command()
@click.option("--task", required=True, help="Id of the finished task.")
@click.option("--outcome", help="Id of what it belongs to.")
@click.option("--title", default="", help="What the task was about.")
@reads_input
@answers
def observe(memory: Memory, output: str, task: str, outcome: str | None, title: str) -> Output:
    """Read a finished task's output on standard input, store its DISCOVERY[type]: lines and learn from them."""
    seen = memory.observe(output, task=task, outcome=outcome, title=title)
    lines = []
    for discovery in seen.discoveries:
        became = f"→ {discovery.learning_id}" if discovery.learning_id else f"skipped: {discovery.skipped}"
        lines.append(f"{discovery.type}: {shorten(discovery.content, 100, placeholder=' …')} {became}")
    if seen.known_before:
        lines.append(f"{seen.known_before} already known")
    if seen.unknown_types:
        lines.append(f"unknown types, kept as {UNTYPED}: {', '.join(seen.unknown_types)}")
    return Output(seen, "\n".join(lines) or "no discoveries")


@task.group(cls=Group)
def outcome() -> None:
    """Outcomes: what tasks belong to."""


@outcome.command("add")
@click.argument("id")
@click.option("--name", default="", help="What it is called.")
@answers
def outcome_add(memory: Memory, id: str, name: str) -> Output:
    """Name an outcome in advance; an unknown id is created on first use."""
    made = memory.work.add_outcome(id, name=name)
    return Output(made, f"outcome {made.id}")


@outcome.command("list")
@paged
@answers
def outcome_list(memory: Memory, **page: int) -> Output:
    """List outcomes, newest first."""
    found, total = memory.work.outcome_page(**page)
    rows = [(each.id, iso(each.created_at), each.name) for each in found]
    text = table(("id", "since", "name"), rows, "no outcomes yet")
    return page_of("outcomes", found, text, total=total, **page)


@task.command("add")
@click.argument("id")
@click.option("--outcome", help="Id of what it belongs to.")
@click.option("--title", default="", help="What it is about.")
@answers
def task_add(memory: Memory, id: str, outcome: str | None, title: str) -> Output:
    """Name a task in advance; an unknown id is created on first use."""
    made = memory.work.add_task(id, outcome=outcome, title=title)
    return Output(made, f"task {made.id}")


@task.command("list")
@click.option("--outcome", help="Only of this outcome.")
@paged
@answers
def task_list(memory: Memory, outcome: str | None, **page: int) -> Output:
    """List tasks, newest first."""
    found, total = memory.work.task_page(outcome=outcome, **page)
    rows = [(each.id, each.outcome_id or "", iso(each.created_at), each.title) for each in found]
    text = table(("id", "outcome", "since", "title"), rows, "no tasks yet")
    return page_of("tasks", found, text, total=total, **page)


@task.command("shown")
@click.argument("task")
@paged
@answers
def task_shown(memory: Memory, task: str, **page: int) -> Output:
    """Show what a task was given, with the verdicts."""
    found, total = memory.work.injection_page(task=task, **page)
    rows = [(each.learning_id, iso(each.injected_at), each.feedback or "no verdict") for each in found]
    text = table(("learning", "shown", "verdict"), rows, f"task {task} was shown nothing")
    return page_of("injections", found, text, total=total, **page)


@task.group(cls=Group)
def discovery() -> None:
    """Raw discoveries and what became of them."""


@discovery.command("list")
@click.option("--task", help="Only of this task.")
@paged
@answers
def discovery_list(memory: Memory, task: str | None, **page: int) -> Output:
    """List discoveries, newest first."""
    found, total = memory.work.discovery_page(task=task, **page)
    rows = [(each.id, each.type, each.learning_id or each.skipped or "waiting", each.content) for each in found]
    text = table(("id", "type", "became", "content"), rows, "no discoveries yet")
    return page_of("discoveries", found, text, total=total, **page)


@task.command()
@click.option("--task", required=True, help="Id of the task whose agent wrote the output.")
@reads_input
@answers
def feedback(memory: Memory, output: str, task: str) -> Output:
    """Read an agent's final message on standard input and count its verdicts on what it was shown."""
    taken = memory.feedback(output, task=task)
    said = {
        "counted": taken.counted,
        "rated before": taken.repeated,
        "both verdicts at once, so neither counts": taken.both,
        "never shown to this task": taken.not_injected,
    }
    lines = [f"{what}: {', '.join(ids)}" for what, ids in said.items() if ids]
    return Output(taken, "\n".join(lines) or "no verdicts")


@click.command()
@click.argument("event")
@click.option("--host", type=click.Choice(list(HOSTS)), required=True, help="Whose event it is.")
@click.option("--pid", type=int, default=0, help="The host's process.")
def hook(event: str, host: str, pid: int) -> int:
    """Answer EVENT of an agent program: its JSON on standard input, our answer on standard output.

    Agent programs call it after `recollect init --host HOST`. It always exits with 0.
    """
    return answer_hook([event, "--host", host, "--pid", str(pid)])


@click.command()
def inject(**given: Any) -> int:
    """Print the learnings that are relevant to a task, as Markdown, and record that it was shown them.

    If none is relevant, it prints nothing and exits with 0.
    """
    return run({name: value for name, value in given.items() if value})


for _name, _option in OPTIONS.items():
    inject.params.append(
        click.Option(
            [_name],
            help=_option["help"],
            required=_option.get("required", False),
            metavar="DIR" if _name == "--project" else None,
            is_flag=_option.get("action") == "store_true",
            multiple=_option.get("action") == "append",
            type=_option.get("type"),
        )
    )
