"""`recollect feedback` and `recollect rate`."""

from __future__ import annotations

import click

from recollect.cli.command import Answer, answers, common
from recollect.cli.opening import open_memory
from recollect.cli.output import emit
from recollect.cli.printing import read_stdin
from recollect.core.errors import BadInput
from recollect.memory import Memory


@click.command()
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
@click.argument("learning")
@click.option("--task", help="The task it was shown to; the last one when not given.")
@click.option("--helpful", is_flag=True, help="It helped.")
@click.option("--not-helpful", is_flag=True, help="It did not.")
@answers
def rate(memory: Memory, learning: str, task: str | None, helpful: bool, not_helpful: bool) -> Answer:
    """Say whether a learning helped; a person may change a verdict later."""
    if helpful == not_helpful:
        raise BadInput("say one of --helpful and --not-helpful")
    after = memory.rate(learning, "helpful" if helpful else "not_helpful", task=task)
    return Answer(after, f"{learning} now has confidence {after.confidence:.3f}")
