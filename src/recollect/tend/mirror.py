"""Mirror the vault between a team's table and a folder of files, in either direction.

`mirror` is given the hash of every file when both sides were last equal, so it can tell which side changed: a change on
one side is copied, a change on both is reported and left alone. Text that was only appended to is copied in any case.

A folder loses files for many reasons (another branch, a clean checkout), so a file that is missing there is never
deleted in the team's vault. A file that the team deleted is deleted in the folder too, except logs, which only grow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recollect.capture.logs import days
from recollect.core.context import Vault
from recollect.store.files import content_hash
from recollect.store.vault import WORKTREE_FILES


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
