"""Taking what a purge is after out of files: the vault and its mirror, the staging file, the spool.

Afterwards every byte that is ours can be searched for it. Permanent documents are the user's own: they are only named.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from recollect.capture import documents
from recollect.capture import log as logs
from recollect.core.context import Context, Vault
from recollect.core.errors import Stale
from recollect.store import spool
from recollect.store.files import content_hash, write_path
from recollect.store.project import Project
from recollect.store.vault import FolderVault
from recollect.tend.purge_target import Target, forms
from recollect.text import entries
from recollect.text.tree import log_path

CHUNK = 1 << 20


def holding(ctx: Context, project: Project, target: Target) -> Iterator[tuple[Vault, str, str]]:
    """The files that say it, apart from the spool: in which vault, the path there, and how it is shown."""
    found = [(vault, path, f"{shown}{path}") for vault, shown in _vaults(ctx, project) for path in vault.paths()]
    staging = ctx.settings.staging.file
    for vault, path, shown in ((ctx.worktree, staging, staging), *found):
        if target.pattern.search(vault.read(path) or ""):
            yield vault, path, shown


def mark_files(ctx: Context, project: Project, target: Target) -> Iterator[str]:
    """Put the mark in their place; the files that changed, as they are shown."""
    yield from _empty_entries(ctx, project, target)
    for vault, path, shown in holding(ctx, project, target):
        _rewrite(vault, path, target.scrub)
        yield shown
    for file in spool_files(project, target):
        try:
            record = json.loads(file.read_text("utf-8"))
            write_path(file, json.dumps(_walked(record, target), ensure_ascii=False), mode=0o600)
        except ValueError:
            file.unlink(missing_ok=True)  # it does not read, so the text cannot be taken out of it
        yield str(file)


def documents_saying(ctx: Context, target: Target) -> tuple[str, ...]:
    holding = [path for path in documents.paths(ctx) if target.pattern.search(ctx.worktree.read(path) or "")]
    return tuple(f"{path}, which says it: edit the file, and commit that" for path in holding)


def _vaults(ctx: Context, project: Project) -> list[tuple[Vault, str]]:
    """The vault, and what `vault pull` left of a server's in the memory folder."""
    if ctx.db.engine == "sqlite":
        return [(ctx.vault, "memory/")]
    return [(ctx.vault, "memory/"), (FolderVault(project.vault, project.data / "vault.lock"), f"{project.vault}/")]


def _empty_entries(ctx: Context, project: Project, target: Target) -> Iterator[str]:
    """An entry's heading and words go; its place stays, so that the others keep their ids."""
    for id in target.things:
        if not id.startswith("log/"):
            continue
        path, number = log_path(logs.day_of_entry(id)), int(id.partition("#")[2])
        for vault, shown in _vaults(ctx, project):
            if vault.read(path) is not None:
                _rewrite(vault, path, lambda text, number=number: entries.emptied(text, {number}))  # type: ignore[misc]
                yield f"{shown}{path}"


def _rewrite(vault: Vault, path: str, change: Callable[[str], str]) -> None:
    while True:
        text = vault.read(path) or ""
        try:
            vault.replace(path, change(text), expect=content_hash(text))
            return
        except Stale:
            continue  # somebody appended meanwhile; their words stay


def spool_files(project: Project, target: Target) -> list[Path]:
    waiting = [*spool.pending(project.spools), *spool.unreadable(project.spools)]
    return [path for path in waiting if target.pattern.search(_decoded(path))]


def _decoded(path: Path) -> str:
    """A spooled record with its escapes resolved, or as it is when it does not read."""
    raw = path.read_text("utf-8", "replace")
    try:
        return json.dumps(json.loads(raw), ensure_ascii=False) + raw
    except ValueError:
        return raw


def _walked(value: Any, target: Target) -> Any:
    if isinstance(value, str):
        return target.scrub(value)
    if isinstance(value, list):
        return [_walked(item, target) for item in value]
    if isinstance(value, dict):
        return {key: _walked(item, target) for key, item in value.items()}
    return value


def ours(project: Project) -> Iterable[Path]:
    """Every file of ours. The fresh backup stands for the database, page by page, which no second handle may open."""
    in_use = {project.database, project.database.with_name(project.database.name + "-shm")}
    for folder in (project.data, project.vault, *project.spools):
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if path.is_file() and not path.is_symlink() and path not in in_use:
                yield path


def holds(path: Path, target: Target) -> bool:
    overlap = max((len(form) for text in target.texts for form in forms(text)), default=1)
    tail = b""
    with path.open("rb") as file:
        while piece := file.read(CHUNK):
            if target.in_bytes(tail + piece):
                return True
            tail = (tail + piece)[-overlap:]
    return False
