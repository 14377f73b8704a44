"""`recollect store` and `recollect doctor`: check, back up, move and purge the store, import and export."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from io import BufferedReader
from pathlib import Path
from typing import cast

import click

from recollect.capture.import_notes import ImportedPieces
from recollect.capture.import_tools import SOURCES, Source
from recollect.cli.command import Group, Output, answers, listing, prints, progress, table
from recollect.cli.printing import actor_of, find_project, open_memory
from recollect.core.choices import Trust
from recollect.core.clock import iso
from recollect.core.errors import BadInput, Forbidden, NotFound, Refused
from recollect.core.records import replace
from recollect.hosts.hook import PAUSED, SILENT
from recollect.hosts.host_files import HOOKS
from recollect.memory import Memory
from recollect.memory.admin import Rescue, initialise_store, mirror_vault, store_address
from recollect.memory.admin import migrate as migrate_store
from recollect.store import register
from recollect.store.copies import check_file
from recollect.store.project import Project
from recollect.tend.doctor import Discrepancy
from recollect.tend.export import Imported
from recollect.tend.purge import Purged, PurgePlan
from recollect.text.sentences import counted


@click.group(cls=Group)
def store() -> None:
    """The store that holds the memory, on SQLite or PostgreSQL."""


@store.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@answers
def backup(memory: Memory, file: Path | None) -> Output:
    """Copy the store to FILE, or to the space's own backups, and check the copy. Others may keep writing."""
    with progress("copied") as told:
        done = memory.data.backup(file, progress=told)
    lines = [f"wrote {done.path} ({done.bytes:,} bytes, checked)", *(f"removed {path}" for path in done.removed)]
    return Output(done, "\n".join(lines))


@store.command()
@click.argument("file", type=click.Path(path_type=Path))
@prints
def restore(file: Path, project: str | None) -> Output:
    """Replace the store with the backup FILE. The old store is kept; a damaged or newer FILE is refused."""
    done = Rescue(find_project(project).root, actor=actor_of(os.environ)).restore(file)
    lines = [f"restored {done.path}"]
    if done.kept:
        lines.append(f"the previous store is kept: {done.kept}")
    if done.files:
        lines.append(f"copied {counted(len(done.files), 'file')} of a server's vault into the project's folder")
    lines += [f"{path} was not replaced: the file in the project differs from the backup's" for path in done.left]
    if done.unpurged is not None:
        lines.append(
            f"this backup is older than the purge of {iso(done.unpurged)[:10]}: what was purged then is back. Repeat "
            "each purge: recollect store purge --text TEXT, or recollect store purge ID"
        )
    if not done.sealed:
        lines.append("this backup has no checksum, so only its structure was checked")
    return Output(done, "\n".join(lines))


@store.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@prints
def verify(file: Path | None, project: str | None) -> Output:
    """Compare all derived data with its source; with FILE, check whether that backup would restore."""
    if file is not None:
        checked = check_file(file)
        text = f"{file} would restore: schema {checked.version}, spaces {', '.join(checked.spaces) or 'none'}"
        return Output(checked, text + ("" if checked.sealed else "; it has no checksum"))
    with open_memory(project) as memory, progress("checking") as told:
        found = memory.data.verify(progress=told)
    text = "\n".join(_told(found)) or "everything agrees"
    return Output(listing("differences", found), text, code=_code(found, strict=True))


