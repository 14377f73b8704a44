"""The record of every entry that left the staging file, and the way back.

An event per entry holds its whole text and where it went. `restore` writes it back and, when it had been placed in a
document and stands there unchanged, takes it out again and puts back what it replaced. Knows nothing about why an
entry left.
"""

from __future__ import annotations

from dataclasses import dataclass

from recollect.capture.learn import KIND as CONFLICT
from recollect.capture.learn import Captured, learn
from recollect.capture.stage import appended, change_file, read_file, refresh_passages
from recollect.core.context import Context, Event, Tx
from recollect.core.errors import NotFound, Refused, after
from recollect.core.new_learning import TITLE_LIMIT, NewLearning
from recollect.distil import staged
from recollect.distil.staged import EntryOutcome
from recollect.distil.staging_checks import KnownText
from recollect.store import events
from recollect.store import learnings as learning_rows
from recollect.store.files import content_hash
from recollect.text.documents import rendered_entry, rendered_section, sections, with_section, without_block
from recollect.text.staging import StagedEntry, read_staging, with_body, without_entry

CONTRADICTION, VAGUE = "staged-contradiction", "staged-vague"
REMOVED = "staged.removed"
RESTORED = "staged.restored"
SETTLED = "document.settled"
MERGED = "settled in the inbox: merge"


@dataclass(frozen=True, kw_only=True)
class RestoredEntry:
    """An entry that is staged again; `taken_out_of` names what it was taken out of, empty when its text stays there."""

    id: str
    title: str
    taken_out_of: str
    note: str


def record_removed(ctx: Context, entry: StagedEntry, outcome: EntryOutcome) -> None:
    """Keep an entry whole before it leaves the file."""
    with ctx.db.write(ctx.space) as tx:
        events.record(
            tx,
            ctx,
            subject=f"staged/{entry.slug}",
            what=REMOVED,
            old={"title": entry.title, "body": entry.body},
            new={"fate": outcome.fate, "where": outcome.where},
            reason=outcome.reason,
        )


def record_recurrence(ctx: Context, known: KnownText, entry: StagedEntry) -> None:
    """What was said again counts for more: a learning's recurrence, or an event for a document's section."""
    with ctx.db.write(ctx.space) as tx:
        what, old, new = "document.recurred", {}, {}
        if known.id.startswith("learn_"):
            seen = learning_rows.get(tx, known.id).recurrence
            learning_rows.count_recurrence(tx, known.id, at=ctx.clock.now())
            what, old, new = "learning.recurred", {"recurrence": seen}, {"recurrence": seen + 1}
        events.record(
            tx,
            ctx,
            subject=known.id,
            what=what,
            old=old,
            new={**new, "title": entry.title},
            reason=f"staged/{entry.slug} said the same",
        )


def was_restored(ctx: Context, slug: str) -> bool:
    """Whether somebody brought this entry back: then the machine does not drop it a second time."""
    with ctx.db.read(ctx.space) as tx:
        return any(event.what == RESTORED for event in events.of(tx, f"staged/{slug}"))


def restore(ctx: Context, slug: str) -> RestoredEntry:
    """Stage an entry again that left the file, word for word."""
    slug = slug.removeprefix("staged/")
    with ctx.db.read(ctx.space) as tx:
        event = _last_removal(events.of(tx, f"staged/{slug}"))
    if event is None:
        raise NotFound(f"no entry {slug!r} left the staging file that was not brought back already")
    title, body = event.old["title"], event.old["body"]
    if any((entry.title, entry.body) == (title, body) for entry in read_staging(read_file(ctx)).entries):
        raise Refused(f"{title!r} is staged already")
    taken_out_of, note = _take_out(ctx, event)
    if taken_out_of:
        with after(f"{title!r} was taken out of {taken_out_of}", "Run this again to stage it"):
            change_file(ctx, lambda text: appended(ctx, text, title, body))
    else:
        change_file(ctx, lambda text: appended(ctx, text, title, body))
    with after(f"{title!r} is staged again", "When that is mended, run: recollect cycle"):
        with ctx.db.write(ctx.space) as tx:
            events.record(
                tx, ctx, subject=f"staged/{slug}", what=RESTORED, new={"removal": event.seq}, reason=note or "asked for"
            )
            _reopen(tx, ctx, f"staged/{slug}")
        refresh_passages(ctx)
    return RestoredEntry(id=f"staged/{slug}", title=title, taken_out_of=taken_out_of, note=note)


def drop(ctx: Context, slug: str, *, reason: str, where: str) -> None:
    """Take an entry out of the staging file for good, with a record."""
    found = entry(ctx, slug)
    leave(ctx, found, EntryOutcome(slug=found.slug, title=found.title, fate="redundant", where=where, reason=reason))


def leave(ctx: Context, found: StagedEntry, outcome: EntryOutcome) -> None:
    """Record what became of an entry, then take it out of the staging file."""
    record_removed(ctx, found, outcome)
    change_file(ctx, lambda text: without_entry(text, found.title, found.body))
    refresh_passages(ctx)


def merged_words(title: str, body: str) -> str:
    """An entry as a part of another one's body."""
    return f"{title.rstrip('.')}.\n\n{body}".strip()


