"""Themes: when findings are due to be gathered, gathering them, and the files that show the result.

Raw files are read and never written. Names and homes are rows; theme files and INDEX.md are made from them, after the
rows are committed, so that a crash leaves files to be written again and nothing else.

The line that INDEX.md has for a theme, in a model's words when one is configured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from recollect.capture.finding import FOLDER, Survey, passage_of, survey, when
from recollect.core.clock import iso
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput, NotFound, Refused, Stale, after
from recollect.core.finding import SkippedFile, Theme, check_theme_name
from recollect.core.values import Passage
from recollect.distil.theme_plan import KnownTheme, PlannedTheme, plan
from recollect.models.ask import OFFLINE, RETOLD, Ask, ask, read_line, version_asked
from recollect.models.embed import for_distilling
from recollect.store import db, events, journal, model_rows, passages
from recollect.store import themes as rows
from recollect.store.files import content_hash
from recollect.store.themes import StoredTheme
from recollect.text.frame import one_line
from recollect.text.themes import SUMMARY_WORDS, Index, parse_index, parse_theme, render_index, render_theme, uncounted

SUMMARY_KIND = "theme"


def worded(ctx: Context, planned: PlannedTheme) -> tuple[PlannedTheme, str]:
    """The theme with its summary, and by whom that is worded."""
    answer = ask(ctx, summary_question(planned))
    return replace(planned, theme=replace(planned.theme, summary=answer.value)), answer.generator


def summary_question(planned: PlannedTheme) -> Ask[str]:
    """What a model is asked about one theme."""
    told = {"theme": planned.theme.name, "lines": [uncounted(line.text) for line in planned.text.lines]}
    return Ask(
        kind=SUMMARY_KIND,
        subject=f"theme/{planned.theme.name}",
        sources=(json.dumps(told, ensure_ascii=False),),
        own_words=RETOLD,
        offline=lambda: planned.theme.summary,
        accept=_accepted,
        max_tokens=100,
    )


def _accepted(text: str) -> str:
    return one_line(read_line(text, words=SUMMARY_WORDS * 3 // 2)).replace(" → ", " -> ")


INDEX = f"{FOLDER}/INDEX.md"
KIND = "theme"
LEASE_SECONDS = 300
WORDED_BY = "themes by"
"""The name under which it is remembered which prompt the summaries were asked for with."""


@dataclass(frozen=True, kw_only=True)
class Due:
    """Whether a gathering is due, and what that was decided on."""

    due: bool
    reason: str
    files: int
    pending: int


@dataclass(frozen=True, kw_only=True)
class Gathering:
    """What a run did. `left_out` counts findings that did not fit their theme's budget."""

    ran: bool
    reason: str
    files: int
    themes: tuple[Theme, ...] = ()
    left_out: int = 0
    skipped: tuple[SkippedFile, ...] = ()


def due(ctx: Context, seen: Survey) -> Due:
    """Five raw files start the first gathering; three new or changed ones the next."""
    with ctx.db.read(ctx.space) as tx:
        read = rows.files(tx)
        stored = rows.everything(tx)
        answered = bool(model_rows.answered_asks(tx, SUMMARY_KIND))
        worded_by = journal.state(tx, WORDED_BY)
    settings = ctx.settings.findings
    pending = sum(read.get(file.path) != file.sha for file in seen.files)
    needed = settings.new_files
    if not read:
        before = parse_index(ctx.vault.read(INDEX) or "").raw_files_processed
        pending = max(0, len(seen.files) - before)
        needed = settings.new_files if before else settings.first_files
    if pending >= needed:
        return Due(due=True, reason=f"{pending} new or changed raw files", files=len(seen.files), pending=pending)
    if stored and (answered or worded_by != version_asked(ctx, SUMMARY_KIND)):
        return Due(due=True, reason="summaries to be worded", files=len(seen.files), pending=pending)
    if any(_unfinished(ctx, one) for one in stored):
        return Due(due=True, reason="theme files are missing", files=len(seen.files), pending=pending)
    reason = f"{pending} of {needed} new raw files"
    return Due(due=False, reason=reason, files=len(seen.files), pending=pending)


def run(ctx: Context, *, always: bool = False) -> Gathering:
    """Gather findings into themes when that is due (or `always`). Nothing due is fine and says so."""
    seen = survey(ctx)
    _index_new(ctx, seen)
    test = due(ctx, seen)
    if not seen.files or not (test.due or always):
        return Gathering(ran=False, reason=test.reason, files=len(seen.files), skipped=seen.skipped)
    lease = db.take_lease(ctx, "themes", seconds=LEASE_SECONDS)
    if lease is None:
        return Gathering(ran=False, reason="another process is at it", files=len(seen.files), skipped=seen.skipped)
    try:
        made = _gather(ctx, seen, lease)
    finally:
        db.release_lease(ctx, lease)
    left_out = sum(len(theme.left_out) for theme in made)
    return Gathering(
        ran=True, reason=test.reason, files=len(seen.files), themes=made, left_out=left_out, skipped=seen.skipped
    )


