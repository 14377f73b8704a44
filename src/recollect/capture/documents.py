"""Keeping search in step with the worktree: permanent documents, the staging file, and the latest logs.

People and agents edit these files by hand; a search and a cycle read what changed. A file whose stamp is unchanged
costs one look at the file system. Nothing here writes a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, timedelta
from functools import cache

from recollect.capture import logs, stage
from recollect.capture.finding import FOLDER
from recollect.capture.logs import FileFault
from recollect.capture.stage import read_in
from recollect.core.context import Context, Vault
from recollect.core.errors import BadInput
from recollect.core.records import Passage
from recollect.store import journal, passages
from recollect.text.documents import sections
from recollect.text.markdown import lines_of
from recollect.text.nodes import log_path
from recollect.text.storable import redacted, storable

KIND = "doc"
CHARACTERS = 2_000_000  # of one document that are read; a longer one is data, not prose

_NEVER = re.compile(r"(?:^|/)(?:CLAUDE\.md|AGENTS\.md|(?i:readme)[^/]*|tests?/.*)$")


def paths(ctx: Context) -> list[str]:
    """Every permanent document (setting consolidate.documents), in order."""
    found: set[str] = set()
    ours = {ctx.settings.staging.file, ctx.settings.consolidate.index, ctx.settings.consolidate.report}
    for glob in ctx.settings.consolidate.documents.split(","):
        pattern = glob.strip()
        if pattern:
            matches = _glob(pattern)
            with suppress(BadInput):  # a link or a file in place of the folder: `doctor` says so
                below = ctx.worktree.paths(fixed_folder(pattern))
                found.update(path for path in below if matches.fullmatch(path) and not _NEVER.search(path))
    shared = shared_path(ctx)
    with suppress(BadInput):
        if ctx.worktree.read(shared) is not None:
            found.add(shared)
    return sorted(found - ours)


def shared_path(ctx: Context) -> str:
    """The document for rules that fit into no other, in the first folder that the settings name."""
    folder = fixed_folder(ctx.settings.consolidate.documents.split(",")[0].strip())
    return f"{folder}/learnings.md".lstrip("/")


def refresh(ctx: Context, *, read: Mapping[str, str] | None = None, most: int | None = None, anew: bool = False) -> int:
    """Read the documents that changed since the last time, at most `most` of them; gives how many it read.

    `read` are known stamps of sources. With `anew` every document is read: another clone may have read other versions.
    """
    stamps = _stamps(ctx)
    changed = _changed(stamps, journal.readings_of(ctx) if read is None else read, anew=anew)[:most]
    for path in changed:
        stamp = stamps.get(path, "")
        found = list(passages_of(ctx, path, stamp)) if stamp else []
        with ctx.db.write(ctx.space) as tx:
            known = [id for id in passages.ids_under(tx, f"{KIND}/{path}") if path_of(id) == path]
            read_in(tx, ctx, f"{KIND}/{path}", stamp, found, known)
    return len(changed)


def _changed(stamps: Mapping[str, str], read: Mapping[str, str], *, anew: bool = False) -> list[str]:
    known = {path_of(source): stamp for source, stamp in read.items() if source.startswith(f"{KIND}/")}
    gone = sorted(known.keys() - stamps.keys())
    return [*gone, *(path for path, stamp in stamps.items() if anew or known.get(path) != stamp)]


def ids(ctx: Context) -> list[str]:
    return [passage.id for path, stamp in _stamps(ctx).items() for passage in passages_of(ctx, path, stamp)]


def passages_with(ctx: Context, wanted: set[str]) -> Iterator[Passage]:
    """The passages of some sections, as they would be written now."""
    named = {path_of(id) for id in wanted}
    for path, stamp in _stamps(ctx).items():
        if path in named:
            yield from (passage for passage in passages_of(ctx, path, stamp) if passage.id in wanted)


def passages_of(ctx: Context, path: str, stamp: str) -> Iterator[Passage]:
    """A document's sections; the text before the first heading has the id of the document."""
    text = storable((ctx.worktree.read(path) or "")[:CHARACTERS])
    found = sections(text)
    opening = "\n".join(lines_of(text)[: found[0].first] if found else lines_of(text)).strip()
    parts = [(f"{KIND}/{path}", path, opening)] if opening else []
    parts += [(f"{KIND}/{path}#{section.slug}", section.title, section.text) for section in found]
    for position, (id, title, body) in enumerate(parts, start=1):
        yield Passage(
            id=id,
            kind=KIND,
            title=title,
            lines=tuple(line for line in body.split("\n") if line.strip()),
            keywords=(path,),
            at=int(stamp.rpartition(":")[2]) // 1_000_000,
            trust="agent",  # anyone who can write to the project can write the file
            thread=f"{KIND}/{path}",
            position=position,
        )


