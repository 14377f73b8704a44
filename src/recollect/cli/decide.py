"""Commands that record decisions and say what became of them: decide, review, decision, preserve."""

from __future__ import annotations

import re
from typing import Any

import click

from recollect.cli.command import Answer, Group, answers
from recollect.cli.output import redactions
from recollect.core.decision import OUTCOMES, STAKES, Bridge, DecisionEdit, NewDecision, Reason, Review
from recollect.core.errors import BadInput
from recollect.distil.page import full_text
from recollect.memory import Memory

_KIND = re.compile(r"([a-z][a-z-]*):\s*(.+)", re.DOTALL)
_PAIR = re.compile(r"([a-z][\w.:/-]*)=(.*)", re.DOTALL)


def _details(command: Any) -> Any:
    """The options that `decide` and `decision edit` share."""
    for option in reversed(
        [
            click.option("--stakes", type=click.Choice(STAKES), help="What a mistake would cost."),
            click.option("--context", help="The situation it was made in."),
            click.option("--reason", "reasons", multiple=True, metavar="KIND:TEXT", help="Why; may be repeated."),
            click.option("--pattern", help="The general rule behind it, as a sentence: principles are mined from it."),
            click.option("--tag", "tags", multiple=True, help="A word to find it by; may be repeated."),
            click.option("--bridge", "bridge", multiple=True, metavar="NAME=TEXT", help="structure=… and function=…."),
            click.option(
                "--component", "components", multiple=True, metavar="NAME=NUMBER", help="Part of the confidence."
            ),
            click.option("--agent", help="Who decided."),
            click.option("--review-in", metavar="SPAN", help="When to look at the outcome: 36h, 10d, 2w, 3m."),
        ]
    ):
        command = option(command)
    return command


@click.command()
@click.argument("text")
@click.argument("pairs", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--confidence", type=float, required=True, help="How sure you are, between 0 and 1.")
@click.option("--category", required=True, help="One word: architecture, process, tooling, …")
@_details
@click.option("--supersedes", metavar="ID", help="The decision this one replaces.")
@click.option("--at", "decided_at", metavar="TIME", help="When it was made (ISO 8601), if not now.")
@click.option("--anyway", is_flag=True, help="Record it even if it reads as a status update.")
@answers
def decide(memory: Memory, text: str, pairs: tuple[str, ...], anyway: bool, **given: Any) -> Answer:
    """Record a decision: what was chosen, how sure you are, and why."""
    fields = {name: value for name, value in _fields(given, pairs).items() if value is not None}
    done = memory.decisions.record(NewDecision(decision=text, **fields), anyway=anyway)
    said = f"saved {done.decision.id}{redactions(done.redacted)}"
    return Answer({**vars(done.decision), "redacted": done.redacted}, said)


@click.command()
@click.argument("id")
@click.option("--outcome", required=True, type=click.Choice(OUTCOMES), help="What came of it.")
@click.option("--result", default="", help="What happened.")
@click.option("--lesson", default="", help="What to remember, as a sentence.")
@click.option("--version", type=int, help="Refuse when the decision is not at this version any more.")
@answers
def review(memory: Memory, id: str, outcome: Any, result: str, lesson: str, version: int | None) -> Answer:
    """Say what came of a decision. Reviewing again replaces the outcome; `why` shows both."""
    after = memory.decisions.review(id, Review(outcome=outcome, result=result, lesson=lesson), expect=version)
    return Answer(after, f"{id}: {outcome}, at confidence {after.confidence:.2f}")


@click.group(cls=Group)
def decision() -> None:
    """One decision: show it whole, edit it, take it back, adopt it."""


@decision.command()
@click.argument("id")
@answers
def show(memory: Memory, id: str) -> Answer:
    """Show a decision whole, whatever its age."""
    found = memory.decisions.get(id)
    return Answer(found, full_text(found))


@decision.command()
@click.argument("id")
@click.argument("pairs", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--decision", help="New text.")
@click.option("--confidence", type=float, help="New confidence, between 0 and 1.")
@click.option("--category", help="New category.")
@_details
@click.option("--version", type=int, help="Refuse when the decision is not at this version any more.")
@answers
def edit(memory: Memory, id: str, pairs: tuple[str, ...], version: int | None, **given: Any) -> Answer:
    """Change a decision's fields; what is given replaces what was there."""
    fields = _fields(given, pairs)
    changed = {name: value for name, value in fields.items() if value not in (None, (), {})}
    after = memory.decisions.edit(id, DecisionEdit(**changed), expect=version)
    return Answer(after, f"{id} is now at version {after.version}")


@decision.command()
@click.argument("id")
@click.option("--reason", required=True, help="Why it is taken back.")
@click.option("--by", metavar="ID", help="The decision that replaces it.")
@answers
def reverse(memory: Memory, id: str, reason: str, by: str | None) -> Answer:
    """Take a decision back. It is kept, counts as abandoned unless reviewed, and confirms nothing any more."""
    after = memory.decisions.reverse(id, reason=reason, by=by)
    return Answer(after, f"{id} is {after.status}" + (f" by {by}" if by else ""))


@decision.command()
@click.argument("id")
@answers
def adopt(memory: Memory, id: str) -> Answer:
    """Vouch for a decision that came from outside, so that wisdom may learn from it."""
    after = memory.decisions.adopt(id)
    return Answer(after, f"{id} may teach from now on")


@click.command()
@click.argument("id")
@click.option("--off", is_flag=True, help="Let it shrink again.")
@answers
def preserve(memory: Memory, id: str, off: bool) -> Answer:
    """Keep a decision whole at any age."""
    after = memory.decisions.preserve(id, on=not off)
    return Answer(after, f"{id} {'stays whole' if after.preserve else 'shrinks with age'}")


def _fields(given: dict[str, Any], pairs: tuple[str, ...]) -> dict[str, Any]:
    """Options as a record's fields. `--bridge structure=a function=b` leaves the second pair among the arguments."""
    bridge: dict[str, str] = {}
    components: dict[str, float] = {}
    for text in (*given.pop("bridge"), *given.pop("components"), *pairs):
        name, value = _pair(text)
        if name in ("structure", "function"):
            bridge[name] = value
        else:
            try:
                components[name] = float(value)
            except ValueError:
                raise BadInput(f"{text!r}: a component is a number, as in evidence=0.9") from None
    reasons = []
    for text in given.pop("reasons"):
        found = _KIND.fullmatch(text)
        reasons.append(Reason(kind=found.group(1), text=found.group(2)) if found else Reason(text=text))
    return {
        **given,
        "reasons": tuple(reasons),
        "bridge": Bridge(**bridge) if bridge else None,
        "components": components,
    }


def _pair(text: str) -> tuple[str, str]:
    found = _PAIR.fullmatch(text)
    if not found:
        raise BadInput(
            f"{text!r} is not NAME=VALUE, and more than one argument was given. Put a text of several words in quotes; "
            "an option that may be repeated takes one value each time: --tag a --tag b"
        )
    return found.group(1), found.group(2)
