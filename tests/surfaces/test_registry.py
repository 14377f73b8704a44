"""server.json says what the package is, in the registry's own terms."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from recollect import __version__
from recollect.cli.command import COMMANDS

ROOT = Path(__file__).parents[2]
SERVER = json.loads((ROOT / "server.json").read_text("utf-8"))
(PACKAGE,) = SERVER["packages"]


def test_it_names_this_package_in_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert PACKAGE["identifier"] == project["name"]
    assert SERVER["version"] == PACKAGE["version"] == project["version"] == __version__


def test_the_readme_carries_the_mark_by_which_the_registry_knows_the_owner() -> None:
    assert f"<!-- mcp-name: {SERVER['name']} -->" in (ROOT / "README.md").read_text("utf-8")


def test_it_starts_the_command_that_speaks_mcp_on_stdio() -> None:
    assert (PACKAGE["registryType"], PACKAGE["runtimeHint"]) == ("pypi", "uvx")
    assert PACKAGE["transport"] == {"type": "stdio"}
    command = PACKAGE["packageArguments"][0]["value"]
    assert command in COMMANDS


def test_it_keeps_to_the_lengths_the_registry_allows() -> None:
    assert 1 <= len(SERVER["description"]) <= 100
    assert 3 <= len(SERVER["name"]) <= 200
