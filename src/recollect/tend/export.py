"""Export and import of a memory as JSONL, one record a line; and mirroring a team's vault to a folder and back.

An export holds everything. An import takes outcomes, tasks, discoveries, learnings and decisions; history (injections,
events, inbox items) stays with the store that recorded it. docs/store.md lists the fields of each record.

`mirror` copies a change on one side; a change on both is reported and left alone, unless text was only appended. A
folder loses files for many reasons (another branch, a clean checkout), so a file that is missing there is never deleted
in the team's vault. A file that the team deleted is deleted in the folder too, except logs, which only grow.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Literal, NoReturn, get_args

from recollect.capture import import_records
from recollect.capture.import_records import ImportedLearning, Record, Terms
from recollect.capture.logs import days
from recollect.core.choices import Trust
from recollect.core.context import Context, Tx, Vault
from recollect.core.errors import BadInput, Refused, after
from recollect.core.learning import Discovery, Injection, Outcome, Task
from recollect.core.records import plain, record, replace
from recollect.core.trust import check_trust
from recollect.store import decisions, events, learnings, tasks
from recollect.store.decisions import DecisionFilter
from recollect.store.files import content_hash, open_file
from recollect.store.vault import WORKTREE_FILES

FORMAT = 1  # of an export; a program refuses what it does not know
HEADER = "recollect"
HISTORY = ("injection", "event", "escalation")
LINE_LIMIT = 4_000_000  # bytes; the longest record we write is well below
BATCH = 200  # lines a transaction takes, so that other writers wait for milliseconds
REPORTED = 1000  # problems that are listed; the rest is counted

Progress = Callable[[int], object]
Numbered = tuple[int, ImportedLearning]


@record
class Exported:
    records: dict[str, int]


@record
class ImportProblem:
    line: int
    reason: str


@record
class Imported:
    """`known` lines were here already; `adopted` too, but as external ones; `left` are history."""

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
    """Refuse to replace a file that is not an export, by its first line. An empty file may be replaced."""
    if not path.is_file() or not path.stat().st_size:
        return
    with open_file(path) as file:
        first = file.readline(LINE_LIMIT)
    try:
        ours = _parsed(first).get("type") == HEADER
    except BadInput:
        ours = False
    if not ours:
        raise Refused(f"{path} exists and is not an export of Recollect; choose another name or move it away")


def export(ctx: Context, write: Callable[[str], object], *, progress: Progress | None = None) -> Exported:
    """Write one JSON object a line, as of one instant, in an order that imports in one pass."""
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
    ctx: Context,
    stream: BinaryIO,
    *,
    name: str = "a stream",
    trust: Trust = "external",
    progress: Progress | None = None,
) -> Imported:
    """Import an export. Importing it again changes nothing; unusable lines are reported and skipped."""
    check_trust(ctx.actor.trust, trust)
    terms = Terms(trust=trust, now=ctx.clock.now(), change=ctx.ids("change"), reason=f"imported from {name}")
    done = _Done()
    with after("What was taken in so far stays", "Run this again: nothing is taken in twice"):
        lines = iter(_lines(stream))
        waiting: list[Numbered] = []  # superseded learnings that came before what replaced them
        while batch := list(islice(lines, BATCH)):
            waiting += _put(ctx, terms, [one for line in batch if (one := _read(ctx, terms, *line, done))], done)
            if progress is not None:
                progress(len(batch))
        while waiting and len(left := _put(ctx, terms, waiting, done)) < len(waiting):
            waiting = left
        gone = {"status": "archived", "superseded_by": None}  # the successors of the others are not in the import
        rest = [(number, replace(one, learning=replace(one.learning, **gone))) for number, one in waiting]
        _put(ctx, terms, rest, done)
    reported = len(done.conflicts) + len(done.bad)
    return Imported(
        trust=trust,
        added=dict(done.added),
        adopted=done.fates["adopted"],
        known=done.fates["known"],
        left=done.fates["left"],
        conflicts=tuple(done.conflicts),
        bad=tuple(done.bad),
        unreported=done.fates["conflict"] + done.fates["bad"] - reported,
    )


class _Done:
    def __init__(self) -> None:
        self.added: Counter[str] = Counter()
        self.fates: Counter[str] = Counter()
        self.conflicts: list[ImportProblem] = []
        self.bad: list[ImportProblem] = []

    def refuse(self, fate: Literal["bad", "conflict"], line: int, reason: str) -> None:
        self.fates[fate] += 1
        problems = self.bad if fate == "bad" else self.conflicts
        if len(problems) < REPORTED:
            problems.append(ImportProblem(line=line, reason=reason))


def _read(ctx: Context, terms: Terms, number: int, raw: bytes | None, done: _Done) -> tuple[int, Record] | None:
    try:
        values = _parsed(raw)
        kind = values.get("type")
        if kind == HEADER:
            if values.get("format") != FORMAT:
                raise Refused(
                    f"this export has format {str(values.get('format'))[:20]}, this program knows {FORMAT}. "
                    "Nothing was imported; upgrade this program"
                )
        elif kind in HISTORY:
            done.fates["left"] += 1
        elif kind in import_records.KINDS:
            return number, import_records.read(ctx, terms, str(kind), values)
        else:
            raise BadInput(f"unknown type {str(kind)[:60]!r}; use one of {', '.join(import_records.KINDS)}")
    except BadInput as error:
        done.refuse("bad", number, str(error))
    return None


def _put(ctx: Context, terms: Terms, batch: Sequence[tuple[int, Record]], done: _Done) -> list[Numbered]:
    """Store records; returns the learnings that wait for their successor."""
    waiting: list[Numbered] = []
    for start in range(0, len(batch), BATCH):
        some = batch[start : start + BATCH]
        with ctx.db.write(ctx.space) as tx:
            fates = [import_records.put(tx, ctx, terms, record) for _, record in some]
        for (number, given), fate in zip(some, fates, strict=True):
            if fate == "added":
                done.added["learning" if isinstance(given, ImportedLearning) else type(given).__name__.lower()] += 1
            elif fate == "conflict":
                id = given.learning.id if isinstance(given, ImportedLearning) else given.id
                done.refuse(fate, number, f"{id} is here already with another content, which was kept")
            elif fate == "waiting":
                assert isinstance(given, ImportedLearning)
                waiting.append((number, given))
            else:
                done.fates[fate] += 1
    return waiting


def _records(tx: Tx) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from (("outcome", vars(each)) for each in tasks.all_of(tx, Outcome))
    yield from (("task", vars(each)) for each in tasks.all_of(tx, Task))
    for discovery in tasks.all_of(tx, Discovery):
        values = dict(vars(discovery))
        yield "discovery", {"discovery_type": values.pop("type"), **values}
    for learning in learnings.all_of(tx):
        yield "learning", {**vars(learning), "sources": learnings.sources_of(tx, learning.id)}
    yield from (("decision", vars(each)) for each in decisions.walk(tx, DecisionFilter()))
    yield from (("injection", vars(each)) for each in tasks.all_of(tx, Injection))
    yield from (("escalation", vars(each)) for each in events.all_escalations(tx))
    yield from (("event", vars(each)) for each in events.all_of(tx))


def _line(values: dict[str, Any]) -> str:
    return json.dumps(plain(values), ensure_ascii=False) + "\n"


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Numbered lines that are not empty; None for one that is too long."""
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


