"""Taking what a purge is after out of files: the vault and its mirror, the staging file, the spool.

Afterwards every byte that is ours can be searched for it. Permanent documents are the user's own: they are only named.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from recollect.capture import documents
from recollect.capture import log_files as logs
from recollect.capture.finding import FOLDER
from recollect.core.calendar import LEVELS
from recollect.core.context import Context, Vault
from recollect.core.errors import Stale
from recollect.store import purging, spool
from recollect.store import themes as theme_rows
from recollect.store.files import content_hash, write_path
from recollect.store.project import Project
from recollect.store.vault import FolderVault
from recollect.tend.purge_target import Target, forms
from recollect.text import entries, nodes
from recollect.text.tree import log_path

CHUNK = 1 << 20


def holding(ctx: Context, project: Project, target: Target) -> Iterator[tuple[Vault, str, str]]:
    """The files that say it, apart from the spool: in which vault, the path there, and how it is shown."""
    found = [(vault, path, f"{shown}{path}") for vault, shown in _vaults(ctx, project) for path in vault.paths()]
    staging = ctx.settings.staging.file
    for vault, path, shown in ((ctx.worktree, staging, staging), *found):
        text = vault.read(path) or ""
        if _marked(path, text, target) != text or _place(path, target) != path:
            yield vault, path, shown


def mark_files(ctx: Context, project: Project, target: Target) -> Iterator[str]:
    """Put the mark in their place; the files that changed, as they are shown."""
    yield from _empty_entries(ctx, project, target)
    for vault, path, shown in holding(ctx, project, target):
        before, after = _rewrite(vault, path, lambda text, path=path: _marked(path, text, target))  # type: ignore[misc]
        if (place := _place(path, target)) != path:
            vault.replace(place, after)
            vault.delete(path)
        with ctx.db.write(ctx.space) as tx:
            theme_rows.file_rewritten(tx, content_hash(before), content_hash(after))
        yield target.scrub_id(shown)
    for file in spool_files(project, target):
        try:
            record = json.loads(file.read_text("utf-8"))
            write_path(file, json.dumps(purging.walked(record, target.scrub), ensure_ascii=False), mode=0o600)
        except (ValueError, RecursionError):
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


def _marked(path: str, text: str, target: Target) -> str:
    """A file without the text; one of findings stays the JSON it is, however the text is spelled there."""
    if path.startswith(f"{FOLDER}/") and path.endswith(".json"):
        try:
            said = json.loads(text.removeprefix("\ufeff"))
            left = purging.walked(said, target.scrub)
        except (ValueError, RecursionError):
            return target.scrub(text)
        if isinstance(said, dict) and said.get("workId") in target.names.units:
            left = {**left, "workId": target.names.units[said["workId"]]}
        return text if left == said else json.dumps(left, ensure_ascii=False, indent=2) + "\n"
    marked = target.scrub(target.names.in_file(path, text))
    return marked if marked == text else _still_a_node(path, text, target) or marked


def _still_a_node(path: str, text: str, target: Target) -> str:
    """A node of ours, written anew: a mark where a topic begins would make its frontmatter unreadable, and another
    tool's node is kept. Empty for any other file.
    """
    level, _, name = path.removesuffix(".md").partition("/")
    if level not in LEVELS or "." in name:
        return ""
    node = nodes.parse(f"{level}/{name}", text)
    if node.generator == nodes.FOREIGN:
        return ""
    topics = tuple(replace(topic, name=target.scrub(topic.name)) for topic in node.topics)
    return nodes.render(replace(node, topics=topics, body=target.scrub(node.body)))


def _place(path: str, target: Target) -> str:
    """Where a file goes whose name is made of the text's words."""
    return target.names.in_text(path) if path.startswith(f"{FOLDER}/") else path


def _rewrite(vault: Vault, path: str, change: Callable[[str], str]) -> tuple[str, str]:
    while True:
        text = vault.read(path) or ""
        after = change(text)
        try:
            vault.replace(path, after, expect=content_hash(text))
            return text, after
        except Stale:
            continue  # somebody appended meanwhile; their words stay


def spool_files(project: Project, target: Target) -> list[Path]:
    waiting = [*spool.pending(project.spools), *spool.aside(project.spools)]
    return [path for path in waiting if target.pattern.search(_decoded(path))]


def _decoded(path: Path) -> str:
    """A spooled record with its escapes resolved, or as it is when it does not read."""
    raw = path.read_text("utf-8", "replace")
    try:
        return json.dumps(json.loads(raw), ensure_ascii=False) + raw
    except (ValueError, RecursionError):
        return raw


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
