"""The store that tests copy is the store that a new project gets."""

from __future__ import annotations

import re
from pathlib import Path

import apsw

import template
from recollect import Memory

PRAGMAS = ("application_id", "user_version", "page_size", "journal_mode", "auto_vacuum", "encoding", "freelist_count")


def test_a_copied_store_equals_a_fresh_one(tmp_path: Path, empty_store: Path, environ: dict[str, str]) -> None:
    kinds = {}
    for name in ("fresh", "copied"):
        folder, environ["RECOLLECT_HOME"] = tmp_path / name / "shop", str(tmp_path / name)
        folder.mkdir(parents=True)
        if name == "copied":
            template.begin(folder, environ, empty_store)
        with Memory.open(folder, create=True, environ=environ) as memory:
            data = memory.project.data
        kinds[name] = (_files(folder) | _files(data), _content(data / "memory.db"))
    assert kinds["fresh"] == kinds["copied"]
    assert len(kinds["fresh"][1]) > 20, "there is something to compare"


def _files(folder: Path) -> dict[str, int]:
    """Every file with its permissions. The name of the copied settings holds a number of the file that was read."""
    found = {str(path.relative_to(folder)): path.stat().st_mode for path in sorted(folder.rglob("*"))}
    return {re.sub(r"settings-\d+", "settings-N", name): mode for name, mode in found.items()}


def _content(database: Path) -> dict[str, object]:
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    tables = [str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    content: dict[str, object] = {name: connection.pragma(name) for name in PRAGMAS}
    for name in ("sqlite_schema", *tables):
        content[name] = sorted(map(repr, connection.execute(f'SELECT * FROM "{name}"')))
    connection.close()
    return content
