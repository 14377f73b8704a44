"""Commands that look after the store: backup, restore, verify, doctor, rebuild, embed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from recollect.cli.command import Answer, answers, common
from recollect.cli.opening import actor_of, find_project, open_memory
from recollect.cli.output import emit, table
from recollect.cli.progress import copying, counting, naming
from recollect.core.clock import iso
from recollect.hosts.flow import HOSTS
from recollect.hosts.quiet import PAUSED, SILENT
from recollect.memory import Memory
from recollect.memory.data import Rescue
from recollect.search.refresh import NO_EMBEDDER
from recollect.tend.verify import Finding
from recollect.text.counting import counted

EMBEDDER_MISSING = "pip install 'recollect-memory[embeddings]' brings an embedder"


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@answers
def backup(memory: Memory, file: Path | None) -> Answer:
    """Copy the store to FILE, or into .recollect/backups, while others keep writing; the copy is checked."""
    with copying("copied") as progress:
        done = memory.data.backup(file, progress=progress)
    lines = [f"wrote {done.path} ({done.bytes:,} bytes, checked)", *(f"removed {path}" for path in done.removed)]
    return Answer(done, "\n".join(lines))


@click.command()
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


@click.command()
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
    none = "backups: none yet; take one with: recollect backup"
    lines.append(f"backups: {good} of {len(found.backups)} would restore" if found.backups else none)
    lines += [SILENT] if (rescue.data / PAUSED).exists() else []
    emit(found, "\n".join(lines), as_json=as_json)
    return _code(found.findings, strict=strict)


@click.command()
@answers
def rebuild(memory: Memory) -> Answer:
    """Make everything derived again: the tree, passages, term counts, indexes, counters."""
    with counting("passages") as progress:
        done = memory.data.rebuild(progress=progress)
    said = (
        f"made {counted(done.nodes, 'node')} and {counted(done.passages, 'passage')} again, "
        f"removed {counted(done.orphans, 'passage')} that nothing owns, "
        f"corrected {counted(done.terms_corrected, 'term count')} and {counted(done.counters_corrected, 'counter')}"
        + (f", dropped the vectors of {counted(done.vectors_dropped, 'passage')}" if done.vectors_dropped else "")
    )
    return Answer(done, said)


@click.command()
@answers
def embed(memory: Memory) -> Answer:
    """Make the vectors of every passage that waits for them, so that it is found by meaning too."""
    with counting("passages") as progress:
        done = memory.data.embed(progress=progress)
    text = _without_vectors(memory, done.why_not) or f"made the vectors of {done.made} passages, {done.waiting} wait"
    return Answer(done, f"{text}; {done.note}" if done.note else text, code=1 if done.why_not else 0)


def _without_vectors(memory: Memory, why_not: str) -> str:
    if why_not != NO_EMBEDDER:
        return why_not
    off = memory.context.settings.embed.use == "off"
    return f"{why_not}; {'embed.use is off' if off else EMBEDDER_MISSING}"


def _prove(memory: Memory, host: str) -> Answer:
    from recollect.hosts.proof import prove

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
    return Answer({**vars(proof), "good": proof.good}, "\n".join(lines), code=0 if proof.good else 1)


def _told(findings: Sequence[Finding]) -> list[str]:
    lines: list[str] = []
    for finding in findings:
        lines.append(f"{finding.level}: {finding.what} {finding.subject}: {finding.detail}")
        lines.append(f"  do: {finding.remedy}")
    return lines


def _code(findings: Sequence[Finding], *, strict: bool) -> int:
    levels = {finding.level for finding in findings}
    if "damage" in levels:
        return 3
    return 1 if strict and "difference" in levels else 0
