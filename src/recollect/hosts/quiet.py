"""Where a hook says nothing or keeps nothing, because the user asked for it: pauses, ignored folders, CI."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.hosts.moment import Moment
    from recollect.store.project import Project

PAUSED = "paused"
SILENT = "hooks are silent: recollect pause --off lets them answer again"


def silent(project: Project, moment: Moment, environ: Mapping[str, str]) -> bool:
    """Whether the user asked for quiet, here or for now."""
    if (project.data / PAUSED).exists():
        return True
    if not project.settings.hosts.ignore:
        return False
    from fnmatch import fnmatchcase

    folder = moment.folder or "."
    folders = {os.path.abspath(folder), os.path.realpath(folder)}
    places = {
        place
        for pattern in project.settings.hosts.ignore
        if pattern
        for place in _places(pattern, str(project.root), environ.get("HOME", ""))
    }
    return any(fnmatchcase(folder, shape) for folder in folders for place in places for shape in (place, f"{place}/*"))


def _places(pattern: str, root: str, home: str) -> set[str]:
    """Every way a pattern may be meant: with or without links, `a/**` with `a` itself, `a/**/b` with `a/b`."""
    base, rest = (home, pattern[2:]) if pattern.startswith("~/") else (root, pattern)
    rest = os.path.normpath(rest).removesuffix("/**")
    places = {_literally(os.path.realpath(os.path.join(base, rest)))}
    for folder in (base, os.path.realpath(base)):
        place = os.path.normpath(os.path.join(_literally(folder), rest))
        places |= {place, place.replace("/**/", "/")}
    return places


def _literally(path: str) -> str:
    """A path as a pattern that means just it."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)


def in_ci(environ: Mapping[str, str]) -> bool:
    """Whether nobody will come back to this session: `CI` is set, and not to a no."""
    return environ.get("CI", "").strip().lower() not in ("", "0", "false", "no", "off")