@click.command()
@click.option("--fix", is_flag=True, help="Rebuild derived state and remove abandoned temporary files.")
@click.option("--strict", is_flag=True, help="Exit with 1 on any difference.")
@click.option(
    "--secrets", is_flag=True, help="Search what is stored for secrets instead; exits with 1 if it holds any."
)
@click.option(
    "--host",
    type=click.Choice(list(HOOKS)),
    help="Test this agent program's hooks instead, and show what its last session was given.",
)
@prints
def doctor(fix: bool, strict: bool, secrets: bool, host: str | None, project: str | None) -> Output:
    """Check the store and what it depends on, and say what to do. Damage exits with 3; its files are kept."""
    if secrets:
        with open_memory(project) as memory:
            kinds = memory.data.stored_secrets()
        lines = [f"{counted(sum(kinds.values()), 'secret')} stored: {', '.join(sorted(kinds))}"] if kinds else []
        lines += ["  do: recollect store purge --secrets"] if kinds else ["no secret is stored"]
        return Output({"secrets": kinds}, "\n".join(lines), code=1 if kinds else 0)
    if host is not None:
        with open_memory(project) as memory:
            return _prove(memory, host)
    rescue = Rescue(project or ".", actor=actor_of(os.environ))
    with progress("checking") as told:
        found = rescue.doctor(fix=fix, progress=told)
    found = replace(found, findings=(*found.findings, *_silent_hosts(find_project(project))))
    lines = [f"mended: {finding.subject} {finding.detail}" for finding in found.fixed]
    lines += _told(found.findings) or ["nothing is wrong"]
    good = sum(not kept.problem for kept in found.backups)
    none = "backups: none yet; take one with: recollect store backup"
    lines.append(f"backups: {good} of {len(found.backups)} would restore" if found.backups else none)
    lines += [SILENT] if (find_project(project).data / PAUSED).exists() else []
    return Output(found, "\n".join(lines), code=_code(found.findings, strict=strict))


def _silent_hosts(project: Project) -> Iterator[Discrepancy]:
    """The hosts whose sessions are not remembered, because git or a person removed the files that `init` wrote."""
    from recollect.hosts.hook import LAUNCHER
    from recollect.hosts.install import launcher_fault, project_target, told, users_target

    here = told(project_target(project, os.environ))
    if (here or told(users_target(project.state, os.environ))) and (fault := launcher_fault(project.state / LAUNCHER)):
        detail = f"hooks are silent, since their launcher does not run: {fault}"
        yield Discrepancy(level="notice", what="host", subject="all", detail=detail, remedy="recollect init")
    for host, files in here.items():
        if gone := [file for file in files if not (project.root / file).exists()]:
            detail = f"does not use this memory here: no {' and no '.join(gone)}"
            remedy = f"recollect init --host {host}"
            yield Discrepancy(level="notice", what="host", subject=host, detail=detail, remedy=remedy)


def _prove(memory: Memory, host: str) -> Output:
    from recollect.hosts.install import prove

    proof = prove(memory.project, memory, host, os.environ)
    missing = f"{host} is not set up for this memory; run: recollect init --host {host}"
    lines = [f"{host} calls Recollect through {proof.place}" if proof.place else missing]
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
    said = ((f"{one.level}: {one.what} {one.subject}: {one.detail}", f"  do: {one.remedy}") for one in findings)
    return [line for lines in said for line in lines]


def _code(findings: Sequence[Discrepancy], *, strict: bool) -> int:
    levels = {finding.level for finding in findings}
    if "damage" in levels:
        return 3
    return 1 if strict and "difference" in levels else 0


