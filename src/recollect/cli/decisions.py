"""Commands that read decisions: decisions, wisdom, calibration, review-queue, and rpc."""

from __future__ import annotations

import sys
from typing import Any

import click

from recollect.cli.command import Answer, answers
from recollect.cli.opening import open_memory
from recollect.cli.output import table
from recollect.core.clock import parse_time
from recollect.distil.calibration import WINDOWS, Calibration
from recollect.distil.decision_query import DecisionHit
from recollect.distil.levels import LEVELS
from recollect.distil.page import headline, render, wisdom_text
from recollect.memory import Memory


@click.command()
@click.option("--level", type=click.Choice(LEVELS), help="Only what is at this level.")
@click.option("--category", help="Only this category.")
@click.option("--agent", help="Only this agent's.")
@click.option("--as-of", metavar="TIME", help="The page as it was at a time (ISO 8601); without a zone it is UTC.")
@click.option("--budget", type=int, metavar="TOKENS", help="Shrink the least important until the page fits.")
@click.option("--limit", type=int, default=500, show_default=True, help="How many above the wisdom level.")
@click.option("--offset", type=int, default=0, help="How many of those to skip.")
@click.option("--list", "listed", is_flag=True, help="One line each instead, newest first, wisdom included.")
@click.option("--query", metavar="TEXT", default="", help="With --list: those that hold these words, best first.")
@answers
def decisions(memory: Memory, as_of: str | None, listed: bool, query: str, **wanted: Any) -> Answer:
    """Show decisions at the level their age asks for: full, summary, digest, wisdom."""
    if listed or query:
        return _list(memory, query, wanted)
    page = memory.decisions.compacted(as_of=parse_time(as_of) if as_of else None, **wanted)
    text = render(page).rstrip("\n") if page.total else "no such decisions; record one with: recollect decide"
    return Answer(page, text)


@click.command()
@click.option("--category", help="Only this category.")
@click.option("--agent", help="Only from this agent's decisions.")
@click.option("--as-of", metavar="TIME", help="As it was at a time (ISO 8601); without a zone it is UTC.")
@answers
def wisdom(memory: Memory, category: str | None, agent: str | None, as_of: str | None) -> Answer:
    """Show what the oldest decisions of each category taught."""
    found = memory.decisions.wisdom(category=category, agent=agent, as_of=parse_time(as_of) if as_of else None)
    return Answer({"wisdom": found}, wisdom_text(found) or "no reviewed decision is old enough yet")


@click.command()
@click.option("--category", help="Only this category.")
@click.option("--agent", help="Only this agent's.")
@click.option("--window", type=int, metavar="DAYS", help="Only reviews of the last days: 30, 60, 90, …")
@answers
def calibration(memory: Memory, category: str | None, agent: str | None, window: int | None) -> Answer:
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
    return Answer({**found, "windows": windows}, text)


@click.command("review-queue")
@click.option("--agent", help="Only this agent's.")
@click.option("--due", "due_only", is_flag=True, help="Only what is due.")
@answers
def review_queue(memory: Memory, agent: str | None, due_only: bool) -> Answer:
    """List decisions without an outcome; they stay whole until somebody reviews them."""
    waiting = memory.decisions.review_queue(agent=agent, due_only=due_only)
    rows = [
        (one.decision.id, f"{one.age_days}d", "due" if one.due else "", " ".join(one.decision.decision.split())[:80])
        for one in waiting
    ]
    text = table(("id", "age", "", "decision"), rows) if rows else "nothing waits for a review"
    return Answer({"waiting": waiting}, text)


@click.command()
@click.option("--project", metavar="DIR", help="Folder of the project, instead of the current one.")
def rpc(project: str | None) -> None:
    """Answer the JSON-RPC 2.0 request (or batch) on standard input: the cstp.* methods."""
    from recollect.api.cstp import methods
    from recollect.api.rpc import dispatch

    request = sys.stdin.buffer.read()
    with open_memory(project) as memory:
        answer = dispatch(request, methods(memory))
    if answer is not None:
        click.echo(answer.decode())


def _list(memory: Memory, query: str, wanted: dict[str, Any]) -> Answer:
    names = ("level", "category", "agent", "limit", "offset")
    hits, total = memory.decisions.query(query, **{name: wanted[name] for name in names})
    rows = [(hit.id, hit.level, hit.decision.category, _said(hit)) for hit in hits]
    text = table(("id", "level", "category", "decision"), rows) if rows else "no such decision"
    if total > len(hits) + wanted["offset"]:
        text += f"\n{len(hits)} of {total}; --offset shows more"
    return Answer({"decisions": hits, "total": total}, text)


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
