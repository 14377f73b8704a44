"""The project: where it is, its settings, what a repository's file may choose, and the places of its data.

Finding a project reads a few small files and runs nothing, because the hook does it on every prompt.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from recollect.core.clock import zone_named
from recollect.core.errors import BadInput, NotInitialised, RecollectError, Refused, Trouble
from recollect.core.record import record
from recollect.core.settings import Settings, check_space, from_environment, merged
from recollect.store.files import add_lines, content_hash, read_regular, write_new_path, write_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

SETTINGS_FILE = "recollect.toml"
VAULT_FOLDER = "memory"
DATA_FOLDER = ".recollect"
BEGUN = "begun"
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
SPECWRIGHT = Path(".specwright", "learnings")


@record
class Project:
    """A project's root, its settings, and where its data lives (worktrees of one repository share it)."""

    root: Path
    data: Path
    settings: Settings
    state: Path

    @property
    def database(self) -> Path:
        return self.data / "memory.db"

    @property
    def vault(self) -> Path:
        return self.data.parent / VAULT_FOLDER

    @property
    def findings(self) -> Path | None:
        """Where findings and themes are when not in the vault: as set, or another tool's folder found in place."""
        if self.settings.findings.folder:
            return self.root / self.settings.findings.folder
        found = self.root / SPECWRIGHT
        return found if found.is_dir() and not (self.vault / "learnings").exists() else None

    @property
    def spools(self) -> tuple[Path, ...]:
        """Where writes wait; the second place serves when the project cannot be written."""
        return (self.data / "spool", self.state / "spool" / self.settings.space)


def find(start: Path, environ: Mapping[str, str]) -> Project:
    """The project that `start` belongs to: the nearest folder upwards with a settings file."""
    return load(root_of(start), environ)


def root_of(start: Path) -> Path:
    """The folder of that settings file; the file itself is not read."""
    folder = start.resolve()
    for candidate in (folder, *folder.parents):
        if (candidate / SETTINGS_FILE).is_file():
            return candidate
    raise NotInitialised(f"no {SETTINGS_FILE} in {folder} or above; begin with: recollect init")


def load(root: Path, environ: Mapping[str, str]) -> Project:
    """A project with its settings: defaults < the user's file < the repository's < environment."""
    settings = _users(environ)
    file = root / SETTINGS_FILE
    data = _shared_root(root) / DATA_FOLDER
    _refuse_links(file, (data, data.parent / VAULT_FOLDER), environ)
    given = _remembered_toml(file, data / _copy_name(root))
    settings = merged(settings, given, str(file), trusted=lambda: is_trusted(file, environ))
    settings = merged(settings, from_environment(environ), "environment")
    if not settings.space:
        raise BadInput(f"{file} has no space; run: recollect init")
    _refuse_outside(root, settings.findings.folder)
    return Project(root=root, data=data, settings=settings, state=state_folder(environ))


def last_known(root: Path, environ: Mapping[str, str]) -> Project:
    """A project whose settings file cannot be read now: what is needed to keep words for it, as it last was."""
    data = _shared_root(root) / DATA_FOLDER
    _refuse_links(root / SETTINGS_FILE, (data, data.parent / VAULT_FOLDER), environ)
    try:
        was = json.loads((data / _copy_name(root)).read_bytes())["content"]
        given = {"space": was["space"], "hosts": {"ignore": was.get("hosts", {}).get("ignore", [])}}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        raise NotInitialised(f"nothing is known of {root}") from None
    settings = merged(merged(_users(environ), given, str(root)), from_environment(environ), "environment")
    check_space(settings.space)
    return Project(root=root, data=data, settings=settings, state=state_folder(environ))


def _refuse_outside(root: Path, folder: str) -> None:
    """A folder that a setting names lies inside the project, links included."""
    if Path(folder).is_absolute() or ".." in Path(folder).parts or not (root / folder).resolve().is_relative_to(root):
        raise BadInput(f"findings.folder {folder!r} must be a folder inside the project")


