"""Git's merge driver of the staging file: telling git about it, and the merge of three files it asks for.

The attribute is committed with the project; the config entry is this clone's own, because git lets no repository
choose programs for its users. It names the interpreter, since git is often run where `recollect` is not on the PATH.
Whatever fails, git's own merge by lines takes over: without its marks a conflict would look like our side, and theirs
would be lost with the next `git add`.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from recollect.core.errors import NoHistory
from recollect.store.files import add_lines, write_path
from recollect.text.merge import merge_staging

NAME = "recollect"
_BY_LINES = ("merge-file", "-L", "ours", "-L", "base", "-L", "theirs")


def install(root: Path, staging_file: str) -> list[str]:
    """Set it up in this clone; says what was made, nothing when all was there."""
    settings = {f"merge.{NAME}.name": "Recollect staged learnings, entry by entry", f"merge.{NAME}.driver": _command()}
    made = [f"git config {name}" for name, value in settings.items() if _set(root, name, value)]
    line = f"{staging_file} merge={NAME}"
    if add_lines(root / ".gitattributes", line):
        made.append(f".gitattributes (line {line})")
    return made


def merge_files(base: Path, ours: Path, theirs: Path) -> tuple[str, ...]:
    """Merge into `ours`, which keeps its line ends; what both sides changed is marked there and named here."""
    texts = [each.read_bytes() for each in (base, ours, theirs)]
    try:
        merged = merge_staging(*(text.decode("utf-8") for text in texts))
    except UnicodeDecodeError:
        done = _git(ours.parent, *_BY_LINES, *(str(each.absolute()) for each in (ours, base, theirs)))
        return ("lines that are not UTF-8",) if done.returncode else ()
    windows = b"\r\n" in texts[1] and texts[1].count(b"\r\n") == texts[1].count(b"\n")
    write_path(ours, merged.text.replace("\n", "\r\n") if windows else merged.text)
    return merged.conflicts


def _command() -> str:
    python = shlex.quote(sys.executable).replace("%", "%%")
    by_lines = shlex.join(("git", *_BY_LINES))
    return (
        f"if {python} -P -c 'import recollect'; then {python} -P -m recollect merge-driver %O %A %B %P; "
        f"else {by_lines} %A %O %B; fi"
    )


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
