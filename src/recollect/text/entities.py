"""Who and what a text names: people, services, files, errors.

Rules of thumb over spelling, not recognition; good enough to lead a search. Knows nothing about where they are listed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from recollect.core.journal import Point

KINDS = ("people", "services", "files", "errors")
SHOWN = 10

_FILE = re.compile(
    r"(?<![\w/:.])(?:[\w.@~-]*/)*[\w@-][\w.@-]*\.[a-z]{1,5}\b(?![./]?\w)|(?<![\w/:.])(?:[a-z_.-]{2,}/)+[a-z_-]{3,}"
)
_ERROR = re.compile(r"\b(?:[A-Z]\w*(?:Error|Exception)|E[A-Z]{5,}|HTTP [45]\d\d|SIG[A-Z]{3,}|[A-Z]+_[A-Z_]{3,})\b")
_NAME = r"(?!\w+(?:day|ember|uary)\b|March|April|May|June|July|August|October)[A-Z][a-z]+"
_PERSON = re.compile(
    rf"(?<![\w@/])(@(?!sha)[a-z][\w-]+)\b(?![./])|\b(?:with|by|asked|told|cc|to|for|and) ({_NAME})\b(?!\.\w|-)|"
    rf"\b({_NAME}) (?:said|asked|joined|decide[ds]|approve[ds]|wants?|reviews|works|agreed|reported|prefers|owns)\b"
)
_SPEAKER = re.compile(r"([A-Z][a-z]+(?: [A-Z][a-z]+)?): ")
_SPEAKS = 3
"""How often a name must stand before a colon to be a speaker rather than a word such as `Note:`."""
_SERVICE = re.compile(
    r"\b[a-z][a-z0-9]*(?:-[a-z0-9]+)*-(?:api|service|worker|gateway|server|db|proxy|queue|sidecar)\b"
    r"|\b(?:[A-Z][a-z]+){2,}[A-Z]*\b|\b[A-Z][a-z]+[A-Z]{2,}\b"
)


def entities(points: Sequence[Point]) -> list[Point]:
    """One point per kind, the most mentioned first. Other lines say the same with references, so these carry none."""
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for point in points:
        for kind, names in _mentions(point).items():
            counts[kind].update(names)
    speakers = Counter(found[1] for point in points if (found := _SPEAKER.match(point.text)))
    counts["people"].update({name: count for name, count in speakers.items() if count >= _SPEAKS})
    for name in (*counts["people"], *counts["errors"]):
        counts["services"].pop(name, None)
    made = []
    for kind, counter in counts.items():
        best = sorted(counter, key=lambda name: (-counter[name], name))[:SHOWN]
        if best:
            made.append(Point(section="entity", topic=kind, text=", ".join(best)))
    return made


def _mentions(point: Point) -> dict[str, set[str]]:
    if point.section == "entity":
        return {point.topic: set(point.text.split(", "))} if point.topic in KINDS else {}
    return {
        "people": {name for found in _PERSON.findall(point.text) for name in found if name},
        "services": set(_SERVICE.findall(point.text)),
        "files": set(_FILE.findall(point.text)),
        "errors": set(_ERROR.findall(point.text)),
    }
