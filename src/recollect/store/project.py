"""The project: where it is, its settings, what a repository's file may choose, where its data is; and beginning one.

The data of a space is in the user's own data folder, so no git command reaches it and no repository brings any. Finding
a project reads a few small files and runs nothing, because the hook does it on every prompt.

Beginning one makes the settings file, the entry in the register and the folder of the space; it never changes an
existing setting, and doing it again changes nothing. `share` keeps logs and findings in `memory/` of the repository
(findings of another tool where they are), for a team without a server; everything made from them stays in the owner's
folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from recollect.core.clock import clock_from, zone_named
from recollect.core.errors import BadInput, NotInitialised, Trouble
from recollect.core.records import loads, record
from recollect.core.settings import GUARDED, Settings, check_order, check_space, from_environment, merged
from recollect.store import register
from recollect.store.files import add_lines, content_hash, open_file, os_errors, text_in, write_new_path, write_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from recollect.store.register import Place

SETTINGS_FILE = "recollect.toml"
VAULT_FOLDER = "memory"
SPACES, BACKUPS = "spaces", "backups"
SETTINGS_COPY = "settings-"
_KEY_PARTS = 100  # of a dotted key; the longest of ours has three
# A dotted key, its parts bare or quoted. Possessive, so that no file costs more than its length.
_LONG_KEY = rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{_KEY_PARTS}}}"""
SPECWRIGHT = Path(".specwright", "learnings")


@record
class Project:
    """A project's root, settings and data; all places of a space share the data."""

    root: Path
    home: Path
    settings: Settings
    state: Path

    @property
    def data(self) -> Path:
        return self.home / SPACES / (self.settings.space or ".unnamed")

    @property
    def database(self) -> Path:
        return self.data / "memory.db"

    @property
    def vault(self) -> Path:
        return self.data / VAULT_FOLDER

    @property
    def findings(self) -> Path | None:
        """The folder of findings and themes outside the vault: as set, or another tool's."""
        if self.settings.findings.folder:
            return self.root / self.settings.findings.folder
        found = self.root / SPECWRIGHT
        with os_errors(found):
            if self.shared:
                return found if found.is_dir() else self.shared / "learnings"
            return found if found.is_dir() and not (self.vault / "learnings").exists() else None

    @property
    def shared(self) -> Path | None:
        """The folder of raw words in the repository, for a team without a server (setting vault.share)."""
        return self.root / VAULT_FOLDER if self.settings.vault.share else None

    @property
    def spools(self) -> tuple[Path, ...]:
        """Where writes wait; the second folder is used when the data folder cannot be written."""
        return (self.data / "spool", self.state / "spool" / self.settings.space)


def backups_of(database: Path) -> Path:
    """The folder of a store's own backups, beside those of the spaces, so that both are not lost together."""
    space = database.parent
    return space.parents[1] / BACKUPS / space.name if space.parent.name == SPACES else space / BACKUPS


def find(start: Path, environ: Mapping[str, str]) -> Project:
    """The project that `start` belongs to; refused if the space does not belong to this place."""
    return load(root_of(start, environ), environ)


def root_of(start: Path, environ: Mapping[str, str]) -> Path:
    """The nearest folder upwards with a settings file, or in the register."""
    folder = start.resolve()
    home = home_folder(environ)
    for each in (folder, *folder.parents):
        if (each / SETTINGS_FILE).is_file() or _registered(home, each) is not None:
            return each
    raise NotInitialised(f"no {SETTINGS_FILE} in {folder} or above; begin with: recollect init")


def _registered(home: Path, root: Path, *, named: bool = False) -> Place | None:
    """The registered place of a folder, without a settings file that names its space."""
    found = register.candidates(register.read(home), register.spot_of(root))
    return next((one for each in found if (one := register.confirmed(home, root, each.space, named=named))), None)


def load(root: Path, environ: Mapping[str, str]) -> Project:
    """A project with its settings; refused if they cannot be used, or the space does not belong to this place."""
    project = read(root, environ)
    space = project.settings.space
    if not space:
        raise BadInput(f"{root / SETTINGS_FILE} has no space; run: recollect init")
    named = (root / SETTINGS_FILE).is_file()
    place = register.confirmed(project.home, root, space, named=named)
    if place is None:
        raise NotInitialised(_not_ours(project))
    if named:
        settings = project.settings
        register.remember(project.home, place, timezone=settings.timezone, ignore=settings.hosts.ignore)
    return project


