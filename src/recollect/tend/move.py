"""Moving a space from one store to another: files first, then rows, then proof by counts and hashes.

The source is only read, from one consistent view. Each page of rows is written together with the place it reached, so
that a move that was stopped goes on there, and no event comes twice. Until it is finished nobody else writes there.

Mirroring the vault between a team's table and a folder of files, in either direction.

Remembers the hash of every file when both sides were last equal, so that it can tell who changed what: a change on one
side goes over, a change on both is left alone and reported. Text that was only added to goes over in any case.

A folder loses files for many reasons (another branch, a clean checkout), so a file that is missing there is never
deleted at the team's. What the team deleted goes from the folder too, logs excepted: they only ever grow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from recollect.capture.logs import days
from recollect.core.context import Db, Row, Tx, Vault
from recollect.core.errors import BadInput, Refused, Stale, StoreDamaged
from recollect.store import dump, moves
from recollect.store.files import content_hash
from recollect.store.vault import WORKTREE_FILES

Progress = Callable[[str, int, int], None]
"""Told what is moved, how much of it is done, and how much there is."""


@dataclass(frozen=True, kw_only=True)
class StoreSide:
    """A store with its vault."""

    db: Db
    vault: Vault


@dataclass(frozen=True, kw_only=True)
class Moved:
    """What is now in the target, proved equal to the source. `resumed`: an earlier try had come part of the way.

    `upgraded`: opening the source brought it to this program's schema, after a backup; nothing else changed it.
    """

    source: str
    target: str
    rows: dict[str, int]
    files: int
    resumed: bool
    upgraded: bool = False


def move(source: StoreSide, target: StoreSide, space: str, *, at: int, restart: bool, progress: Progress) -> Moved:
    """Copy everything of a space. Run again after a stop it goes on; `restart` empties what an earlier try left."""
    if source.db.place == target.db.place:
        raise BadInput(f"both ends are {source.db.place}; name two different stores")
    target.db.takes_move = True
    reached = _begin(source, target, space, at=at, restart=restart)
    resumed = bool(reached)
    files = _copy_files(source.vault, target.vault, progress)
    with source.db.read(space) as tx:
        rows = {table.name: _copy_table(tx, target.db, space, table, reached, progress) for table in dump.TABLES}
        before = _event_count(tx)
    with source.db.read(space) as tx:
        if _event_count(tx) != before:
            raise Stale("somebody wrote to the source meanwhile; run the same command again to bring over the rest")
    with target.db.write(space) as tx:
        moves.finish(tx)
    return Moved(source=source.db.place, target=target.db.place, rows=rows, files=files, resumed=resumed)


def _begin(source: StoreSide, target: StoreSide, space: str, *, at: int, restart: bool) -> dict[str, Row]:
    """The places that an earlier try reached; a target that holds anything else is refused."""
    with source.db.read(space) as tx:
        if moves.unfinished(tx):
            raise Refused(f"a move into {source.db.place} is not finished; finish that one first")
    with target.db.write(space) as tx:
        earlier = moves.unfinished(tx)
        if earlier is None and any(dump.count(tx, table) for table in dump.TABLES):
            raise Refused(
                f"{target.db.place} already remembers something for space {space}; nothing was changed. "
                "To put this one in its place: recollect backup FILE here, recollect restore FILE there"
            )
        if earlier is None or target.db.engine == "sqlite":  # a server lets nobody write while a move is unfinished
            _refuse_other_files(source.vault, target.vault.inside(tx))
        if earlier is not None and earlier.source != source.db.place and not restart:
            raise Refused(
                f"{target.db.place} holds part of a move from {earlier.source}; finish that, or begin with --restart"
            )
        if earlier is not None and not restart:
            return earlier.reached
        dump.empty(tx)
        moves.begin(tx, source=source.db.place, at=at)
        return {}


def _refuse_other_files(source: Vault, target: Vault) -> None:
    """What would be lost; a beginning of the source's text, as an earlier try leaves it, would not be."""
    other = [
        path
        for path in set(target.paths()).intersection(source.paths()) - WORKTREE_FILES
        if not (source.read(path) or "").startswith(target.read(path) or "")
    ]
    if other:
        raise Refused(
            f"the target has other text than the source in {', '.join(sorted(other))}; nothing was changed. Make both "
            "sides equal with recollect vault push (or vault pull), or move these files away"
        )


