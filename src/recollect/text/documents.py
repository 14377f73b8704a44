"""Permanent Markdown documents as sections: find one, add to it, remove something; the index of all; splitting one.

A section is a heading with everything up to the next heading of its own level or above. Headings inside fences and
comments are text. Changes are made line by line; every line that is not asked for stays byte for byte. The index has a
line for every section and can be made again at any time.
"""

from __future__ import annotations

import math
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from recollect.core.records import record
from recollect.text.markdown import heading, headings, lazy, lines_of, split_item, text_lines
from recollect.text.sentences import split_sentences
from recollect.text.staging import free_slug, slug_of
from recollect.text.themes import name_theme

# --- Sections


@record
class Section:
    """`text` is the section's own, without deeper sections; lines `first` to `last` (excluded) hold all of it."""

    title: str
    slug: str
    level: int
    text: str
    first: int
    last: int


def sections(text: str) -> list[Section]:
    """Every section of a document, in order; lines before the first heading belong to none."""
    lines = lines_of(text)
    marks = [(at, heading(lines[at]) or (0, "")) for at in headings(lines)]
    found: list[Section] = []
    taken: set[str] = set()
    for position, (first, (level, title)) in enumerate(marks):
        later = marks[position + 1 :]
        last = next((at for at, (other, _) in later if other <= level), len(lines))
        # GitHub's link target of a heading: punctuation goes, spaces become hyphens, repeats are numbered.
        slug = plain = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
        number = 0
        while slug in taken:
            number += 1
            slug = f"{plain}-{number}"
        taken.add(slug)
        own = lines[first + 1 : later[0][0] if later else len(lines)]
        found.append(Section(title=title, slug=slug, level=level, text="\n".join(own).strip(), first=first, last=last))
    return found


def rendered_entry(title: str, body: str, level: int) -> str:
    """A learning as a section of a document; headings in its body go below its own."""
    lines = lines_of(body.strip())
    for at in headings(lines):
        lines[at] = "#" * min(6, level + 1) + " " + lines[at].lstrip("#").strip()
    return "\n".join([f"{'#' * min(6, level)} {title}", *(["", *lines] if lines != [""] else [])]) + "\n"


def rendered_section(title: str, text: str, level: int) -> str:
    return f"{'#' * level} {title}\n" + (f"\n{text}\n" if text else "")


def with_block(text: str, block: str, under: str | None) -> str:
    """The document with a block at the end of the section `under` (a slug), or at its own end."""
    lines = lines_of(text)
    section = next((each for each in sections(text) if each.slug == under), None) if under else None
    at = section.last if section else len(lines)
    while at > 0 and not lines[at - 1].strip():
        at -= 1
    gap = [""] if at else []
    return "\n".join([*lines[:at], *gap, *lines_of(block), *lines[at:]]) + "\n"


def with_section(text: str, section: Section, own: str) -> str:
    """The document with another heading and text for a section; deeper sections stay."""
    lines = lines_of(text)
    deeper = (at for at in headings(lines) if section.first < at)
    end = next(deeper, len(lines))
    gap = [""] if end < len(lines) else []
    return "\n".join([*lines[: section.first], *lines_of(own), *gap, *lines[end:]]) + "\n"


def sentences(text: str) -> list[str]:
    """What a section says, sentence by sentence, without list marks and code."""
    lines = lines_of(text)
    return [part.strip() for at in text_lines(lines) for part in _said(lines[at])[1]]


def without_sentences(text: str, unwanted: Callable[[str], bool]) -> str:
    """A text without some of its sentences; code stays, and a line of which nothing is left goes."""
    lines = lines_of(text)
    gone: set[int] = set()
    for at in text_lines(lines):
        mark, parts = _said(lines[at])
        left = [part for part in parts if not unwanted(part.strip())]
        if len(left) < len(parts):
            lines[at] = mark + "".join(left).rstrip()
            gone |= set() if left else {at}
    return "\n".join(line for at, line in enumerate(lines) if at not in gone).strip()


def _said(line: str) -> tuple[str, list[str]]:
    """A line's indent and list mark, and its sentences, each with the space after it."""
    mark, words = split_item(line.rstrip())
    return mark, split_sentences(words, lower_case=True)


def without_block(text: str, block: str, *, instead: str = "") -> str | None:
    """The document without a block that it holds exactly once; None when it does not."""
    lines, wanted = lines_of(text), lines_of(block)
    found = _places(lines, wanted)
    if len(found) != 1:
        return None
    at = found[0]
    start = at - 1 if at and not lines[at - 1].strip() and not instead else at
    rest = [*lines[:start], *(lines_of(instead) if instead else []), *lines[at + len(wanted) :]]
    return "\n".join(rest) + "\n" if rest else ""


def holds_block(text: str, block: str) -> bool:
    return block.partition("\n")[0] in text and bool(_places(lines_of(text), lines_of(block)))


def _places(lines: list[str], wanted: list[str]) -> list[int]:
    """Where `wanted` occurs in a row."""
    return [at for at in range(len(lines) - len(wanted) + 1) if lines[at : at + len(wanted)] == wanted]


# --- The index

_HEAD = (
    "# Memory index\n\n"
    "<!-- recollect: generated from the documents below; `recollect staged index` writes it again -->\n"
)
_BULLET = lazy(r"^(?:[-*+]|\d+[.)])\s+")
_LINE = lazy(r"- \[(?P<title>.*)\]\((?P<target>[^)]+)\)(?: — .*)?$")
SAYS = 120  # characters of a section's first sentence

Fault = Literal["duplicate", "orphan", "missing", "wrong section", "wrong order", "not an entry", "out of date"]


@record
class IndexProblem:
    fault: Fault
    line: str


