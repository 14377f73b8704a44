"""Telling hosts about us, and taking it back: which files change, how the change looks, and how it is undone.

What was put into which file is kept beside the store, so that `uninstall` restores every file byte for byte. With the
Claude Code plugin installed its files already call us; then nothing is written for that host, and what was is undone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path
from typing import Any

from recollect.core.errors import BadInput, RecollectError
from recollect.core.record import record
from recollect.hosts import insertions
from recollect.hosts.configuration import Addition, additions
from recollect.hosts.flow import HOSTS
from recollect.hosts.running import running
from recollect.store.files import write_path
from recollect.store.project import Project

RECORD = "hosts.json"
INTERPRETER = "interpreter"
PLUGIN = "recollect"
_FOLDERS = {".claude": "claude-code", ".codex": "codex", ".gemini": "gemini"}


@record
class Change:
    """A file as it is and as it should be. `pieces` are ours in it; `before` None means that it is not there.

    `place` is the file itself, where `file` is a link to it.
    """

    file: str
    place: Path
    before: str | None
    after: str | None
    pieces: tuple[str, ...] = ()
    additions: tuple[Addition, ...] = ()

    def diff(self) -> str:
        """The change as a unified diff."""
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        was = f"a/{self.file}" if self.before is not None else "/dev/null"
        becomes = f"b/{self.file}" if self.after is not None else "/dev/null"
        lines = unified_diff(old, new, was, becomes)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def detected(root: Path, environ: Mapping[str, str]) -> list[str]:
    """Hosts that are at work here: by their environment, else by their folder in the project or at home."""
    if at_work := [host for host in running(environ) if host in HOSTS]:
        return at_work
    homes = [root, *([Path(environ["HOME"])] if environ.get("HOME") else [])]
    found = [host for folder, host in _FOLDERS.items() if any((home / folder).is_dir() for home in homes)]
    return found + (["openclaw"] if (root / "HEARTBEAT.md").is_file() else [])


def has_plugin(root: Path, environ: Mapping[str, str]) -> bool:
    """Whether Claude Code has our plugin switched on, for this project or for the user."""
    for file in (
        _users(environ) / "settings.json",
        root / ".claude/settings.json",
        root / ".claude/settings.local.json",
    ):
        with suppress(OSError, ValueError, RecursionError, AttributeError):
            plugins = json.loads(file.read_text("utf-8")).get("enabledPlugins") or {}
            if any(name.split("@")[0] == PLUGIN and on for name, on in plugins.items()):
                return True
    return False


def plugin_folder(environ: Mapping[str, str]) -> Path | None:
    """Where Claude Code keeps the plugin it installed."""
    with suppress(OSError, ValueError, RecursionError, AttributeError, TypeError, KeyError):
        plugins = json.loads((_users(environ) / "plugins/installed_plugins.json").read_text("utf-8"))["plugins"]
        for name, installed in plugins.items():
            if name.split("@")[0] == PLUGIN:
                return Path(installed[-1]["installPath"])
    return None


def _users(environ: Mapping[str, str]) -> Path:
    """Where Claude Code keeps what belongs to the user."""
    return Path(environ.get("CLAUDE_CONFIG_DIR") or os.path.join(environ.get("HOME") or "/nonexistent", ".claude"))


def installing(project: Project, host: str, environ: Mapping[str, str], python: str) -> list[Change]:
    """What has to change so that a host calls us; nothing when it does already."""
    if host not in HOSTS:
        raise BadInput(f"no host {host!r}; known are {', '.join(HOSTS)}")
    known = _known(project).get(host, {})
    wanted: dict[str, list[Addition]] = {}
    for addition in additions(host, python):
        wanted.setdefault(addition.file, []).append(addition)
    changes = [
        _changed(file, _place(project.root, file, environ), asked, known.get(file)) for file, asked in wanted.items()
    ]
    return [change for change in changes if change.before != change.after or change.file not in known]


def uninstalling(project: Project, hosts: Collection[str], environ: Mapping[str, str]) -> list[Change]:
    """What has to change so that these hosts call us no more: our pieces go, everything else stays as it is."""
    changes = []
    for files in (files for host, files in _known(project).items() if host in hosts):
        for file, kept in files.items():
            place = _place(project.root, file, environ)
            before = _read(place)
            if before is not None:
                bare = _taken_out(before, kept)
                empty = insertions.EMPTY_JSON if file.endswith(".json") else ""
                after = None if kept["made"] and bare == empty else bare
                changes.append(Change(file=file, place=place, before=before, after=after))
    return [change for change in changes if change.before != change.after]


def apply(project: Project, host: str, changes: list[Change]) -> None:
    """Write a host's files, and what of them is ours."""
    known = _known(project)
    for change in changes:
        assert change.after is not None
        made = change.before is None or bool(known.get(host, {}).get(change.file, {}).get("made"))
        # The record first: a crash between the two leaves a record of pieces that are not there, which undoes nothing.
        additions = [vars(addition) for addition in change.additions]
        kept = {"made": made, "pieces": list(change.pieces), "additions": additions}
        known.setdefault(host, {})[change.file] = kept
        _remember(project, known)
        write_path(change.place, change.after)


