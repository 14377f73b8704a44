"""Findings: adding one to the raw file of its work unit, reading the folder, and promoting one to a learning.

Other tools write the JSON files too, so reading tolerates anything and writing keeps fields it does not know. Grouping
into themes is in `distil/themes.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from recollect.core.clock import iso, parse_time
from recollect.core.context import Context, lowest
from recollect.core.errors import BadInput, NotFound, RecollectError, Refused, after, not_searchable
from recollect.core.finding import AddedFinding, Finding, NewFinding, SkippedFile, WorkFile, check_work_id
from recollect.core.new_learning import TITLE_LIMIT, NewLearning
from recollect.core.records import Passage, record, replace
from recollect.core.trust import check_may
from recollect.store import events, passages
from recollect.store.files import rewrite
from recollect.text.sentences import clip, first_sentence
from recollect.text.storable import storable_record
from recollect.text.themes import raw_item, read_work_file, without_repeats, write_work_file

if TYPE_CHECKING:
    from recollect.capture.learn import Captured

FOLDER = "learnings"
KIND = "finding"
ADDED = "finding.added"
HELD = "finding.held"
HELD_BACK = "dismissed: held back"  # the disposition of a finding that a person keeps out of themes for now


@record
class Survey:
    files: tuple[WorkFile, ...]
    skipped: tuple[SkippedFile, ...]


def survey(ctx: Context) -> Survey:
    """Read every raw file. A missing folder is an empty one; no file, however odd, is an error."""
    read: list[WorkFile] = []
    skipped: list[SkippedFile] = []
    for name, stamp in sorted(ctx.vault.stamps(FOLDER).items()):
        if not name.endswith(".json"):
            continue
        if not stamp:
            skipped.append(SkippedFile(path=name, reason="not a regular file but a link, a folder or a device"))
            continue
        try:
            text = ctx.vault.read(f"{FOLDER}/{name}")
        except BadInput as problem:
            skipped.append(SkippedFile(path=name, reason=str(problem)))
            continue
        if text is None:
            continue  # it has gone since the folder was listed
        found = read_work_file(name, text.encode("utf-8", "surrogatepass"))
        if isinstance(found, SkippedFile):
            skipped.append(found)
        elif not found.findings:
            skipped.append(SkippedFile(path=name, reason="holds no finding with a description"))
        else:
            read.append(found)
    kept, repeats = without_repeats(read)
    shown = []
    for file in kept:  # secrets that other tools left in raw files are not passed on
        findings = tuple(storable_record(finding)[0] for finding in file.findings)
        shown.append(replace(file, findings=findings))
    return Survey(files=tuple(shown), skipped=tuple(skipped + repeats))


def add(ctx: Context, work_id: str, new: NewFinding) -> AddedFinding:
    """Append a finding to its work unit's file.

    A finding in the file without an event was never acknowledged: given again, it is the same finding.
    """
    work_id = check_work_id(work_id)
    new, _ = storable_record(new)
    check_may(ctx.actor.trust, KIND, "create")
    trust = lowest(ctx.actor.trust, "agent")
    item, path = raw_item(new, trust), f"{FOLDER}/{work_id}.json"
    number, stamp = 0, ""

    def change(before: str | None) -> str:
        nonlocal number, stamp
        items, stamp = _items(path, before)
        stamp = stamp or iso(ctx.clock.now())
        if number := _given_before(ctx, work_id, items, item):
            return before or ""
        number = len(items) + 1
        return write_work_file(work_id, stamp, [*items, item])

    rewrite(ctx.vault, path, change)
    finding = AddedFinding(work_id=work_id, number=number, trust=trust, **vars(new))
    try:
        with ctx.db.write(ctx.space) as tx:
            passages.put(tx, passage_of(finding, at=when(stamp)))
            events.record(tx, ctx, subject=finding.id, what=ADDED)
    except RecollectError as trouble:  # the finding is in the file for good
        return replace(finding, warning=not_searchable("The finding", trouble))
    return finding


def get(ctx: Context, id: str) -> Finding:
    for file in survey(ctx).files:
        for finding in file.findings:
            if finding.id == id:
                return finding
    raise NotFound(f"no finding {id}; ids of findings look like finding/WORK-ID#2")


def adopt(ctx: Context, id: str) -> Finding:
    """Vouch for a finding from outside, so that themes may hold it; only a person can."""
    check_may(ctx.actor.trust, KIND, "adopt")
    finding = get(ctx, id)
    if finding.trust != "external":
        return finding
    return _rewritten(ctx, replace(finding, trust="agent"), "finding.adopted", {"trust": ""})


def hold(ctx: Context, id: str, *, on: bool = True) -> Finding:
    """Keep a finding out of themes until it is released; its disposition in the raw file says so."""
    check_may(ctx.actor.trust, KIND, "consolidate")
    finding = get(ctx, id)
    before = [event.old["disposition"] for event in ctx.read(events.of, id) if event.what == HELD]
    if finding.dismissed == on:
        return finding
    if not on and finding.disposition != HELD_BACK:
        raise Refused(f"{id} was not held back but dismissed; change its disposition in the raw file")
    now = HELD_BACK if on else before[-1] if before else ""
    changed = replace(finding, disposition=now)
    return _rewritten(ctx, changed, HELD if on else "finding.released", {"disposition": now}, was=finding.disposition)


def _rewritten(ctx: Context, finding: Finding, what: str, fields: Mapping[str, str], *, was: str = "") -> Finding:
    """Write fields of a finding into its raw file; an empty one is left out."""
    stamp = ""

    def change(before: str | None) -> str:
        nonlocal stamp
        items, stamp = _items(path, before)
        item = {**items[finding.number - 1], **fields}
        items[finding.number - 1] = {name: value for name, value in item.items() if value or name not in fields}
        return write_work_file(finding.work_id, stamp, items)

    path = next(f"{FOLDER}/{file.path}" for file in survey(ctx).files if file.work_id == finding.work_id)
    rewrite(ctx.vault, path, change)
    with after(f"{finding.id} is changed in {path}", "Run: recollect theme run"), ctx.db.write(ctx.space) as tx:
        passages.put(tx, passage_of(finding, at=when(stamp)))
        events.record(tx, ctx, subject=finding.id, what=what, old={"disposition": was} if what == HELD else {})
    return finding


def promote(ctx: Context, id: str, *, title: str | None = None) -> Captured:
    """Make a learning of a finding; the finding is its origin, and its trust is at most an agent's."""
    finding = get(ctx, id)
    named = first_sentence(title or finding.proposed_rule or finding.description, 14)
    rule = finding.proposed_rule or finding.description
    new = NewLearning(
        title=named if len(named) <= TITLE_LIMIT else named[: TITLE_LIMIT - 1].rstrip() + "…",
        context=clip(f"Work unit {finding.work_id}" + (f", {finding.source}" if finding.source else ""), 60),
        observation=finding.description,
        implication=f"The same can happen again where {finding.category or 'this'} is touched",
        action=rule,
        tags=(finding.category.lower(),) if 0 < len(finding.category) <= 50 and finding.category.isprintable() else (),
        pattern_type="gotcha",
    )
    from recollect.capture.learn import learn  # compares texts, which no reader of findings does

    check_may(ctx.actor.trust, KIND, "promote", finding.trust)
    captured = learn(ctx.trusted_as(lowest(ctx.actor.trust, finding.trust)), new, anyway=True, origin=id)
    kept = after(f"{captured.learning.id} was saved", "Run this again: no learning is written twice")
    with kept, ctx.db.write(ctx.space) as tx:
        events.record(tx, ctx, subject=id, what="finding.promoted", new={"learning": captured.learning.id})
    return captured


