"""The register: which places of this user use which space.

A space belongs to the places in the register; any other place that names it is refused until the user adds it. A place
is a git directory with a folder below the top of its working tree, so that worktrees share it, or else a path. Reading
takes no lock and runs no program. Only for a place that was moved, or deleted and made again, git is asked for the root
commits.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from recollect.core.errors import BadInput, NoHistory, StoreDamaged, Trouble
from recollect.core.records import loads, record, replace
from recollect.store.files import locked, text_in, write_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FILE = "register.json"
_UNTOLD = "-"  # git cannot tell the root commits: a shallow clone, a history that takes too long


@record
class Spot:
    """A git directory and a folder below the top of its working tree, or a path alone."""

    path: str
    folder: str = ""
    git: bool = False


@record
class Place:
    """A spot that uses a space. A session needs `timezone` and `ignore` where recollect.toml is missing."""

    space: str
    path: str
    folder: str
    git: bool
    device: int
    inode: int
    born: int
    roots: tuple[str, ...]
    since: int
    timezone: str
    ignore: tuple[str, ...]

    @property
    def shown(self) -> str:
        """The path of the place for people."""
        top = self.path.removesuffix("/.git") if self.git else self.path
        return os.path.join(top, self.folder) if self.folder else top


def spot_of(root: Path) -> Spot:
    """The spot of a folder. A link or file in place of `.git`, which an archive can bring, names no other repository: a
    linked worktree counts as its repository's only if the repository itself names that worktree."""
    for top in (root, *root.parents):
        marker = top / ".git"
        if marker.is_symlink():
            break
        folder = root.relative_to(top).as_posix() if root != top else ""
        if marker.is_dir():
            return Spot(path=str(marker.resolve()), folder=folder, git=True)
        if marker.is_file():
            common = _common_directory(marker)
            return Spot(path=common or str(top), folder=folder, git=True)
    return Spot(path=str(root))


def _common_directory(marker: Path) -> str:
    """The git directory that a linked worktree shares; empty for a submodule, or if the repository denies it."""
    with suppress(OSError, UnicodeDecodeError, BadInput):
        own = (marker.parent / text_in(marker).strip().removeprefix("gitdir:").strip()).resolve()
        common = (own / text_in(own / "commondir").strip()).resolve()
        back = (own / text_in(own / "gitdir").strip()).resolve()
        if back == marker.resolve() and own.parent == common / "worktrees":
            return str(common)
    return ""


def main_worktree(root: Path) -> Path:
    """The same folder in the main worktree, if `root` lies in a linked one."""
    spot = spot_of(root)
    git = Path(spot.path)
    return git.parent / spot.folder if spot.git and git.name == ".git" else root


def read(home: Path) -> tuple[Place, ...]:
    file = home / FILE
    try:
        return tuple(map(_place, loads(text_in(file).strip())["places"]))
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise StoreDamaged(f"{file} cannot be read: {error.strerror}. Check its permissions") from None
    except (ValueError, TypeError, KeyError):
        raise StoreDamaged(
            f"{file} is damaged. No memory is lost: move the file away, then run in each project: recollect init"
        ) from None


def at(places: Sequence[Place], spot: Spot) -> list[Place]:
    """The places at a spot, newest first."""
    return [one for one in reversed(places) if (one.path, one.folder) == (spot.path, spot.folder)]


def candidates(places: Sequence[Place], spot: Spot) -> list[Place]:
    """The places at a spot, and those that may have been moved there."""
    state = _state(spot)
    moved = [one for one in places if state and one.git and (one.device, one.inode) == (state.st_dev, state.st_ino)]
    return [*at(places, spot), *(one for one in moved if one.folder == spot.folder)]


def confirmed(home: Path, root: Path, space: str, *, named: bool) -> Place | None:
    """The place at `root`, if it uses the space; `named` says that a recollect.toml there names the space.

    A place that was moved or made again is the same one if it shares a root commit; the register then follows.
    """
    spot, places = spot_of(root), [one for one in read(home) if one.space == space]
    here = next(iter(at(places, spot)), None)
    state = _state(spot)
    unchanged = state is not None and here is not None and (here.inode, here.born) == (state.st_ino, _born(spot))
    if here is not None and here.git and unchanged:
        git = Path(here.path)  # a repository that had no commit when it was added may have one now
        if not here.roots and ((git / "packed-refs").exists() or any((git / "refs" / "heads").glob("*"))):
            return _follow(home, here, spot, root_commits(root) or (_UNTOLD,))
        return here
    here = here or _elsewhere(places, spot, state)
    if here is None:
        return None
    roots, known = root_commits(root) if spot.git else (), {*here.roots} - {_UNTOLD}
    moved = state is not None and (here.inode, here.born) == (state.st_ino, _born(spot))
    same = bool(known & {*roots}) if known else (named and (moved or not here.git)) or (unchanged and not here.git)
    if known and not same:
        # A shallow clone cannot tell its root commits. At the same path, its settings file tells which space it is.
        same = named and here.path == spot.path and os.path.exists(os.path.join(spot.path, "shallow"))
    if same and unchanged:
        return here
    return _follow(home, here, spot, roots) if same else None


