"""Splitting a document that grew too long: at H2, then at H3, into files of a readable size.

Every line of the document is in exactly one of the files afterwards, in its old order; what is added is one title
per part and the list of parts. Parts stand beside the document, so that their relative links stay true. Knows
nothing about files.
"""

from __future__ import annotations

import math
import posixpath
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise

from recollect.text.documents import Section, sections
from recollect.text.staging import free_slug, lines_of, slug_of, text_lines

LEAST, MOST = 100, 300
PARTS_MARK = "<!-- recollect: this document was split; its parts -->"

# A link to a heading: in the line, as the definition of a reference, or in HTML; a title after it stays as it is.
_LINK = re.compile(r"""(\]\(\s*<?|^ {0,3}\[[^\]^][^\]]*\]:\s*<?|\bhref=["'])([^)\s#>"]*)#([^)\s>"']+)""")

Place = tuple[str, str]  # a document's path, and the slug of a heading in it


@dataclass(frozen=True, kw_only=True)
class Split:
    """Every file by path, the old document first, and where its headings are now."""

    files: dict[str, str]
    moved: dict[Place, Place]


def split(path: str, text: str, *, taken: Collection[str] = (), least: int = LEAST, most: int = MOST) -> Split | None:
    """The document as several; None when it has no headings to split it at. `taken` are paths in use."""
    lines, found = lines_of(text), sections(text)
    cuts = _cuts(found, most)
    if len(cuts) < 2:
        return None
    pieces = [(start, end) for start, end in pairwise([*(cut.first for cut in cuts), len(lines)])]
    folder, name = posixpath.split(path)
    stem = name.removesuffix(".md")
    used = {path, *taken}
    files = {path: ""}
    moved: dict[Place, Place] = {}
    listed: list[str] = []
    by_line = {section.first: section for section in found}
    for start, end in _grouped(pieces, least, most):
        title = by_line[start].title
        part = _free_path(folder, f"{stem}-{slug_of(title)}", used)
        used.add(part)
        files[part] = f"# {title}\n\n" + "\n".join(lines[start:end]).strip("\n") + "\n"
        listed.append(f"- [{title}]({posixpath.basename(part)})")
        moved |= _moved(path, [each for each in found if start <= each.first < end], part, files[part])
    head = "\n".join(lines[: cuts[0].first]).rstrip("\n")
    files[path] = "\n".join([*([head, ""] if head.strip() else []), PARTS_MARK, "", *listed]) + "\n"
    return Split(files={name: relinked(each, name, moved) for name, each in files.items()}, moved=moved)


def relinked(text: str, here: str, moved: Mapping[Place, Place]) -> str:
    """A document with its links to moved headings following them. `here` is the document's path."""
    folder = posixpath.dirname(here)
    origin = {old_path for old_path, _ in moved}

    def follow(match: re.Match[str]) -> str:
        opening, target, slug = match.groups()
        if "://" in target:
            return match[0]
        aims = [posixpath.normpath(posixpath.join(folder, target))] if target else [here, *origin]
        place = next((moved[aim, slug] for aim in aims if (aim, slug) in moved), None)
        if place is None:
            return match[0]
        path = "" if place[0] == here else posixpath.relpath(place[0], folder or ".")
        return f"{opening}{path}#{place[1]}"

    return _each_text_line(text, lambda line: _LINK.sub(follow, line))


def _cuts(found: list[Section], most: int) -> list[Section]:
    """The headings to split at: each H2, and the H3s of an H2 that is too long by itself."""
    cuts: list[Section] = []
    for section in found:
        if section.level == 2:
            cuts.append(section)
            if section.last - section.first > most:
                cuts += [each for each in found if each.level == 3 and section.first < each.first < section.last]
    return cuts


def _grouped(pieces: list[tuple[int, int]], least: int, most: int) -> list[tuple[int, int]]:
    """Neighbouring pieces together, as evenly as they come: no file too long, and no crumb that fits beside another."""
    whole = pieces[-1][1] - pieces[0][0]
    even = max(whole / math.ceil(whole / most), least)
    groups: list[tuple[int, int]] = []
    for start, end in pieces:
        first, last = groups[-1] if groups else (start, start)
        wanted = last - first < least or (end - start < least and last - first < even)
        if groups and wanted and end - first <= most:
            groups[-1] = (first, end)
        else:
            groups.append((start, end))
    joined: list[tuple[int, int]] = []
    for start, end in groups:  # a crumb that could not take what comes after it goes to what comes before
        if joined and end - start < least and end - joined[-1][0] <= most:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _moved(path: str, old: list[Section], part: str, text: str) -> dict[Place, Place]:
    new = sections(text)[1:]  # the first is the part's own title
    return {(path, one.slug): (part, other.slug) for one, other in zip(old, new, strict=True)}


def _free_path(folder: str, stem: str, used: Collection[str]) -> str:
    stems = {posixpath.basename(path).removesuffix(".md") for path in used if posixpath.dirname(path) == folder}
    return posixpath.join(folder, free_slug(stem, stems) + ".md")


def _each_text_line(text: str, change: Callable[[str], str]) -> str:
    lines = lines_of(text)
    changed = {at: after for at in text_lines(lines) if (after := change(lines[at])) != lines[at]}
    if not changed:
        return text
    return "\n".join(changed.get(at, line) for at, line in enumerate(lines)) + "\n"
