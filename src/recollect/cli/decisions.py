"""Commands that record decisions and say what became of them: decide, review, decision, preserve.

Commands that read decisions: decisions, wisdom, calibration, review-queue, and rpc.
"""

from __future__ import annotations

import re
import sys
from typing import Any

import click

from recollect.cli.command import Group, Output, answers, redactions, table
from recollect.cli.printing import open_memory
from recollect.core.decision import OUTCOMES, STAKES, Bridge, DecisionEdit, NewDecision, Reason, Review
from recollect.core.errors import BadInput
from recollect.distil.decision_levels import LEVELS
from recollect.distil.decision_page import full_text, headline, render, wisdom_text
from recollect.distil.decisions import DecisionHit
from recollect.distil.wisdom import WINDOWS, Calibration
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
def decide(memory: Memory, text: str, pairs: tuple[str, ...], anyway: bool, **given: Any) -> Output:
    """Record a decision: what was chosen, how sure you are, and why."""
    fields = {name: value for name, value in _fields(given, pairs).items() if value is not None}
    done = memory.decisions.record(NewDecision(decision=text, **fields), anyway=anyway)
    said = f"saved {done.decision.id}{redactions(done.redacted)}"
    return Output({**vars(done.decision), "redacted": done.redacted}, said)


@click.command()
@click.argument("id")
@click.option("--outcome", required=True, type=click.Choice(OUTCOMES), help="What came of it.")
@click.option("--result", default="", help="What happened.")
@click.option("--lesson", default="", help="What to remember, as a sentence.")
@click.option("--version", type=int, help="Refuse when the decision is not at this version any more.")
@answers
def review(memory: Memory, id: str, outcome: Any, result: str, lesson: str, version: int | None) -> Output:
    """Say what came of a decision. Reviewing again replaces the outcome; `why` shows both."""
    after = memory.decisions.review(id, Review(outcome=outcome, result=result, lesson=lesson), expect=version)
    return Output(after, f"{id}: {outcome}, at confidence {after.confidence:.2f}")


@click.group(cls=Group)
def decision() -> None:
    """One decision: show it whole, edit it, take it back, adopt it."""


@decision.command()
@click.argument("id")
@answers
def show(memory: Memory, id: str) -> Output:
    """Show a decision whole, whatever its age."""
    found = memory.decisions.get(id)
    return Output(found, full_text(found))


