"""Commands about findings and themes: finding, themes, promote."""

from __future__ import annotations

from contextlib import suppress

import click

from recollect.cli.command import Answer, Group, answers
from recollect.cli.output import table
from recollect.core.errors import NotFound
from recollect.core.finding import NewFinding
from recollect.memory import Memory
from recollect.text.counting import counted


@click.group(cls=Group)
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
def add(
    memory: Memory, description: str, work_id: str, category: str, source: str, proposed_rule: str, disposition: str
) -> Answer:
    """Add a finding to its work unit."""
    new = NewFinding(
        description=description, category=category, source=source, proposed_rule=proposed_rule, disposition=disposition
    )
    made = memory.themes.add(work_id, new)
    if made.warning:
        click.echo(f"recollect: {made.warning}", err=True)
    return Answer({"id": made.id, **vars(made)}, f"saved {made.id}")


@finding.command("show")
@click.argument("id")
@answers
def show_finding(memory: Memory, id: str) -> Answer:
    """Show a finding."""
    found = memory.themes.finding(id)
    lines = [found.id, found.description]
    lines += [f"rule: {found.proposed_rule}"] if found.proposed_rule else []
    lines += [f"{found.category or 'no category'}, {found.source or 'no source'}, {found.disposition or 'open'}"]
    return Answer({"id": found.id, **vars(found)}, "\n".join(lines))


@click.group(cls=Group)
def themes() -> None:
    """Themes that findings gather into, and their index."""


@themes.command()
@click.option("--always", is_flag=True, help="Gather now, whether or not enough files are new.")
@answers
def run(memory: Memory, always: bool) -> Answer:
    """Gather findings into themes when enough raw files are new. Nothing due is fine."""
    done = memory.themes.run(always=always)
    if not done.ran:
        text = f"nothing due: {done.reason}"
    else:
        text = f"{counted(done.files, 'raw file')} in {counted(len(done.themes), 'theme')} ({done.reason})"
        text += f"; without room in their theme: {counted(done.left_out, 'finding')}" if done.left_out else ""
    return Answer(done, text)


@themes.command("list")
@answers
def list_(memory: Memory) -> Answer:
    """List the themes, best supported first."""
    found = memory.themes.list()
    rows = [(theme.name, len(theme.findings), len(theme.work_ids), theme.summary) for theme in found]
    text = table(("theme", "findings", "work units", "summary"), rows) if rows else "no themes yet"
    with suppress(NotFound):
        if not rows and memory.themes.index():
            text += " in this clone's store; INDEX.md names some: recollect themes run --always takes them in"
    return Answer({"themes": found}, text)


@themes.command()
@click.argument("name")
@answers
def show(memory: Memory, name: str) -> Answer:
    """Show a theme's file, and which findings are behind it."""
    theme, text = memory.themes.show(name)
    return Answer({**vars(theme), "text": text}, text.rstrip("\n"))


@themes.command()
@click.argument("old")
@click.argument("new")
@answers
def rename(memory: Memory, old: str, new: str) -> Answer:
    """Give a theme a name of your own; it keeps it."""
    theme = memory.themes.rename(old, new)
    return Answer(theme, f"{old} is now {new}")