@record
class Mirrored:
    """Paths by outcome: `ahead` changed only in the target, `missing` are gone from the source; both stay. `equal`
    holds the hashes for the next mirroring."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    ahead: tuple[str, ...]
    missing: tuple[str, ...]
    conflicts: tuple[str, ...]
    equal: dict[str, str]


def mirror(source: Vault, target: Vault, last: dict[str, str], *, pull: bool, force: bool = False) -> Mirrored:
    """Copy what changed in `source` since both sides had the hashes in `last`. `force` settles conflicts in its favour;
    `pull` says that the source is the team's."""
    found: dict[str, list[str]] = {fate: [] for fate in get_args(_Fate)}
    equal: dict[str, str] = {}
    for path in sorted({*source.paths(), *target.paths()} - WORKTREE_FILES):
        new, old = source.read(path), target.read(path)
        known = last.get(path, "")
        if new == old:
            equal[path] = _hash(new)
            continue
        fate = _fate(new, old, known, pull=pull, log=bool(days((path,))))
        if force and fate == "conflicts":
            fate = "removed" if new is None else "written"
        found[fate].append(path)
        if fate == "written" and new is not None:
            target.replace(path, new, expect=_hash(old))
            equal[path] = _hash(new)
        elif fate == "removed":
            target.delete(path, expect=_hash(old))
        elif known:
            equal[path] = known
    return Mirrored(**{fate: tuple(paths) for fate, paths in found.items()}, equal=equal)


_Fate = Literal["written", "removed", "ahead", "missing", "conflicts"]


def _fate(new: str | None, old: str | None, known: str, *, pull: bool, log: bool) -> _Fate:
    """The fate of a file that differs; `known` is its hash when both sides were equal, empty when they never were."""
    if new is None and known and (log or not pull):
        return "missing"
    if old is None and (log or pull):
        return "written"
    if log and new is not None and old is not None and old.startswith(new):
        return "ahead"  # an older copy of the log
    if _hash(old) == known:
        return "removed" if new is None else "written"
    if _hash(new) == known:
        return "ahead"
    if new is not None and old is not None:
        if new.startswith(old):
            return "written"
        if old.startswith(new):
            return "ahead"
    return "conflicts"


def _hash(text: str | None) -> str:
    return "" if text is None else content_hash(text)
