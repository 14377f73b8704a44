"""The project: where it is, its settings, what a repository's file may choose, and the places of its data.

Finding a project reads a few small files and runs nothing, because the hook does it on every prompt. Making one is
`init`.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from recollect.core.errors import BadInput, NotInitialised, Refused, Trouble
from recollect.core.records import loads, record
from recollect.core.settings import Settings, check_order, check_space, from_environment, merged
from recollect.store.files import content_hash, os_errors, read_regular, write_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

SETTINGS_FILE = "recollect.toml"
VAULT_FOLDER = "memory"
DATA_FOLDER = ".recollect"
BEGUN = "begun"
SETTINGS_COPY = "settings-"
MOST_MARKS = 200  # a container that is made anew has a new home each time, and must not push out who began
_KEY_PARTS = 100
# A dotted key, its parts bare or quoted. Possessive, so that no file costs more than its length.
_LONG_KEY = rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{_KEY_PARTS}}}"""
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
        with os_errors(found):
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
    found = next((each for each in (folder, *folder.parents) if (each / SETTINGS_FILE).is_file()), None)
    if found is None:
        raise NotInitialised(f"no {SETTINGS_FILE} in {folder} or above; begin with: recollect init")
    return found


def load(root: Path, environ: Mapping[str, str]) -> Project:
    """A project with its settings; what cannot be used is refused."""
    file = root / SETTINGS_FILE
    data = _data_folder(root, environ)
    given = _remembered_toml(file, data / _copy_name(root))
    settings = _settings(given, str(file), environ, trusted=lambda: is_trusted(file, environ))
    if not settings.space:
        raise BadInput(f"{file} has no space; run: recollect init")
    _refuse_outside(root, settings.findings.folder)
    return Project(root=root, data=data, settings=settings, state=state_folder(environ))


def last_known(root: Path, environ: Mapping[str, str]) -> Project:
    """A project whose settings file cannot be read now: what is needed to keep words for it, as it last was."""
    data = _data_folder(root, environ)
    try:
        was = loads((data / _copy_name(root)).read_text("utf-8"))["content"]
        given = {"space": was["space"], "hosts": {"ignore": was.get("hosts", {}).get("ignore", [])}}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        raise NotInitialised(f"There are no saved settings for {root}") from None
    settings = _settings(given, str(root), environ)
    check_space(settings.space)
    return Project(root=root, data=data, settings=settings, state=state_folder(environ))


def planned(root: Path, environ: Mapping[str, str]) -> Project:
    """The project that is here, or would be once it is begun; nothing is made."""
    file = root / SETTINGS_FILE
    if file.is_file() and toml(file).get("space"):
        return load(root, environ)
    data = shared_root(root) / DATA_FOLDER
    return Project(root=root, data=data, settings=outside(environ), state=state_folder(environ))


def outside(environ: Mapping[str, str]) -> Settings:
    """What holds where there is no project."""
    return _settings({}, "", environ)


def is_begun(project: Project) -> bool:
    """Whether this user ran `init` for this store. A repository may carry a store, but not what the user's folder says.

    The mark is a secret of two places, so it holds after a folder was moved, and for every worktree.
    """
    return is_marked(project, BEGUN)


def marks_of(project: Project) -> list[str]:
    """One per user, or per home of a user, that shares the folder."""
    try:
        folder = os.open(project.data, os.O_RDONLY | os.O_DIRECTORY)
        try:
            text = (read_regular(folder, BEGUN) or b"").decode("ascii")  # no link: it could name another's
        finally:
            os.close(folder)
    except (OSError, ValueError, BadInput):
        return []
    return [secret for secret in text.split()[-MOST_MARKS:] if secret.isalnum()]


def is_marked(project: Project, how: str) -> bool:
    return any((project.state / how / secret).is_file() for secret in marks_of(project))


