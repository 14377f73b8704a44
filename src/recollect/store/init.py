"""Beginning a memory: the files that `init` makes, and whose memory it is that stands in a folder.

Says what it made; an existing setting is never changed, and beginning again changes nothing. A repository may carry a
`.recollect/`, which says what its author wants an agent to read. It is nobody's memory before the user takes it for
theirs by `init`. The marks of that are secrets that stand in two places, the project's folder and the user's own;
`project.py` reads them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from recollect.core.clock import zone_named
from recollect.core.errors import BadInput, NotInitialised, RecollectError
from recollect.core.settings import check_space
from recollect.store.files import TEMP_SUFFIX, add_lines, write_new_path, write_path
from recollect.store.project import (
    BEGUN,
    DATA_FOLDER,
    SETTINGS_COPY,
    SETTINGS_FILE,
    Project,
    is_begun,
    is_marked,
    load,
    marks_of,
    shared_root,
    toml,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MADE = "made"
IGNORE_LINE = ".recollect/"
# Logs only grow at their end, so keeping both sides is the right merge. A node merged so is nonsense, noticed by its
# hash and made again by the next cycle, without a conflict for anyone to settle.
MERGE_LINES = (
    "memory/[0-9]*.md merge=union",
    "memory/daily/*.md merge=union linguist-generated",
    "memory/weekly/*.md merge=union linguist-generated",
    "memory/monthly/*.md merge=union linguist-generated",
    "memory/ROOT*.md merge=union linguist-generated",
)
_HEAD = "# Recollect: what is remembered for this project. docs/settings.md lists every setting.\n"


def create(
    root: Path, environ: Mapping[str, str], *, space: str | None = None, timezone: str | None = None
) -> list[str]:
    """Make a project here, or fill in what is missing."""
    root = root.resolve()
    made = _name(root / SETTINGS_FILE, environ, space, timezone)
    project = load(root, environ)
    known = project.settings
    if not made and ((space and space != known.space) or (timezone and timezone != known.timezone)):
        raise BadInput(
            f"{root / SETTINGS_FILE} already names space {known.space} and time zone {known.timezone}; edit it to "
            "change them"
        )
    if not project.data.is_dir():
        project.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        made.append(f"{DATA_FOLDER}/ (database, locks, spool)")
        _mark(project, BEGUN)
    elif not is_begun(project) and _mark(project, BEGUN):
        made.append("the mark that this memory is yours: hooks answer here")
    if add_lines(root / ".gitignore", IGNORE_LINE):
        made.append(f".gitignore (line {IGNORE_LINE})")
    if add_lines(root / ".gitattributes", *MERGE_LINES):
        made.append(".gitattributes (how the logs and nodes of two clones merge)")
    return made


def enclosing(folder: Path) -> Path | None:
    """The project that a folder without one of its own lies in."""
    folder = folder.resolve()
    if (folder / SETTINGS_FILE).is_file():
        return None
    return next((above for above in folder.parents if (above / SETTINGS_FILE).is_file()), None)


def _name(file: Path, environ: Mapping[str, str], space: str | None, timezone: str | None) -> list[str]:
    """Write which space and time zone this is, unless the file says so."""
    existed = file.exists()  # asked once: another process may make the file while this one thinks
    named = toml(file) if existed else {}
    if named.get("space"):
        return []
    if "space" in named:
        raise BadInput(f"{file} has an empty space; give it a name, or delete that line and run: recollect init")
    beside = _named_beside(file)
    name = space or str(beside.get("space") or _slug(file.parent.name) + "-" + os.urandom(4).hex())
    if timezone:
        zone_named(timezone)
        if named.get("timezone", timezone) != timezone:
            raise BadInput(
                f"{file} already names time zone {named['timezone']}, which stays; edit it there to change it, or "
                "leave --timezone out"
            )
    zone = named.get("timezone") or timezone or beside.get("timezone") or _local_timezone(environ)
    check_space(name)
    lines = [f'space = "{name}"\n', f'timezone = "{zone}"\n']
    if existed:  # what is missing goes to the top, where no section has begun yet
        if file.is_symlink():
            raise BadInput(f"{file} is a symbolic link; write a line into what it leads to: {lines[0].strip()}")
        write_path(file, "".join(lines[: 1 if "timezone" in named else 2]) + file.read_bytes().decode("utf-8"))
    elif not write_new_path(file, "".join([_HEAD, *lines])):
        return []
    return [f"{SETTINGS_FILE} (space {name}, time zone {zone})"]


def _named_beside(file: Path) -> dict[str, Any]:
    """What the main worktree's file says, which git brings to the others only when it is committed."""
    main = shared_root(file.parent) / file.name
    return toml(main) if main != file and main.exists() else {}


def is_foreign(project: Project) -> bool:
    """Whether what is kept here came with the folder: this user neither ran `init` for it nor had it made.

    A spool counts as much as a store, because what waits in it would be written as whoever it names. Where the user's
    own folder cannot be written nothing could be accepted, so nothing is called foreign.
    """
    if _is_empty(project.data) or _is_own(project):
        return False
    nearest = next(place for place in (project.state, *project.state.parents) if place.exists())
    return nearest.is_dir() and os.access(nearest, os.W_OK)


def refuse_foreign(project: Project) -> None:
    if is_foreign(project):
        raise NotInitialised(
            f"you did not begin the memory in {project.root}: {project.data} came with the folder. Move it away, or "
            "take what it says for your own with: recollect init"
        )


def claim_new(project: Project) -> None:
    """What is about to be made is the user's own; hooks stay silent all the same before `init`."""
    if _is_empty(project.data) and not _is_own(project):
        _mark(project, MADE)


def _is_own(project: Project) -> bool:
    return is_marked(project, BEGUN) or is_marked(project, MADE)


def _is_empty(data: Path) -> bool:
    """Whether nothing is kept yet: no folder, an empty one (a volume), or one that another process makes just now."""
    try:
        names = os.listdir(data)
    except FileNotFoundError:
        return True
    return all(name == BEGUN or name.startswith(SETTINGS_COPY) or name.endswith(TEMP_SUFFIX) for name in names)


def _mark(project: Project, how: str) -> bool:
    """Always a new secret: one that came with a repository is known to others. False where it cannot be kept."""
    secret = os.urandom(16).hex()
    with suppress(RecollectError, OSError):
        write_path(project.state / how / secret, f"{project.data}\n", mode=0o600)
        project.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_path(project.data / BEGUN, "".join(f"{one}\n" for one in (*marks_of(project), secret)), mode=0o600)
        return True
    return False


def _local_timezone(environ: Mapping[str, str]) -> str:
    """The machine's IANA zone, UTC when it does not say."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    link = os.path.realpath("/etc/localtime")
    for name in (environ.get("TZ", ""), link.partition("zoneinfo/")[2]):
        try:
            if name and ZoneInfo(name):
                return name
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return "UTC"


def _slug(name: str) -> str:
    kept = "".join(c if c.isascii() and c.isalnum() else "-" for c in name.lower())
    return "-".join(part for part in kept.split("-") if part)[:40] or "project"
