"""`recollect store` and `recollect doctor`: keep the store whole, move it, bring data in and out."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from io import BufferedReader
from pathlib import Path
from typing import cast

import click

from recollect.capture.import_notes import ImportedPieces
from recollect.capture.import_tools import SOURCES, Source
from recollect.cli.command import Group, Output, answers, common, copying, counting, emit, naming, table
from recollect.cli.printing import actor_of, find_project, open_memory
from recollect.core.choices import Trust
from recollect.core.clock import iso
from recollect.core.errors import BadInput, Refused
from recollect.hosts.hook import HOSTS, PAUSED, SILENT
from recollect.memory import Memory
from recollect.memory.admin import Rescue
from recollect.tend.export import Imported
from recollect.tend.mirror import Mirrored
from recollect.tend.purge import Purged, PurgePlan
from recollect.tend.verify import Discrepancy
from recollect.text.sentences import counted


@click.group(cls=Group)
def store() -> None:
    """The store that holds the memory, on SQLite or PostgreSQL."""


@store.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@answers
def backup(memory: Memory, file: Path | None) -> Output:
    """Copy the store to FILE, or into .recollect/backups, while others keep writing; the copy is checked."""
    with copying("copied") as progress:
        done = memory.data.backup(file, progress=progress)
    lines = [f"wrote {done.path} ({done.bytes:,} bytes, checked)", *(f"removed {path}" for path in done.removed)]
    return Output(done, "\n".join(lines))


@store.command()
@click.argument("file", type=click.Path(path_type=Path))
@common
def restore(file: Path, project: str | None, as_json: bool) -> None:
    """Put the backup FILE in the store's place. The present store is kept; a damaged or newer FILE is refused."""
    done = Rescue.of(find_project(project).root, actor=actor_of(os.environ)).restore(file)
    lines = [f"restored {done.path}"]
    if done.kept:
        lines.append(f"the store that was here is kept: {done.kept}")
    if done.files:
        lines.append(f"{counted(len(done.files), 'file')} of a server's vault went into the project's folder for it")
    lines += [f"{path} was left as it is there: it says something else" for path in done.left]
    if not done.sealed:
        lines.append("this file carries no seal, so only its structure could be checked, not its letters")
    emit(done, "\n".join(lines), as_json=as_json)


@store.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@common
def verify(file: Path | None, project: str | None, as_json: bool) -> int:
    """Hold everything derived against what it is derived from; with FILE, say whether a backup would restore."""
    if file is not None:
        checked = Rescue.check(file)
        text = f"{file} would restore: schema {checked.version}, spaces {', '.join(checked.spaces) or 'none'}"
        emit(checked, text + ("" if checked.sealed else "; it carries no seal"), as_json=as_json)
        return 0
    with open_memory(project) as memory, naming() as progress:
        found = memory.data.verify(progress=progress)
    emit(found, "\n".join(_told(found)) or "everything agrees", as_json=as_json)
    return _code(found, strict=True)


@click.command()
@click.option("--fix", is_flag=True, help="Make derived state again and remove abandoned temporary files.")
@click.option("--strict", is_flag=True, help="Exit with 1 on any difference.")
@click.option(
    "--host", type=click.Choice(list(HOSTS)), help="Try this host's hooks instead, and tell what it was given."
)
@common
def doctor(fix: bool, strict: bool, host: str | None, project: str | None, as_json: bool) -> int:
    """Look at the store and what surrounds it, and say what to do. Damage exits with 3; its files are kept."""
    if host is not None:
        with open_memory(project) as memory:
            told = _prove(memory, host)
        emit(told.value, told.text, as_json=as_json)
        return told.code
    rescue = Rescue.of(project or ".", actor=actor_of(os.environ))
    with naming() as progress:
        found = rescue.doctor(fix=fix, progress=progress)
    lines = [f"mended: {finding.subject} {finding.detail}" for finding in found.fixed]
    lines += _told(found.findings) or ["nothing is wrong"]
    good = sum(not kept.problem for kept in found.backups)
    none = "backups: none yet; take one with: recollect store backup"
    lines.append(f"backups: {good} of {len(found.backups)} would restore" if found.backups else none)
    lines += [SILENT] if (rescue.data / PAUSED).exists() else []
    emit(found, "\n".join(lines), as_json=as_json)
    return _code(found.findings, strict=strict)


