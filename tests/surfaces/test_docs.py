"""Every command, option, setting and method is documented: docs/README.md names the page of each command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from recollect import Memory
from recollect.cli.command import recollect
from recollect.core.settings import described
from recollect.memory.memory import FACETS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def _commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for name in command.list_commands(ctx):
            inner = command.get_command(ctx, name)
            assert inner is not None
            yield from _commands(inner, (*path, name))
    if path:
        yield path, command


def _pages() -> dict[str, Path]:
    """The page of each command and, by `learn …`, of each group, from the table of docs/README.md."""
    pages: dict[str, Path] = {}
    for row in re.findall(r"^\| \[.*\|$", (DOCS / "README.md").read_text("utf-8"), re.MULTILINE):
        (link, *_), commands = re.findall(r"\]\((\S+?)\)", row), row.rsplit("|", 2)[1]
        for command in re.findall(r"`([^`]+)`", commands):
            assert command not in pages, f"{command} has two pages"
            pages[command.removesuffix(" …")] = DOCS / link
    return pages


def _page_of(path: tuple[str, ...]) -> Path:
    """The page of the longest prefix: `store db init` is on the page of `store db …`, not on that of `store …`."""
    pages = _pages()
    prefixes = (" ".join(path[:length]) for length in range(len(path), 0, -1))
    return next(pages[prefix] for prefix in prefixes if prefix in pages)


COMMANDS = list(_commands(recollect))


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=[" ".join(path) for path, _ in COMMANDS])
def test_a_command_and_its_options_are_on_its_page(path: tuple[str, ...], command: click.Command) -> None:
    if path == ("host",):
        return  # its commands are on two pages
    page = _page_of(path).read_text("utf-8")
    assert f"recollect {' '.join(path)}" in page
    shown = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    options = [name for param in shown for name in param.opts]
    assert not [name for name in options if f"`{name}" not in page and f" {name}" not in page]


def test_every_page_is_listed_on_the_start_page() -> None:
    listed = re.findall(r"\]\(([a-z-]+\.md)\)", (DOCS / "README.md").read_text("utf-8"))
    assert {*listed, "README.md"} == {page.name for page in DOCS.glob("*.md")}


def test_every_page_that_the_program_names_exists() -> None:
    sources = [path for top in ("src", "plugins", "scripts") for path in (ROOT / top).rglob("*") if path.is_file()]
    texts = [path.read_text("utf-8", "replace") for path in (*sources, ROOT / "Makefile", ROOT / "AGENTS.md")]
    named = {name for text in texts for name in re.findall(r"\bdocs/([a-z-]+\.md)", text)}
    played = {"database.md", "services.md", "testing.md", "webhooks.md"}  # files of the week that scripts/week.py plays
    assert named - played <= {page.name for page in DOCS.glob("*.md")}


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
    shown = f"`{str(default).lower() if isinstance(default, bool) else default}`" if default != "" else "empty"
    assert any(f"`{name}`" in line and shown in line for line in page.splitlines())


@pytest.mark.parametrize("facet", FACETS)
def test_every_method_of_a_facet_stands_in_its_row(tmp_path: Path, facet: str) -> None:
    with Memory.open(tmp_path, create=True, environ={"HOME": str(tmp_path)}) as memory:
        methods = [name for name in vars(type(getattr(memory, facet))) if not name.startswith("_")]
    page = (DOCS / "python.md").read_text("utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith(f"| `memory.{facet}` |")]
    assert not [name for name in methods if f"`{name}`" not in row]
