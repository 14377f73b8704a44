"""The memory index: one line for every section of the permanent documents, generated from them.

A derived text: it can be deleted and is made again byte for byte. Checking one says what is wrong with it, so that a
person or CI sees more than "differs". Knows nothing about files.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from recollect.text.documents import Section, sections
from recollect.text.staging import lines_of, text_lines

_HEAD = "# Memory index\n\n<!-- recollect: generated from the documents below; `recollect index` writes it again -->\n"
_LINE = re.compile(r"- \[(?P<title>.*)\]\((?P<target>[^)]+)\)(?: — .*)?$")
_SENTENCE = re.compile(r"(.+?[.!?])(?:\s|$)", re.DOTALL)
SAYS = 120  # characters of a section's first sentence

Fault = Literal["duplicate", "orphan", "missing", "wrong section", "wrong order", "not an entry", "out of date"]


@dataclass(frozen=True, kw_only=True)
class Problem:
    fault: Fault
    line: str


def make_index(documents: Mapping[str, str], at: str) -> str:
    """The index for documents by path, to stand at the path `at`; documents and their sections in order."""
    return _HEAD + "".join(
        f"\n## {path}\n\n" + "".join(f"{line}\n" for line in _lines_for(path, documents[path], at))
        for path in sorted(documents)
    )


def check_index(text: str, documents: Mapping[str, str], at: str) -> list[Problem]:
    """What is wrong with an index; empty when it is exactly what `make_index` gives."""
    wanted = {path: [_key(line) for line in _lines_for(path, documents[path], at)] for path in sorted(documents)}
    home = {key: path for path, keys in wanted.items() for key in keys}
    found: dict[str, list[str]] = {}
    problems: list[Problem] = []
    section = ""
    for line in lines_of(text):
        if line.startswith("## "):
            section = line[3:].strip()
        elif line.startswith("- "):
            key = _key(line)
            if not key:
                problems.append(Problem(fault="not an entry", line=line))
            elif key not in home:
                problems.append(Problem(fault="orphan", line=line))
            elif home[key] != section:
                problems.append(Problem(fault="wrong section", line=line))
            found.setdefault(section, []).append(key)
    seen = Counter(key for keys in found.values() for key in keys if key)
    problems += [Problem(fault="duplicate", line=key) for key, count in seen.items() if count > 1]
    problems += [Problem(fault="missing", line=key) for key in home if key not in seen]
    for path, keys in wanted.items():
        here = [key for key in dict.fromkeys(found.get(path, [])) if key in keys]
        if here != [key for key in keys if key in here]:
            problems.append(Problem(fault="wrong order", line=f"## {path}"))
    if not problems and text != make_index(documents, at):
        problems.append(Problem(fault="out of date", line="what the sections say has changed"))
    return problems


def _lines_for(path: str, text: str, at: str) -> list[str]:
    """A line per H2 section; a document without any is listed by its title alone."""
    link = posixpath.relpath(path, posixpath.dirname(at) or ".")
    found = sections(text)
    listed = [section for section in found if section.level == 2]
    if not listed:
        title = found[0].title if found else posixpath.basename(path)
        return [f"- [{title}]({link})"]
    return [f"- [{section.title}]({link}#{section.slug}){_says(section)}" for section in listed]


def _says(section: Section) -> str:
    lines = section.text.split("\n")
    prose = " ".join(" ".join(lines[at] for at in text_lines(lines)).split())
    match = _SENTENCE.match(prose)
    first = match[1] if match else prose
    if not first:
        return ""
    return f" — {first}" if len(first) <= SAYS else f" — {first[:SAYS].rsplit(' ', 1)[0]} …"


def _key(line: str) -> str:
    match = _LINE.match(line)
    return match["target"] if match else ""
