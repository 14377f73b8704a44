"""Merging two versions of the staging file, entry by entry: what the git merge driver does.

New on both sides is kept, removed on one side stays removed, the same entry rewritten on both sides is a conflict for
a person. Knows nothing about git.
"""

from __future__ import annotations

from dataclasses import dataclass

from recollect.text.staging import Staging, marked_consolidated, read_staging, unmarked


@dataclass(frozen=True, kw_only=True)
class Merged:
    """The merged file, and the titles of what a person has to settle in it."""

    text: str
    conflicts: tuple[str, ...]


def merge_staging(base: str, ours: str, theirs: str) -> Merged:
    """What both sides made of the common version `base`."""
    old, mine, other = (read_staging(text) for text in (base, ours, theirs))
    conflicts: list[str] = []
    before, here, there = (unmarked(side.preamble).strip("\n") for side in (old, mine, other))
    head = _merged_text(before, here, there, "the preamble", conflicts)
    parts = [head] if head else []
    for slug in dict.fromkeys(entry.slug for side in (mine, other) for entry in side.entries):
        parts += _merged_entry(slug, old, mine, other, conflicts)
    text = "\n\n".join(parts) + "\n" if parts else ""
    days = [side.consolidated_on for side in (mine, other) if side.consolidated_on]
    return Merged(text=marked_consolidated(text, max(days)) if days else text, conflicts=tuple(conflicts))


def _merged_entry(slug: str, old: Staging, mine: Staging, other: Staging, conflicts: list[str]) -> list[str]:
    before, here, there = (_text_of(side, slug) for side in (old, mine, other))
    if not before:
        # Written on both sides under one title: two entries, unless they say the same.
        return [text for text in dict.fromkeys((here, there)) if text]
    if not here or not there:
        # Taken out on one side: consolidated. It comes back only when the other side rewrote it meanwhile.
        left = here or there
        return [left] if left and left != before else []
    entry = mine.entry(slug)
    return [_merged_text(before, here, there, entry.title if entry else slug, conflicts)]


def _merged_text(before: str, here: str, there: str, name: str, conflicts: list[str]) -> str:
    if here == there or there == before:
        return here
    if here == before:
        return there
    conflicts.append(name)
    return f"<<<<<<< ours\n{here}\n=======\n{there}\n>>>>>>> theirs"


def _text_of(side: Staging, slug: str) -> str:
    entry = side.entry(slug)
    return entry.text.strip("\n") if entry else ""
