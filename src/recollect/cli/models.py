"""`recollect model`: which models answer, and the questions that wait for an agent's answer."""

from __future__ import annotations

import json
from typing import Any, BinaryIO

import click

from recollect.cli.command import Group, Output, answers, listing, progress, table
from recollect.core.errors import BadInput
from recollect.memory import Memory
from recollect.models.configured import KINDS, ProviderCheck
from recollect.search.meaning import NO_EMBEDDER

EMBEDDER_MISSING = "pip install 'recollect-memory[embeddings]' brings an embedder"
MOST_BYTES = 50_000_000  # thousands of answers of the longest kind; more is a wrong file


@click.group(cls=Group)
def model() -> None:
    """Models, and the questions that wait for an agent's answer."""


@model.command()
@answers
def check(memory: Memory) -> Output:
    """Show which model does which job, and test each with one tiny call."""
    found = memory.models.check()
    embedder = memory.status().embedder
    rows = [
        (each.name, "all" if len(each.kinds) == len(KINDS) else ", ".join(each.kinds), _how(each)) for each in found
    ]
    text = table(("provider", "kinds", "answer"), rows, "no model is configured: everything works offline")
    return Output(
        listing("models", found, embedder=embedder),
        f"{text}\nembedder: {embedder}",
        code=1 if not all(each.ok for each in found) else 0,
    )


def _how(found: ProviderCheck) -> str:
    if found.seconds is None:
        return found.reason if found.ok else f"failed: {found.reason}"
    cost = "cost not known" if found.cost is None else f"cost {found.cost:.6f}"
    used = f"{found.seconds:.2f} s, {found.input_tokens} + {found.output_tokens} tokens, {cost}"
    return f"fine: {used}" if found.ok else f"failed: {found.reason} ({used})"


@model.command()
@click.option("--limit", type=click.IntRange(min=1), help="How many to show at most.")
@answers
def pending(memory: Memory, limit: int | None) -> Output:
    """List the questions that wait for an agent, oldest first; --json has all that is needed to answer them."""
    found = memory.models.pending(limit=limit)
    rows = [(each.id, each.kind, each.subject, each.max_tokens) for each in found]
    return Output(
        listing("pending", found, limit=limit), table(("id", "kind", "about", "tokens"), rows, "nothing waits")
    )


def _read_answers(ctx: click.Context, param: click.Parameter, file: BinaryIO) -> list[Any]:
    """The answers in a file, read before the memory is opened."""
    raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise BadInput(f"more than {MOST_BYTES:,} bytes; apply fewer answers at a time")
    try:
        given = json.loads(raw)
    except (ValueError, RecursionError):
        raise BadInput('not JSON; write {"id": "ask_…", "answer": "…"} or a list of such objects') from None
    return given if isinstance(given, list) else [given]


@model.command()
@click.argument("file", type=click.File("rb"), default="-", callback=_read_answers)
@answers
def apply(memory: Memory, file: list[Any]) -> Output:
    """Apply answers from FILE or standard input: `{"id": …, "answer": …}`, or a list of such objects."""
    done = memory.models.apply(file)
    lines = [f"{each.id}  {'taken' if each.taken else f'refused: {each.reason}'}" for each in done]
    text = "\n".join(lines) or "nothing to apply"
    return Output(listing("answers", done), text, code=0 if all(each.taken for each in done) else 1)


@model.command()
@answers
def embed(memory: Memory) -> Output:
    """Embed every passage that has no vectors yet, so that search finds it by meaning."""
    with progress("passages") as told:
        done = memory.data.embed(progress=told)
    text = done.why_not or f"made the vectors of {done.made} passages, {done.waiting} wait"
    if done.why_not == NO_EMBEDDER:
        text += "; embed.use is off" if memory.context.settings.embed.use == "off" else f"; {EMBEDDER_MISSING}"
    return Output(done, f"{text}; {done.note}" if done.note else text, code=1 if done.why_not else 0)
