"""Purge: removes a thing with everything that quotes it, or a text wherever it is stored, for good.

Columns and files are scrubbed (a mark stays in the text's place), derived rows are made again, the database file is
rewritten without free pages or log, and one fresh backup replaces the project's own backups and damaged copies. At the
end every byte that is ours is searched for the text. Permanent documents are the user's own: they are only named.

`schema.TABLES` says which columns hold words, `kinds` which things can be purged by their id.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from recollect.capture import documents, finding, logs, stage
from recollect.capture.finding import FOLDER
from recollect.core.calendar import LEVELS
from recollect.core.context import Context, Tx, Vault
from recollect.core.errors import Forbidden, NotFound, Refused, Stale
from recollect.distil import themes
from recollect.store import access, decisions, events, journal, learnings, passages, sessions, spool
from recollect.store import purge as store_purge
from recollect.store import themes as theme_rows
from recollect.store.files import content_hash, write_path
from recollect.store.project import Project
from recollect.store.sqlite_file import kept_aside
from recollect.store.vault import FolderVault
from recollect.tend import backup
from recollect.tend.kinds import KINDS, expected, kind_of
from recollect.tend.purge_target import MARK, Names, Target, forms, rename, target_of
from recollect.tend.verify import rebuild_tree
from recollect.text import entries, nodes
from recollect.text.tree import log_path


def purge_rows(tx: Tx, ctx: Context, target: Target) -> dict[str, int]:
    nouns = ((learnings, "archived"), (decisions, "reversed"))  # what they are when what replaced them is gone
    orphans = {old: status for id in target.things for noun, status in nouns for old in noun.replaced_by(tx, id)}
    for id in target.things:
        if (kind := kind_of(id)) and kind.remove:
            kind.remove(tx, id)
    for rows in (journal, sessions):
        rows.forget_sessions(tx, lambda session: target.scrub(session) != session)
    rename(tx, target.names)
    renamed = store_purge.rename_ids(tx, target.scrub, lambda: ctx.ids("purged"))
    store_purge.rename_subjects(tx, target.scrub_id)
    changed = store_purge.scrub_texts(tx, target.scrub)
    access.forget_requests(tx)  # answers of a day, in case somebody repeats a request
    for table in ("answers", "asks"):  # whoever asked will ask about what is left
        store_purge.drop(tx, table, changed.get(table, []))
    store_purge.forget_embeddings(tx)
    quoting = [id for (id,) in changed.get("learnings", [])]
    # Tags of learnings that quoted the text, where they are words of it: they were made from it.
    made = [(id, position) for id, position, tag in store_purge.tags_of(tx, quoting) if target.says(tag)]
    changed.setdefault("learning_tags", []).extend(made)
    for table in ("learning_tags", "decision_tags", "decision_wordings"):
        store_purge.drop(tx, table, changed.get(table, []))
    for (id,) in changed.get("discoveries", []):
        store_purge.rehash_discovery(tx, id, content_hash(f"{MARK}:{id}"))
    touched: set[str] = set()
    for noun, parts in (("learnings", ("learning_tags",)), ("decisions", ("decision_tags", "decision_wordings"))):
        ids = {row[0] for table in (noun, *parts) for row in changed.get(table, [])}
        store_purge.touch(tx, noun, ids, at=ctx.clock.now())
        touched |= ids
    decisions.forget_wisdom(tx)  # made again when it is asked for
    renew_passages(tx, ctx, target)
    change = ctx.ids("change")
    for id in (*target.things, *sorted(touched)):
        events.record(tx, ctx, change=change, subject=id, what="purged")
    for id, status in orphans.items():
        if id in target.things:
            continue
        reason = f"what had replaced it was purged, so it is {status}"
        events.record(tx, ctx, change=change, subject=id, what="purged", new={"status": status}, reason=reason)
    counts = {table: len(keys) for table, keys in changed.items() if keys}
    if renamed:
        counts["ids"] = renamed
    return counts


def renew_passages(tx: Tx, ctx: Context, target: Target) -> None:
    """A passage that did not change costs a read; what quotes the text may be anywhere.

    A permanent document is the user's file: it stays as it is and is said to be out of reach, but search forgets the
    section. What only other clones have, and what goes by another name now, is forgotten too.
    """
    gone: set[str] = set()
    for kind in KINDS:
        made = list(expected(ctx, tx, kind))
        if kind.name == documents.KIND:
            made = [one for one in made if not target.pattern.search(f"{one.title}\n{one.text}")]
        if kind.name in (stage.KIND, documents.KIND, finding.KIND, themes.KIND):
            gone.update({*passages.ids_of(tx, kind.name)} - {one.id for one in made})
        for passage in made:
            passages.put(tx, passage)
    for id in gone:
        passages.remove(tx, id)
    journal.keep_only_readings(tx, ctx.clone, without=gone)


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
            write_path(file, json.dumps(store_purge.walked(record, target.scrub), ensure_ascii=False), mode=0o600)
        except (ValueError, RecursionError):
            file.unlink(missing_ok=True)  # it does not read, so the text cannot be taken out of it
        yield str(file)


def documents_saying(ctx: Context, target: Target) -> tuple[str, ...]:
    holding = [path for path in documents.paths(ctx) if target.pattern.search(ctx.worktree.read(path) or "")]
    return tuple(f"{path}, which says it: edit the file, and commit that" for path in holding)


def _vaults(ctx: Context, project: Project) -> list[tuple[Vault, str]]:
    """The vault, and what `vault pull` left of a server's in the memory folder."""
    if not ctx.db.holds_vault:
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
            left = store_purge.walked(said, target.scrub)
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


