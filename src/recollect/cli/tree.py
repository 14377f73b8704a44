"""`recollect compact`, `tree` and `recall`: the compaction tree."""

from __future__ import annotations

import click

from recollect.cli.command import Answer, answers
from recollect.cli.output import HELD, table
from recollect.cli.progress import levels
from recollect.core.calendar import ROOT
from recollect.distil.tree import Compacted
from recollect.memory import Memory
from recollect.text.counting import counted


@click.command()
@click.option("--all", "everything", is_flag=True, help="Look at every log and node, and ask for all that waits.")
@click.option("--dry-run", is_flag=True, help="Say what would be made, make nothing.")
@answers
def compact(memory: Memory, everything: bool, dry_run: bool) -> Answer:
    """Bring the tree up to date: raw → daily → weekly → monthly → ROOT.md."""
    with levels() as progress:
        done, warning = memory.journal.compact(everything=everything, dry_run=dry_run, progress=progress)
    if warning:
        click.echo(f"recollect: {warning}", err=True)
    return Answer(done, _told(done, "would be " if dry_run else ""))


@click.command()
@click.option("--period", help="A day 2026-03-01, a week 2026-W09 or a month 2026-03, with everything below it.")
@click.argument("id", required=False)
@answers
def tree(memory: Memory, period: str | None, id: str | None) -> Answer:
    """Show the tree: status, tokens and topics of its nodes; with an ID (daily/2026-03-01, root) that node's text."""
    if id:
        text = memory.journal.node(id)
        return Answer({"id": id, "text": text}, text.rstrip("\n"))
    found = memory.journal.tree(period)
    indent = {ROOT: "", "monthly": "", "weekly": "  ", "daily": "    "}
    rows = [
        (
            indent[node.level] + node.id,
            node.status + (" (incomplete)" if node.incomplete else "") + (" (waiting)" if node.waiting else ""),
            node.tokens,
            ", ".join(node.topics[:6]) + (f" and {len(node.topics) - 6} more" if len(node.topics) > 6 else ""),
        )
        for node in found
    ]
    nothing = "nothing yet; begin with: recollect log add"
    return Answer(found, table(("node", "status", "tokens", "topics"), rows) if rows else nothing)


@click.command()
@click.argument("question")
@click.option("--limit", type=int, default=5, show_default=True, help="How many entries.")
@answers
def recall(memory: Memory, question: str, limit: int) -> Answer:
    """Walk from ROOT.md down to the raw words that answer a question, and show the way."""
    found = memory.recall(question, limit=limit)
    lines = [f"{step.id:<18} {step.score:6.2f}  {step.line}" for step in found.steps]
    for entry in found.entries:
        mark = "" if entry.trust != "external" else " [external]"
        lines += ["", f"{entry.id}  {entry.score:.2f}  {entry.topic}{mark}", f"    {entry.snippet}"]
        lines.append(f"    {' → '.join([*entry.way, entry.id]) if entry.way else 'found beside the tree'}")
    return Answer(found, "\n".join(lines) if found.entries else "nothing found")


def _told(done: Compacted, how: str) -> str:
    if done.held:
        return HELD
    lines = [f"{change.id} {how}{change.what}" for change in done.changes] or ["nothing due"]
    lines += [f"{path} keeps what somebody wrote into the node; a log is the place for it" for path in done.kept]
    lines += [f"{path} cannot be read; its period stays tentative" for path in done.unreadable]
    if done.waiting:
        lines.append(f"waiting for a model: {counted(done.waiting, 'node')}")
    if done.clock_behind:
        lines.append("the clock is more than 48 hours behind the last run: nothing was called final")
    return "\n".join(lines)
