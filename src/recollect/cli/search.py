"""`recollect search`."""

from __future__ import annotations

import click

from recollect.cli.opening import open_memory
from recollect.cli.output import common, emit


@click.command()
@click.argument("query")
@click.option("--min-confidence", type=float, help="Leave out what is below (setting search.min_confidence).")
@click.option("--limit", type=int, help="How many hits (setting search.limit).")
@click.option("--exclude-outcome", help="Leave out what came from this outcome.")
@click.option("--domain", help="Only this domain.")
@click.option(
    "--status",
    default="active",
    show_default=True,
    type=click.Choice(["active", "archived", "superseded", "all"]),
    help="Which of them.",
)
@click.option("--staged", is_flag=True, help="Look among staged entries instead of learnings.")
@common
def search(
    query: str,
    min_confidence: float | None,
    limit: int | None,
    exclude_outcome: str | None,
    domain: str | None,
    status: str,
    staged: bool,
    project: str | None,
    as_json: bool,
) -> None:
    """Find learnings for any text. No hit is an answer too: exit 0, nothing printed."""
    with open_memory(project) as memory:
        if staged:
            entries = memory.staging.search(query, limit=limit)
            shown = [f"{hit.id}  {hit.score:6.2f}\n    {hit.title}\n    {hit.snippet}" for hit in entries]
            emit({"results": entries, "total": len(entries)}, "\n".join(shown), as_json=as_json)
            return
        hits = memory.search(
            query,
            min_confidence=min_confidence,
            limit=limit,
            exclude_outcome=exclude_outcome,
            domain=domain,
            status=status,
        )
    lines = []
    for hit in hits:
        lines += [
            f"{hit.learning.id}  {hit.score:6.2f}  {hit.learning.title}",
            f"    {hit.snippet}",
            f"    confidence {hit.learning.confidence:.2f} · matched {', '.join(hit.matched_fields)}",
        ]
    emit({"results": hits, "total": len(hits)}, "\n".join(lines), as_json=as_json)
