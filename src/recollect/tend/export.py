"""Export and import: everything of a space as JSONL, one record a line, and back.

An export says all it knows. An import takes outcomes, tasks, discoveries, learnings and decisions; what happened
(injections, events, matters of the inbox) stays with the store that saw it happen. docs/store.md lists the fields of
each record.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from recollect.capture import import_records
from recollect.capture.edit import check_trust
from recollect.capture.import_records import ImportedLearning, Record, Terms
from recollect.core.choices import Trust
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput, Refused, after
from recollect.core.records import plain
from recollect.store import decisions, events, learnings, tasks
from recollect.store.decisions import DecisionFilter

FORMAT = 1
HEADER = "recollect"
HISTORY = ("injection", "event", "escalation")
LINE_LIMIT = 4_000_000  # bytes; the longest record we write is well below
BATCH = 200  # lines a transaction takes, so that nobody waits long for the writer
REPORTED = 1000  # problems spelled out; the rest is only counted

Progress = Callable[[int], object]


@dataclass(frozen=True, kw_only=True)
class Exported:
    """How many records of each type were written."""

    records: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class ImportProblem:
    """A line that was not taken, and why."""

    line: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What became of the lines. `known` were here already, `adopted` too, but from outside; `left` are history."""

    trust: Trust
    added: dict[str, int]
    adopted: int
    known: int
    left: int
    conflicts: tuple[ImportProblem, ...]
    bad: tuple[ImportProblem, ...]
    unreported: int

    @property
    def whole(self) -> bool:
        """Whether every line was taken, known or history."""
        return not self.conflicts and not self.bad


def check_replaceable(path: Path) -> None:
    """Refuse to replace a file that is not an export; its first line tells. An empty one holds nothing to lose."""
    if not path.is_file() or not path.stat().st_size:
        return
    with path.open("rb") as file:
        first = file.readline(LINE_LIMIT)
    try:
        ours = _parsed(first).get("type") == HEADER
    except BadInput:
        ours = False
    if not ours:
        raise Refused(f"{path} exists and is not an export of Recollect; choose another name or move it away")


def export(ctx: Context, write: Callable[[str], object], *, progress: Progress | None = None) -> Exported:
    """Write one JSON object a line, in an order that imports in one pass, as of one instant."""
    counts: Counter[str] = Counter()
    write(_line({"type": HEADER, "format": FORMAT, "space": ctx.space, "exported_at": ctx.clock.now()}))
    with ctx.db.read(ctx.space) as tx:
        for kind, values in _records(tx):
            write(_line({"type": kind, **values}))
            counts[kind] += 1
            if progress is not None:
                progress(1)
    return Exported(records=dict(counts))


def import_lines(
    ctx: Context, stream: BinaryIO, *, name: str, trust: Trust = "external", progress: Progress | None = None
) -> Imported:
    """Take in an export. Doing it twice changes nothing; a line that cannot be taken is named and passed over."""
    check_trust(ctx, trust)
    terms = Terms(trust=trust, now=ctx.clock.now(), change=ctx.ids("change"), reason=f"imported from {name}")
    with after("What was taken in so far stays", "Run this again: nothing is taken in twice"):
        return _Import(ctx, terms).run(stream, progress)


