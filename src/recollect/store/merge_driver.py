"""Telling git to merge the staging file with `recollect merge-driver`: one attribute, one config entry.

The attribute is committed with the project; the config entry is this clone's own, because git lets no repository
choose programs for its users.
"""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from recollect.core.errors import NoHistory
from recollect.store.files import write_path

if TYPE_CHECKING:
    from pathlib import Path

NAME = "recollect"
_SETTINGS = {
    f"merge.{NAME}.name": "Recollect staged learnings, entry by entry",
    f"merge.{NAME}.driver": "recollect merge-driver %O %A %B %P",
}


def install(root: Path, staging_file: str) -> list[str]:
    """Set it up in this clone; says what was made, nothing when all was there."""
    made = [f"git config {name}" for name, value in _SETTINGS.items() if _set(root, name, value)]
    attributes = root / ".gitattributes"
    line = f"{staging_file} merge={NAME}"
    text = attributes.read_text("utf-8") if attributes.exists() else ""
    if line not in text.splitlines():
        write_path(attributes, text + ("" if not text or text.endswith("\n") else "\n") + line + "\n")
        made.append(f".gitattributes (line {line})")
    return made


def _set(root: Path, name: str, value: str) -> bool:
    if _git(root, "config", "--local", "--get", name).stdout.strip() == value:
        return False
    done = _git(root, "config", "--local", name, value)
    if done.returncode:
        raise NoHistory(f"git could not take the merge driver: {done.stderr.strip() or 'not a repository'}")
    return True


def _git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    binary = shutil.which("git")
    if binary is None:
        raise NoHistory("git is not installed; a merge driver is of no use without it")
    return subprocess.run(
        [binary, *arguments], cwd=root, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=5, check=False
    )