def undo(project: Project, hosts: Collection[str], changes: list[Change]) -> None:
    """Restore files, and forget that these hosts were told about us."""
    for change in changes:
        if change.after is not None:
            write_path(change.place, change.after)
            continue
        change.place.unlink(missing_ok=True)
        for folder in (project.root / change.file).parents:
            if folder == project.root:
                break
            with suppress(OSError):  # not empty: somebody else's too
                folder.rmdir()
    left = {host: files for host, files in _known(project).items() if host not in hosts}
    if left:
        _remember(project, left)
    else:
        (project.data / RECORD).unlink(missing_ok=True)


def told(project: Project) -> dict[str, list[str]]:
    """Which files of which hosts hold something of ours."""
    return {host: list(files) for host, files in _known(project).items()}


def remember_interpreter(project: Project, python: str) -> None:
    """The plugin's launcher looks here: it cannot know where we are installed. One for all the user's projects."""
    with suppress(RecollectError):  # no folder of the user's own: the launcher goes by the PATH
        write_path(project.state / INTERPRETER, f"{python}\n", mode=0o600)


def _place(root: Path, file: str, environ: Mapping[str, str]) -> Path:
    """The file that a host reads under this name. A link may lead to its namesake among the user's own files, where
    people keep such things; a repository's link does not make us write into any other file.
    """
    place = (root / file).resolve()
    at_home = bool(environ.get("HOME")) and place.is_relative_to(Path(environ["HOME"]).resolve())
    if place.is_relative_to(root) or (at_home and place.name == Path(file).name):
        return place
    raise BadInput(f"{file} is a link to {place}, which is no file of the project or your own; put a file in its place")


def _changed(file: str, place: Path, asked: list[Addition], kept: dict[str, Any] | None) -> Change:
    """A file with our additions. What an earlier init put in goes first, so that a moved interpreter is followed."""
    before = _read(place)
    text = before or ""
    if kept and before is not None:
        text = _taken_out(text, kept)
    if file.endswith(".json"):
        text = text or insertions.EMPTY_JSON
        if not insertions.is_json_object(text):
            raise BadInput(f"{file} is not plain JSON, so nothing was written; add the hooks by hand (docs/hosts.md)")
        for each in asked:  # put in by another clone, and committed
            if insertions.holds(text, each.path, each.value, item=each.item):
                text = insertions.json_without(text, each.path, each.value, item=each.item)
    pieces: list[str] = []
    for addition in reversed(asked):  # each goes in front of the others
        if addition.path:
            text, made = insertions.into_json(text, addition.path, addition.value, item=addition.item)
            pieces += made
        elif addition.marks[0]:
            text, piece = insertions.as_block(text, addition.marks[0], addition.body, addition.marks[1])
            pieces.append(piece)
        elif text and text != addition.body:
            raise BadInput(f"{file} is there already and is not ours")
        else:
            text = addition.body
            pieces.append(text)
    return Change(file=file, place=place, before=before, after=text, pieces=tuple(pieces), additions=tuple(asked))


def _taken_out(text: str, kept: dict[str, Any]) -> str:
    """A file without what is ours: piece by piece, or by meaning where its owner wrote into a piece."""
    bare = insertions.without(text, kept["pieces"])
    if bare is not None:
        return bare
    for given in kept["additions"]:
        if given["path"] and insertions.is_json_object(text):
            text = insertions.json_without(text, tuple(given["path"]), given["value"], item=given["item"])
        elif given["marks"][0]:
            text = insertions.block_without(text, *given["marks"])
    return text


def _read(path: Path) -> str | None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read as text: {error}") from None


def _remember(project: Project, known: dict[str, dict[str, Any]]) -> None:
    write_path(project.data / RECORD, json.dumps(known, ensure_ascii=False, indent=2) + "\n", mode=0o600)


def _known(project: Project) -> dict[str, dict[str, Any]]:
    try:
        return dict(json.loads((project.data / RECORD).read_text("utf-8")))
    except (OSError, ValueError, RecursionError):
        return {}
