"""Commands that move data: export, import, purge."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from io import BufferedReader
from pathlib import Path
from typing import cast

import click

from recollect.capture.bring_pieces import Gathered
from recollect.capture.sources import SOURCES, Source
from recollect.cli.command import Answer, answers, common
from recollect.cli.opening import open_memory
from recollect.cli.output import emit
from recollect.cli.progress import counting
from recollect.core.choices import Trust
from recollect.core.errors import BadInput, Refused
from recollect.memory import Memory
from recollect.tend.purge import Plan, Purged
from recollect.tend.transfer import Imported
from recollect.text.counting import counted


@click.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@answers
def export(memory: Memory, file: Path | None) -> Answer | None:
    """Write the rows of the store as JSONL, to FILE or to standard output. The files of memory/ are not in it."""
    with counting("records") as progress:
        if file is None:
            memory.data.export(lambda line: click.echo(line, nl=False), progress=progress)
            return None
        done = memory.data.export_file(file, progress=progress)
    said = ", ".join(counted(count, kind) for kind, count in done.records.items()) or "nothing yet"
    return Answer({"file": str(file), **vars(done)}, f"wrote {file}: {said}")


@click.command("import")
@click.argument("path", required=False, type=click.Path(allow_dash=True, path_type=Path))
@click.option("--from", "source", type=click.Choice(SOURCES), help="Take in what this tool kept, not an export.")
@click.option("--of", metavar="NAME", help="The project, as claude-mem calls it; this folder's name unless given.")
@click.option("--preview", "--dry-run", "preview", is_flag=True, help="Only say what would come in; with --from.")
@click.option(
    "--trust",
    type=click.Choice(["external", "agent"]),
    default="external",
    show_default=True,
    help="How far to trust what comes in; only a person may say agent.",
)
@common
def import_(
    path: Path | None,
    source: Source | None,
    of: str | None,
    preview: bool,
    trust: Trust,
    project: str | None,
    as_json: bool,
) -> int:
    """Take in an export from PATH (- for standard input), or what another tool kept. Doing it twice changes nothing."""
    if source is not None:
        with open_memory(project) as memory, counting("records") as progress:
            found = memory.data.gather(source, path, of=of, trust=trust, preview=preview, progress=progress)
        emit(found, "\n".join(_gathered(found)), as_json=as_json)
        return 0 if found.whole else 1
    if path is None or preview or of:
        raise BadInput("say which export to take in, or --from which tool; --preview and --of go with --from")
    with _reading(path) as stream:
        stream.peek(1)  # waits for whoever writes it; then it is taken in as it comes, whatever its size
        with open_memory(project) as memory, counting("lines") as progress:
            name = "standard input" if str(path) == "-" else path.name
            done = memory.data.take_in(stream, name=name, trust=trust, progress=progress)
    emit(done, "\n".join(_imported(done)), as_json=as_json)
    return 0 if done.whole else 1


def _reading(path: Path) -> AbstractContextManager[BufferedReader]:
    if str(path) == "-":
        return nullcontext(cast(BufferedReader, sys.stdin.buffer))
    if not path.is_file() and not path.is_fifo():
        raise BadInput(f"{path} is no file; to take in a folder say what wrote it with --from")
    return path.open("rb")


def _imported(done: Imported) -> list[str]:
    lines = [f"added {counted(count, kind)}" for kind, count in done.added.items()]
    lines += [f"adopted {counted(done.adopted, 'record')}"] if done.adopted else []
    lines = lines or ["nothing new"]
    lines += [f"{done.known} known from before"] if done.known else []
    lines += [f"{counted(done.left, 'record')} of history left where it happened"] if done.left else []
    lines += [f"line {problem.line}: {problem.reason}" for problem in (*done.conflicts, *done.bad)]
    return lines + ([f"and {counted(done.unreported, 'more line')} with problems"] if done.unreported else [])


def _gathered(found: Gathered) -> list[str]:
    lines: list[str] = []
    if found.preview:
        lines += [f"{each.kind:<8}  {each.day}  {each.title}  ({each.place})" for each in found.fresh]
        more = sum(found.added.values()) - len(found.fresh)
        lines += [f"and {more} more"] if more else []
    verb = "would add" if found.preview else "added"
    counts = [counted(count, kind) for kind, count in found.added.items()]
    lines += [f"{verb} {' and '.join(counts)}, trusted as {found.trust}"] if counts else []
    adopt = "would adopt" if found.preview else "adopted"
    lines += [f"{adopt} {counted(found.adopted, 'learning')}"] if found.adopted else []
    lines += ["nothing new"] if not counts and not found.adopted else []
    lines += [f"{found.known} known from before"] if found.known else []
    lines += [f"passed over {each.place}: {each.reason}" for each in found.passed]
    more = found.passed_over - len(found.passed)
    return lines + ([f"and {more} more passed over"] if more else [])


@click.command()
@click.argument("id", required=False)
@click.option("--text", help="Remove this text wherever it stands, also inside a longer word.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@answers
def purge(memory: Memory, id: str | None, text: str | None, dry_run: bool, yes: bool) -> Answer:
    """Remove the thing ID and what quotes it, or a text wherever it stands. Nothing brings it back."""
    if (id is None) == (text is None):
        raise BadInput("say either the id of a thing or --text")
    if not (dry_run or yes or sys.stdin.isatty()):
        raise Refused("there is no terminal to ask on, and nothing brings it back; look with --dry-run, then say --yes")
    if dry_run or not yes:
        plan = memory.data.plan_purge(id=id, text=text)
        if dry_run:
            return Answer(plan, "\n".join(_planned(plan)) or "nothing would go")
        click.echo("\n".join(_planned(plan)), err=True)
        if not click.confirm("Nothing brings this back. Go on?", err=True):
            raise Refused("nothing was changed")
    done = memory.data.purge(id=id, text=text)
    return Answer(done, "\n".join(_done(done)), code=3 if done.found else 0)


def _planned(plan: Plan) -> list[str]:
    lines = [f"would remove {id}" for id in plan.things]
    lines += [f"would mark the text in {counted(count, 'row')} of {table}" for table, count in plan.rows.items()]
    lines += [f"would mark the text in {path}" for path in plan.files]
    return lines + ([f"would replace {counted(plan.backups, 'own backup')} by a fresh one"] if plan.backups else [])


def _done(done: Purged) -> list[str]:
    lines = [f"removed {id}" for id in done.things]
    lines += [f"marked {counted(count, 'row')} of {table}" for table, count in done.rows.items()]
    lines += [f"marked {path}" for path in done.files]
    if done.fresh_backup:
        lines.append(f"own backups: {done.backups_replaced} replaced by {done.fresh_backup}")
    lines += [f"STILL FOUND in {path}; run the purge again when no other process reads it" for path in done.found]
    return [*lines, *(f"out of reach: {what}" for what in done.out_of_reach)]
