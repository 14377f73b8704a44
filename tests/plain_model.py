"""What learnings should do, in plain Python: dictionaries, integer thousandths and no store.

Written from the documentation, not from the code it is held against.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from recollect.core.clock import DAY

FLOOR, CEILING = 100, 1000
Verdict = Literal["helpful", "not_helpful"]


class No(Exception):
    """The model says that this must be refused."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A learning as the model knows it."""

    key: str  # which text of the pool it was made from
    created_at: int
    title: str
    tags: tuple[str, ...]
    domain: str | None
    confidence: int = 700
    status: str = "active"
    superseded_by: str | None = None
    pinned: bool = False
    injected: int = 0
    helpful: int = 0
    not_helpful: int = 0
    recurrence: int = 1
    version: int = 1
    last_injected: int = 0
    last_decayed: int = 0


CHANGEABLE = ("title", "tags", "domain", "confidence", "status", "superseded_by", "pinned")


@dataclass
class Change:
    """One step that undo can take back: which fields of which learning moved from what to what."""

    id: str
    old: dict[str, object]
    new: dict[str, object]
    undone: bool = False


@dataclass
class Model:
    entries: dict[str, Entry] = field(default_factory=dict)
    verdicts: dict[tuple[str, str], tuple[Verdict | None, int]] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)

    def learn(self, id: str, entry: Entry) -> str:
        for known_id, known in sorted(self.entries.items()):
            if known.key == entry.key and known.status == "active":
                self.entries[known_id] = replace(known, recurrence=known.recurrence + 1)
                return known_id
        self.entries[id] = entry
        self.changes.append(Change(id, {"status": "archived"}, {}))
        return id

    def change(self, id: str, **fields: object) -> None:
        now = self.entries[id]
        moved = {name: value for name, value in fields.items() if getattr(now, name) != value}
        if moved:
            self.changes.append(Change(id, {name: getattr(now, name) for name in moved}, moved))
            self.entries[id] = replace(now, **moved, version=now.version + 1)  # type: ignore[arg-type]

    def archive(self, id: str) -> None:
        if self.entries[id].status == "superseded":
            raise No
        self.change(id, status="archived")

    def restore(self, id: str, now: int) -> None:
        if self.entries[id].status != "active":
            self.change(id, status="active", superseded_by=None)
            self.entries[id] = replace(self.entries[id], last_decayed=now)

    def pin(self, id: str, now: int, *, on: bool) -> None:
        if self.entries[id].pinned and not on:
            self.entries[id] = replace(self.entries[id], last_decayed=now)
        self.change(id, pinned=on)

    def supersede(self, old: str, new: str) -> None:
        chain: list[str] = [new]
        while (after := self.entries[chain[-1]].superseded_by) is not None:
            chain.append(after)
        if old in chain or self.entries[new].status == "archived":
            raise No
        self.change(old, status="superseded", superseded_by=new)

    def inject(self, ids: list[str], task: str, now: int) -> None:
        if any(self.entries[id].status != "active" for id in ids):
            raise No
        for id in ids:
            if (id, task) not in self.verdicts:
                self.verdicts[id, task] = (None, 0)
                entry = self.entries[id]
                self.entries[id] = replace(entry, injected=entry.injected + 1, last_injected=now)

    def verdict(self, id: str, task: str, verdict: Verdict, *, may_change: bool) -> bool:
        """Whether it counted."""
        if (id, task) not in self.verdicts:
            return False
        earlier, moved = self.verdicts[id, task]
        if earlier == verdict or (earlier is not None and not may_change):
            return False
        entry = self.entries[id]
        base = _within(entry.confidence, entry.confidence - moved)
        after = _within(base, base + (50 if verdict == "helpful" else -100))
        counts = {"helpful": entry.helpful, "not_helpful": entry.not_helpful}
        counts[verdict] += 1
        if earlier is not None:
            counts[earlier] -= 1
        self.entries[id] = replace(entry, confidence=after, **counts)
        self.verdicts[id, task] = (verdict, after - base)
        return True

    def decay(self, now: int) -> None:
        for id, entry in self.entries.items():
            if entry.status != "active" or entry.pinned:
                continue
            since = max(entry.created_at, entry.last_injected, entry.last_decayed)
            periods = (now - since) // (30 * DAY)
            if periods > 0:
                left = min(entry.confidence, max(FLOOR, entry.confidence - 20 * periods))
                self.entries[id] = replace(entry, confidence=left, last_decayed=since + periods * 30 * DAY)

    def undo(self) -> None:
        change = next((change for change in reversed(self.changes) if not change.undone), None)
        if change is None:
            raise No
        now = self.entries[change.id]
        if any(getattr(now, name) != value for name, value in change.new.items()):
            raise No
        moved = {name: value for name, value in change.old.items() if getattr(now, name) != value}
        if moved:
            self.entries[change.id] = replace(now, **moved, version=now.version + 1)  # type: ignore[arg-type]
            change.undone = True

    def found(self, key: str) -> set[str]:
        return {
            id
            for id, entry in self.entries.items()
            if entry.key == key and entry.status == "active" and entry.confidence >= 500
        }


def _within(now: int, wanted: int) -> int:
    """A step stops at the bounds; what a person set beyond them is not pulled back."""
    return max(min(now, FLOOR), min(max(now, CEILING), wanted))