def _not_ours(project: Project) -> str:
    space = project.settings.space
    others = [one.shown for one in register.read(project.home) if one.space == space]
    if others:
        return (
            f"space {space} belongs to {', '.join(others)}, not to {project.root}. If this folder is to use that "
            f"memory, add it with: recollect init. For a separate memory, change the space in {SETTINGS_FILE} first"
        )
    return f"you did not begin a memory in {project.root}; begin with: recollect init"


def read(root: Path, environ: Mapping[str, str]) -> Project:
    """The project at `root`, even if the space does not belong to this place."""
    home, file = home_folder(environ), root / SETTINGS_FILE
    if file.is_file():
        known = register.at(register.read(home), register.spot_of(root))
        copy = f"{SETTINGS_COPY}{root.stat().st_ino}.json"  # one per folder: places share the space, not the file
        given = _remembered_toml(file, home / SPACES / known[0].space / copy if known else None)
    else:
        place = _registered(home, root)
        given = _of_place(place) if place else {}
    # The copy is in a folder that a host's sandbox may write: trust is in what the file itself says.
    settings = _settings(
        given, str(file), environ, trusted=lambda: _trust_marker(file, environ).exists() and toml(file) == given
    )
    if settings.space:
        check_space(settings.space)
    # A folder that a setting names lies inside the project, links included.
    folder = settings.findings.folder
    if Path(folder).is_absolute() or ".." in Path(folder).parts or not (root / folder).resolve().is_relative_to(root):
        raise BadInput(f"findings.folder {folder!r} must be a folder inside the project")
    return Project(root=root, home=home, settings=settings, state=state_folder(environ))


def last_known(root: Path, environ: Mapping[str, str]) -> Project:
    """A project whose settings file cannot be read now, from the register, so that words can be kept for it."""
    home = home_folder(environ)
    place = _registered(home, root, named=True)  # the file is there, whatever it says
    if place is None:
        raise NotInitialised(f"There are no saved settings for {root}")
    settings = _settings(_of_place(place), str(root), environ)
    return Project(root=root, home=home, settings=settings, state=state_folder(environ))


def _of_place(place: Place) -> dict[str, Any]:
    return {"space": place.space, "timezone": place.timezone, "hosts": {"ignore": list(place.ignore)}}


def outside(environ: Mapping[str, str]) -> Settings:
    return _settings({}, "", environ)


def trust(root: Path, environ: Mapping[str, str]) -> Path:
    """Record that the user trusts this settings file as it is now; any later change asks again."""
    file = root / SETTINGS_FILE
    write_path(_trust_marker(file, environ), f"{file}\n", mode=0o600)
    return file


def home_folder(environ: Mapping[str, str]) -> Path:
    """The user's data folder, as in `platformdirs`, which takes too long to import for a hook."""
    given = environ.get("RECOLLECT_HOME")
    if given:
        if not os.path.isabs(given):
            raise BadInput(f"RECOLLECT_HOME must be an absolute path, not {given!r}")
        return Path(given)
    mac = sys.platform == "darwin" and not environ.get("XDG_DATA_HOME")
    return _home_folder(environ, "XDG_DATA_HOME", "Library/Application Support" if mac else ".local/share")


def state_folder(environ: Mapping[str, str]) -> Path:
    return _home_folder(environ, "XDG_STATE_HOME", ".local/state")


def _settings(
    given: Mapping[str, Any], source: str, environ: Mapping[str, str], *, trusted: Callable[[], bool] = lambda: True
) -> Settings:
    """Defaults < the user's file < what a repository's file gives < environment."""
    file = _home_folder(environ, "XDG_CONFIG_HOME", ".config") / "config.toml"
    users = merged(Settings(), _users_toml(file, home_folder(environ)), str(file)) if file.is_file() else Settings()
    around = from_environment(environ)
    for where, values in ((source, given), ("environment", around)):
        if "rings" in values:
            raise BadInput(f"{where} sets rings, which no repository may choose; only your own file does: {file}")
    here = merged(users, given, source, trusted=trusted)
    return check_order(merged(here, around, "environment"))


def _users_toml(file: Path, home: Path) -> dict[str, Any]:
    """The user's file. A sandbox may write the copy of it, so commands and endpoints are not read from the copy."""
    content = _remembered_toml(file, home / "config.json")
    sections = {name: part for name, part in content.items() if isinstance(part, dict)}
    guarded = any(f"{name}.{key}" in GUARDED for name, part in sections.items() for key in part)
    return toml(file) if guarded else content


