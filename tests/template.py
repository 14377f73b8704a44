"""An empty embedded store, migrated once and copied for each test: migrations commit, and so sync, a dozen times."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from recollect.store import project
from recollect.store.sqlite_file import open_sqlite


def make(folder: Path) -> Path:
    """A folder with nothing but a new store."""
    open_sqlite(folder / "memory.db", create=True, busy_seconds=5).close()
    return folder


def begin(folder: Path, environ: Mapping[str, str], template: Path) -> None:
    """What `Memory.open(create=True)` makes in a folder without a project, with a copy of the template as its store."""
    project.create(folder, environ)
    found = project.load(folder, environ)
    if not found.settings.store.url and not found.database.exists():
        shutil.copytree(template, found.database.parent, dirs_exist_ok=True)
