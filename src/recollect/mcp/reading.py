"""One thing by its id, whatever kind it is: as its home has it, with the stored record where there is one."""

from __future__ import annotations

from typing import Any

from recollect.core.plain import plain
from recollect.distil.page import full_text, headline
from recollect.mcp.answers import Thing
from recollect.memory import Memory
from recollect.text.frame import block

IDS = "learn_…, dec_…, log/2026-03-01#3, log/2026-03-01, daily/2026-03-01, weekly/2026-W09, monthly/2026-03, root, "
IDS += "finding/WORK#2, theme/NAME, staged/NAME, doc/PATH#SECTION, index"


def read(memory: Memory, id: str) -> Thing:
    """The thing whole; ids are those that `search`, `recall` and `inject` name."""
    if id.startswith("learn_"):
        learning = memory.learnings.get(id)
        kept: dict[str, Any] = plain(learning)
        body = block(learning) + (f"\n\nOut of use: {learning.out_of_use}" if learning.out_of_use else "")
        return _thing(id, "learning", learning.title, body, trust=learning.trust, record=kept)
    if id.startswith("dec_"):
        decision = memory.decisions.get(id)
        kept = plain(decision)
        return _thing(id, "decision", headline(decision), full_text(decision), trust=decision.trust, record=kept)
    if id == "index":
        return _thing(id, "index", "INDEX.md: the themes", memory.themes.index())
    if id.startswith("log/") and "#" not in id:
        return _thing(id, "day", id, memory.journal.show(id.removeprefix("log/")))
    found = memory.texts.get(id)
    return _thing(id, found.kind, found.title, found.text, trust=found.trust)


def _thing(id: str, kind: str, title: str, body: str, **more: Any) -> Thing:
    return Thing(**{"id": id, "kind": kind, "title": title, "body": body, "trust": "agent", "record": {}, **more})