def rename(ctx: Context, old: str, new: str) -> Theme:
    """Give a theme a name of your own; the machine keeps it from then on."""
    check_theme_name(new)
    with ctx.db.write(ctx.space) as tx:
        stored = rows.everything(tx)
        known = rows.get(tx, old)
        if new != old and any(one.theme.name == new for one in stored):
            raise Refused(f"there is a theme {new} already; choose another name")
        hashes = rows.text_hashes(tx)
        named = replace(known, theme=replace(known.theme, name=new, named_by="human"), file_hash="", before_hash="")
        if new == old:
            named = replace(named, file_hash=known.file_hash, before_hash=known.before_hash)
        rows.replace_all(tx, [named if one.theme.name == old else one for one in stored], hashes)
        if new != old:
            passages.remove(tx, f"theme/{old}")
        events.record(tx, ctx, subject=f"theme/{new}", what="theme.renamed", old={"name": old}, new={"name": new})
    if new != old:
        with after(f"The theme is called {new} now", "Run: recollect theme run --always"):
            with suppress(Stale):  # a file that somebody edited stays, and is taken in by the next run
                ctx.vault.delete(theme_path(old), expect=known.file_hash)
            run(ctx, always=True)
    with ctx.db.read(ctx.space) as tx:
        return rows.get(tx, new).theme


def themes(ctx: Context) -> list[Theme]:
    """All themes, best supported first."""
    with ctx.db.read(ctx.space) as tx:
        found = [stored.theme for stored in rows.everything(tx)]
    return sorted(found, key=lambda theme: (-len(theme.work_ids), -len(theme.findings), theme.name))


def text_of(ctx: Context, name: str) -> tuple[Theme, str]:
    """A theme and what its file says."""
    with ctx.db.read(ctx.space) as tx:
        theme = rows.get(tx, name).theme
    return theme, ctx.vault.read(theme_path(name)) or ""


def index(ctx: Context) -> str:
    """INDEX.md as it stands."""
    text = ctx.vault.read(INDEX)
    if text is None:
        raise NotFound("there is no INDEX.md yet; make it with: recollect theme run")
    return text


def planned_from_file(ctx: Context, name: str) -> PlannedTheme:
    """A theme as its file has it."""
    theme, text = text_of(ctx, name)
    return PlannedTheme(theme=theme, text=parse_theme(name, text))


def _gather(ctx: Context, seen: Survey, lease: db.Lease) -> tuple[Theme, ...]:
    by_meaning = for_distilling(ctx)
    with ctx.db.read(ctx.space) as tx:
        stored = rows.everything(tx)
        placed = rows.text_hashes(tx)
        read = rows.files(tx)
        last = rows.last_run(tx)
    findings = [finding for file in seen.files for finding in file.findings]
    hashes = {finding.id: content_hash(finding.text) for finding in findings}
    on_disk = {path: ctx.vault.read(path) for path in ctx.vault.paths(f"{FOLDER}/themes") if path.endswith(".md")}
    known = [_known(one, placed, hashes, on_disk.get(theme_path(one.theme.name))) for one in stored]
    known += _foreign(on_disk, {one.theme.name for one in stored})
    planned, generators = _worded(ctx, plan(findings, known, by_meaning[1] if by_meaning else None), lease)
    fresh = {file.path: file.sha for file in seen.files if read.get(file.path) != file.sha}
    at = ctx.clock.now() if fresh or last is None else last
    made = [_stored(one, known, on_disk.get(theme_path(one.theme.name))) for one in planned]
    kept = {one.theme.name for one in made}
    for one in stored:
        if one.theme.name not in kept:
            with suppress(Stale):
                ctx.vault.delete(theme_path(one.theme.name), expect=one.file_hash)
    with ctx.db.write(ctx.space) as tx:
        db.check_lease(tx, lease)
        rows.replace_all(tx, made, hashes)
        rows.mark_read(tx, fresh, at=at)
        processed = len(rows.files(tx))
        _write_passages(tx, planned, {one.theme.name for one in stored} - kept, at)
        _forget_findings(tx, placed, hashes)
        _record(tx, ctx, made, fresh, generators)
        journal.put_state(tx, WORDED_BY, version_asked(ctx, SUMMARY_KIND))
    with after("The themes were gathered", "Run: recollect theme run --always"):
        _write_files(ctx, planned, on_disk, last_compaction=iso(at), processed=processed)
    return tuple(one.theme for one in planned)


def _worded(
    ctx: Context, planned: Sequence[PlannedTheme], lease: db.Lease
) -> tuple[list[PlannedTheme], dict[str, str]]:
    """The themes with their summaries, and by whom each is worded where that is a model."""
    if ctx.models.provider(SUMMARY_KIND) is None:
        return list(planned), {}
    made, generators = [], {}
    for one in planned:
        said, generator = worded(ctx, one)
        db.renew_lease(ctx, lease, seconds=LEASE_SECONDS)
        made.append(said)
        if generator != OFFLINE:
            generators[one.theme.name] = generator
    return made, generators


