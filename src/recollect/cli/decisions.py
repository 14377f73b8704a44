"""`recollect decide` and `recollect decision`: record, review, list and edit decisions, and what they taught."""

from __future__ import annotations

import re
from typing import Any

import click

from recollect.cli.command import Group, Output, answers, expecting, listing, page_of, redactions, table
from recollect.core.decision import OUTCOMES, STAKES, Bridge, DecisionEdit, NewDecision, Reason, Review
from recollect.core.errors import BadInput
from recollect.distil.decision_levels import LEVELS, full_text, headline, render_page, wisdom_text
from recollect.distil.wisdom import WINDOWS, Calibration
from recollect.memory import Memory

_KIND = re.compile(r"([a-z][a-z-]*):\s*(.+)", re.DOTALL)
_PAIR = re.compile(r"([a-z][\w.:/-]*)=(.*)", re.DOTALL)


def _details(command: Any) -> Any:
    for option in reversed(
        [
            click.option("--stakes", type=click.Choice(STAKES), help="What a mistake would cost."),
            click.option("--context", help="The situation it was made in."),
            click.option("--reason", "reasons", multiple=True, metavar="KIND:TEXT", help="Why; may be repeated."),
            click.option("--pattern", help="The general rule behind it, as a sentence: principles are mined from it."),
            click.option("--tag", "tags", multiple=True, help="A word to find it by; may be repeated."),
            click.option(
                "--bridge",
                multiple=True,
                metavar="NAME=TEXT",
                help="What it looks like, structure=…, and what it is for, function=….",
            ),
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


@click.group(cls=Group)
def decision() -> None:
    """Review, list, edit, reverse and adopt decisions."""


@decision.command()
@click.argument("id")
@click.option("--outcome", required=True, type=click.Choice(OUTCOMES), help="How it turned out.")
@click.option("--result", default="", help="What happened.")
@click.option("--lesson", default="", help="What to remember, as a sentence.")
@expecting
@answers
def review(memory: Memory, id: str, outcome: Any, result: str, lesson: str, version: int | None) -> Output:
    """Record the outcome of a decision. A later review replaces it; `why` shows both."""
    after = memory.decisions.review(id, Review(outcome=outcome, result=result, lesson=lesson), expect=version)
    return Output(after, f"{id}: {outcome}, at confidence {after.confidence:.2f}")


@decision.command()
@click.argument("id")
@answers
def show(memory: Memory, id: str) -> Output:
    """Show a decision in full, whatever its age."""
    found = memory.decisions.get(id)
    return Output(found, full_text(found))


@decision.command()
@click.argument("id")
@click.argument("pairs", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--decision", help="New text.")
@click.option("--confidence", type=float, help="New confidence, between 0 and 1.")
@click.option("--category", help="New category.")
@_details
@expecting
@answers
def edit(memory: Memory, id: str, pairs: tuple[str, ...], version: int | None, **given: Any) -> Output:
    """Edit a decision; each option replaces the old value of its field."""
    fields = _fields(given, pairs)
    changed = {name: value for name, value in fields.items() if value not in (None, (), {})}
    after = memory.decisions.edit(id, DecisionEdit(**changed), expect=version)
    return Output(after, f"{id} is now at version {after.version}")


@decision.command()
@click.argument("id")
@click.option("--reason", required=True, help="Why it is reversed.")
@click.option("--by", metavar="ID", help="The decision that replaces it.")
@answers
def reverse(memory: Memory, id: str, reason: str, by: str | None) -> Output:
    """Reverse a decision. It is kept, counts as abandoned unless reviewed, and no longer supports a principle."""
    after = memory.decisions.reverse(id, reason=reason, by=by)
    return Output(after, f"{id} is {after.status}" + (f" by {by}" if by else ""))


@decision.command()
@click.argument("id")
@answers
def adopt(memory: Memory, id: str) -> Output:
    """Vouch for an imported decision, so that it counts for wisdom."""
    after = memory.decisions.adopt(id)
    return Output(after, f"{id} now counts for wisdom")


@decision.command()
@click.argument("id")
@click.option("--off", is_flag=True, help="Let it shrink again.")
@answers
def preserve(memory: Memory, id: str, off: bool) -> Output:
    """Show a decision in full at any age."""
    after = memory.decisions.preserve(id, on=not off)
    return Output(after, f"{id} {'is shown in full at any age' if after.preserve else 'shrinks with age'}")


def _fields(given: dict[str, Any], pairs: tuple[str, ...]) -> dict[str, Any]:
    """Options as a record's fields. `--bridge structure=a function=b` leaves the second pair among the arguments."""
    bridge: dict[str, str] = {}
    components: dict[str, float] = {}
    for text in (*given.pop("bridge"), *given.pop("components"), *pairs):
        found = _PAIR.fullmatch(text)
        if not found:
            raise BadInput(
                f"{text!r} is not NAME=VALUE, and more than one argument was given. Put a text of several words in "
                "quotes; an option that may be repeated takes one value each time: --tag a --tag b"
            )
        name, value = found.groups()
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


@decision.command("list")
@click.option("--query", metavar="TEXT", default="", help="Only decisions that contain these words, best match first.")
@click.option("--level", type=click.Choice(LEVELS), help="Only decisions at this level.")
@click.option("--category", help="Only this category.")
@click.option("--agent", help="Only this agent's.")
@click.option("--limit", type=int, help="How many (50; 500 with --levels, not counting the wisdom level).")
@click.option("--offset", type=int, default=0, help="How many to skip.")
@click.option("--levels", is_flag=True, help="Print one page instead, each decision as long as its age allows.")
@click.option("--budget", type=int, metavar="TOKENS", help="With --levels: shorten the least important until it fits.")
@answers
def list_decisions(memory: Memory, query: str, levels: bool, budget: int | None, **wanted: Any) -> Output:
    """List decisions, newest first; --levels shows them as full text, summary, digest and wisdom."""
    wanted["limit"] = wanted["limit"] if wanted["limit"] is not None else 500 if levels else 50
    if budget is not None and not levels:
        raise BadInput("--budget needs --levels")
    if levels and not query:
        page = memory.decisions.compacted(budget=budget, **wanted)
        text = render_page(page).rstrip("\n") if page.total else "no such decisions; record one with: recollect decide"
        return Output(page, text)
    hits, total = memory.decisions.query(query, **wanted)
    said = [headline(hit.decision) + (hit.out_of_use and f"  [{hit.out_of_use}]") for hit in hits]
    rows = [(hit.id, hit.level, hit.decision.category, text) for hit, text in zip(hits, said, strict=True)]
    text = table(("id", "level", "category", "decision"), rows, "no such decision")
    return page_of("decisions", hits, text, total=total, limit=wanted["limit"], offset=wanted["offset"])


@decision.command()
@click.option("--category", help="Only this category.")
@click.option("--agent", help="Only from this agent's decisions.")
@answers
def wisdom(memory: Memory, category: str | None, agent: str | None) -> Output:
    """Show what the oldest decisions of each category taught."""
    found = memory.decisions.wisdom(category=category, agent=agent)
    return Output(listing("wisdom", found), wisdom_text(found) or "no reviewed decision is old enough yet")


@decision.command()
@click.option("--category", help="Only this category.")
@click.option("--agent", help="Only this agent's.")
@click.option("--window", type=int, metavar="DAYS", help="Only reviews of the last days: 30, 60, 90, …")
@answers
def calibration(memory: Memory, category: str | None, agent: str | None, window: int | None) -> Output:
    """Compare confidence with outcomes."""
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
    whole = table(("", "decisions", "confidence", "success", "gap", "Brier", "verdict"), rows)
    text = f"{whole}\n\n{table(('confidence', 'decisions', 'mean', 'success', 'gap'), buckets)}"
    return Output({**found, "windows": {str(days): part for days, part in recent}}, text)


@decision.command()
@click.option("--agent", help="Only this agent's.")
@click.option("--all", "everything", is_flag=True, help="All decisions without an outcome, due or not.")
@answers
def due(memory: Memory, agent: str | None, everything: bool) -> Output:
    """List decisions that are due for a review. A decision is shown in full until it is reviewed."""
    waiting = memory.decisions.review_queue(agent=agent, due_only=not everything)
    rows = [
        (one.decision.id, f"{one.age_days}d", "due" if one.due else "", " ".join(one.decision.decision.split())[:80])
        for one in waiting
    ]
    return Output(listing("reviews", waiting), table(("id", "age", "", "decision"), rows, "nothing waits for a review"))


def _row(part: Calibration) -> tuple[Any, ...]:
    numbers = map(_number, (part.mean_confidence, part.success_rate, part.gap, part.brier))
    return (part.decisions, *numbers, part.verdict)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
