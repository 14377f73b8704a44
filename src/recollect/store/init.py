"""Beginning a memory: the settings file that `init` writes, the entry in the register, the folder of the space.

Says what it made; an existing setting is never changed, and beginning again changes nothing. `share` keeps logs and
findings in `memory/` of the repository (findings of another tool where they are), for a team without a server;
everything made from them stays in the owner's folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from recollect.core.clock import clock_from, zone_named
from recollect.core.errors import BadInput, NotInitialised
from recollect.core.settings import check_space
from recollect.store import project as projects
from recollect.store import register
from recollect.store.files import add_lines, write_new_path, write_path
from recollect.store.project import SETTINGS_FILE, SPECWRIGHT, VAULT_FOLDER, toml, trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MERGE_LINE = f"{VAULT_FOLDER}/[0-9]*.md merge=union"  # logs only grow at their end, so both sides are right
_HEAD = "# Recollect: what is remembered for this project. docs/settings.md lists every setting.\n"


def create(
    root: Path, environ: Mapping[str, str], *, space: str | None = None, timezone: str | None = None
) -> list[str]:
    """Make a project here, or fill in what is missing. The caller asked whether the space may be used here."""
    root = root.resolve()
    made = _name(root / SETTINGS_FILE, environ, space, timezone)
    project = projects.read(root, environ)
    known = project.settings
    if not made and ((space and space != known.space) or (timezone and timezone != known.timezone)):
        raise BadInput(
            f"{root / SETTINGS_FILE} already names space {known.space} and time zone {known.timezone}; edit it to "
            "change them"
        )
    if register.confirmed(project.home, root, known.space, named=True) is None:
        now = clock_from(environ).now()
        register.add(project.home, root, known.space, now=now, timezone=known.timezone, ignore=known.hosts.ignore)
        if project.data.is_dir():
            made.append(f"an entry in your register: {root} uses space {known.space}")
    if not project.data.is_dir():
        register.make_private(project.data)
        made.append(f"{shown(project.data, environ)}/ (what is remembered)")
    return made


def begin_unnamed(root: Path, environ: Mapping[str, str]) -> None:
    """Begin a memory that only the register knows of, as a session does: no file appears in the repository."""
    create(root, environ)
    (root / SETTINGS_FILE).unlink()


def chosen(root: Path, environ: Mapping[str, str], space: str | None) -> str | None:
    """The space that `init` would use here; None where it makes up a new name."""
    root = root.resolve()
    file = root / SETTINGS_FILE
    named = toml(file).get("space") if file.is_file() else None
    return projects.read(root, environ).settings.space if named else space or _registered(root, environ).get("space")


def shown(path: Path, environ: Mapping[str, str]) -> str:
    """A path in the user's home as people write it."""
    home = Path(environ.get("HOME") or os.devnull)
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def enclosing(folder: Path, environ: Mapping[str, str]) -> Path | None:
    """The project that a folder without one of its own lies in."""
    folder = folder.resolve()
    try:
        found = projects.root_of(folder, environ)
    except NotInitialised:
        return None
    return None if found == folder else found


def _name(file: Path, environ: Mapping[str, str], space: str | None, timezone: str | None) -> list[str]:
    """Write which space and time zone this is, unless the file says so."""
    existed = file.exists()  # asked once: another process may make the file while this one thinks
    named = toml(file) if existed else {}
    if named.get("space"):
        return []
    if "space" in named:
        raise BadInput(f"{file} has an empty space; give it a name, or delete that line and run: recollect init")
    beside = _registered(file.parent, environ)
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


def _registered(root: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """What the register knows of this place: a branch or another worktree may lack the settings file."""
    found = register.candidates(register.read(projects.home_folder(environ)), register.spot_of(root))
    home = projects.home_folder(environ)
    return next((vars(one) for one in found if register.confirmed(home, root, one.space, named=False)), {})


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


def share(root: Path, environ: Mapping[str, str]) -> list[str]:
    """Set vault.share in the project's settings file, and have git merge logs by keeping both sides."""
    root = root.resolve()
    file = root / SETTINGS_FILE
    made = []
    given = toml(file)
    if not given.get("vault", {}).get("share"):
        text = file.read_text("utf-8")
        if "vault" in given:
            raise BadInput(f"{file} has a section [vault]; write into it: share = true, then run this again")
        write_path(file, f"{text.rstrip()}\n\n[vault]\nshare = true\n")
        made.append(f"{SETTINGS_FILE} (vault.share = true: everyone with the repository reads the logs)")
    trust(root, environ)  # a repository may not choose this by itself; the user has just chosen it
    if add_lines(root / ".gitattributes", MERGE_LINE):
        made.append(".gitattributes (how the logs of two clones merge)")
    adopted = [str(folder) for folder in (Path(VAULT_FOLDER), SPECWRIGHT) if (root / folder).is_dir()]
    return [*made, *(f"use of {folder}/ as it is" for folder in adopted)] if made else []