class _Import:
    """The state of one import: what was counted, and what waits for its successor."""

    def __init__(self, ctx: Context, terms: Terms):
        self._ctx = ctx
        self._terms = terms
        self._added: Counter[str] = Counter()
        self._known = self._adopted = self._left = self._unreported = 0
        self._conflicts: list[ImportProblem] = []
        self._bad: list[ImportProblem] = []
        self._waiting: list[tuple[int, ImportedLearning]] = []

    def run(self, stream: BinaryIO, progress: Progress | None) -> Imported:
        batch: list[tuple[int, Record]] = []
        for number, raw in _lines(stream):
            record = self._read(number, raw)
            if record is not None:
                batch.append((number, record))
            if len(batch) >= BATCH:
                self._put(batch)
                batch = []
            if progress is not None:
                progress(1)
        self._put(batch)
        self._put_waiting()
        return Imported(
            trust=self._terms.trust,
            added=dict(self._added),
            adopted=self._adopted,
            known=self._known,
            left=self._left,
            conflicts=tuple(self._conflicts),
            bad=tuple(self._bad),
            unreported=self._unreported,
        )

    def _read(self, number: int, raw: bytes | None) -> Record | None:
        try:
            values = _parsed(raw)
            kind = values.get("type")
            if kind == HEADER:
                _refuse_newer(values)
                return None
            if kind in HISTORY:
                self._left += 1
                return None
            if kind not in import_records.KINDS:
                raise BadInput(f"unknown type {str(kind)[:60]!r}; use one of {', '.join(import_records.KINDS)}")
            return import_records.read(self._ctx, self._terms, str(kind), values)
        except BadInput as error:
            self._report(self._bad, number, str(error))
            return None

    def _put(self, batch: list[tuple[int, Record]]) -> None:
        if not batch:
            return
        with self._ctx.db.write(self._ctx.space) as tx:
            fates = [import_records.put(tx, self._ctx, self._terms, record) for _, record in batch]
        for (number, record), fate in zip(batch, fates, strict=True):
            if fate == "added":
                self._added["learning" if isinstance(record, ImportedLearning) else type(record).__name__.lower()] += 1
            elif fate == "adopted":
                self._adopted += 1
            elif fate == "known":
                self._known += 1
            elif fate == "waiting":
                assert isinstance(record, ImportedLearning)
                self._waiting.append((number, record))
            else:
                id = record.learning.id if isinstance(record, ImportedLearning) else record.id
                self._report(self._conflicts, number, f"{id} is here with another content, which stays")

    def _put_waiting(self) -> None:
        """Superseded learnings came before what replaced them: go on while that brings one in."""
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            for start in range(0, len(waiting), BATCH):
                self._put(list(waiting[start : start + BATCH]))
            if len(self._waiting) == len(waiting):
                orphans: list[tuple[int, Record]] = [(number, import_records.orphaned(one)) for number, one in waiting]
                self._waiting = []
                for start in range(0, len(orphans), BATCH):
                    self._put(orphans[start : start + BATCH])

    def _report(self, problems: list[ImportProblem], line: int, reason: str) -> None:
        if len(problems) < REPORTED:
            problems.append(ImportProblem(line=line, reason=reason))
        else:
            self._unreported += 1


def _records(tx: Tx) -> Iterator[tuple[str, dict[str, Any]]]:
    for outcome in tasks.all_outcomes(tx):
        yield "outcome", vars(outcome)
    for task in tasks.all_tasks(tx):
        yield "task", vars(task)
    for discovery in tasks.all_discoveries(tx):
        values = dict(vars(discovery))
        yield "discovery", {"discovery_type": values.pop("type"), **values}
    for learning in learnings.all_of(tx):
        yield "learning", {**vars(learning), "sources": learnings.sources_of(tx, learning.id)}
    for decision in decisions.walk(tx, DecisionFilter()):
        yield "decision", vars(decision)
    for injection in tasks.all_injections(tx):
        yield "injection", vars(injection)
    for matter in events.all_escalations(tx):
        yield "escalation", vars(matter)
    for event in events.all_of(tx):
        yield "event", vars(event)


def _line(values: dict[str, Any]) -> str:
    return json.dumps(plain(values), ensure_ascii=False) + "\n"


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Numbered lines that hold something; None for one that is too long to be a record."""
    number = 0
    while raw := stream.readline(LINE_LIMIT + 1):
        number += 1
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        if len(raw) > LINE_LIMIT:
            while raw and not raw.endswith(b"\n"):
                raw = stream.readline(LINE_LIMIT + 1)
            yield number, None
        elif raw.strip():
            yield number, raw


def _parsed(raw: bytes | None) -> dict[str, Any]:
    if raw is None:
        raise BadInput(f"longer than {LINE_LIMIT:,} bytes")
    try:
        values = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        torn = "" if raw.endswith(b"\n") else "; the file ends in the middle of it"
        raise BadInput(f"not JSON ({str(error)[:80]}){torn}") from None
    if not isinstance(values, dict):
        raise BadInput("not a JSON object")
    return values


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _refuse_newer(values: dict[str, Any]) -> None:
    if values.get("format") != FORMAT:
        raise Refused(
            f"this export has format {str(values.get('format'))[:20]}, this program knows {FORMAT}. "
            "Nothing was imported; upgrade this program"
        )
