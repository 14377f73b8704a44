"""The permanent documents of the worktree as search sees them: which there are, and one passage per section.

A document whose stamp is unchanged costs one look at the file system. Nothing here writes a document.

Following what people and agents edit by hand: the staging file, documents and the latest logs, before a search.

A file whose stamp is unchanged costs one look at the file system; older logs wait for the next cycle. The tree is not
touched, and learns of a changed log by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from functools import cache

from recollect.capture import logs, stage
from recollect.capture.stage import read_in
from recollect.core.context import Context, Tx
from recollect.core.values import Passage
from recollect.store import journal, passages
from recollect.text.documents import sections
from recollect.text.markdown import lines_of
from recollect.text.storable import storable
from recollect.text.tree import log_path

KIND = "doc"
CHARACTERS = 2_000_000  # of one document that are read

_NEVER = re.compile(r"(?:^|/)(?:CLAUDE\.md|AGENTS\.md|(?i:readme)[^/]*|tests?/.*)$")


def paths(ctx: Context) -> list[str]:
    """Every permanent document (setting consolidate.documents), in order."""
    found: set[str] = set()
    ours = {ctx.settings.staging.file, ctx.settings.consolidate.index, ctx.settings.consolidate.report}
    for glob in ctx.settings.consolidate.documents.split(","):
        pattern = glob.strip()
        if pattern:
            matches = _glob(pattern)
            below = ctx.worktree.paths(fixed_folder(pattern))
            found.update(path for path in below if matches.fullmatch(path) and not _NEVER.search(path))
    shared = shared_path(ctx)
    if ctx.worktree.read(shared) is not None:
        found.add(shared)
    return sorted(found - ours)


def shared_path(ctx: Context) -> str:
    """The document for what fits into no other, in the first folder that the settings name: one, not one per rule."""
    folder = fixed_folder(ctx.settings.consolidate.documents.split(",")[0].strip())
    return f"{folder}/learnings.md".lstrip("/")


def refresh(ctx: Context, *, read: Mapping[str, str] | None = None, most: int | None = None, anew: bool = False) -> int:
    """Read in what changed since the last time, all of it or `most` documents; how many those were.

    `read` are the stamps of what was read in, for whoever knows them. With `anew` also what did not change here:
    another clone may have read in something else.
    """
    stamps = _stamps(ctx)
    changed = _changed(stamps, journal.readings_of(ctx) if read is None else read, anew=anew)[:most]
    for path in changed:
        _index(ctx, path, stamps.get(path, ""))
    return len(changed)


def behind(ctx: Context) -> int:
    """How many documents changed since they were read in."""
    return len(_changed(_stamps(ctx), journal.readings_of(ctx)))


def _changed(stamps: Mapping[str, str], read: Mapping[str, str], *, anew: bool = False) -> list[str]:
    known = {path_of(source): stamp for source, stamp in read.items() if source.startswith(f"{KIND}/")}
    gone = sorted(known.keys() - stamps.keys())
    return [*gone, *(path for path, stamp in stamps.items() if anew or known.get(path) != stamp)]


def ids(ctx: Context) -> list[str]:
    """Every section of every document."""
    return [passage.id for path, stamp in _stamps(ctx).items() for passage in passages_of(ctx, path, stamp)]


def passages_with(ctx: Context, wanted: set[str]) -> Iterator[Passage]:
    """The passages of some sections, as they would be written now."""
    named = {path_of(id) for id in wanted}
    for path, stamp in _stamps(ctx).items():
        if path in named:
            yield from (passage for passage in passages_of(ctx, path, stamp) if passage.id in wanted)


def passages_of(ctx: Context, path: str, stamp: str) -> Iterator[Passage]:
    """A document's sections; what stands before the first heading is the document itself."""
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
            trust="agent",  # anybody who can write to the project can write the file
            thread=f"{KIND}/{path}",
            position=position,
        )


def path_of(id: str) -> str:
    return id.removeprefix(f"{KIND}/").partition("#")[0]


def fixed_folder(glob: str) -> str:
    """The part of a glob that names a folder."""
    parts = glob.split("/")[:-1]
    fixed = next((at for at, part in enumerate(parts) if "*" in part or "?" in part), len(parts))
    return "/".join(parts[:fixed])


def _index(ctx: Context, path: str, stamp: str) -> None:
    found = list(passages_of(ctx, path, stamp)) if stamp else []
    with ctx.db.write(ctx.space) as tx:
        read_in(tx, ctx, f"{KIND}/{path}", stamp, found, _ids_of(tx, path))


def _ids_of(tx: Tx, path: str) -> list[str]:
    return [id for id in passages.ids_under(tx, f"{KIND}/{path}") if path_of(id) == path]


def _stamps(ctx: Context) -> Mapping[str, str]:
    """Path → stamp of every document that is there."""
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


DAYS = 7  # today and those before; and tomorrow, which another machine's today may be
DOCUMENTS = 50  # changed ones that are read while somebody waits for hits; a cycle reads them all


def refresh_all(ctx: Context) -> None:
    """Make what is searched follow the files."""
    read = journal.readings_of(ctx)
    stage.refresh_passages(ctx, read=read)
    refresh(ctx, read=read, most=DOCUMENTS)
    if not ctx.db.holds_vault:  # a team's logs are in its store, where nobody edits them by hand
        refresh_logs(ctx, read)


def refresh_all_logs(ctx: Context) -> int:
    """Read in every log that was written to since, however old and large: a process was killed between an entry and
    its rows, or somebody edited the file. How many those were."""
    read = journal.readings_of(ctx)
    stamps = ctx.vault.stamps()
    with ctx.db.read(ctx.space) as tx:
        compacted = journal.log_stamps(tx, date.min)
    changed = 0
    for day in logs.days(name for name, stamp in stamps.items() if stamp):
        known = (read.get(logs.source(day)), compacted.get(day.isoformat()))
        if stamps[log_path(day)] not in known:
            with ctx.db.write(ctx.space) as tx:
                logs.index(tx, ctx, logs.read_in(tx, ctx, day))
            changed += 1
    return changed


def refresh_logs(ctx: Context, read: Mapping[str, str]) -> int:
    """Read in the latest logs that were written to or deleted since they were `read`; how many those were."""
    latest = [logs.today(ctx) + timedelta(days=1 - back) for back in range(DAYS + 1)]
    stamps = ctx.vault.stamps(names=[log_path(day) for day in latest])
    with ctx.db.read(ctx.space) as tx:
        compacted = journal.log_stamps(tx, latest[-1])
        missing = [day for day in latest if log_path(day) not in stamps and day.isoformat() in compacted]
        deleted = {day for day in missing if passages.ids_under(tx, f"{logs.source(day)}#")}
    changed = 0
    for day in latest:
        stamp = stamps.get(log_path(day), "")
        written_to = stamp not in ("", read.get(logs.source(day)), compacted.get(day.isoformat()))
        if written_to or day in deleted:
            with ctx.db.write(ctx.space) as tx:
                logs.read_in(tx, ctx, day)
            changed += 1
    return changed