def make_index(documents: Mapping[str, str], at: str) -> str:
    """The index for documents by path, to be written at the path `at`; documents and their sections in order."""
    return _HEAD + "".join(
        f"\n## {path}\n\n" + "".join(f"{line}\n" for line in _lines_for(path, documents[path], at))
        for path in sorted(documents)
    )


def check_index(text: str, documents: Mapping[str, str], at: str) -> list[IndexProblem]:
    """What is wrong with an index; empty when it is exactly what `make_index` gives."""
    wanted = {path: [_key(line) for line in _lines_for(path, documents[path], at)] for path in sorted(documents)}
    home = {key: path for path, keys in wanted.items() for key in keys}
    found: dict[str, list[str]] = {}
    problems: list[IndexProblem] = []
    section = ""
    for line in lines_of(text):
        if line.startswith("## "):
            section = line[3:].strip()
        elif line.startswith("- "):
            key = _key(line)
            if not key:
                problems.append(IndexProblem(fault="not an entry", line=line))
            elif key not in home:
                problems.append(IndexProblem(fault="orphan", line=line))
            elif home[key] != section:
                problems.append(IndexProblem(fault="wrong section", line=line))
            found.setdefault(section, []).append(key)
    seen = Counter(key for keys in found.values() for key in keys if key)
    problems += [IndexProblem(fault="duplicate", line=key) for key, count in seen.items() if count > 1]
    problems += [IndexProblem(fault="missing", line=key) for key in home if key not in seen]
    for path, keys in wanted.items():
        here = [key for key in dict.fromkeys(found.get(path, [])) if key in keys]
        if here != [key for key in keys if key in here]:
            problems.append(IndexProblem(fault="wrong order", line=f"## {path}"))
    if not problems and text != make_index(documents, at):
        problems.append(IndexProblem(fault="out of date", line="what the sections say has changed"))
    return problems


def _lines_for(path: str, text: str, at: str) -> list[str]:
    link = posixpath.relpath(path, posixpath.dirname(at) or ".")
    found = sections(text)
    listed = [section for section in found if section.level == 2]
    if not listed:
        title = found[0].title if found else posixpath.basename(path)
        return [f"- [{title}]({link})"]
    return [f"- [{section.title}]({link}#{section.slug}){_says(section)}" for section in listed]


def _says(section: Section) -> str:
    lines = section.text.split("\n")
    prose = _BULLET.sub("", " ".join(" ".join(lines[at] for at in text_lines(lines)).split()))
    first = "".join(split_sentences(prose, lower_case=True)[:1]).strip()
    if not first:
        return ""
    return f" — {first}" if len(first) <= SAYS else f" — {first[:SAYS].rsplit(' ', 1)[0]} …"


def _key(line: str) -> str:
    match = _LINE.match(line)
    return match["target"] if match else ""


# --- Splitting

SAID = 300  # characters of each section that a part is named after
LEAST, MOST = 100, 300  # lines of a part: what a person reads in one sitting
PARTS_MARK = "<!-- recollect: this document was split; its parts -->"

# A link to a heading: in the line, as the definition of a reference, or in HTML; a title after it stays as it is.
_LINK = lazy(r"""(\]\(\s*<?|^ {0,3}\[[^\]^][^\]]*\]:\s*<?|\bhref=["'])([^)\s#>"]*)#([^)\s>"']+)""")

Place = tuple[str, str]  # a document's path, and the slug of a heading in it


@record
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
    ranges = _grouped(pieces, least, most)
    groups = [[by_line[each] for each, _ in pieces if start <= each < end] for start, end in ranges]
    for group, (start, end) in zip(groups, ranges, strict=True):
        title = _title_of(group, [each for other in groups if other is not group for each in other])
        here = {posixpath.basename(each).removesuffix(".md") for each in used if posixpath.dirname(each) == folder}
        part = posixpath.join(folder, free_slug(f"{stem}-{slug_of(title)}", here) + ".md")
        used.add(part)
        files[part] = f"# {title}\n\n" + "\n".join(lines[start:end]).strip("\n") + "\n"
        held = f": {', '.join(each.title for each in group)}" if len(group) > 1 else ""
        listed.append(f"- [{title}]({posixpath.basename(part)}){held}")
        old, new = [each for each in found if start <= each.first < end], sections(files[part])[1:]  # without its title
        moved |= {(path, one.slug): (part, other.slug) for one, other in zip(old, new, strict=True)}
    head = "\n".join(lines[: cuts[0].first]).rstrip("\n")
    files[path] = "\n".join([*([head, ""] if head.strip() else []), PARTS_MARK, "", *listed]) + "\n"
    return Split(files={name: relinked(each, name, moved) for name, each in files.items()}, moved=moved)


def _title_of(group: Sequence[Section], others: Sequence[Section]) -> str:
    """The heading of a part's only section, or what its sections are about and the others are not."""
    if len(group) == 1:
        return group[0].title
    said, said_elsewhere = ([f"{each.title}. {each.text[:SAID]}" for each in some] for some in (group, others))
    return name_theme(said, said_elsewhere, (), alone=True).replace("-", " ").capitalize()


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
    """Neighbouring pieces, grouped as evenly as they come: no file too long, and no short piece that fits another."""
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
    for start, end in groups:  # a short piece that could not take what comes after it goes to what comes before
        if joined and end - start < least and end - joined[-1][0] <= most:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _each_text_line(text: str, change: Callable[[str], str]) -> str:
    lines = lines_of(text)
    changed = {at: after for at in text_lines(lines) if (after := change(lines[at])) != lines[at]}
    if not changed:
        return text
    return "\n".join(changed.get(at, line) for at, line in enumerate(lines)) + "\n"
