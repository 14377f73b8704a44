"""Prompts are files beside this module; a prompt's version is the hash of its text, so that changing one asks anew."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

from recollect.store.files import content_hash


@dataclass(frozen=True)
class PromptText:
    text: str
    version: str


@cache
def load_prompt(name: str) -> PromptText:
    """The prompt `prompts/<name>.md`."""
    text = resources.files("recollect.models").joinpath("prompts", f"{name}.md").read_text("utf-8")
    return PromptText(text=text, version=content_hash(text)[:12])