def _refuse_links(file: Path, places: tuple[Path, ...], environ: Mapping[str, str]) -> None:
    """A link that came with a repository may not choose where we write, unless the user trusts the repository."""
    for place in places:
        leads_out = place.is_symlink() and not place.resolve().is_relative_to(place.parent.resolve())
        if leads_out and not is_trusted(file, environ):
            raise Refused(
                f"{place} is a link that leads out of the project, to {place.resolve()}. Put a folder in its place, or "
                "allow it with: recollect trust"
            )


def outside(environ: Mapping[str, str]) -> Settings:
    """What holds where there is no project: defaults < the user's file < environment."""
    return merged(_users(environ), from_environment(environ), "environment")


def enclosing(folder: Path) -> Path | None:
    """The project that a folder without one of its own lies in."""
    folder = folder.resolve()
    if (folder / SETTINGS_FILE).is_file():
        return None
    return next((above for above in folder.parents if (above / SETTINGS_FILE).is_file()), None)


def create(
    root: Path, environ: Mapping[str, str], *, space: str | None = None, timezone: str | None = None
) -> list[str]:
    """Make a project here, or fill in what is missing. Says what it made; an existing setting is never changed."""
    made: list[str] = []
    root = root.resolve()
    file = root / SETTINGS_FILE
    existed = file.exists()  # asked once: another process may make the file while this one thinks
    named = _toml(file) if existed else {}
    if not named.get("space"):
        name = space or _slug(root.name) + "-" + os.urandom(4).hex()
        if timezone:
            zone_named(timezone)
        zone = named.get("timezone") or timezone or local_timezone(environ)
        check_space(name)
        lines = [f'space = "{name}"\n', f'timezone = "{zone}"\n']
        if existed:  # what is missing goes to the top, where no section has begun yet
            if file.is_symlink():
                raise BadInput(f"{file} is a symbolic link; write a line into what it leads to: {lines[0].strip()}")
            rest = file.read_bytes().decode("utf-8")
            write_path(file, "".join(lines[: 1 if "timezone" in named else 2]) + rest)
            made.append(f"{SETTINGS_FILE} (space {name}, time zone {zone})")
        elif write_new_path(file, "".join([_HEAD, *lines])):
            made.append(f"{SETTINGS_FILE} (space {name}, time zone {zone})")
    if not made:
        known = load(root, environ).settings
        if (space and space != known.space) or (timezone and timezone != known.timezone):
            raise BadInput(
                f"{file} already names space {known.space} and time zone {known.timezone}; edit it to change them"
            )
    project = load(root, environ)
    if not project.data.is_dir():
        project.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        made.append(f"{DATA_FOLDER}/ (database, locks, spool)")
        _mark_begun(project)
    elif not is_begun(project) and _mark_begun(project):
        made.append("the mark that this memory is yours: hooks answer here")
    if add_lines(root / ".gitignore", IGNORE_LINE):
        made.append(f".gitignore (line {IGNORE_LINE})")
    if add_lines(root / ".gitattributes", *MERGE_LINES):
        made.append(".gitattributes (how the logs and nodes of two clones merge)")
    return made


def is_begun(project: Project) -> bool:
    """Whether this user ran `init` for this store. A repository may carry a store, but not what the user's folder says.

    The mark is a secret of two places, so it holds after a folder was moved, and for every worktree.
    """
    try:
        folder = os.open(project.data, os.O_RDONLY | os.O_DIRECTORY)
        try:
            secret = (read_regular(folder, BEGUN) or b"").decode("ascii").strip()  # no link: it could name another's
        finally:
            os.close(folder)
        return secret.isalnum() and (project.state / BEGUN / secret).is_file()
    except (OSError, ValueError, BadInput):
        return False


def _mark_begun(project: Project) -> bool:
    """Always a new secret: one that came with a repository is known to others. False where it cannot be kept."""
    secret = os.urandom(16).hex()
    with suppress(RecollectError):
        write_path(project.state / BEGUN / secret, f"{project.data}\n", mode=0o600)
        write_path(project.data / BEGUN, f"{secret}\n", mode=0o600)
        return True
    return False