def _prove(memory: Memory, host: str) -> Output:
    from recollect.hosts.probe import prove

    proof = prove(memory.project, memory, host, os.environ)
    if not proof.place:
        text = f"{host} does not know of this memory; run: recollect init --host {host}"
    else:
        text = f"{host} calls us through {proof.place}"
    lines = [text]
    if proof.place and proof.tried:
        rows = [(one.event, one.answer, iso(one.last_heard) if one.last_heard else "–") for one in proof.tried]
        lines.append(table(("event", "tried now", "last heard"), rows))
    lines += proof.notes
    if proof.session:
        lines.append(f"session {proof.session.id}, begun {iso(proof.session.began_at)}, was given:")
        given = [(iso(one.at), one.event, " ".join(one.given) or "–") for one in proof.given]
        lines.append(table(("when", "event", "what"), given))
    return Output({**vars(proof), "good": proof.good}, "\n".join(lines), code=0 if proof.good else 1)


def _told(findings: Sequence[Discrepancy]) -> list[str]:
    lines: list[str] = []
    for finding in findings:
        lines.append(f"{finding.level}: {finding.what} {finding.subject}: {finding.detail}")
        lines.append(f"  do: {finding.remedy}")
    return lines


def _code(findings: Sequence[Discrepancy], *, strict: bool) -> int:
    levels = {finding.level for finding in findings}
    if "damage" in levels:
        return 3
    return 1 if strict and "difference" in levels else 0


@store.command()
@answers
def rebuild(memory: Memory) -> Output:
    """Make everything derived again: the tree, passages, term counts, indexes, counters."""
    with counting("passages") as progress:
        done = memory.data.rebuild(progress=progress)
    said = (
        f"made {counted(done.nodes, 'node')} and {counted(done.passages, 'passage')} again, "
        f"removed {counted(done.orphans, 'passage')} that nothing owns, "
        f"corrected {counted(done.terms_corrected, 'term count')} and {counted(done.counters_corrected, 'counter')}"
        + (f", dropped the vectors of {counted(done.vectors_dropped, 'passage')}" if done.vectors_dropped else "")
    )
    return Output(done, said)


@store.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@answers
def export(memory: Memory, file: Path | None) -> Output | None:
    """Write the rows of the store as JSONL, to FILE or to standard output. The files of memory/ are not in it."""
    with counting("records") as progress:
        if file is None:
            memory.data.export(lambda line: click.echo(line, nl=False), progress=progress)
            return None
        done = memory.data.export_file(file, progress=progress)
    said = ", ".join(counted(count, kind) for kind, count in done.records.items()) or "nothing yet"
    return Output({"file": str(file), **vars(done)}, f"wrote {file}: {said}")


@store.command("import")
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


def _gathered(found: ImportedPieces) -> list[str]:
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


