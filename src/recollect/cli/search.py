"""`recollect search`, `get` and `why`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import BOLD, Output, answers, listing, of_status, said
from recollect.cli.printing import visible
from recollect.core.clock import iso
from recollect.core.context import PROJECT, Event
from recollect.core.errors import BadInput, NotFound
from recollect.core.records import replace
from recollect.memory import Memory
from recollect.search.everything import KINDS, NARROWING, STRATEGIES, TRUSTS, Hit, nothing_found
from recollect.text.sentences import mark

if TYPE_CHECKING:
    from collections.abc import Callable

    from recollect.tend.why import EntryExplanation, Explanation, FileExplanation, NodeExplanation


@click.command()
@click.argument("query", default="")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only this kind; may be repeated.")
@click.option("--since", help='Only from this day or time on; words such as "last week" and 2w work too.')
@click.option("--until", help="Only up to and including this day, or up to this time.")
@click.option("--tag", help="Only learnings and decisions with this tag.")
@click.option(
    "--trust", "trusts", multiple=True, type=click.Choice(TRUSTS), help="Only text with this trust; may be repeated."
)
@click.option("--topic", help="Only log entries of this topic, by id or name.")
@click.option("--limit", type=int, help="How many hits (setting search.limit).")
@click.option("--offset", type=int, default=0, help="How many hits to skip.")
@click.option(
    "--strategy",
    type=click.Choice(STRATEGIES),
    default="hybrid",
    show_default=True,
    help="Words and meaning, words alone, or meaning alone.",
)
@click.option("--semantic-weight", type=float, metavar="W", help="Share of meaning, 0 to 1; 0.5 is the default.")
@click.option("--no-recency", "recency", flag_value=False, default=True, help="Do not prefer recent text.")
@click.option(
    "--no-confidence", "confidence", flag_value=False, default=True, help="Ignore the confidence of learnings."
)
@click.option("--explain", is_flag=True, help="Show the parts of each score.")
@click.option("--min-confidence", type=float, help="Leave out learnings below this (setting search.min_confidence).")
@click.option("--exclude-outcome", help="Leave out learnings of this outcome.")
@click.option("--domain", help="Only learnings of this domain.")
@of_status
@answers
def search(memory: Memory, query: str, limit: int | None, **options: Any) -> Output:
    """Find anything in memory that matches a text; without one, list the latest. Exits with 0 if it finds nothing."""
    hits = memory.search(query, limit=limit, **options)
    limit, offset = memory.context.settings.search.limit if limit is None else limit, options["offset"]
    note = ""
    if not hits:
        used = [name for name in NARROWING if options[name]]
        note = nothing_found(query, [f"--{name.removesuffix('s')}" for name in used])
        note += " To include learnings out of use: --status all --min-confidence 0."
    lines = [line for hit in hits for line in _shown(hit)]
    value = listing("results", hits, total=offset + len(hits), limit=limit, offset=offset)
    return Output(value, "\n".join(lines), note=note)


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--around", type=int, metavar="N", help="List N texts before and N after the ID instead.")
@answers
def get(memory: Memory, ids: tuple[str, ...], around: int | None) -> Output:
    """Show the full text of each ID; --around lists the texts before and after it in its session or document."""
    if around is not None:
        if len(ids) > 1:
            raise BadInput("--around takes exactly one ID")
        return _around(memory, ids[0], around)
    found, missing = [], []
    for id in ids:
        try:
            at, bare = memory.holding(id)
            found.append(replace(at.texts.get(bare), id=id))
        except NotFound as problem:
            missing.append(str(problem))
    texts = [f"# {one.title}  ({one.id})\n\n{one.text.rstrip()}" for one in found]
    if not found:
        raise NotFound("; ".join(missing))
    if missing:
        click.echo(f"recollect: {'; '.join(missing)}", err=True)
    return Output(listing("texts", found), "\n\n".join(texts), code=1 if missing else 0)


def _around(memory: Memory, id: str, count: int) -> Output:
    memory, id = memory.holding(id)
    found = memory.texts.around(id, before=count, after=count)
    lines = [
        f"{'>' if one.step == 0 else ' '} {one.id}  {one.title}"
        f"{f'  [{one.out_of_use}]' if one.out_of_use else ''}\n    {one.snippet}"
        for one in found
    ]
    return Output(listing("texts", found), "\n".join(lines))


def _shown(hit: Hit) -> list[str]:
    score = f"  {hit.score:z.2f}" if hit.score else ""
    lines = [f"{hit.id}{score}  {_bold(hit, hit.title)}", *(f"    {_bold(hit, line)}" for line in hit.lines)]
    facts = [hit.kind] if hit.learning is None else [f"confidence {hit.learning.confidence:.2f}"]
    facts += [f"ring {hit.ring}"] if hit.ring != PROJECT else []
    facts += [hit.out_of_use] if hit.out_of_use else []
    facts += [f"topic {hit.topic}"] if hit.topic else []
    facts += [iso(hit.at)[:10]] if hit.at and hit.learning is None else []
    if hit.matched_fields:
        facts.append(f"matched {', '.join(hit.matched_fields)}")
    elif hit.score:
        facts.append("found by meaning or context")
    facts += ["external"] if hit.trust == "external" else []
    lines.append(f"    {' · '.join(facts)}")
    if hit.signals is not None:
        signals = (f"{name} {value:.3f}" for name, value in hit.signals.items() if round(value, 3))
        lines.append(f"    {' + '.join(signals)}")
    return lines


def _bold(hit: Hit, line: str) -> str:
    return mark(visible(line), hit.marked, *BOLD)


@click.command()
@click.argument("id")
@answers
def why(memory: Memory, id: str) -> Output:
    """Explain where a record came from, who wrote it, its trust, and everything that happened to it."""
    found = memory.why(id)
    told: dict[str, Callable[[Any], str]] = {"NodeExplanation": _node, "EntryExplanation": _entry}
    told |= {"FileExplanation": _in_file, "Explanation": _learning}
    return Output(found, told[type(found).__name__](found))


def _learning(found: Explanation) -> str:
    how = "promoted from" if "/" in found.origin else "captured by"
    lines = [f"{found.id}: {found.title}", f"{how} {found.origin}, trusted as {found.trust}"]
    for source in found.sources:
        places = {"outcome": source.outcome_id, "task": source.task_id, "discovery": source.discovery_id}
        parts = [f"{name} {id}" for name, id in places.items() if id]
        lines.append(f"source     {iso(source.at)}  {', '.join(parts) or source.origin}")
    lines += [f"replaces   {old}" for old in found.replaces]
    lines += [f"replaced by {new}" for new in found.replaced_by]
    for one in found.injections:
        lines.append(f"injected   {iso(one.injected_at)}  task {one.task_id}: {one.feedback or 'no verdict'}")
    return "\n".join([*lines, *map(_event, found.events)])


def _node(found: NodeExplanation) -> str:
    from recollect.tend.why import shown_refs

    lines = [f"{found.id}: {found.status}, made by {found.generator}"]
    lines += [f"from {source.path} {source.sha256[:12]}" for source in found.sources]
    lines += [f"could not be read: {path}" for path in found.incomplete]
    return "\n".join([*lines, *(f"{shown_refs(line):<22} {line.text}" for line in found.lines)])


def _entry(found: EntryExplanation) -> str:
    lines = [
        f"{found.id}: {found.title} [{found.type}], trusted as {found.trust}",
        f"written {found.written or 'by hand'}" + (f" in session {found.session}" if found.session else ""),
        f"topic {found.topic}" if found.topic else "no topic",
        " → ".join([*found.way, found.id]) if found.way else "in no summary yet; make one with: recollect log compact",
    ]
    return "\n".join([*lines, *map(_event, found.events)])


def _in_file(found: FileExplanation) -> str:
    lines = [f"{found.id}: {found.title}", f"{found.file}, trusted as {found.trust}"]
    lines += [f"{name:<10} {value}" for name, value in found.facts]
    return "\n".join([*lines, *map(_event, found.events)])


def _event(event: Event) -> str:
    moved = ", ".join(f"{name} {said(event.old.get(name))} → {said(value)}" for name, value in event.new.items())
    line = f"{event.what:<22} {iso(event.at)}  {event.who} ({event.trust}, {event.channel})  {moved}"
    line += f"  — {event.reason}" if event.reason else ""
    return " ".join(line.splitlines()).rstrip()  # stored words cannot forge an event