def trust(root: Path, environ: Mapping[str, str]) -> Path:
    """Remember that the user read this settings file as it is now; any later change asks again."""
    file = root / SETTINGS_FILE
    write_path(_trust_marker(file, environ), f"{file}\n", mode=0o600)
    return file


def is_trusted(file: Path, environ: Mapping[str, str]) -> bool:
    return _trust_marker(file, environ).exists()


def state_folder(environ: Mapping[str, str]) -> Path:
    return _home_folder(environ, "XDG_STATE_HOME", ".local/state")


def _settings(
    given: Mapping[str, Any], source: str, environ: Mapping[str, str], *, trusted: Callable[[], bool] = lambda: True
) -> Settings:
    """Defaults < the user's file < what a repository's file gives < environment."""
    file = _home_folder(environ, "XDG_CONFIG_HOME", ".config") / "config.toml"
    users = merged(Settings(), toml(file), str(file)) if file.is_file() else Settings()
    here = merged(users, given, source, trusted=trusted)
    return check_order(merged(here, from_environment(environ), "environment"))


def _refuse_outside(root: Path, folder: str) -> None:
    """A folder that a setting names lies inside the project, links included."""
    if Path(folder).is_absolute() or ".." in Path(folder).parts or not (root / folder).resolve().is_relative_to(root):
        raise BadInput(f"findings.folder {folder!r} must be a folder inside the project")


def _data_folder(root: Path, environ: Mapping[str, str]) -> Path:
    """A link that came with a repository may not choose where we write, unless the user trusts the repository."""
    shared = shared_root(root)
    for place in (shared / DATA_FOLDER, shared / VAULT_FOLDER):
        leads_out = place.is_symlink() and not place.resolve().is_relative_to(place.parent.resolve())
        if leads_out and not is_trusted(root / SETTINGS_FILE, environ):
            raise Refused(
                f"{place} is a link that leads out of the project, to {place.resolve()}. Put a folder in its place, or "
                "allow it with: recollect host trust"
            )
    return shared / DATA_FOLDER


def shared_root(root: Path) -> Path:
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
    """Without a home a place where nothing can be made, not by root either."""
    given = environ.get(variable)
    base = Path(given) if given and os.path.isabs(given) else Path(environ.get("HOME") or os.devnull) / fallback
    return base / "recollect"


def toml(file: Path) -> dict[str, Any]:
    """What a settings file says. It may have come with a clone, so nothing in it is trusted."""
    import re
    import tomllib

    try:
        text = file.read_text("utf-8")
        # The parser keeps every beginning of a dotted key: one of 100,000 parts takes all memory.
        if re.search(_LONG_KEY, text):
            raise BadInput(f"{file} is not a settings file: a key in it has {_KEY_PARTS} parts or more; shorten it")
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} is not valid TOML: {error}") from None
    except RecursionError:
        raise BadInput(f"{file} is not a settings file: its brackets nest too deeply; take them out") from None


def _copy_name(root: Path) -> str:
    """One copy per worktree: they share the folder, not the file."""
    return f"{SETTINGS_COPY}{root.stat().st_ino}.json"


def _remembered_toml(file: Path, cache: Path) -> dict[str, Any]:
    """The file's content, kept as JSON next to the store: reading TOML costs the prompt hook 5 ms, JSON nothing.

    The copy counts only while the file is the one it was made from; what may be set is checked afterwards either way.
    """
    stat = file.stat()
    made_from = [str(file), stat.st_mtime_ns, stat.st_size, stat.st_ino]
    try:
        known = loads(cache.read_text("utf-8"))
        if known["made_from"] == made_from:
            return dict(known["content"])
    except (OSError, ValueError, TypeError, KeyError):
        pass  # no copy yet, or not one of ours: read the file itself
    content = toml(file)
    if cache.parent.is_dir():
        import json

        # A read-only project has no copy; a date in the file, or what nests too deeply for JSON, cannot be one.
        with suppress(Trouble, TypeError, RecursionError):
            write_path(cache, json.dumps({"made_from": made_from, "content": content}), mode=0o600)
    return content
