"""Themes: whether findings are due to be gathered, gathering them, and the theme files and INDEX.md.

Raw files are read and never written. Names and assignments are rows; the files are made from them after the rows are
committed, so that after a crash only files have to be written again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

from recollect.capture.change import propose
from recollect.capture.finding import FOLDER, HELD_BACK, Survey, passage_of, survey, when
from recollect.core.clock import iso
from recollect.core.context import Context
from recollect.core.errors import BadInput, NotFound, Refused, Stale, after
from recollect.core.finding import Finding, SkippedFile, Theme, check_theme_name
from recollect.core.records import Passage, record, replace
from recollect.core.trust import PROPOSED, check_may
from recollect.distil.theme_plan import KnownTheme, PlannedTheme, finding_line, plan
from recollect.models.ask import OFFLINE, RETOLD_SHARE, Ask, ask_within, prompt_version, read_line
from recollect.models.budget import limited
from recollect.models.embed import judge_of
from recollect.store import db, events, journal, model_rows, passages
from recollect.store import themes as rows
from recollect.store.files import content_hash
from recollect.store.themes import StoredTheme
from recollect.text.frame import one_line
from recollect.text.markdown import unified
from recollect.text.themes import (
    SUMMARY_WORDS,
    Index,
    parse_index,
    parse_theme,
    render_index,
    render_theme,
    uncounted,
)

SUMMARY_KIND = "theme"


def summary_question(planned: PlannedTheme) -> Ask[str]:
    told = {"theme": planned.theme.name, "lines": [uncounted(line.text) for line in planned.text.lines]}
    return Ask(
        kind=SUMMARY_KIND,
        subject=f"theme/{planned.theme.name}",
        sources=(json.dumps(told, ensure_ascii=False),),
        own_words=RETOLD_SHARE,
        offline=lambda: planned.theme.summary,
        accept=lambda text: one_line(read_line(text, words=SUMMARY_WORDS * 3 // 2)).replace(" → ", " -> "),
        max_tokens=100,
    )


INDEX = f"{FOLDER}/INDEX.md"
KIND = "theme"
LEASE_SECONDS = 300  # longer than a model may take for one theme: three tries of 30 seconds with pauses
WORDED_BY = "themes by"  # key of the state: the prompt version that the summaries were asked with


@record
class Due:
    due: bool
    reason: str
    files: int
    pending: int


@record
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
    reason, is_due = f"{pending} of {needed} new raw files", True
    if pending >= needed:
        reason = f"{pending} new or changed raw files"
    elif stored and (answered or worded_by != prompt_version(ctx, SUMMARY_KIND)):
        reason = "summaries to be worded"
    elif any(_file_is_missing(ctx, one) for one in stored):
        reason = "theme files are missing"
    else:
        is_due = False
    return Due(due=is_due, reason=reason, files=len(seen.files), pending=pending)


def run(ctx: Context, *, always: bool = False) -> Gathering:
    """Gather findings into themes when that is due, or `always`; the reason says why not."""
    check_may(ctx.actor.trust, "finding", "consolidate")
    ctx = limited(ctx)
    seen = survey(ctx)
    _index_new(ctx, seen)
    test = due(ctx, seen)
    done = Gathering(ran=False, reason=test.reason, files=len(seen.files), skipped=seen.skipped)
    if not seen.files or not (test.due or always):
        return done
    lease = db.take_lease(ctx, "themes", seconds=LEASE_SECONDS)
    if lease is None:
        return replace(done, reason="another process is gathering")
    try:
        made = _gather(ctx, seen, lease)
    finally:
        db.release_lease(ctx, lease)
    return replace(done, ran=True, themes=made, left_out=sum(len(theme.left_out) for theme in made))


def rename(ctx: Context, old: str, new: str) -> Theme:
    """Rename a theme; later runs keep a name that was given."""
    check_theme_name(new)
    if check_may(ctx.actor.trust, KIND, "edit", "agent") == PROPOSED:
        with ctx.db.write(ctx.space) as tx:
            rows.get(tx, old)
            waits = propose(tx, ctx, KIND, "edit", f"theme/{old}", {"new": new})
        raise waits
    if _edited(ctx.read(rows.get, old), ctx.vault.read(theme_path(old))):
        run(ctx, always=True)  # what a person wrote into the file goes with it
    with ctx.db.write(ctx.space) as tx:
        stored = rows.everything(tx)
        known = rows.get(tx, old)
        if new != old and any(one.theme.name == new for one in stored):
            raise Refused(f"a theme {new} exists already; choose another name")
        hashes = rows.text_hashes(tx)
        named = replace(known, theme=replace(known.theme, name=new, named_by="human"), file_hash="", before_hash="")
        if new == old:
            named = replace(named, file_hash=known.file_hash, before_hash=known.before_hash)
        rows.replace_all(tx, [named if one.theme.name == old else one for one in stored], hashes)
        if new != old:
            passages.remove(tx, f"theme/{old}")
        events.record(tx, ctx, subject=f"theme/{new}", what="theme.renamed", old={"name": old}, new={"name": new})
    if new != old:
        with after(f"The theme was renamed to {new}", "Run: recollect theme run --always"):
            with suppress(Stale):  # an edited file stays, and the next run takes its lines in
                ctx.vault.delete(theme_path(old), expect=known.file_hash)
            run(ctx, always=True)
    return ctx.read(rows.get, new).theme


def themes(ctx: Context) -> list[Theme]:
    """All themes, best supported first."""
    found = [stored.theme for stored in ctx.read(rows.everything)]
    return sorted(found, key=lambda theme: (-len(theme.work_ids), -len(theme.findings), theme.name))


def text_of(ctx: Context, name: str) -> tuple[Theme, str]:
    return ctx.read(rows.get, name).theme, ctx.vault.read(theme_path(name)) or ""


def index(ctx: Context) -> str:
    text = ctx.vault.read(INDEX)
    if text is None:
        raise NotFound("INDEX.md does not exist yet; create it with: recollect theme run")
    return text


def planned_from_file(ctx: Context, name: str) -> PlannedTheme:
    theme, text = text_of(ctx, name)
    return PlannedTheme(theme=theme, text=parse_theme(name, text))


@record
class _Sources:
    """What a gathering starts from: usable findings with the hashes of their texts, rows, and the theme files."""

    findings: list[Finding]
    hashes: dict[str, str]
    stored: list[StoredTheme]
    placed: dict[str, str]
    on_disk: dict[str, str | None]
    known: list[KnownTheme]


def _sources(ctx: Context, seen: Survey) -> _Sources:
    with ctx.db.read(ctx.space) as tx:
        stored, placed = rows.everything(tx), rows.text_hashes(tx)
    findings = [each for file in seen.files for each in file.findings if each.trust != "external"]
    hashes = {finding.id: content_hash(finding.text) for finding in findings}
    on_disk = {path: ctx.vault.read(path) for path in ctx.vault.paths(f"{FOLDER}/themes") if path.endswith(".md")}
    ours = {finding_line(each) for file in seen.files for each in file.findings}
    known = [_known_theme(one, placed, hashes, on_disk.get(theme_path(one.theme.name)), ours) for one in stored]
    index = dict(parse_index(ctx.vault.read(INDEX) or "").themes)
    known += _foreign_themes(on_disk, {one.theme.name for one in stored}, index)
    return _Sources(findings=findings, hashes=hashes, stored=stored, placed=placed, on_disk=on_disk, known=known)


@record
class Preview:
    """What a gathering would do: the theme of each new or changed finding, those held back, and the files as a diff."""

    due: Due
    new: tuple[tuple[Finding, str], ...]
    held: tuple[Finding, ...]
    diff: str


def preview(ctx: Context) -> Preview:
    """Plan a gathering and change nothing. No model is asked: it words the lines of INDEX.md alone."""
    seen = survey(ctx)
    had = _sources(ctx, seen)
    planned = plan(had.findings, had.known, judge=judge_of(ctx))
    homes = {id: one.theme.name for one in planned for id in one.theme.findings}
    texts = {theme_path(one.theme.name): render_theme(one.text) for one in planned}
    gone = {theme_path(one.theme.name): "" for one in had.stored}
    changes = {path: (had.on_disk.get(path), text) for path, text in sorted({**gone, **texts}.items())}
    return Preview(
        due=due(ctx, seen),
        new=tuple(
            (each, homes[each.id])
            for each in had.findings
            if each.id in homes and had.placed.get(each.id) != had.hashes[each.id]
        ),
        held=tuple(each for each in had.findings if each.disposition == HELD_BACK),
        diff="".join(unified(path, old, new) for path, (old, new) in changes.items() if old != new and (old or new)),
    )


def _gather(ctx: Context, seen: Survey, lease: db.Lease) -> tuple[Theme, ...]:
    had = _sources(ctx, seen)
    with ctx.db.read(ctx.space) as tx:
        read, last = rows.files(tx), rows.last_run(tx)
    planned = plan(had.findings, had.known, judge=judge_of(ctx))
    planned, generators, waiting = _reword_summaries(ctx, planned, lease)
    fresh = {file.path: file.sha for file in seen.files if read.get(file.path) != file.sha}
    at = ctx.clock.now() if fresh or last is None else last
    made = [_stored(one, had.on_disk.get(theme_path(one.theme.name))) for one in planned]
    kept = {one.theme.name for one in made}
    gone = [one for one in had.stored if one.theme.name not in kept]
    for one in gone:
        with suppress(Stale):
            ctx.vault.delete(theme_path(one.theme.name), expect=one.file_hash)
    with ctx.db.write(ctx.space) as tx:
        db.check_lease(tx, lease)
        rows.replace_all(tx, made, had.hashes)
        rows.mark_read(tx, fresh, at=at)
        processed = len(rows.files(tx))
        for id in sorted([*(f"theme/{one.theme.name}" for one in gone), *(had.placed.keys() - had.hashes.keys())]):
            passages.remove(tx, id)
        for each in planned:
            passages.put(tx, theme_passage(each.theme.name, render_theme(each.text), at=at))
        done = {
            "themes": [one.theme.name for one in made],
            "files": sorted(fresh),
            "left_out": [id for one in made for id in one.theme.left_out],
            **({"worded_by": generators} if generators else {}),
        }
        events.record(tx, ctx, subject="themes", what="themes.gathered", new=done)
        journal.put_state(tx, WORDED_BY, "" if waiting else prompt_version(ctx, SUMMARY_KIND))
    with after("The themes were gathered", "Run: recollect theme run --always"):
        _write_files(ctx, planned, had.on_disk, last_compaction=iso(at), processed=processed)
        for path in [theme_path(one.name) for one in had.known if one.name not in kept]:
            with suppress(Stale):  # merged into another theme: what people wrote into this file is in that one now
                ctx.vault.delete(path, expect=content_hash(had.on_disk.get(path) or ""))
    return tuple(one.theme for one in planned)


def _reword_summaries(
    ctx: Context, planned: Sequence[PlannedTheme], lease: db.Lease
) -> tuple[list[PlannedTheme], dict[str, str], int]:
    """The themes with their summaries, who worded each where that is a model, and how many wait for one."""
    if ctx.models.provider(SUMMARY_KIND) is None:
        return list(planned), {}, 0
    made, generators, waiting = [], {}, 0
    for one in planned:
        answer = ask_within(ctx, summary_question(one))
        db.renew_lease(ctx, lease, seconds=LEASE_SECONDS)
        if answer is None:
            made.append(one)
            waiting += 1
            continue
        made.append(replace(one, theme=replace(one.theme, summary=answer.value)))
        if answer.generator != OFFLINE:
            generators[one.theme.name] = answer.generator
    return made, generators, waiting


def _write_files(
    ctx: Context,
    planned: Sequence[PlannedTheme],
    on_disk: Mapping[str, str | None],
    *,
    last_compaction: str,
    processed: int,
) -> None:
    """Write theme files, then the index. A file that changed since it was read is not overwritten."""
    for one in planned:
        before, text = on_disk.get(theme_path(one.theme.name)), render_theme(one.text)
        if text != before:
            ctx.vault.replace(theme_path(one.theme.name), text, expect="" if before is None else content_hash(before))
    summaries = tuple((one.theme.name, one.theme.summary) for one in planned)
    index = Index(last_compaction=last_compaction, raw_files_processed=processed, themes=summaries)
    ctx.vault.replace(INDEX, render_index(index))


def _known_theme(
    stored: StoredTheme, placed: dict[str, str], hashes: dict[str, str], text: str | None, ours: Collection[str]
) -> KnownTheme:
    """A theme for the planner: its unchanged findings, and the lines that people wrote into its file and left there."""
    inherited = stored.inherited
    if text is not None and _edited(stored, text):
        lines = (line.text for line in parse_theme(stored.theme.name, text).lines)
        inherited = tuple(dict.fromkeys(line for line in lines if uncounted(line) not in ours))
    return KnownTheme(
        name=stored.theme.name,
        named_by=stored.theme.named_by,
        findings=tuple(id for id in stored.theme.findings if hashes.get(id) == placed[id]),
        inherited=inherited,
        inherited_units=stored.inherited_units,
    )


def _edited(stored: StoredTheme, text: str | None) -> bool:
    return text is not None and content_hash(text) not in (stored.file_hash, stored.before_hash)


def _foreign_themes(on_disk: dict[str, str | None], ours: set[str], index: Mapping[str, str]) -> list[KnownTheme]:
    """Theme files of another program: their names, lines, work units and lines of INDEX.md are taken over."""
    found: list[KnownTheme] = []
    for path, text in sorted(on_disk.items()):
        name = path.rpartition("/")[2].removesuffix(".md")
        if name in ours or text is None:
            continue
        with suppress(BadInput):
            parsed = parse_theme(check_theme_name(name), text)
            lines = tuple(line.text for line in parsed.lines)
            if lines:
                lines = tuple(dict.fromkeys((*([index[name]] if name in index else []), *lines)))
                found.append(KnownTheme(name=name, inherited=lines, inherited_units=parsed.work_ids))
    return found


def _stored(planned: PlannedTheme, before: str | None) -> StoredTheme:
    return StoredTheme(
        theme=planned.theme,
        inherited=planned.inherited,
        inherited_units=planned.inherited_units,
        file_hash=content_hash(render_theme(planned.text)),
        before_hash="" if before is None else content_hash(before),
    )


def _file_is_missing(ctx: Context, stored: StoredTheme) -> bool:
    """Whether the theme's file is missing, or a crash prevented its writing."""
    text = ctx.vault.read(theme_path(stored.theme.name))
    return text is None or (content_hash(text) == stored.before_hash != stored.file_hash)


def _index_new(ctx: Context, seen: Survey) -> None:
    """Make new raw findings searchable, whether or not a gathering is due."""
    read = ctx.read(rows.files)
    fresh = [file for file in seen.files if read.get(file.path) != file.sha]
    if fresh:
        with ctx.db.write(ctx.space) as tx:
            for file in fresh:
                for finding in file.findings:
                    passages.put(tx, passage_of(finding, at=when(file.timestamp)))


def theme_passage(name: str, text: str, *, at: int) -> Passage:
    """A theme as search finds it: by the lines of its file."""
    lines = tuple(line.text for line in parse_theme(name, text).lines)
    return Passage(id=f"theme/{name}", kind=KIND, title=name.replace("-", " "), lines=lines, at=at, trust="agent")


def theme_path(name: str) -> str:
    return f"{FOLDER}/themes/{name}.md"
