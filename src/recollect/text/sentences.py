"""Sentences: cutting a text to its first words without breaking a line, a number or a file name.

Extractive only: every result is words of the input in their order, with "…" where something was cut.
"""

from __future__ import annotations

import re

from recollect.text.frame import one_line

_END = re.compile(r"(?<=[.!?؟])[\"')\]]*\s+(?=[\"'(\[]?(\w))|(?<=[。！？।])")
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|Mr|Mrs|Dr|No|Fig|[A-Z])\.$")


def sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line. Abbreviations, versions and file names do not end one."""
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)", text):
        start = 0
        flat = one_line(paragraph)
        for mark in _END.finditer(flat):
            # A small letter goes on; scripts without capitals have none.
            if (mark[1] or "").islower() or _ABBREVIATION.search(flat[: mark.start()]):
                continue
            found.append(flat[start : mark.end()].strip())
            start = mark.end()
        if flat[start:].strip():
            found.append(flat[start:].strip())
    return found


def first_sentence(text: str, words: int) -> str:
    """The first sentence, of at most so many words."""
    found = sentences(text)
    return _cut(found[0], words) if found else ""


def clip(text: str, words: int) -> str:
    """Whole sentences from the start while they fit, at least the first one's first words."""
    found = sentences(text)
    if not found:
        return ""
    kept: list[str] = []
    for sentence in found:
        if kept and len(" ".join([*kept, sentence]).split()) > words:
            return _cut(" ".join(kept), words).removesuffix(" …") + " …"
        kept.append(sentence)
    return _cut(" ".join(kept), words)


def _cut(text: str, words: int) -> str:
    parts = text.split()
    if len(parts) > words:
        parts = [*parts[:words], "…"]
    limit = 12 * words  # a "word" can be a megabyte of base64
    line = " ".join(parts)
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
