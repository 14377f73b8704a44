"""Where a staged entry, a finding or a theme came from: its file, what it belongs to, and what happened to it."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.capture import finding as findings
from recollect.capture import stage
from recollect.core.choices import Trust
from recollect.core.context import Context
from recollect.core.errors import NotFound
from recollect.core.event import Event
from recollect.distil.themes import theme_path
from recollect.store import events, themes
from recollect.text.staging import read_staging

KINDS = ("staged", "finding", "theme")


@dataclass(frozen=True, kw_only=True)
class FileExplanation:
    """A thing that lives in a file: what it says, the file, facts about it by name, every change."""

    id: str
    title: str
    file: str
    trust: Trust
    facts: tuple[tuple[str, str], ...]
    events: tuple[Event, ...]


def why_in_file(ctx: Context, id: str) -> FileExplanation:
    kind, _, name = id.partition("/")
    title, file, facts = {"staged": _staged, "finding": _finding, "theme": _theme}[kind](ctx, name)
    with ctx.db.read(ctx.space) as tx:
        happened = tuple(events.of(tx, id))
    return FileExplanation(id=id, title=title, file=file, trust="agent", facts=facts, events=happened)


_Told = tuple[str, str, tuple[tuple[str, str], ...]]


def _staged(ctx: Context, slug: str) -> _Told:
    """An entry of the staging file, or one that left it: then its events tell where it went."""
    file = ctx.settings.staging.file
    found = read_staging(stage.read_file(ctx)).entry(slug)
    if found:
        return found.title, file, (("line", str(found.first + 1)),)
    with ctx.db.read(ctx.space) as tx:
        left = [event for event in events.of(tx, f"staged/{slug}") if "title" in (event.old or event.new)]
    if not left:
        raise NotFound(f"no staged entry {slug!r}; `recollect ages` lists them")
    last = left[-1]
    gone = (("went to", last.new["where"]),) if "where" in last.new else ()
    return (last.old or last.new)["title"], f"no longer in {file}", gone


def _finding(ctx: Context, name: str) -> _Told:
    found = findings.get(ctx, f"finding/{name}")
    file = next(file for file in findings.survey(ctx).files if file.work_id == found.work_id)
    with ctx.db.read(ctx.space) as tx:
        themed = [f"theme/{one.theme.name}" for one in themes.everything(tx) if found.id in one.theme.findings]
    facts = [
        ("work unit", found.work_id),
        ("noticed", file.timestamp),
        ("category", found.category),
        ("source", found.source),
        ("disposition", found.disposition),
        ("theme", ", ".join(themed)),
    ]
    return found.description, f"{findings.FOLDER}/{file.path}", tuple(fact for fact in facts if fact[1])


def _theme(ctx: Context, name: str) -> _Told:
    with ctx.db.read(ctx.space) as tx:
        found = themes.get(tx, name).theme
    facts = [("named by", found.named_by), *(("from", id) for id in found.findings)]
    return found.summary, theme_path(name), (*facts, *(("left out", id) for id in found.left_out))
