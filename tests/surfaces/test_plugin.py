"""The plugin's texts hold against the program: hooks as `init` would write them, commands that exist."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from recollect.cli.command import recollect
from recollect.hosts.host_files import READING, READING_TOOLS, STAND_IN, hook_groups
from recollect.mcp.tools import TOOLS
from shell import ROOT

PLUGIN = ROOT / "plugins" / "claude-code"
TEXTS = sorted(PLUGIN.rglob("*.md"))
_CALL = re.compile(r"`(recollect [^`]+)`|^(recollect (?:.*\\\n)*.*)$", re.MULTILINE)


def calls() -> Iterator[tuple[str, str]]:
    for path in TEXTS:
        for span, line in _CALL.findall(path.read_text("utf-8")):
            yield str(path.relative_to(PLUGIN)), span or line


def test_the_hooks_are_those_that_init_writes() -> None:
    written = json.loads((PLUGIN / "hooks/hooks.json").read_text("utf-8"))
    assert written["hooks"] == hook_groups("claude-code", '"${CLAUDE_PLUGIN_ROOT}/bin/recollect"')


def test_the_server_without_the_program_is_the_one_that_init_writes() -> None:
    assert f"\n{STAND_IN}\n" in (PLUGIN / "bin/recollect").read_text("utf-8")


def test_what_agents_may_call_unasked_exists_and_only_reads() -> None:
    assert [tool.name for tool in TOOLS.values() if tool.effect == "reads"] == list(READING_TOOLS)
    for name in READING:
        command: click.Command = recollect
        for word in name.split():
            assert isinstance(command, click.Group)
            found = command.get_command(click.Context(command), word)
            assert found is not None, name
            command = found


@pytest.mark.parametrize(("file", "call"), list(calls()))
def test_a_command_in_a_skill_is_one_that_the_program_takes(file: str, call: str) -> None:
    words = [word.split("|")[0].rstrip(",.") for word in shlex.split(call.replace("\\\n", " "))[1:]]
    command: click.Command = recollect
    while isinstance(command, click.Group) and words:
        inner = command.get_command(click.Context(command), words.pop(0))
        assert inner is not None, call
        command = inner
    if words:  # without any it is a mention of its name
        command.make_context(call, words)


@pytest.mark.parametrize("path", sorted(PLUGIN.glob("skills/*/SKILL.md")), ids=lambda path: path.parent.name)
def test_a_skill_has_the_portable_fields(path: Path) -> None:
    fields = yaml.safe_load(path.read_text("utf-8").split("---")[1])
    assert fields["name"] == path.parent.name
    assert len(fields["name"]) <= 64
    assert 20 <= len(fields["description"]) <= 1024


@pytest.mark.parametrize("path", sorted(PLUGIN.glob("agents/*.md")), ids=lambda path: path.stem)
def test_an_agent_runs_on_sonnet_with_the_skill_in_front_of_it(path: Path) -> None:
    fields = yaml.safe_load(path.read_text("utf-8").split("---")[1])
    assert fields["name"] == path.stem
    assert fields["model"] == "sonnet"
    assert (PLUGIN / "skills" / fields["skills"] / "SKILL.md").exists()
    assert "ESCALATION: " in path.read_text("utf-8")


def test_the_hand_off_consolidates_after_staging_and_before_the_size() -> None:
    text = (PLUGIN / "skills/handoff/SKILL.md").read_text("utf-8")
    steps = re.findall(r"^(\d)\. \*\*(.*?)\.\*\*", text, re.MULTILINE)
    assert steps[3:] == [("4", "What was learned"), ("5", "Consolidation check"), ("6", "Size")]
