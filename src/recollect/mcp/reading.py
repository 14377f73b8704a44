"""One thing by its id, whatever kind it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recollect.core.calendar import LEVELS, ROOT
from recollect.core.errors import BadInput
from recollect.core.plain import plain
from recollect.distil.page import full_text, headline
from recollect.mcp.answers import Thing
from recollect.memory import Memory
from recollect.text.frame import block

IDS = "learn_…, dec_…, log/2026-03-01#3, log/2026-03-01, daily/2026-03-01, weekly/2026-W09, monthly/2026-03, root, "
IDS += "finding/WORK#2, theme/NAME, index"


def read(memory: Memory, id: str) -> Thing:
    """The thing whole; ids are those that `search`, `recall` and `inject` name."""
    prefix = id.partition("_")[0] if "/" not in id else id.partition("/")[0]
    reader = _READERS.get(prefix)
    if reader is None:
        raise BadInput(f"{id[:80]!r} is no id of this memory; ids look like {IDS}")
    return reader(memory, id)


def _learning(memory: Memory, id: str) -> Thing:
    found = memory.learnings.get(id)
    return Thing(id=id, kind="learning", title=found.title, body=block(found), trust=found.trust, record=_record(found))


def _decision(memory: Memory, id: str) -> Thing:
    found = memory.decisions.get(id)
    return Thing(
        id=id, kind="decision", title=headline(found), body=full_text(found), trust=found.trust, record=_record(found)
    )


def _log(memory: Memory, id: str) -> Thing:
    if "#" not in id:
        day = id.partition("/")[2]
        return _file(id, "log", f"log of {day}", memory.journal.show(day))
    found = memory.journal.entry(id)
    return Thing(id=id, kind="entry", title=found.topic, body=found.text, trust=found.trust, record=_record(found))


def _node(memory: Memory, id: str) -> Thing:
    return _file(id, "node", id, memory.journal.node(id))


def _finding(memory: Memory, id: str) -> Thing:
    found = memory.themes.finding(id)
    return Thing(id=id, kind="finding", title=found.category, body=found.text, trust="agent", record=_record(found))


def _theme(memory: Memory, id: str) -> Thing:
    theme, text = memory.themes.show(id.partition("/")[2])
    return Thing(id=id, kind="theme", title=theme.summary, body=text, trust="agent", record=_record(theme))


def _index(memory: Memory, id: str) -> Thing:
    return _file(id, "index", "INDEX.md: the themes", memory.themes.index())


def _file(id: str, kind: str, title: str, text: str) -> Thing:
    return Thing(id=id, kind=kind, title=title, body=text, trust="agent", record={})


def _record(value: object) -> dict[str, Any]:
    found: dict[str, Any] = plain(value)
    return found


_READERS: dict[str, Callable[[Memory, str], Thing]] = {
    "learn": _learning,
    "dec": _decision,
    "log": _log,
    ROOT: _node,
    **dict.fromkeys(LEVELS, _node),
    "finding": _finding,
    "theme": _theme,
    "index": _index,
}
