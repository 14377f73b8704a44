"""Purge: a thing, or a text wherever it stands, is gone for good.

Rows lose it (a mark stays in its place), derived state is made again, the database file is written anew without free
pages or log, files of the vault and the spool get the mark, and the project's own backups and damaged copies, which
hold it too, give way to one fresh backup. At the end every byte that is ours is searched for it.

A later noun plugs in by naming its columns in `store/purging.py` and, when it has ids of its own, an entry in
`purge_target.THINGS`.
"""

from __future__ import annotations

from dataclasses import dataclass

from recollect.core.context import Context
from recollect.core.errors import NotFound, Refused
from recollect.store import purging, soundness
from recollect.store.damage import kept_aside
from recollect.store.project import Project
from recollect.store.sqlite import SqliteDb
from recollect.tend import backups
from recollect.tend.purge_files import documents_saying, holding, holds, mark_files, ours, spool_files
from recollect.tend.purge_names import Names
from recollect.tend.purge_rows import purge_rows, renew_passages
from recollect.tend.purge_target import target_of
from recollect.tend.rebuild import rebuild_tree

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
class Plan:
    """What a purge would touch."""

    things: tuple[str, ...]
    rows: dict[str, int]
    files: tuple[str, ...]
    backups: int


def plan(ctx: Context, project: Project, *, id: str | None = None, text: str | None = None) -> Plan:
    """What a purge would touch; changes nothing. A text that stands nowhere is not found."""
    with ctx.db.read(ctx.space) as tx:
        target = target_of(ctx, tx, id, text)
        rows = purging.count_texts(tx, target.scrub)
        searched = purging.in_passages(tx, target.pattern)
    own = len(backups.kept_files(project.database)) + len(kept_aside(project.database))
    files = (*(shown for *_, shown in holding(ctx, project, target)), *map(str, spool_files(project, target)))
    files = tuple(dict.fromkeys(files))  # the staging file may lie in the vault
    found = id is not None or rows or files or searched or target.names != Names() or documents_saying(ctx, target)
    if not found and not any(holds(path, target) for path in ours(project)):
        raise NotFound("that text stands nowhere here: not in rows, files, the spool or own backups; nothing to purge")
    return Plan(things=target.things, rows=rows, files=files, backups=own)


def purge(ctx: Context, project: Project, *, id: str | None = None, text: str | None = None) -> Purged:
    """Remove a thing and what quotes it, or a text wherever it stands. There is no way back."""
    if ctx.actor.trust != "human":
        raise Refused("only a person may purge, because nothing brings it back; run this from your own terminal")
    plan(ctx, project, id=id, text=text)
    with ctx.db.write(ctx.space) as tx:
        target = target_of(ctx, tx, id, text)
        rows = purge_rows(tx, ctx, target)
    files = tuple(dict.fromkeys(mark_files(ctx, project, target)))
    _renew_tree(ctx)
    with ctx.db.write(ctx.space) as tx:
        renew_passages(tx, ctx, target)  # of what lives in files, which have just changed
    if isinstance(ctx.db, SqliteDb):
        soundness.remake_indexes(ctx.db)
    ctx.db.write_anew()
    replaced = backups.discard(project.database)
    on_server = not isinstance(ctx.db, SqliteDb)
    copy = backups.backup(ctx, project.database) if replaced or not on_server else None
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


def _renew_tree(ctx: Context) -> None:
    """What was derived from the logs may quote anything: it is forgotten and made again from what they say now."""
    if rebuild_tree(ctx).held:
        raise Refused("the words are gone from rows and files; another process works on the tree, so purge again")
