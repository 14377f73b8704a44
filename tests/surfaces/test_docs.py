"""Every command, option, setting and method is documented: a command with all its options on one page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from recollect import Memory
from recollect.cli.app import recollect
from recollect.core.settings import described
from recollect.memory.memory import FACETS

DOCS = Path(__file__).parents[2] / "docs"


def _commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for name in command.list_commands(ctx):
            inner = command.get_command(ctx, name)
            assert inner is not None
            yield from _commands(inner, (*path, name))
    if path:
        yield path, command


PAGES = [page.read_text("utf-8") for page in sorted(DOCS.glob("*.md"))]
COMMANDS = list(_commands(recollect))


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=[" ".join(path) for path, _ in COMMANDS])
def test_a_command_and_its_options_stand_in_the_docs(path: tuple[str, ...], command: click.Command) -> None:
    pages = [page for page in PAGES if f"recollect {' '.join(path)}" in page]
    assert pages
    shown = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    options = [name for param in shown for name in param.opts]
    missing = [[name for name in options if f"`{name}" not in page and f" {name}" not in page] for page in pages]
    assert min(missing, key=len) == []


@pytest.mark.parametrize(
    "path", [(), *(path for path, command in COMMANDS if isinstance(command, click.Group))], ids=str
)
def test_the_help_of_a_group_fits_a_terminal_and_cuts_no_sentence(path: tuple[str, ...]) -> None:
    group: click.Group = recollect
    ctx = click.Context(group, info_name="recollect", terminal_width=80)
    for name in path:
        inner = group.get_command(ctx, name)
        assert isinstance(inner, click.Group)
        ctx, group = click.Context(inner, info_name=name, parent=ctx, terminal_width=80), inner
    lines = group.get_help(ctx).splitlines()[1:]  # after `Usage: … [ARGS]...`
    assert not [line for line in lines if len(line) > 80 or line.endswith("...")]
    assert all(any(line.startswith(f"  {name} ") for line in lines) for name in group.list_commands(ctx))


@pytest.mark.parametrize(("name", "default"), described())
def test_a_setting_stands_in_the_docs_with_its_default(name: str, default: object) -> None:
    page = (DOCS / "settings.md").read_text("utf-8")
    shown = f"`{default}`" if default != "" else "empty"
    assert any(f"`{name}`" in line and shown in line for line in page.splitlines())


@pytest.mark.parametrize("facet", FACETS)
def test_every_method_of_a_facet_stands_in_its_row(tmp_path: Path, facet: str) -> None:
    with Memory.open(tmp_path, create=True, environ={"HOME": str(tmp_path)}) as memory:
        methods = [name for name in vars(type(getattr(memory, facet))) if not name.startswith("_")]
    page = (DOCS / "python.md").read_text("utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith(f"| `memory.{facet}` |")]
    assert not [name for name in methods if f"`{name}`" not in row]