def faults(ctx: Context) -> Iterator[FileFault]:
    """Files that people write by hand and that hold secrets: staged learnings, permanent documents, findings."""
    files: list[tuple[Vault, str]] = [(ctx.worktree, path) for path in (ctx.settings.staging.file, *paths(ctx))]
    files += [(ctx.vault, f"{FOLDER}/{name}") for name in ctx.vault.stamps(FOLDER) if name.endswith(".json")]
    for vault, path in files:
        with suppress(BadInput):  # a link or a folder is named elsewhere
            text = (vault.read(path) or "")[:CHARACTERS]
            if redacted(text)[1]:
                yield logs.holding_secrets(path, text.split("\n"))


def path_of(id: str) -> str:
    return id.removeprefix(f"{KIND}/").partition("#")[0]


def fixed_folder(glob: str) -> str:
    """The part of a glob that names a folder."""
    parts = glob.split("/")[:-1]
    fixed = next((at for at, part in enumerate(parts) if "*" in part or "?" in part), len(parts))
    return "/".join(parts[:fixed])


def _stamps(ctx: Context) -> Mapping[str, str]:
    """Path → stamp of every document."""
    found: dict[str, str] = {}
    folders: dict[str, dict[str, str]] = {}
    for path in paths(ctx):
        folder, _, name = path.rpartition("/")
        if folder not in folders:
            folders[folder] = ctx.worktree.stamps(folder)
        if stamp := folders[folder].get(name, ""):
            found[path] = stamp
    return found


@cache
def _glob(glob: str) -> re.Pattern[str]:
    translated = ""
    for token in re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", glob):
        translated += {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(token) or re.escape(token)
    return re.compile(translated)


DAYS = 7  # logs a search looks at: today and the days before, and tomorrow, for machines in other time zones
DOCUMENTS = 50  # changed documents that a search reads before it answers; a cycle reads them all


def refresh_all(ctx: Context) -> None:
    """Read what changed in the files, within what a search can wait for."""
    read = journal.readings_of(ctx)
    stage.refresh_passages(ctx, read=read)
    refresh(ctx, read=read, most=DOCUMENTS)
    if ctx.settings.vault.share or not ctx.db.holds_vault:  # in a team's store nobody edits logs by hand
        days = [logs.today(ctx) + timedelta(days=1 - back) for back in range(DAYS + 1)]
        refresh_logs(ctx, read=read, days=days)


def refresh_logs(ctx: Context, *, read: Mapping[str, str] | None = None, days: Sequence[date] = ()) -> int:
    """Read the logs that changed or went away since they were `read`: those of some days, or all; gives how many.

    A process may be killed between an entry and its rows, and people edit and delete files.
    """
    read = journal.readings_of(ctx) if read is None else read
    stamps = ctx.vault.stamps(names=[log_path(day) for day in days] or None)
    with ctx.db.read(ctx.space) as tx:
        compacted = journal.log_stamps(tx, min(days, default=date.min))
        gone = [day for day in map(date.fromisoformat, compacted) if log_path(day) not in stamps]
        deleted = [
            day for day in gone if (not days or day in days) and any(row.held for row in journal.entry_rows(tx, day))
        ]
    changed = [*deleted]
    for day in logs.days(name for name, stamp in stamps.items() if stamp):
        if stamps[log_path(day)] not in (read.get(logs.source(day)), compacted.get(day.isoformat())):
            changed.append(day)
    for day in changed:
        with ctx.db.write(ctx.space) as tx:
            log = logs.read_in(tx, ctx, day)
            if not days:
                logs.index(tx, ctx, log)
    return len(changed)
