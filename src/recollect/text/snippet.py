"""The piece of a line that shows why it matched."""

from __future__ import annotations

import re

from recollect.text.tokens import word_terms

_WORD = re.compile(r"\S+")
WIDTH = 160


def snippet(line: str, terms: frozenset[str], *, width: int = WIDTH) -> str:
    """At most `width` characters of the line around its first matching word, cut at spaces."""
    if len(line) <= width:
        return line
    word = next((m for m in _WORD.finditer(line) if terms.intersection(word_terms(m.group()))), None)
    first = word.start() + _first_in(word.group(), terms) if word else 0
    start = max(0, first - width // 4)
    if start:
        start = line.find(" ", start) + 1 or start
    end = min(len(line), start + width)
    if end < len(line):
        end = max(line.rfind(" ", start, end), start + width // 2)
    return ("… " if start else "") + line[start:end].strip() + (" …" if end < len(line) else "")


def _first_in(word: str, terms: frozenset[str]) -> int:
    """Where in what stands between two spaces the match is: that may be a path, or a whole text of another script."""
    places = (word.casefold().find(term) for term in terms)
    return min((at for at in places if at >= 0), default=0)
