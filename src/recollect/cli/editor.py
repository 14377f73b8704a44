"""A learning typed in the user's own editor. What was typed is never lost: when it cannot be used, the file stays."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

from recollect.core.errors import BadInput, RecollectError
from recollect.core.learning import COIA

NAMES = ("title", *COIA)
_INTRODUCTION = "# Lines that begin with # are left out. Write after each colon; leave all as it is to stop.\n"


@contextmanager
def typed_in_editor(fields: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The fields as the user left them; an error of ours while they are used says where the text is kept."""
    if not (os.environ.get("VISUAL") or os.environ.get("EDITOR")) and not (sys.stdin and sys.stdin.isatty()):
        raise BadInput("there is no terminal to open an editor in; give the fields as options, or set $EDITOR")
    template = _INTRODUCTION + "".join(f"{name}: {' '.join(fields.get(name, '').split())}\n" for name in NAMES)
    handle, name = tempfile.mkstemp(prefix="recollect-", suffix=".txt")
    path = Path(name)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(template)
    click.edit(filename=name)
    text = path.read_text("utf-8", "replace")
    given = parsed(text)
    if text == template or not any(given.values()):
        path.unlink()
        raise BadInput("nothing was written; nothing was changed")
    try:
        yield given
    except RecollectError as error:
        raise type(error)(f"{error}\nWhat you typed is kept in {path}") from None
    path.unlink()


def parsed(text: str) -> dict[str, str]:
    """Fields by name; a field goes on until the next one begins."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        if line.startswith("#"):
            continue
        if colon and name in NAMES:
            current = found.setdefault(name, [])
            line = rest
        current.append(line.strip())
    return {name: " ".join(part for part in lines if part) for name, lines in found.items()}