def _elsewhere(places: Sequence[Place], spot: Spot, state: os.stat_result | None) -> Place | None:
    """A place that was moved here, or that became a git repository since it was added."""
    top = os.path.dirname(spot.path) if spot.git else ""
    for one in places:
        if top and not one.git and one.path == os.path.normpath(os.path.join(top, spot.folder)):
            return one
        if state is None or (one.device, one.inode) != (state.st_dev, state.st_ino) or one.folder != spot.folder:
            continue
        if one.git == spot.git and not os.path.exists(one.path):
            return one
    return None


def _follow(home: Path, was: Place, spot: Spot, roots: tuple[str, ...]) -> Place:
    """The place as it is now, also written to the register if possible."""
    now = _made(spot, was.space, roots or was.roots, vars(was))
    with suppress(Trouble):
        _change(home, was, now)
    return now


def add(home: Path, root: Path, space: str, *, now: int, timezone: str, ignore: Sequence[str] = ()) -> Place:
    spot = spot_of(root)
    kept = {"since": now, "timezone": timezone, "ignore": tuple(ignore)}
    place = _made(spot, space, root_commits(root) if spot.git else (), kept)
    was = next((one for one in at(read(home), spot) if one.space == space), None)
    _change(home, was, place)
    return place


def remove(home: Path, space: str, shown: str) -> Place | None:
    """Remove the place that is shown as `shown` from a space; None if there is none."""
    was = next((one for one in read(home) if (one.space, one.shown) == (space, shown)), None)
    if was is not None:
        _change(home, was, None)
    return was


def remember(home: Path, place: Place, *, timezone: str, ignore: Sequence[str]) -> None:
    """Update a place's settings; a register that cannot be written stays as it is."""
    if (place.timezone, place.ignore) != (timezone, tuple(ignore)):
        with suppress(Trouble):
            _change(home, place, replace(place, timezone=timezone, ignore=tuple(ignore)))


def kin(home: Path, root: Path) -> list[Place]:
    """Places of the same repository as `root`, by its root commits. They prove nothing: `init` asks a person."""
    places = [one for one in read(home) if one.roots]
    roots = set(root_commits(root)) if places and spot_of(root).git else set()
    return [one for one in places if roots & set(one.roots)]


def root_commits(root: Path) -> tuple[str, ...]:
    """The first commits of a repository; empty if git cannot tell (no commit yet, a shallow clone)."""
    from datetime import UTC

    from recollect.store.git import Repository

    try:
        return Repository(root, UTC).root_commits()
    except NoHistory:
        return ()


def make_private(folder: Path) -> None:
    """Make a folder, and missing ones above it, that only its owner may read."""
    for each in (*reversed(folder.parents), folder):
        with suppress(FileExistsError):
            each.mkdir(mode=0o700)


def _change(home: Path, was: Place | None, now: Place | None) -> None:
    import json

    make_private(home)
    with locked(home / "register.lock"):
        places = [one for one in read(home) if one != was and not (now and _key(one) == _key(now))]
        rows = ",\n".join(json.dumps(vars(one), ensure_ascii=False) for one in (*places, *([now] if now else [])))
        write_path(home / FILE, f'{{"places": [\n{rows}\n]}}\n', mode=0o600)


def _key(one: Place) -> tuple[str, str, str]:
    return (one.space, one.path, one.folder)


def _made(spot: Spot, space: str, roots: tuple[str, ...], kept: dict[str, Any]) -> Place:
    state = _state(spot)
    return Place(
        **{name: kept[name] for name in ("since", "timezone", "ignore")},
        **vars(spot),
        space=space,
        device=state.st_dev if state else 0,
        inode=state.st_ino if state else 0,
        born=_born(spot),
        roots=roots,
    )


def _place(row: dict[str, Any]) -> Place:
    return Place(**{"born": 0, **row, "roots": tuple(row["roots"]), "ignore": tuple(row["ignore"])})


def _born(spot: Spot) -> int:
    """When a git directory was made, by what git writes first: a deleted one's number is given to the next."""
    for name in ("description", "info", ".git") if spot.git else ():
        with suppress(OSError):
            return os.stat(os.path.join(spot.path, name)).st_mtime_ns
    return 0


def _state(spot: Spot) -> os.stat_result | None:
    try:
        return os.stat(spot.path)
    except OSError:
        return None
