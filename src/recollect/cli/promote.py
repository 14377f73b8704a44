"""`recollect promote`: a finding or a staged entry becomes a learning."""

from __future__ import annotations

import click

from recollect.cli.command import Answer, answers
from recollect.core.errors import BadInput
from recollect.memory import Memory


@click.command()
@click.argument("id")
@click.option("--title", help="Of a finding: the learning's title (the proposed rule).")
@click.option("--context", default="", help="Of a staged entry: when it applies (that it was staged).")
@click.option("--implication", default="", help="Of a staged entry: what it means for future work (the body).")
@click.option("--action", default="", help="Of a staged entry: what to do (the title).")
@answers
def promote(memory: Memory, id: str, title: str | None, context: str, implication: str, action: str) -> Answer:
    """Make a learning of a finding (finding/WORK-ID#2) or of a staged entry (its slug), with its provenance."""
    finding = id.startswith("finding/")
    if finding and (context or implication or action):
        raise BadInput("a finding takes --title only; edit the learning afterwards: recollect learn edit")
    if title and not finding:
        raise BadInput("a staged entry keeps its title; edit the learning afterwards: recollect learn edit")
    if finding:
        captured = memory.themes.promote(id, title=title)
    else:
        captured = memory.staging.promote(
            id.removeprefix("staged/"), context=context, implication=implication, action=action
        )
    learning = captured.learning
    said = f"{learning.id} already says so" if captured.merged else f"saved {learning.id} from {id}"
    return Answer({**vars(learning), "merged": captured.merged}, said)