def when(timestamp: str) -> int:
    """The time that a file states; 0 when it cannot be read, so that each reading gives the same."""
    try:
        return parse_time(timestamp)
    except BadInput:
        return 0


def passage_of(finding: Finding, *, at: int) -> Passage:
    return Passage(
        id=finding.id,
        kind=KIND,
        title=clip(finding.description, 14),
        lines=tuple(text for text in (finding.description, finding.proposed_rule) if text),
        keywords=tuple(text for text in (finding.category,) if text),
        who=finding.source,
        at=at,
        trust=finding.trust,
        thread=f"finding/{finding.work_id}",
        position=finding.number,
    )


def _given_before(ctx: Context, work_id: str, items: list[Any], item: dict[str, Any]) -> int:
    """The number of the latest equal item, when it was never acknowledged; else 0."""
    number = next((at for at in range(len(items), 0, -1) if items[at - 1] == item), 0)
    return number if number and not events.comes(ctx, f"finding/{work_id}#{number}", what=ADDED) else 0


def _items(path: str, text: str | None) -> tuple[list[Any], str]:
    """The items and time of a work unit's file; a file that cannot be read is never overwritten."""
    if text is None:
        return [], ""
    found = read_work_file(path, text.encode("utf-8", "surrogatepass"))
    if isinstance(found, SkippedFile):
        raise Refused(f"{path} cannot take another finding: {found.reason}. Repair it or use another work id")
    return list(json.loads(text.removeprefix("﻿"))["findings"]), found.timestamp