@store.command()
@click.argument("id", required=False)
@click.option("--text", help="Remove this text wherever it stands, also inside a longer word.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@answers
def purge(memory: Memory, id: str | None, text: str | None, dry_run: bool, yes: bool) -> Output:
    """Remove the thing ID and what quotes it, or a text wherever it stands. Nothing brings it back."""
    if (id is None) == (text is None):
        raise BadInput("say either the id of a thing or --text")
    if not (dry_run or yes or sys.stdin.isatty()):
        raise Refused("there is no terminal to ask on, and nothing brings it back; look with --dry-run, then say --yes")
    if dry_run or not yes:
        plan = memory.data.plan_purge(id=id, text=text)
        if dry_run:
            return Output(plan, "\n".join(_planned(plan)) or "nothing would go")
        click.echo("\n".join(_planned(plan)), err=True)
        if not click.confirm("Nothing brings this back. Go on?", err=True):
            raise Refused("nothing was changed")
    done = memory.data.purge(id=id, text=text)
    return Output(done, "\n".join(_done(done)), code=3 if done.found else 0)


def _planned(plan: PurgePlan) -> list[str]:
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


@store.group(cls=Group)
def db() -> None:
    """A team's store on PostgreSQL."""


@db.command("init")
@click.option("--store", metavar="URL", help="The store to make (store.url or RECOLLECT_STORE when not given).")
@click.option(
    "--admin",
    metavar="URL",
    envvar="RECOLLECT_ADMIN",
    help="Address of somebody who may make databases and roles; also read from RECOLLECT_ADMIN.",
)
@common
def db_init(store: str | None, admin: str | None, project: str | None, as_json: bool) -> None:
    """Make a team's store, or bring its tables up to this program's. Run again, it only does what is missing."""
    from recollect.memory.admin import initialise_store, store_address

    url = store or store_address(Path(project or "."), os.environ)
    done = initialise_store(url, admin=admin)
    lines = [f"made {line}" for line in done.made] or ["nothing to do: the store is up to date"]
    emit(done, "\n".join([*lines, *done.notes]), as_json=as_json)


@store.command()
@click.option("--from", "source", required=True, metavar="STORE", help="`embedded`, or a postgresql:// address.")
@click.option("--to", "target", required=True, metavar="STORE", help="`embedded`, or a postgresql:// address.")
@common
def migrate(source: str, target: str, project: str | None, as_json: bool) -> None:
    """Copy this project's memory to another store, all of it or nothing. The source is only read."""
    from recollect.memory import admin

    with copying("migrated") as progress:
        done = admin.migrate(find_project(project), source=source, target=target, progress=progress)
    upgraded = "upgraded to this program's schema after a backup, and otherwise " if done.upgraded else ""
    text = (
        f"migrated {counted(sum(done.rows.values()), 'row')} and {counted(done.files, 'file')} from {done.source} to "
        f"{done.target}; counts and hashes agree.\n"
        f"{done.source} was {upgraded}not changed. "
        + ("Unset RECOLLECT_STORE to use" if target == "embedded" else "Set RECOLLECT_STORE to use")
        + " the new one."
    )
    emit(done, text, as_json=as_json)


@store.group(cls=Group)
def vault() -> None:
    """The vault of a team's store, mirrored to files and back."""


@vault.command("pull")
@click.option("--force", is_flag=True, help="Where both sides changed, take the team's text.")
@common
def vault_pull(force: bool, project: str | None, as_json: bool) -> None:
    """Bring the team's logs, nodes, findings and themes into the memory folder."""
    from recollect.memory.admin import pull_vault

    _report(pull_vault(find_project(project), force=force), pull=True, as_json=as_json)


@vault.command("push")
@click.option("--force", is_flag=True, help="Where both sides changed, take this folder's text.")
@common
def vault_push(force: bool, project: str | None, as_json: bool) -> None:
    """Bring what was changed in the memory folder to the team."""
    from recollect.memory.admin import push_vault

    _report(push_vault(find_project(project), force=force), pull=False, as_json=as_json)


def _report(done: Mirrored, *, pull: bool, as_json: bool) -> None:
    where, back, side = ("here", "push", "team") if pull else ("there", "pull", "folder")
    kept = "missing there, kept here" if pull else "missing here, kept in the store"
    lines = [f"wrote {path}" for path in done.written] + [f"removed {path}" for path in done.removed]
    lines += [f"newer {where}, left alone: {path}" for path in done.ahead]
    lines += [f"{kept}: {path}; bring it back with: recollect store vault {back}" for path in done.missing]
    lines += [f"changed on both sides, left alone: {path}; --force takes the {side}'s" for path in done.conflicts]
    value = {name: getattr(done, name) for name in ("written", "removed", "ahead", "missing", "conflicts")}
    emit(value, "\n".join(lines) or "nothing to do: both sides are equal", as_json=as_json)
    if done.conflicts:
        raise click.exceptions.Exit(1)