def _trust_marker(file: Path, environ: Mapping[str, str]) -> Path:
    text = file.read_text("utf-8", "replace") if file.is_file() else ""
    return state_folder(environ) / "trusted" / content_hash(f"{file}\n{text}")[:32]


def _home_folder(environ: Mapping[str, str], variable: str, fallback: str) -> Path:
    """Without `HOME`, the user's system entry names the home folder; without one, nothing can be made there."""
    given = environ.get(variable)
    if given and os.path.isabs(given):
        return Path(given) / "recollect"
    home = environ.get("HOME")
    if not home:
        import pwd

        try:
            home = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:
            home = os.devnull
    return Path(home) / fallback / "recollect"


def toml(file: Path) -> dict[str, Any]:
    """The content of a settings file. It may have come with a clone, so nothing in it is trusted."""
    import re
    import tomllib

    try:
        with open_file(file) as opened:
            text = opened.read().decode("utf-8")
        # The parser keeps every beginning of a dotted key: one of 100,000 parts takes all memory.
        if re.search(_LONG_KEY, text):
            raise BadInput(f"{file} is not a settings file: a key in it has {_KEY_PARTS} parts or more; shorten it")
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} is not valid TOML: {error}") from None
    except RecursionError:
        raise BadInput(f"{file} is not a settings file: its brackets nest too deeply; take them out") from None


def _remembered_toml(file: Path, cache: Path | None) -> dict[str, Any]:
    """The file's content, cached as JSON while the file is the same: reading TOML costs the prompt hook 5 ms."""
    if cache is None:
        return toml(file)
    stat = file.stat()
    made_from = [str(file), stat.st_mtime_ns, stat.st_size, stat.st_ino]
    try:
        known = loads(text_in(cache))
        if known["made_from"] == made_from:
            return dict(known["content"])
    except (OSError, BadInput, ValueError, TypeError, KeyError):
        pass  # no copy yet, or not one of ours
    content = toml(file)
    if cache.parent.is_dir():
        import json

        # A read-only home has no copy; a date in the file, or what nests too deeply for JSON, cannot be one.
        with suppress(Trouble, BadInput, TypeError, RecursionError):
            write_path(cache, json.dumps({"made_from": made_from, "content": content}), mode=0o600)
    return content


MERGE_LINE = f"{VAULT_FOLDER}/[0-9]*.md merge=union"  # logs only grow at their end, so both sides are right
_HEAD = "# Recollect: what is remembered for this project. docs/settings.md lists every setting.\n"


def create(
    root: Path, environ: Mapping[str, str], *, space: str | None = None, timezone: str | None = None
) -> list[str]:
    """Make a project here, or fill in what is missing. The caller checked that the space may be used here."""
    root = root.resolve()
    made = _name(root / SETTINGS_FILE, environ, space, timezone)
    project = read(root, environ)
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
    """Begin a memory that only the register knows, as a session does: no file appears in the repository."""
    create(root, environ)
    (root / SETTINGS_FILE).unlink()


def chosen(root: Path, environ: Mapping[str, str], space: str | None) -> str | None:
    """The space that `init` would use here; None if it would make up a name."""
    root = root.resolve()
    file = root / SETTINGS_FILE
    named = toml(file).get("space") if file.is_file() else None
    return read(root, environ).settings.space if named else space or _register_new(root, environ).get("space")


def shown(path: Path, environ: Mapping[str, str]) -> str:
    """A path as people write it, with `~` for the home folder."""
    home = Path(environ.get("HOME") or os.devnull)
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def enclosing(folder: Path, environ: Mapping[str, str]) -> Path | None:
    folder = folder.resolve()
    try:
        found = root_of(folder, environ)
    except NotInitialised:
        return None
    return None if found == folder else found


def _name(file: Path, environ: Mapping[str, str], space: str | None, timezone: str | None) -> list[str]:
    """Write space and time zone, unless the file has a space."""
    existed = file.exists()  # asked once: another process may make the file while this one thinks
    named = toml(file) if existed else {}
    if named.get("space"):
        return []
    if "space" in named:
        raise BadInput(f"{file} has an empty space; give it a name, or delete that line and run: recollect init")
    beside = _register_new(file.parent, environ)
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


def _register_new(root: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """The register's entry for this place: a branch or another worktree may lack the settings file."""
    found = register.candidates(register.read(home_folder(environ)), register.spot_of(root))
    home = home_folder(environ)
    return next((vars(one) for one in found if register.confirmed(home, root, one.space, named=False)), {})


def _local_timezone(environ: Mapping[str, str]) -> str:
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
    """Set vault.share in the settings file, and have git merge logs by keeping both sides."""
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
