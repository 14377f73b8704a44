"""Commands about findings and themes: finding, themes, promote."""

from __future__ import annotations

import click

from recollect.cli.opening import open_memory
from recollect.cli.output import common, emit, table
from recollect.core.finding import NewFinding
from recollect.text.counting import counted


@click.group()
def finding() -> None:
    """Findings of work units, as raw JSON files."""


@finding.command()
@click.argument("description")
@click.option("--work", "work_id", required=True, metavar="ID", help="The work unit; its file gets the finding.")
@click.option("--category", default="", help="Such as build, testing, security.")
@click.option("--source", default="", help="Who or what noticed it.")
@click.option("--rule", "proposed_rule", default="", help="The rule you propose.")
@click.option("--disposition", default="", help="What was done about it; `dismissed` keeps it out of themes.")
@common
def add(
    description: str,
    work_id: str,
    category: str,
    source: str,
    proposed_rule: str,
    disposition: str,
    project: str | None,
    as_json: bool,
) -> None:
    """Add a finding to its work unit."""
    new = NewFinding(
        description=description, category=category, source=source, proposed_rule=proposed_rule, disposition=disposition
    )
    with open_memory(project) as memory:
        made = memory.themes.add(work_id, new)
    emit({"id": made.id, **vars(made)}, f"saved {made.id}", as_json=as_json)


@finding.command("show")
@click.argument("id")
@common
def show_finding(id: str, project: str | None, as_json: bool) -> None:
    """Show a finding."""
    with open_memory(project) as memory:
        found = memory.themes.finding(id)
    lines = [found.id, found.description]
    lines += [f"rule: {found.proposed_rule}"] if found.proposed_rule else []
    lines += [f"{found.category or 'no category'}, {found.source or 'no source'}, {found.disposition or 'open'}"]
    emit({"id": found.id, **vars(found)}, "\n".join(lines), as_json=as_json)


@click.group()
def themes() -> None:
    """Themes that findings gather into, and their index."""


@themes.command()
@click.option("--always", is_flag=True, help="Gather now, whether or not enough files are new.")
@common
def run(always: bool, project: str | None, as_json: bool) -> None:
    """Gather findings into themes when enough raw files are new. Nothing due is fine."""
    with open_memory(project) as memory:
        done = memory.themes.run(always=always)
    if not done.ran:
        text = f"nothing due: {done.reason}"
    else:
        text = f"{counted(done.files, 'raw file')} in {counted(len(done.themes), 'theme')} ({done.reason})"
        text += f"; without room in their theme: {counted(done.left_out, 'finding')}" if done.left_out else ""
    emit(done, text, as_json=as_json)


@themes.command("list")
@common
def list_(project: str | None, as_json: bool) -> None:
    """List the themes, best supported first."""
    with open_memory(project) as memory:
        found = memory.themes.list()
    rows = [(theme.name, len(theme.findings), len(theme.work_ids), theme.summary) for theme in found]
    text = table(("theme", "findings", "work units", "summary"), rows) if rows else "no themes yet"
    emit({"themes": found}, text, as_json=as_json)


@themes.command()
@click.argument("name")
@common
def show(name: str, project: str | None, as_json: bool) -> None:
    """Show a theme's file, and which findings are behind it."""
    with open_memory(project) as memory:
        theme, text = memory.themes.show(name)
    emit({**vars(theme), "text": text}, text.rstrip("\n"), as_json=as_json)


@themes.command()
@click.argument("old")
@click.argument("new")
@common
def rename(old: str, new: str, project: str | None, as_json: bool) -> None:
    """Give a theme a name of your own; it keeps it."""
    with open_memory(project) as memory:
        theme = memory.themes.rename(old, new)
    emit(theme, f"{old} is now {new}", as_json=as_json)