def _write_files(
    ctx: Context,
    planned: Sequence[PlannedTheme],
    on_disk: Mapping[str, str | None],
    *,
    last_compaction: str,
    processed: int,
) -> None:
    """Theme files, then the index that names them. A file that changed since it was read is not written over."""
    for one in planned:
        before, text = on_disk.get(theme_path(one.theme.name)), render_theme(one.text)
        if text != before:
            ctx.vault.replace(theme_path(one.theme.name), text, expect="" if before is None else content_hash(before))
    summaries = tuple((one.theme.name, one.theme.summary) for one in planned)
    index = Index(last_compaction=last_compaction, raw_files_processed=processed, themes=summaries)
    ctx.vault.replace(INDEX, render_index(index))


def _known(stored: StoredTheme, placed: dict[str, str], hashes: dict[str, str], text: str | None) -> KnownTheme:
    """A theme as the planner knows it: findings that still say the same, and lines that a person added to its file."""
    edited = text is not None and content_hash(text) not in (stored.file_hash, stored.before_hash)
    lines = tuple(line.text for line in parse_theme(stored.theme.name, text or "").lines) if edited else ()
    return KnownTheme(
        name=stored.theme.name,
        named_by=stored.theme.named_by,
        findings=tuple(id for id in stored.theme.findings if hashes.get(id) == placed[id]),
        inherited=tuple(dict.fromkeys((*stored.inherited, *lines))),
        inherited_units=stored.inherited_units,
    )


def _foreign(on_disk: dict[str, str | None], ours: set[str]) -> list[KnownTheme]:
    """Theme files that another program wrote: their names, lines and work units are taken over."""
    found: list[KnownTheme] = []
    for path, text in sorted(on_disk.items()):
        name = path.rpartition("/")[2].removesuffix(".md")
        if name in ours or text is None:
            continue
        with suppress(BadInput):
            parsed = parse_theme(check_theme_name(name), text)
            lines = tuple(line.text for line in parsed.lines)
            if lines:
                found.append(KnownTheme(name=name, inherited=lines, inherited_units=parsed.work_ids))
    return found


def _stored(planned: PlannedTheme, known: Sequence[KnownTheme], before: str | None) -> StoredTheme:
    by_name = {one.name: one for one in known}
    old = by_name.get(planned.theme.name)
    return StoredTheme(
        theme=planned.theme,
        inherited=old.inherited if old else (),
        inherited_units=old.inherited_units if old else (),
        file_hash=content_hash(render_theme(planned.text)),
        before_hash="" if before is None else content_hash(before),
    )


def _unfinished(ctx: Context, stored: StoredTheme) -> bool:
    """Whether the theme's file is missing or was not written before a crash."""
    text = ctx.vault.read(theme_path(stored.theme.name))
    return text is None or (content_hash(text) == stored.before_hash != stored.file_hash)


def _index_new(ctx: Context, seen: Survey) -> None:
    """Make new raw findings searchable at once, whether or not a gathering is due."""
    with ctx.db.read(ctx.space) as tx:
        read = rows.files(tx)
    fresh = [file for file in seen.files if read.get(file.path) != file.sha]
    if fresh:
        with ctx.db.write(ctx.space) as tx:
            for file in fresh:
                for finding in file.findings:
                    passages.put(tx, passage_of(finding, at=when(file.timestamp)))


def _write_passages(tx: Tx, planned: Sequence[PlannedTheme], gone: set[str], at: int) -> None:
    for name in sorted(gone):
        passages.remove(tx, f"theme/{name}")
    for one in planned:
        passages.put(tx, theme_passage(one.theme.name, render_theme(one.text), at=at))


def theme_passage(name: str, text: str, *, at: int) -> Passage:
    """How a theme is searched: by what its file says."""
    lines = tuple(line.text for line in parse_theme(name, text).lines)
    return Passage(id=f"theme/{name}", kind=KIND, title=name.replace("-", " "), lines=lines, at=at, trust="agent")


def _forget_findings(tx: Tx, placed: dict[str, str], hashes: dict[str, str]) -> None:
    for id in sorted(set(placed) - set(hashes)):
        passages.remove(tx, id)


def _record(
    tx: Tx, ctx: Context, made: Sequence[StoredTheme], fresh: dict[str, str], generators: dict[str, str]
) -> None:
    left_out = [id for one in made for id in one.theme.left_out]
    events.record(
        tx,
        ctx,
        subject="themes",
        what="themes.gathered",
        new={
            "themes": [one.theme.name for one in made],
            "files": sorted(fresh),
            "left_out": left_out,
            **({"worded_by": generators} if generators else {}),
        },
    )


def theme_path(name: str) -> str:
    return f"{FOLDER}/themes/{name}.md"