@decision.command()
@click.argument("id")
@click.argument("pairs", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--decision", help="New text.")
@click.option("--confidence", type=float, help="New confidence, between 0 and 1.")
@click.option("--category", help="New category.")
@_details
@click.option("--version", type=int, help="Refuse when the decision is not at this version any more.")
@answers
def edit(memory: Memory, id: str, pairs: tuple[str, ...], version: int | None, **given: Any) -> Output:
    """Change a decision's fields; what is given replaces what was there."""
    fields = _fields(given, pairs)
    changed = {name: value for name, value in fields.items() if value not in (None, (), {})}
    after = memory.decisions.edit(id, DecisionEdit(**changed), expect=version)
    return Output(after, f"{id} is now at version {after.version}")


@decision.command()
@click.argument("id")
@click.option("--reason", required=True, help="Why it is taken back.")
@click.option("--by", metavar="ID", help="The decision that replaces it.")
@answers
def reverse(memory: Memory, id: str, reason: str, by: str | None) -> Output:
    """Take a decision back. It is kept, counts as abandoned unless reviewed, and confirms nothing any more."""
    after = memory.decisions.reverse(id, reason=reason, by=by)
    return Output(after, f"{id} is {after.status}" + (f" by {by}" if by else ""))


@decision.command()
@click.argument("id")
@answers
def adopt(memory: Memory, id: str) -> Output:
    """Vouch for a decision that came from outside, so that wisdom may learn from it."""
    after = memory.decisions.adopt(id)
    return Output(after, f"{id} may teach from now on")


@click.command()
@click.argument("id")
@click.option("--off", is_flag=True, help="Let it shrink again.")
@answers
def preserve(memory: Memory, id: str, off: bool) -> Output:
    """Keep a decision whole at any age."""
    after = memory.decisions.preserve(id, on=not off)
    return Output(after, f"{id} {'stays whole' if after.preserve else 'shrinks with age'}")


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


@click.command()
@click.option("--level", type=click.Choice(LEVELS), help="Only what is at this level.")
@click.option("--category", help="Only this category.")
@click.option("--agent", help="Only this agent's.")
@click.option("--budget", type=int, metavar="TOKENS", help="Shrink the least important until the page fits.")
@click.option("--limit", type=int, default=500, show_default=True, help="How many above the wisdom level.")
@click.option("--offset", type=int, default=0, help="How many of those to skip.")
@click.option("--list", "listed", is_flag=True, help="One line each instead, newest first, wisdom included.")
@click.option("--query", metavar="TEXT", default="", help="With --list: those that hold these words, best first.")
@answers
def decisions(memory: Memory, listed: bool, query: str, **wanted: Any) -> Output:
    """Show decisions at the level their age asks for: full, summary, digest, wisdom."""
    if listed or query:
        return _list(memory, query, wanted)
    page = memory.decisions.compacted(**wanted)
    text = render(page).rstrip("\n") if page.total else "no such decisions; record one with: recollect decide"
    return Output(page, text)


@click.command()
@click.option("--category", help="Only this category.")
@click.option("--agent", help="Only from this agent's decisions.")
@answers
def wisdom(memory: Memory, category: str | None, agent: str | None) -> Output:
    """Show what the oldest decisions of each category taught."""
    found = memory.decisions.wisdom(category=category, agent=agent)
    return Output({"wisdom": found}, wisdom_text(found) or "no reviewed decision is old enough yet")


@click.command()
@click.option("--category", help="Only this category.")
@click.option("--agent", help="Only this agent's.")
@click.option("--window", type=int, metavar="DAYS", help="Only reviews of the last days: 30, 60, 90, …")
@answers
def calibration(memory: Memory, category: str | None, agent: str | None, window: int | None) -> Output:
    """Compare confidence with what came of it."""
    found = memory.decisions.calibration(category=category, agent=agent, window_days=window)
    recent = [
        (days, memory.decisions.calibration(category=category, agent=agent, window_days=days)["overall"])
        for days in (WINDOWS if window is None else ())
    ]
    overall = found["overall"]
    rows = [("overall", *_row(overall))]
    rows += [(f"last {days} days", *_row(part)) for days, part in recent]
    rows += [(f"category {name}", *_row(part)) for name, part in found["categories"].items()]
    rows += [(f"agent {name}", *_row(part)) for name, part in found["agents"].items()]
    buckets = [
        (f"{b.low:.1f}–{b.high:.1f}", b.decisions, _number(b.mean_confidence), _number(b.success_rate), _number(b.gap))
        for b in overall.buckets
    ]
    text = "\n\n".join(
        [
            table(("", "decisions", "confidence", "success", "gap", "Brier", "verdict"), rows),
            table(("confidence", "decisions", "mean", "success", "gap"), buckets),
        ]
    )
    windows = {str(days): part for days, part in recent}
    return Output({**found, "windows": windows}, text)


@click.command("review-queue")
@click.option("--agent", help="Only this agent's.")
@click.option("--due", "due_only", is_flag=True, help="Only what is due.")
@answers
def review_queue(memory: Memory, agent: str | None, due_only: bool) -> Output:
    """List decisions without an outcome; they stay whole until somebody reviews them."""
    waiting = memory.decisions.review_queue(agent=agent, due_only=due_only)
    rows = [
        (one.decision.id, f"{one.age_days}d", "due" if one.due else "", " ".join(one.decision.decision.split())[:80])
        for one in waiting
    ]
    text = table(("id", "age", "", "decision"), rows) if rows else "nothing waits for a review"
    return Output({"waiting": waiting}, text)


@click.command()
@click.option("--project", metavar="DIR", help="Folder of the project, instead of the current one.")
def rpc(project: str | None) -> None:
    """Answer the JSON-RPC 2.0 request (or batch) on standard input: the cstp.* methods."""
    from recollect.api.rpc import dispatch, methods

    request = sys.stdin.buffer.read()
    with open_memory(project) as memory:
        answer = dispatch(request, methods(memory))
    if answer is not None:
        click.echo(answer.decode())


def _list(memory: Memory, query: str, wanted: dict[str, Any]) -> Output:
    names = ("level", "category", "agent", "limit", "offset")
    hits, total = memory.decisions.query(query, **{name: wanted[name] for name in names})
    rows = [(hit.id, hit.level, hit.decision.category, _said(hit)) for hit in hits]
    text = table(("id", "level", "category", "decision"), rows) if rows else "no such decision"
    if total > len(hits) + wanted["offset"]:
        text += f"\n{len(hits)} of {total}; --offset shows more"
    return Output({"decisions": hits, "total": total}, text)


def _said(hit: DecisionHit) -> str:
    return headline(hit.decision) + (f"  [{hit.out_of_use}]" if hit.out_of_use else "")


def _row(part: Calibration) -> tuple[Any, ...]:
    return (
        part.decisions,
        _number(part.mean_confidence),
        _number(part.success_rate),
        _number(part.gap),
        _number(part.brier),
        part.verdict,
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