def planned(root: Path, environ: Mapping[str, str]) -> Project:
    """The project that is here, or would be after `create`; nothing is made."""
    file = root / SETTINGS_FILE
    if file.is_file() and _toml(file).get("space"):
        return load(root, environ)
    return Project(
        root=root, data=_shared_root(root) / DATA_FOLDER, settings=outside(environ), state=state_folder(environ)
    )


def trust(root: Path, environ: Mapping[str, str]) -> Path:
    """Remember that the user read this settings file as it is now; any later change asks again."""
    file = root / SETTINGS_FILE
    marker = _trust_marker(file, environ)
    write_path(marker, f"{file}\n", mode=0o600)
    return file


def is_trusted(file: Path, environ: Mapping[str, str]) -> bool:
    return _trust_marker(file, environ).exists()


def config_folder(environ: Mapping[str, str]) -> Path:
    return _home_folder(environ, "XDG_CONFIG_HOME", ".config")


def state_folder(environ: Mapping[str, str]) -> Path:
    return _home_folder(environ, "XDG_STATE_HOME", ".local/state")


def local_timezone(environ: Mapping[str, str]) -> str:
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


def _users(environ: Mapping[str, str]) -> Settings:
    file = config_folder(environ) / "config.toml"
    return merged(Settings(), _toml(file), str(file)) if file.is_file() else Settings()


def _shared_root(root: Path) -> Path:
    """The same folder in the main worktree, when `root` lies in a linked one: worktrees share one store."""
    for folder in (root, *root.parents):
        marker = folder / ".git"
        if marker.is_dir():
            return root
        if marker.is_file():
            text = marker.read_text("utf-8", "replace").strip()
            git_dir = (folder / text.removeprefix("gitdir:").strip()).resolve()
            common = git_dir / "commondir"
            if not common.is_file():
                return root  # a submodule: a repository of its own
            main = (git_dir / common.read_text("utf-8").strip()).resolve()
            if main.name != ".git":
                return root  # a bare repository has no main worktree to share
            return main.parent / root.relative_to(folder)
    return root


def _trust_marker(file: Path, environ: Mapping[str, str]) -> Path:
    text = file.read_text("utf-8", "replace") if file.exists() else ""
    return state_folder(environ) / "trusted" / content_hash(f"{file}\n{text}")[:32]


def _home_folder(environ: Mapping[str, str], variable: str, fallback: str) -> Path:
    given = environ.get(variable)
    base = Path(given) if given and os.path.isabs(given) else Path(environ.get("HOME") or "/nonexistent") / fallback
    return base / "recollect"


def _toml(file: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} is not valid TOML: {error}") from None


def _copy_name(root: Path) -> str:
    """One copy per worktree: they share the folder, not the file."""
    return f"settings-{root.stat().st_ino}.json"


def _remembered_toml(file: Path, cache: Path) -> dict[str, Any]:
    """The file's content, kept as JSON next to the store: reading TOML costs the prompt hook 5 ms, JSON nothing.

    The copy counts only while the file is the one it was made from; what may be set is checked afterwards either way.
    """
    stat = file.stat()
    made_from = [str(file), stat.st_mtime_ns, stat.st_size, stat.st_ino]
    try:
        known = json.loads(cache.read_bytes())
        if known["made_from"] == made_from:
            return dict(known["content"])
    except (OSError, ValueError, TypeError, KeyError):
        pass  # no copy yet, or not one of ours: read the file itself
    content = _toml(file)
    if cache.parent.is_dir():
        with suppress(Trouble, TypeError):  # a read-only project has no copy; a date in the file cannot be one
            write_path(cache, json.dumps({"made_from": made_from, "content": content}), mode=0o600)
    return content


def _slug(name: str) -> str:
    kept = "".join(c if c.isascii() and c.isalnum() else "-" for c in name.lower())
    return "-".join(part for part in kept.split("-") if part)[:40] or "project"
