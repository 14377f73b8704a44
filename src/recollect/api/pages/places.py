"""Where a thing is shown, by its id: a page of its own, or as a text with its neighbours."""

from __future__ import annotations

from urllib.parse import quote

_SHOWN = {
    "learn_": "/learnings/",
    "dec_": "/decisions/",
    "daily/": "/journal/",
    "weekly/": "/journal/",
    "monthly/": "/journal/",
    "root": "/journal/",
}
"""Kinds of id with a page of their own, by how they begin."""


def place(id: str) -> str:
    """The address of what an id names."""
    if id.startswith("theme/"):
        return f"/{quote(id).replace('theme/', 'themes/', 1)}"
    for beginning, folder in _SHOWN.items():
        if id.startswith(beginning):
            return folder + quote(id)
    return f"/text/{quote(id)}"
