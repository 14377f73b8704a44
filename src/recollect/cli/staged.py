"""`recollect staged`, `recollect theme` and `recollect inbox`: what waits to be distilled, or for a person."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from recollect.cli.command import Group, Output, answers, common, listing, redactions, said, table
from recollect.cli.printing import read_stdin
from recollect.core.clock import iso
from recollect.core.errors import BadInput, NotFound
from recollect.core.finding import NewFinding
from recollect.distil.staged import Ages, Consolidation
from recollect.memory import Memory
from recollect.text.sentences import counted, cut


@click.group(cls=Group)
def staged() -> None:
    """Staged learnings, and the permanent documents they move into."""


@staged.command("list")
@click.argument("file", required=False)
@click.option("--summary", is_flag=True, help="One line instead of the list.")
@answers
def list_staged(memory: Memory, file: str | None, summary: bool) -> Output:
    """List staged learnings, oldest first, with their age in active days: days with a commit.

    FILE is relative to the project; by default it is the setting staging.file.
    """
    found = memory.staging.ages(file)
    last = found.last_consolidation
    report = listing("staged", found.entries, file_lines=found.file_lines, last_consolidation=last)
    return Output(report, _summary(found) if summary else _report(found))


@staged.command("add")
@click.argument("title")
@click.option(
    "--body",
    default="",
    callback=lambda _ctx, _param, text: read_stdin() if text == "-" else text,
    help="Why, how, where; - reads standard input.",
)
@answers
def stage(memory: Memory, title: str, body: str) -> Output:
    """Stage a learning between hand-offs. TITLE states the rule: what to do, or what holds."""
    added = memory.staging.stage(title, body)
    said = f"{added.id} already says so" if added.repeated else f"staged {added.id}"
    return Output(added, said + redactions(added.redacted))


@staged.command()
@click.option("--dry-run", is_flag=True, help="Change nothing; print the diff and what would be escalated.")
@click.option("--explain", is_flag=True, help="Say for each entry what it was compared with, and which places it fits.")
@answers
def consolidate(memory: Memory, dry_run: bool, explain: bool) -> Output:
    """Move staged learnings that have proved themselves into the permanent documents, when that is due.

    It exits with 0 when nothing is due or the staging file cannot be read or dated, so that a hand-off goes on.
    """
    run = memory.staging.consolidate(dry_run=dry_run)
    said = [_said(run, dry_run=dry_run)]
    if explain:
        said += [
            line for one in run.outcomes for line in (f"\n{one.fate}: {one.title}", *(f"  {met}" for met in one.met))
        ]
    return Output(run, "\n".join(said))


@staged.command("restore")
@click.argument("entry")
@answers
def restore_entry(memory: Memory, entry: str) -> Output:
    """Stage an entry again that was consolidated, superseded, redundant or promoted."""
    back = memory.staging.restore(entry)
    said = f"{back.title!r} is staged again"
    if back.taken_out_of:
        said += f", and removed from {back.taken_out_of}"
    return Output(back, f"{said}; {back.note}" if back.note else said)


@staged.command("adopt")
@click.argument("entry")
@answers
def adopt_entry(memory: Memory, entry: str) -> Output:
    """Vouch for an entry from outside, so that it may be consolidated. Only a person may."""
    kept = memory.staging.adopt(entry)
    return Output({"slug": kept.slug, "title": kept.title}, f"adopted staged/{kept.slug}")


@staged.command("split")
@click.argument("file")
@click.option("--force", is_flag=True, help="Split it although it is short.")
@answers
def split(memory: Memory, file: str, force: bool) -> Output:
    """Split a permanent document at its headings into files of a readable size; links and index follow."""
    done = memory.staging.refactor(file, force=force)
    short = f"nothing to do: {file} is short enough; --force splits it anyway"
    return Output(done, "\n".join(f"wrote {path}" for path in done.written) or short)


@staged.command()
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 if the index is wrong.")
@answers
def index(memory: Memory, check: bool) -> Output:
    """Rebuild the memory index from the permanent documents."""
    state = memory.staging.index(check=check)
    lines = [f"{problem.fault}: {problem.line}" for problem in state.problems]
    ended = f"wrote {state.path}" if state.written else f"{state.path} is {'wrong' if lines else 'right'}"
    return Output(state, "\n".join([*lines, ended]), code=1 if check and lines else 0)


@staged.command("merge-driver")
@click.argument("base", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("ours", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("theirs", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("path", required=False)
def merge_driver(base: Path, ours: Path, theirs: Path, path: str | None) -> int:
    """Merge two versions of the staging file entry by entry; git calls it (`recollect init --merge-driver`)."""
    from recollect.store.git import merge_files

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
    return "not committed" if age is None else counted(age, "active day")


def _said(run: Consolidation, *, dry_run: bool) -> str:
    if not run.due:
        return f"nothing to consolidate: {run.reason}"
    if dry_run:
        asked = "".join(f"would escalate: {line}\n" for line in run.escalations)
        return (run.diff + asked).rstrip("\n") or "nothing would change"
    lines = [f"{one.fate}: {one.title} ({one.where})" for one in run.outcomes]
    lines += [f"escalated: {line}" for line in run.escalations]
    return "\n".join([*lines, run.report] if run.report else lines)


@click.group(cls=Group)
def theme() -> None:
    """Themes, into which findings are grouped, and their index."""


@theme.group(cls=Group)
def finding() -> None:
    """Findings of work units, as raw JSON files."""


@finding.command()
@click.argument("description")
@click.option("--work", "work_id", required=True, metavar="ID", help="The work unit; its file gets the finding.")
@click.option("--category", default="", help="Such as build, testing, security.")
@click.option("--source", default="", help="Who or what noticed it.")
@click.option("--rule", "proposed_rule", default="", help="The rule you propose.")
@click.option("--disposition", default="", help="What was done about it; `dismissed` keeps it out of themes.")
@answers
def add(memory: Memory, work_id: str, **given: str) -> Output:
    """Add a finding to its work unit."""
    made = memory.themes.add(work_id, NewFinding(**given))
    if made.warning:
        click.echo(f"recollect: {made.warning}", err=True)
    return Output({"id": made.id, **vars(made)}, f"saved {made.id}")


@finding.command("show")
@click.argument("id")
@answers
def show_finding(memory: Memory, id: str) -> Output:
    """Show a finding."""
    found = memory.themes.finding(id)
    lines = [found.id, found.description]
    lines += [f"rule: {found.proposed_rule}"] if found.proposed_rule else []
    lines += [f"{found.category or 'no category'}, {found.source or 'no source'}, {found.disposition or 'open'}"]
    return Output({"id": found.id, **vars(found)}, "\n".join(lines))


@finding.command("adopt")
@click.argument("id")
@answers
def adopt_finding(memory: Memory, id: str) -> Output:
    """Vouch for a finding from outside, so that themes may include it. Only a person may."""
    kept = memory.themes.adopt(id)
    return Output({"id": kept.id, **vars(kept)}, f"adopted {kept.id}")


@theme.command()
@click.option("--always", is_flag=True, help="Group now, even if too few files are new.")
@answers
def run(memory: Memory, always: bool) -> Output:
    """Group findings into themes if enough raw files are new."""
    done = memory.themes.run(always=always)
    if not done.ran:
        text = f"nothing due: {done.reason}"
    else:
        text = f"{counted(done.files, 'raw file')} in {counted(len(done.themes), 'theme')} ({done.reason})"
        text += f"; left out, because their theme is full: {counted(done.left_out, 'finding')}" if done.left_out else ""
    return Output(done, text)


@theme.command("list")
@answers
def list_(memory: Memory) -> Output:
    """List the themes, best supported first."""
    found = memory.themes.list()
    rows = [(each.name, len(each.findings), len(each.work_ids), each.summary) for each in found]
    text = table(("theme", "findings", "work units", "summary"), rows, "no themes yet")
    with suppress(NotFound):
        if not rows and memory.themes.index():
            text += " in this clone's store, but INDEX.md names some. To import them: recollect theme run --always"
    return Output(listing("themes", found), text)


@theme.command()
@click.argument("name")
@answers
def show(memory: Memory, name: str) -> Output:
    """Show a theme's file and the findings behind it."""
    found, text = memory.themes.show(name)
    return Output({**vars(found), "text": text}, text.rstrip("\n"))