@store.command()
@click.option("--files", is_flag=True, help="First write the log entries that are in the store but in no file.")
@answers
def rebuild(memory: Memory, files: bool) -> Output:
    """Rebuild all derived data: the tree, passages, term counts, indexes, counters."""
    with progress("passages") as told:
        done = memory.data.rebuild(files=files, progress=told)
    said = f"wrote {', '.join(done.files)}; " if done.files else ""
    said += (
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
    """Write the rows of the store as JSONL, to FILE or to standard output. It leaves out the files of memory/."""
    with progress("records") as told:
        if file is None:
            memory.data.export(lambda line: click.echo(line, nl=False), progress=told)
            return None
        done = memory.data.export_file(file, progress=told)
    said = ", ".join(counted(count, kind) for kind, count in done.records.items()) or "nothing yet"
    return Output({"file": str(file), **vars(done)}, f"wrote {file}: {said}")


@store.command("import")
@click.argument("path", required=False, type=click.Path(allow_dash=True, path_type=Path))
@click.option(
    "--from", "source", type=click.Choice(SOURCES), help="Import the memory of this tool instead of an export."
)
@click.option("--of", metavar="NAME", help="The project's name in claude-mem; by default this folder's.")
@click.option("--preview", "--dry-run", "preview", is_flag=True, help="Only show what would be imported; needs --from.")
@click.option(
    "--trust",
    type=click.Choice(["external", "agent"]),
    default="external",
    show_default=True,
    help="How far to trust imported text; only a person may choose agent.",
)
@prints
def import_(
    path: Path | None, source: Source | None, of: str | None, preview: bool, trust: Trust, project: str | None
) -> Output:
    """Import an export from PATH (- for standard input), or another tool's memory. A second import changes nothing."""
    if source is not None:
        with open_memory(project) as memory, progress("records") as told:
            found = memory.data.gather(source, path, of=of, trust=trust, preview=preview, progress=told)
        return Output(found, "\n".join(_gathered(found)), code=0 if found.whole else 1)
    if path is None or preview or of:
        raise BadInput("Name an export to import, or a tool with --from; --preview and --of need --from")
    with _reading(path) as stream:
        stream.peek(1)  # waits for the first byte; then lines are imported as they come, whatever the size
        with open_memory(project) as memory, progress("lines") as told:
            name = "standard input" if str(path) == "-" else path.name
            done = memory.data.take_in(stream, name=name, trust=trust, progress=told)
    return Output(done, "\n".join(_imported(done)), code=0 if done.whole else 1)


def _reading(path: Path) -> AbstractContextManager[BufferedReader]:
    if str(path) == "-":
        return nullcontext(cast(BufferedReader, sys.stdin.buffer))
    if not path.is_file() and not path.is_fifo():
        raise BadInput(f"{path} is not a file. To import a folder, name the tool that wrote it with --from")
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
@click.option("--text", help="Remove this text everywhere, also inside longer words.")
@click.option("--secrets", is_flag=True, help="Remove every secret that `doctor --secrets` finds.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@answers
def purge(memory: Memory, id: str | None, text: str | None, secrets: bool, dry_run: bool, yes: bool) -> Output:
    """Remove the record ID and what quotes it, or a text or secrets everywhere. It cannot be undone."""
    if (id is not None) + (text is not None) + secrets != 1:
        raise BadInput("Give one of: an ID, --text, --secrets")
    if not (dry_run or yes or sys.stdin.isatty()):
        raise Refused("A purge cannot be undone, and there is no terminal to confirm it on. Try --dry-run, then --yes")
    if dry_run or not yes:
        plan = memory.data.plan_purge(id=id, text=text, secrets=secrets)
        if dry_run:
            return Output(plan, "\n".join(_planned(plan)) or "nothing would be removed")
        click.echo("\n".join(_planned(plan)), err=True)
        if not click.confirm("This cannot be undone. Continue?", err=True):
            raise Refused("nothing was changed")
    done = memory.data.purge(id=id, text=text, secrets=secrets)
    return Output(done, "\n".join(_done(done)), code=3 if done.found else 0)


def _places(purge: PurgePlan | Purged) -> list[str]:
    return [*(f"{counted(count, 'row')} of {table}" for table, count in purge.rows.items()), *purge.files]


def _planned(plan: PurgePlan) -> list[str]:
    lines = [f"would remove {id}" for id in plan.things]
    lines += [f"would replace words by [purged] in {place}" for place in _places(plan)]
    return lines + ([f"would replace {counted(plan.backups, 'own backup')} by a fresh one"] if plan.backups else [])


def _done(done: Purged) -> list[str]:
    lines = [f"removed {id}" for id in done.things]
    lines += [f"words replaced by [purged] in {place}" for place in _places(done)]
    if done.fresh_backup:
        replaced = (
            f"{counted(done.backups_replaced, 'own backup')} replaced by" if done.backups_replaced else "backed up to"
        )
        lines.append(f"{replaced} {done.fresh_backup}")
    lines += [f"STILL FOUND in {path}; run the purge again when no other process reads it" for path in done.found]
    return [*lines, *(f"out of reach: {what}" for what in done.out_of_reach)]


@store.group(cls=Group)
def db() -> None:
    """A team's store on PostgreSQL."""


@db.command("init")
@click.option("--store", metavar="URL", help="The store to create; by default store.url or RECOLLECT_STORE.")
@click.option(
    "--admin",
    metavar="URL",
    envvar="RECOLLECT_ADMIN",
    help="Address of a role that may create databases and roles; also read from RECOLLECT_ADMIN.",
)
@prints
def db_init(store: str | None, admin: str | None, project: str | None) -> Output:
    """Create a team's store, or upgrade its tables. A second run does only what is missing."""
    url = store or store_address(Path(project or "."), os.environ)
    done = initialise_store(url, admin=admin)
    lines = [f"made {line}" for line in done.made] or ["nothing to do: the store is up to date"]
    return Output(done, "\n".join([*lines, *done.notes]))


@store.command()
@click.option("--from", "source", required=True, metavar="STORE", help="`embedded`, or a postgresql:// address.")
@click.option("--to", "target", required=True, metavar="STORE", help="`embedded`, or a postgresql:// address.")
@prints
def migrate(source: str, target: str, project: str | None) -> Output:
    """Copy this project's memory to another store, all of it or nothing. The source is only read."""
    with progress("migrated") as told:
        done = migrate_store(find_project(project), source=source, target=target, progress=told)
    upgraded = "upgraded to this program's schema after a backup, and otherwise " if done.upgraded else ""
    text = (
        f"migrated {counted(sum(done.rows.values()), 'row')} and {counted(done.files, 'file')} from {done.source} to "
        f"{done.target}; counts and hashes agree.\n"
        f"{done.source} was {upgraded}not changed. "
        f"{'Unset' if target == 'embedded' else 'Set'} RECOLLECT_STORE to use the new one."
    )
    return Output(done, text)


@store.command()
@click.argument("place", type=click.Path(path_type=Path))
@answers
def leave(memory: Memory, place: Path) -> Output:
    """Stop PLACE from using this memory, which stays; `recollect init` there adds it again."""
    if memory.context.actor.trust != "human":
        raise Forbidden("only a person may remove a place from a memory")
    project, shown = memory.project, os.path.abspath(place)
    if register.remove(project.home, project.settings.space, shown) is None:
        raise NotFound(f"{shown} does not use this memory. `recollect status` lists the places that do")
    return Output({"left": shown}, f"{shown} no longer uses this memory")


@store.group(cls=Group)
def vault() -> None:
    """The vault of a team's store, mirrored to files and back."""


@vault.command("pull")
@click.option("--force", is_flag=True, help="Where both sides changed, take the team's text.")
@prints
def vault_pull(force: bool, project: str | None) -> Output:
    """Copy the team's logs, nodes, findings and themes into the memory folder."""
    return _mirrored(project, pull=True, force=force)


@vault.command("push")
@click.option("--force", is_flag=True, help="Where both sides changed, take this folder's text.")
@prints
def vault_push(force: bool, project: str | None) -> Output:
    """Copy changes in the memory folder to the team."""
    return _mirrored(project, pull=False, force=force)


def _mirrored(project: str | None, *, pull: bool, force: bool) -> Output:
    done = mirror_vault(find_project(project), pull=pull, force=force)
    where, back, side = ("here", "push", "team") if pull else ("there", "pull", "folder")
    kept = "missing there, kept here" if pull else "missing here, kept in the store"
    lines = [f"wrote {path}" for path in done.written] + [f"removed {path}" for path in done.removed]
    lines += [f"newer {where}, left alone: {path}" for path in done.ahead]
    lines += [f"{kept}: {path}; bring it back with: recollect store vault {back}" for path in done.missing]
    lines += [f"changed on both sides, left alone: {path}; --force takes the {side}'s" for path in done.conflicts]
    value = {name: getattr(done, name) for name in ("written", "removed", "ahead", "missing", "conflicts")}
    return Output(value, "\n".join(lines) or "nothing to do: both sides are equal", code=1 if done.conflicts else 0)
