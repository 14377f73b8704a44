"""Merging two versions of the staging file, entry by entry: what the git merge driver does.

New on both sides is kept, removed on one side stays removed, the same entry rewritten on both sides is a conflict for
a person. Rules after an entry are kept and never compared: they come and go with the neighbours. Knows nothing about
git.
"""

from __future__ import annotations

from dataclasses import dataclass

from recollect.text.staging import lines_of, marked_consolidated, read_staging, unmarked


@dataclass(frozen=True, kw_only=True)
class Merged:
    """The merged file, and the titles of what a person has to settle in it."""

    text: str
    conflicts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Part:
    """A preamble or an entry of one side: what it says, and its lines as they stand; empty when it is not there."""

    title: str = ""
    says: str = ""
    lines: str = ""


def merge_staging(base: str, ours: str, theirs: str) -> Merged:
    """What both sides made of the common version `base`."""
    old, mine, other = (_parts(text) for text in (base, ours, theirs))
    conflicts: list[str] = []
    parts: list[str] = []
    for slug in {**mine, **other}:
        before, here, there = (side.get(slug, _Part()) for side in (old, mine, other))
        merge = _merged_entry if slug else _merged_text
        parts += merge(before, here, there, conflicts)
    text = "\n\n".join(parts) + "\n" if parts else ""
    days = [day for side in (ours, theirs) if (day := read_staging(side).consolidated_on)]
    return Merged(text=marked_consolidated(text, max(days)) if days else text, conflicts=tuple(conflicts))


def _parts(text: str) -> dict[str, _Part]:
    """A side by slug; the preamble has none."""
    staging, lines = read_staging(text), lines_of(text)
    head = unmarked(staging.preamble).strip("\n")
    found = {"": _Part(title="the preamble", says=head, lines=head)}
    for entry in staging.entries:
        whole = "\n".join(lines[entry.first : entry.last]).strip("\n")
        found[entry.slug] = _Part(title=entry.title, says=entry.text, lines=whole)
    return found


def _merged_entry(before: _Part, here: _Part, there: _Part, conflicts: list[str]) -> list[str]:
    if not before.says and here.says and there.says and here.says != there.says:
        return [here.lines, there.lines]  # written on both sides under one title: two entries
    if not here.says or not there.says:
        # Taken out on one side: consolidated. It comes back only when the other side rewrote it meanwhile.
        left = here if here.says else there
        return [left.lines] if left.says != before.says else []
    return _merged_text(before, here, there, conflicts)


def _merged_text(before: _Part, here: _Part, there: _Part, conflicts: list[str]) -> list[str]:
    if here.says == there.says:
        kept = there if here.lines == before.lines else here
    elif there.says == before.says:
        kept = here
    elif here.says == before.says:
        kept = there
    else:
        conflicts.append(here.title)
        return [f"<<<<<<< ours\n{here.lines}\n=======\n{there.lines}\n>>>>>>> theirs"]
    return [kept.lines] if kept.lines else []