@theme.command()
@click.argument("old")
@click.argument("new")
@answers
def rename(memory: Memory, old: str, new: str) -> Output:
    """Rename a theme; later runs keep the name."""
    renamed = memory.themes.rename(old, new)
    return Output(renamed, f"{old} is now {new}")


@click.group(cls=Group, invoke_without_command=True)
@common
@click.pass_context
def inbox(ctx: click.Context, /, **given: Any) -> int:
    """List the items that wait for a person."""
    return 0 if ctx.invoked_subcommand else int(ctx.invoke(list_items, **given))


@inbox.command("list")
@answers
def list_items(memory: Memory) -> Output:
    """List the items that wait for a person, as `inbox` alone does."""
    waiting = memory.inbox.waiting()
    lines = []
    for each in waiting:
        about = [(name, said(each.detail[name])) for name in ("title", "old", "known", "new") if name in each.detail]
        lines.append(f"{each.number}  {each.kind}  {each.subject}: {each.reason}")
        lines += [f"   {name}: {cut(text, 100)}" for name, text in about]
    return Output(listing("items", waiting), "\n".join(lines) or "nothing waits")


@inbox.command("show")
@click.argument("number", type=int)
@answers
def show_item(memory: Memory, number: int) -> Output:
    """Show an item in full."""
    item = memory.inbox.get(number)
    lines = [f"{item.number} {item.kind}: {item.subject} {item.other}".rstrip(), item.reason]
    lines += [f"{name}: {said(value)}" for name, value in item.detail.items()]
    lines.append(f"raised {iso(item.created_at)}" + (f", resolved: {item.resolution}" if item.resolution else ""))
    if not item.resolution:
        verbs = memory.inbox.verbs(item)
        lines.append(f"to resolve it: recollect inbox resolve {number} {'|'.join(verbs)}")
    return Output(item, "\n".join(lines))


@inbox.command()
@click.argument("number", type=int)
@click.argument("verb", default="")
@answers
def resolve(memory: Memory, number: int, verb: str) -> Output:
    """Resolve an item with one of the verbs that `show` names."""
    done = memory.inbox.resolve(number, verb)
    return Output(done, f"resolved item {number}: {verb}\nto take it back: recollect inbox reopen {number}")


@inbox.command()
@click.argument("number", type=int)
@answers
def reopen(memory: Memory, number: int) -> Output:
    """Take back the answer to an item: undo what it did, and ask again."""
    item = memory.inbox.take_back(number)
    return Output(item, f"item {number} is open again: {item.reason}")