OUT_OF_REACH: tuple[str, ...] = (
    "git history: a committed text stays in old commits until history is rewritten",
    "backups and exports that were copied elsewhere, and other clones of this project",
)
OUT_OF_REACH_OF_SERVER = (
    *OUT_OF_REACH,
    "copies that `vault pull` made on other machines: the next pull there marks them, where nobody changed them",
    "the database server's own log, its write-ahead log, replicas and backups: let them expire",
)


@dataclass(frozen=True, kw_only=True)
class Purged:
    """What was removed or marked, by place; `found` is where it still stands, which should be nowhere."""

    things: tuple[str, ...]
    rows: dict[str, int]
    files: tuple[str, ...]
    backups_replaced: int
    fresh_backup: str | None
    found: tuple[str, ...]
    out_of_reach: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PurgePlan:
    """What a purge would touch."""

    things: tuple[str, ...]
    rows: dict[str, int]
    files: tuple[str, ...]
    backups: int


def plan(ctx: Context, project: Project, *, id: str | None = None, text: str | None = None) -> PurgePlan:
    """What a purge would touch; changes nothing. A text that stands nowhere is not found."""
    with ctx.db.read(ctx.space) as tx:
        target = target_of(ctx, tx, id, text)
        rows = store_purge.count_texts(tx, target.scrub)
        searched = store_purge.in_passages(tx, target.pattern)
    own = len(backup.kept_files(project.database)) + len(kept_aside(project.database))
    files = (*(shown for *_, shown in holding(ctx, project, target)), *map(str, spool_files(project, target)))
    files = tuple(dict.fromkeys(files))  # the staging file may lie in the vault
    found = id is not None or rows or files or searched or target.names != Names() or documents_saying(ctx, target)
    if not found and not any(holds(path, target) for path in ours(project)):
        raise NotFound(
            "The text is nowhere in this memory: not in rows, files, the spool or own backups. Nothing was purged"
        )
    return PurgePlan(things=target.things, rows=rows, files=files, backups=own)


def purge(ctx: Context, project: Project, *, id: str | None = None, text: str | None = None) -> Purged:
    """Remove a thing and what quotes it, or a text wherever it stands. There is no way back."""
    if ctx.actor.trust != "human":
        raise Forbidden("only a person may purge, because a purge cannot be undone; run this from your own terminal")
    plan(ctx, project, id=id, text=text)
    with ctx.db.write(ctx.space) as tx:
        target = target_of(ctx, tx, id, text)
        rows = purge_rows(tx, ctx, target)
    files = tuple(dict.fromkeys(mark_files(ctx, project, target)))
    if rebuild_tree(ctx).held:  # what was derived from the logs may quote anything
        raise Refused("The text is gone from rows and files, but another process holds the tree. Run the purge again")
    with ctx.db.write(ctx.space) as tx:
        renew_passages(tx, ctx, target)  # of what lives in files, which have just changed
    ctx.db.remake_indexes()
    ctx.db.write_anew()
    replaced = backup.discard(project.database)
    on_server = ctx.db.holds_vault
    copy = backup.backup(ctx, project.database) if replaced or not on_server else None
    found = [str(path) for path in ours(project) if holds(path, target)]
    out_of_reach = (*(OUT_OF_REACH_OF_SERVER if on_server else OUT_OF_REACH), *documents_saying(ctx, target))
    if copy and copy.path in found and len(copy.spaces) > 1:
        found.remove(copy.path)
        out_of_reach = (*out_of_reach, "other spaces in the same store: one of them holds the same words, which stay")
    return Purged(
        things=target.things,
        rows=rows,
        files=files,
        backups_replaced=replaced,
        fresh_backup=copy.path if copy else None,
        found=tuple(found),
        out_of_reach=out_of_reach,
    )