def _copy_files(source: Vault, target: Vault, progress: Progress) -> int:
    """Every text of the vault, compared afterwards as it reads back."""
    paths = [path for path in source.paths() if path not in WORKTREE_FILES]
    for done, path in enumerate(paths):
        progress("files", done, len(paths))
        text = source.read(path)
        old = target.read(path)
        if text is None or old == text:
            continue
        target.replace(path, text, expect="" if old is None else content_hash(old))
        if target.read(path) != text:
            raise StoreDamaged(f"{path} does not read back as it was written; the source is untouched")
    progress("files", len(paths), len(paths))
    return len(paths)


def _copy_table(tx: Tx, target: Db, space: str, table: dump.Table, reached: dict[str, Row], progress: Progress) -> int:
    """Copy what is missing, then compare. What changed since an earlier try is written over once."""
    count, _ = wanted = dump.sums(tx, table)
    begun = table.name in reached
    for page in dump.pages(tx, table, after=reached.get(table.name)):
        with target.write(space) as out:
            dump.load(out, page)
            if page.place is not None:
                reached[table.name] = page.place
            moves.reach(out, reached)
            done = dump.count(out, table)
        progress(table.name, done, count)
    if begun and table.key and _sums(target, space, table) != wanted:
        for page in dump.pages(tx, table):
            with target.write(space) as out:
                dump.load(out, page)
    found = _sums(target, space, table)
    progress(table.name, found[0], count)
    if found != wanted:
        raise StoreDamaged(
            f"{table.name}: {count} rows in the source, {found[0]} in the target, and they are not the same. "
            "The source is untouched; run again with --restart"
        )
    return count


def _sums(db: Db, space: str, table: dump.Table) -> tuple[int, str]:
    with db.read(space) as tx:
        return dump.sums(tx, table)


def _event_count(tx: Tx) -> int:
    return int(tx.value("SELECT count(*) FROM events WHERE space = :space"))


@dataclass(frozen=True, kw_only=True)
class Mirrored:
    """Paths by what became of them. `ahead`: changed only on the side that is written to, and left as they are.
    `missing`: gone from the side that is brought from, and kept on the other.

    `equal` is what the next mirroring is given as `last`.
    """

    written: tuple[str, ...]
    removed: tuple[str, ...]
    ahead: tuple[str, ...]
    missing: tuple[str, ...]
    conflicts: tuple[str, ...]
    equal: dict[str, str]


def mirror(source: Vault, target: Vault, last: dict[str, str], *, pull: bool, force: bool = False) -> Mirrored:
    """Bring over what changed in `source` since both sides were equal. `force` settles conflicts in its favour.

    `pull`: the source is the team's, whose deletions count; otherwise the target is.
    """
    found: dict[str, list[str]] = {"write": [], "remove": [], "ahead": [], "missing": [], "conflict": []}
    equal: dict[str, str] = {}
    for path in sorted({*source.paths(), *target.paths()} - WORKTREE_FILES):
        new, old = source.read(path), target.read(path)
        known = last.get(path, "")
        if new == old:
            equal[path] = _hash(new)
            continue
        fate = _fate(new, old, known, pull=pull, log=bool(days((path,))))
        if force and fate == "conflict":
            fate = "remove" if new is None else "write"
        found[fate].append(path)
        if fate == "write" and new is not None:
            target.replace(path, new, expect=_hash(old))
            equal[path] = _hash(new)
        elif fate == "remove":
            target.delete(path, expect=_hash(old))
        elif known:
            equal[path] = known
    return Mirrored(
        written=tuple(found["write"]),
        removed=tuple(found["remove"]),
        ahead=tuple(found["ahead"]),
        missing=tuple(found["missing"]),
        conflicts=tuple(found["conflict"]),
        equal=equal,
    )


def _fate(
    new: str | None, old: str | None, known: str, *, pull: bool, log: bool
) -> Literal["write", "remove", "ahead", "missing", "conflict"]:
    """What happens to a file that differs; `known` is the hash both sides last had, empty when they never met."""
    if new is None and known and (log or not pull):
        return "missing"
    if old is None and (log or pull):
        return "write"
    if log and new is not None and old is not None and old.startswith(new):
        return "ahead"  # an older copy of the log, whoever brought it back
    if _hash(old) == known:
        return "remove" if new is None else "write"
    if _hash(new) == known:
        return "ahead"
    if new is not None and old is not None:
        if new.startswith(old):
            return "write"
        if old.startswith(new):
            return "ahead"
    return "conflict"


def _hash(text: str | None) -> str:
    return "" if text is None else content_hash(text)
