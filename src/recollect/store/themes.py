"""Rows of themes: names, which finding lives where, which raw files were read."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from recollect.core.context import Tx
from recollect.core.errors import NotFound
from recollect.core.finding import Theme
from recollect.core.records import record
from recollect.store.db import add_row, put_row

_PLAIN = ("name", "named_by", "summary", "file_hash", "before_hash")
_LISTS = ("work_ids", "left_out", "inherited", "inherited_units")


@record
class StoredTheme:
    """A theme with what only the grouping needs: foreign lines it took over, and the hash of its file.

    `before_hash` is the hash before the last write of the file: a crash in between leaves one of the two.
    """

    theme: Theme
    inherited: tuple[str, ...] = ()
    inherited_units: tuple[str, ...] = ()
    file_hash: str = ""
    before_hash: str = ""


def everything(tx: Tx) -> list[StoredTheme]:
    members: dict[str, list[str]] = defaultdict(list)
    for id, theme in tx.rows("SELECT finding_id, theme FROM theme_findings WHERE space = :space ORDER BY finding_id"):
        members[theme].append(id)
    found = []
    for row in tx.rows(f"SELECT {', '.join((*_PLAIN, *_LISTS))} FROM themes WHERE space = :space ORDER BY name"):
        values: dict[str, Any] = dict(zip((*_PLAIN, *_LISTS), row, strict=True))
        values |= {name: tuple(json.loads(values[name])) for name in _LISTS}
        own = {name: values.pop(name) for name in ("name", "summary", "named_by", "work_ids", "left_out")}
        found.append(StoredTheme(theme=Theme(**own, findings=tuple(members[own["name"]])), **values))
    return found


def get(tx: Tx, name: str) -> StoredTheme:
    for stored in everything(tx):
        if stored.theme.name == name:
            return stored
    raise NotFound(f"There is no theme {name}. List the themes with `recollect theme list`")


def replace_all(tx: Tx, themes: Iterable[StoredTheme], text_hashes: Mapping[str, str]) -> None:
    tx.run("DELETE FROM theme_findings WHERE space = :space")
    tx.run("DELETE FROM themes WHERE space = :space")
    for stored in themes:
        theme = stored.theme
        values = {**vars(theme), **vars(stored)}
        add_row(tx, "themes", **{name: values[name] for name in (*_PLAIN, *_LISTS)})
        for id in theme.findings:
            add_row(tx, "theme_findings", finding_id=id, theme=theme.name, text_hash=text_hashes[id])


def text_hashes(tx: Tx) -> dict[str, str]:
    """The text of each placed finding when it was placed."""
    return dict(tx.rows("SELECT finding_id, text_hash FROM theme_findings WHERE space = :space ORDER BY finding_id"))


def files(tx: Tx) -> dict[str, str]:
    """Raw files that were read into themes, with their hash then."""
    return dict(tx.rows("SELECT path, sha FROM finding_files WHERE space = :space ORDER BY path"))


def last_run(tx: Tx) -> int | None:
    found = tx.value("SELECT max(processed_at) FROM finding_files WHERE space = :space")
    return None if found is None else int(found)


def mark_read(tx: Tx, shas: Mapping[str, str], *, at: int) -> None:
    for path, sha in sorted(shas.items()):
        put_row(tx, "finding_files", "path", path=path, sha=sha, processed_at=at)


def file_rewritten(tx: Tx, before: str, after: str) -> None:
    """Record that a purge rewrote a theme file, so that it still counts as ours."""
    for column in ("file_hash", "before_hash"):
        sql = f"UPDATE themes SET {column} = :after WHERE space = :space AND {column} = :before"
        tx.run(sql, before=before, after=after)
