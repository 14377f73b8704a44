"""A learning typed in the user's own editor. What was typed is never lost: when it cannot be used, the file stays."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

from recollect.core.errors import BadInput, RecollectError, Refused
from recollect.core.learning import COIA

NAMES = ("title", *COIA)
_INTRODUCTION = (
    "# Lines that begin with # are left out. Write after each colon; leave all as it is to stop.\n"
    "# More lines of a text begin with two spaces.\n"
)
_INDENT = "  "
STRAY = ""  # the name of what stands before the first field


@contextmanager
def typed_in_editor(fields: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The fields that the user changed; an error of ours while they are used says where the text is kept."""
    if not (os.environ.get("VISUAL") or os.environ.get("EDITOR")) and not sys.stdin.isatty():
        raise BadInput("there is no terminal to open an editor in; give the fields as options, or set $EDITOR")
    template = _INTRODUCTION + "".join(
        f"{name}: {fields.get(name, '')}".replace("\n", f"\n{_INDENT}") + "\n" for name in NAMES
    )
    handle, name = tempfile.mkstemp(prefix="recollect-", suffix=".txt")
    path = Path(name)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(template)
    shown = _fields_in(path)
    failed = _failed(name)
    given = _fields_in(path)
    changed = {name: text for name, text in given.items() if text != shown[name]}
    if not changed or not any(given.values()):
        path.unlink()
        if failed:
            raise Refused(f"{failed}; nothing was changed")
        raise BadInput("nothing was written; nothing was changed")
    if failed:
        raise Refused(f"{failed}; nothing was changed. What you typed is kept in {path}")
    if STRAY in changed:
        raise BadInput(
            f"{changed[STRAY]!r:.80} belongs to no field; begin with `title:`. What you typed is kept in {path}"
        )
    try:
        yield changed
    except RecollectError as error:
        raise type(error)(f"{error}. What you typed is kept in {path}") from None
    path.unlink()


def _failed(name: str) -> str:
    """What the editor that was opened on a file complains of, if anything."""
    try:
        click.edit(filename=name)
    except click.ClickException as error:
        return error.message
    return ""


def _fields_in(path: Path) -> dict[str, str]:
    """Fields by name; a field goes on until the next one begins."""
    current: list[str] = []
    found = {STRAY: current}
    for line in path.read_text("utf-8-sig", "replace").split("\n"):
        name, colon, rest = line.partition(":")
        if line.startswith("#"):
            continue
        if colon and name in NAMES:
            current = found.setdefault(name, [])
            line = rest
        current.append(line.removeprefix(_INDENT))
    return {name: "\n".join(lines).strip() for name, lines in found.items()}