def promote(ctx: Context, slug: str, *, context: str = "", implication: str = "", action: str = "") -> Captured:
    """Make a staged entry a learning with confidence; it leaves the staging file."""
    found = entry(ctx, slug)
    paragraphs = [part.strip() for part in found.body.split("\n\n") if part.strip()] or [found.title]
    captured = learn(
        ctx,
        NewLearning(
            title=found.title[:TITLE_LIMIT].rstrip(),
            context=context or f"Staged in {ctx.settings.staging.file}",
            observation=paragraphs[0],
            implication=implication or (" ".join(paragraphs[1:]) or found.title),
            action=action or found.title,
        ),
        anyway=True,  # it passed the gate of staged learnings
        origin=f"staged/{found.slug}",
    )
    where = captured.learning.id
    gone = EntryOutcome(slug=found.slug, title=found.title, fate="consolidated", where=where, reason="promoted")
    with after(f"{where} was saved", "Run this again, unless the entry has left the staging file"):
        _answer_as_before(ctx, found.slug, where)
        leave(ctx, found, gone)
    return captured


def _answer_as_before(ctx: Context, slug: str, learning: str) -> None:
    """What a person said of an entry and a learning holds for the learning made of the entry."""
    with ctx.db.write(ctx.space) as tx:
        for matter in events.waiting_escalations(tx):
            if (matter.kind, matter.subject) != (CONFLICT, learning):
                continue
            before = events.find_escalation(tx, kind=CONTRADICTION, subject=f"staged/{slug}", other=matter.other)
            if before and before.resolution:
                events.resolve_escalation(tx, matter.number, resolution=before.resolution, at=ctx.clock.now())


def entry(ctx: Context, id: str) -> StagedEntry:
    """A staged entry by its id or slug."""
    slug = id.removeprefix("staged/")
    found = read_staging(read_file(ctx)).entry(slug)
    if found is None:
        raise NotFound(f"no staged entry {slug!r}; `recollect ages` lists them")
    return found


def _last_removal(history: list[Event]) -> Event | None:
    """The newest removal that was not taken back yet."""
    taken_back = {event.new["removal"] for event in history if event.what == RESTORED}
    removals = [event for event in history if event.what == REMOVED and event.seq not in taken_back]
    return removals[-1] if removals else None


def _reopen(tx: Tx, ctx: Context, id: str) -> None:
    """Who brings an entry back takes back what was said against it; nothing is decided until it is said again."""
    for matter in list(events.all_escalations(tx)):
        # A learning that took an entry's words in, or gave way to it, stays as it is.
        settled_here = matter.kind == CONTRADICTION and not matter.other.startswith("learn_")
        undone = ("keep-old", "keep-new", "merge") if settled_here else ("keep-old",)
        about = matter.kind in (CONTRADICTION, VAGUE) and id in (matter.subject, matter.other)
        if about and matter.resolution in undone:
            events.reopen_escalation(tx, matter.number)
            events.record(
                tx, ctx, subject=matter.subject, what="inbox.reopened", reason=f"{matter.number}: {id} was brought back"
            )


def _take_out(ctx: Context, event: Event) -> tuple[str, str]:
    where = event.new["where"]
    if event.reason == MERGED:
        return _take_out_of_entry(ctx, event, where)
    path, _, _ = where.partition("#")
    if event.new["fate"] != "consolidated" or not path.endswith(".md"):
        return "", ""
    with ctx.db.read(ctx.space) as tx:
        settled = [each for each in events.of(tx, f"doc/{where}") if each.what == SETTLED]
    replaced = next((each for each in reversed(settled) if each.new["entry"] == event.subject), None)
    text = ctx.worktree.read(path)
    before = _before(text, event, replaced) if text is not None else None
    if text is None or before is None:
        return "", f"{path} was changed since, so the text there stays too"
    if before.strip() in ("", staged.SHARED_BEGINNING.strip()):
        ctx.worktree.delete(path, expect=content_hash(text))
    else:
        ctx.worktree.replace(path, before, expect=content_hash(text))
    with after(f"{event.old['title']!r} was taken out of {path}", "Run this again to stage it"):
        staged.write_index(ctx)
    return path, ""


def _take_out_of_entry(ctx: Context, event: Event, where: str) -> tuple[str, str]:
    other = read_staging(read_file(ctx)).entry(where.removeprefix("staged/"))
    words = merged_words(event.old["title"], event.old["body"])
    if other is None or not other.body.endswith(words):
        return "", f"{where} is gone or was changed since, so the text there stays too"
    body = other.body.removesuffix(words).strip()
    change_file(ctx, lambda text: with_body(text, other.title, other.body, body))
    return where, ""


def _before(text: str, event: Event, replaced: Event | None) -> str | None:
    """A document as it was without an entry; None when what was written then does not stand there any more."""
    title, body = event.old["title"], event.old["body"]
    if replaced is None or "title" not in replaced.new:
        taken_out = (without_block(text, rendered_entry(title, body, level)) for level in range(2, 7))
        return next((left for left in taken_out if left is not None), None)
    old, now = replaced.old, replaced.new
    section = rendered_section(old["title"], old["text"], old["level"])
    if now["title"] != old["title"]:
        return without_block(text, rendered_entry(title, body, old["level"]), instead=section)
    left = without_block(text, rendered_entry(title, body, old["level"] + 1))
    if left is None or now["text"] == old["text"]:
        return left
    place = next((each for each in sections(left) if (each.title, each.text) == (now["title"], now["text"])), None)
    return with_section(left, place, section) if place else None
