"""Rows of themes: names, which finding lives where, which raw files were read."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from recollect.core.context import Tx
from recollect.core.errors import NotFound
from recollect.core.finding import Theme
from recollect.store.db import add_row


@dataclass(frozen=True, kw_only=True)
class StoredTheme:
    """A theme with what only the machinery needs: foreign lines it took over, and the hash of its file.

    `before_hash` is what the file held before it was last written: a crash in between leaves one of the two.
    """

    theme: Theme
    inherited: tuple[str, ...] = ()
    inherited_units: tuple[str, ...] = ()
    file_hash: str = ""
    before_hash: str = ""


def everything(tx: Tx) -> list[StoredTheme]:
    """All themes, by name."""
    members: dict[str, list[str]] = defaultdict(list)
    for id, theme in tx.rows("SELECT finding_id, theme FROM theme_findings WHERE space = :space ORDER BY finding_id"):
        members[theme].append(id)
    rows = tx.rows(
        """
        SELECT name, named_by, summary, work_ids, left_out, inherited, inherited_units, file_hash, before_hash
        FROM themes WHERE space = :space ORDER BY name"""
    )
    return [
        StoredTheme(
            theme=Theme(
                name=name,
                summary=summary,
                named_by=named_by,
                findings=tuple(members[name]),
                work_ids=tuple(json.loads(work_ids)),
                left_out=tuple(json.loads(left_out)),
            ),
            inherited=tuple(json.loads(inherited)),
            inherited_units=tuple(json.loads(units)),
            file_hash=file_hash,
            before_hash=before_hash,
        )
        for name, named_by, summary, work_ids, left_out, inherited, units, file_hash, before_hash in rows
    ]


def get(tx: Tx, name: str) -> StoredTheme:
    for stored in everything(tx):
        if stored.theme.name == name:
            return stored
    raise NotFound(f"There is no theme {name}. List the themes with `recollect theme list`")


def replace_all(tx: Tx, themes: Iterable[StoredTheme], text_hashes: Mapping[str, str]) -> None:
    """Themes and homes as they are from now on."""
    tx.run("DELETE FROM theme_findings WHERE space = :space")
    tx.run("DELETE FROM themes WHERE space = :space")
    for stored in themes:
        theme = stored.theme
        add_row(
            tx,
            "themes",
            name=theme.name,
            named_by=theme.named_by,
            summary=theme.summary,
            work_ids=_packed(theme.work_ids),
            left_out=_packed(theme.left_out),
            inherited=_packed(stored.inherited),
            inherited_units=_packed(stored.inherited_units),
            file_hash=stored.file_hash,
            before_hash=stored.before_hash,
        )
        tx.run_many(
            "INSERT INTO theme_findings (space, finding_id, theme, text_hash) VALUES (:space, :id, :theme, :hash)",
            [{"id": id, "theme": theme.name, "hash": text_hashes[id]} for id in theme.findings],
        )


def text_hashes(tx: Tx) -> dict[str, str]:
    """What each placed finding said when it was placed."""
    return dict(tx.rows("SELECT finding_id, text_hash FROM theme_findings WHERE space = :space ORDER BY finding_id"))


def files(tx: Tx) -> dict[str, str]:
    """Raw files that were read into themes, with their hash then."""
    return dict(tx.rows("SELECT path, sha FROM finding_files WHERE space = :space ORDER BY path"))


def last_run(tx: Tx) -> int | None:
    found = tx.value("SELECT max(processed_at) FROM finding_files WHERE space = :space")
    return None if found is None else int(found)


def mark_read(tx: Tx, shas: Mapping[str, str], *, at: int) -> None:
    tx.run_many(
        """
        INSERT INTO finding_files (space, path, sha, processed_at) VALUES (:space, :path, :sha, :at)
        ON CONFLICT (space, path) DO UPDATE SET sha = excluded.sha, processed_at = excluded.processed_at""",
        [{"path": path, "sha": sha, "at": at} for path, sha in sorted(shas.items())],
    )


def rename_files(tx: Tx, renamed: Mapping[str, str]) -> None:
    """Raw files under other names are the same files."""
    sql = "UPDATE finding_files SET path = :new WHERE space = :space AND path = :old"
    tx.run_many(sql, ({"old": old, "new": new} for old, new in renamed.items()))


def file_rewritten(tx: Tx, before: str, after: str) -> None:
    """A theme file that a purge marked, by its hashes, is as much ours as it was before."""
    for column in ("file_hash", "before_hash"):
        tx.run(
            f"UPDATE themes SET {column} = :after WHERE space = :space AND {column} = :before",
            before=before,
            after=after,
        )


def _packed(values: Iterable[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False)
