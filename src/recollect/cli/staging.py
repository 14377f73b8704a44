"""Commands about staged learnings: ages, stage, consolidate, promote, restore-entry, refactor, index, merge-driver."""

from __future__ import annotations

from pathlib import Path

import click

from recollect.cli.command import Answer, answers, common
from recollect.cli.opening import open_memory
from recollect.cli.output import emit, redactions
from recollect.cli.printing import read_stdin
from recollect.core.errors import BadInput
from recollect.distil.report import Consolidation
from recollect.distil.staged import Ages
from recollect.memory import Memory
from recollect.text.counting import counted


@click.command()
@click.argument("file", required=False)
@click.option("--summary", is_flag=True, help="One line instead of the list.")
@answers
def ages(memory: Memory, file: str | None, summary: bool) -> Answer:
    """Say how old each staged learning is, oldest first, in active days: days with a commit.

    FILE is relative to the project and is the setting staging.file when not given.
    """
    found = memory.staging.ages(file)
    report = {
        "file_lines": found.file_lines,
        "last_consolidation": found.last_consolidation and found.last_consolidation.isoformat(),
        "entries": [
            {"title": one.title, "age": one.age, "added": one.added and one.added.isoformat(), "slug": one.slug}
            for one in found.entries
        ],
    }
    return Answer(report, _summary(found) if summary else _report(found))


@click.command()
@click.argument("title")
@click.option("--body", help="Why, how, where; - reads standard input.")
@common
def stage(title: str, body: str | None, project: str | None, as_json: bool) -> None:
    """Jot down a learning between hand-offs. TITLE states the rule: what to do, or what holds."""
    text = read_stdin() if body == "-" else body or ""
    with open_memory(project) as memory:
        staged = memory.staging.stage(title, text)
    said = f"{staged.id} already says so" if staged.repeated else f"staged {staged.id}"
    emit(staged, said + redactions(staged.redacted), as_json=as_json)


@click.command()
@click.option("--dry-run", is_flag=True, help="Change nothing; print the diff and what would be escalated.")
@answers
def consolidate(memory: Memory, dry_run: bool) -> Answer:
    """Move staged learnings that have proved themselves into the permanent documents, when that is due.

    Nothing due is fine, and so is a staging file that cannot be read or dated: a hand-off goes on either way.
    """
    run = memory.staging.consolidate(dry_run=dry_run)
    return Answer(run, _said(run, dry_run=dry_run))


@click.command("restore-entry")
@click.argument("entry")
@answers
def restore_entry(memory: Memory, entry: str) -> Answer:
    """Stage an entry again that left the staging file: consolidated, superseded, redundant or promoted."""
    back = memory.staging.restore(entry)
    said = f"{back.title!r} is staged again"
    if back.taken_out_of:
        said += f", and taken out of {back.taken_out_of}"
    return Answer(back, f"{said}; {back.note}" if back.note else said)


@click.command()
@click.argument("file")
@click.option("--force", is_flag=True, help="Split it although it is short.")
@answers
def refactor(memory: Memory, file: str, force: bool) -> Answer:
    """Split a permanent document at its headings into files of a readable size; links and index follow."""
    done = memory.staging.refactor(file, force=force)
    short = f"nothing to do: {file} is short enough; --force splits it all the same"
    return Answer(done, "\n".join(f"wrote {path}" for path in done.written) or short)


@click.command()
@click.option("--check", is_flag=True, help="Change nothing; exit 1 when the index is wrong.")
@answers
def index(memory: Memory, check: bool) -> Answer:
    """Write the memory index again from the permanent documents."""
    state = memory.staging.index(check=check)
    lines = [f"{problem.fault}: {problem.line}" for problem in state.problems]
    ended = f"wrote {state.path}" if state.written else f"{state.path} is {'wrong' if lines else 'right'}"
    return Answer(state, "\n".join([*lines, ended]), code=1 if check and lines else 0)


@click.command("merge-driver")
@click.argument("base", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("ours", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("theirs", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("path", required=False)
def merge_driver(base: Path, ours: Path, theirs: Path, path: str | None) -> int:
    """Merge two versions of the staging file entry by entry; git calls it (`recollect init --merge-driver`)."""
    from recollect.store.merge_driver import merge_files

    try:
        conflicts = merge_files(base, ours, theirs)
    except OSError as error:
        raise BadInput(f"cannot merge {path or ours}: {error}") from None
    for title in conflicts:
        click.echo(f"recollect: both sides changed {title!r} in {path or ours}", err=True)
    return 1 if conflicts else 0


def _report(found: Ages) -> str:
    rows = [
        f"- {_days(one.age)} — {one.title} ({f'added {one.added}, ' if one.added else ''}staged/{one.slug})"
        for one in found.entries
    ]
    return "\n".join(["# Staged learnings", "", _summary(found), "", *(rows or ["None."])])


def _summary(found: Ages) -> str:
    last = found.last_consolidation
    oldest = max((one.age for one in found.entries if one.age is not None), default=None)
    return (
        f"{counted(len(found.entries), 'entry')} in {counted(found.file_lines, 'line')}; "
        f"oldest {_days(oldest)}; last consolidation {last or 'never'}"
    )


def _days(age: int | None) -> str:
    if age is None:
        return "not committed"
    return counted(age, "active day")


def _said(run: Consolidation, *, dry_run: bool) -> str:
    if not run.due:
        return f"nothing to consolidate: {run.reason}"
    if dry_run:
        asked = "".join(f"would escalate: {line}\n" for line in run.escalations)
        return (run.diff + asked).rstrip("\n") or "nothing would change"
    lines = [f"{one.fate}: {one.title} ({one.where})" for one in run.outcomes]
    lines += [f"escalated: {line}" for line in run.escalations]
    return "\n".join([*lines, run.report] if run.report else lines)
