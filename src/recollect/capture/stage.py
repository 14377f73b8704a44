"""Staging a learning: one more H2 section at the end of the staging file, past the quality gate.

The file holds the staged learnings; their passages are derived from it. Events keep the words of each entry, so that a
deleted file can be written again (`lost`, `write_again`). A refused learning is still counted, because an incident that
keeps happening may deserve a rule one day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from recollect.capture.logs import FileFault
from recollect.core.context import Context, Event, Tx
from recollect.core.errors import BadInput, NotFound, RecollectError, Refused, Rejected, after, not_searchable
from recollect.core.records import Passage, as_text, check_text, line, record, replace
from recollect.core.trust import check_may
from recollect.store import events, journal, passages
from recollect.store.files import rewrite
from recollect.text.sentences import counted
from recollect.text.staging import (
    EXTERNAL,
    StagedEntry,
    StagingText,
    closed,
    open_line,
    read_staging,
    slug_of,
    with_body,
    with_entry,
)
from recollect.text.storable import storable, storable_record

KIND = "staged"
ADDED, SEEN, REMOVED, RESTORED = "staged.added", "staged.seen", "staged.removed", "staged.restored"
"""SEEN: the file was edited by hand."""
TITLE_LIMIT = 200  # characters; a heading that still reads as one rule
BODY_LIMIT = 20_000  # characters; more belongs in the log

_BEGINNING = """\
# Learnings

Jotted between hand-offs, one `##` section each. `recollect staged consolidate` moves what has proved itself on.

---
"""


@record
class NewStaged:
    title: str
    body: str = ""

    STORED = {"title": line(TITLE_LIMIT)}

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", " ".join(as_text(self.title, "title").split()))
        if not self.title:
            raise BadInput("a staged learning needs a title that says the rule")
        if len(self.title) > TITLE_LIMIT:
            length = len(self.title)
            raise BadInput(f"title has {length} characters; {TITLE_LIMIT} is the most. Move detail into the body")
        check_text(self.body, "body", most=BODY_LIMIT)


@record
class Staged:
    """A staged learning; `repeated` when an entry said the same, `warning` when it is not searchable yet."""

    id: str
    title: str
    body: str
    repeated: bool
    redacted: tuple[str, ...]
    warning: str = ""


def stage(ctx: Context, title: str, body: str = "") -> Staged:
    """Append a learning to the staging file; one below the quality gate is rejected with advice."""
    from recollect.text.quality import staged_refusal  # readers of staged entries load this module, too

    new, redacted = storable_record(NewStaged(title=title, body=body))
    title, body = new.title, closed(new.body)
    check_may(ctx.actor.trust, KIND, "create")
    refusal = staged_refusal(title, body)
    if refusal is not None:
        subject, what = f"{KIND}/{slug_of(title)}", "staged.rejected"
        with ctx.db.write(ctx.space) as tx:
            events.record(tx, ctx, subject=subject, what=what, new={"title": title}, reason=refusal.flaw)
            seen = sum(event.what == what for event in events.of(tx, subject))
        again = f" Seen {seen} times." if seen > 1 else ""
        raise Rejected(f"not staged: {refusal.why}. {refusal.rephrase} The incident was counted.{again}")
    entry, repeated = _append(ctx, title, body)
    warning = ""
    try:
        ctx.write(
            events.record,
            ctx,
            subject=id_of(entry),
            what="staged.recurred" if repeated else ADDED,
            new={"title": title} if repeated else {"title": title, "body": entry.body},
            reason=f"redacted: {', '.join(redacted)}" if redacted else "",
        )
        refresh_passages(ctx)
    except RecollectError as trouble:  # the entry is in the file for good
        warning = not_searchable("The staged learning", trouble)
    return Staged(
        id=id_of(entry), title=entry.title, body=entry.body, repeated=repeated, redacted=redacted, warning=warning
    )


def adopt(ctx: Context, slug: str, *, on: bool = True) -> StagedEntry:
    """Vouch for an entry from outside, so that a consolidation may take it up, or take that back; only a person can."""
    check_may(ctx.actor.trust, KIND, "adopt")
    entry = find_entry(ctx, slug)
    if entry.external != on:
        return entry
    body = entry.said if on else f"{EXTERNAL}\n{entry.body}"
    change_file(ctx, lambda text: with_body(text, entry.title, entry.body, body))
    with after(f"The mark of {entry.slug} is changed", "Once that is fixed, run: recollect cycle"):
        ctx.write(events.record, ctx, subject=id_of(entry), what="staged.adopted" if on else "staged.disowned")
        refresh_passages(ctx)
    return replace(entry, body=body)


def hold(ctx: Context, slug: str, *, on: bool = True) -> StagedEntry:
    """Keep an entry out of consolidations until it is released; a mark in the file says so."""
    check_may(ctx.actor.trust, KIND, "consolidate")
    entry = find_entry(ctx, slug)
    if entry.pending != on:
        change_file(ctx, lambda text: with_body(text, entry.title, entry.body, entry.held(on)))
        ctx.write(events.record, ctx, subject=id_of(entry), what="staged.held" if on else "staged.released")
        refresh_passages(ctx)
    return replace(entry, body=entry.held(on)) if entry.pending != on else entry


def find_entry(ctx: Context, id: str) -> StagedEntry:
    slug = id.removeprefix(f"{KIND}/")
    found = read_staging(read_file(ctx)).entry(slug)
    if found is None:
        raise NotFound(f"no staged entry {slug!r}; `recollect staged list` lists them")
    return found


def id_of(entry: StagedEntry) -> str:
    return f"{KIND}/{entry.slug}"


def read_file(ctx: Context) -> str:
    """The staging file, empty when there is none."""
    return ctx.worktree.read(ctx.settings.staging.file) or ""


def refuse_conflicts(path: str, text: str) -> None:
    """Refuse a file with git's conflict markers: it holds two versions of what it says."""
    if any(line.startswith(("<<<<<<< ", ">>>>>>> ")) for line in text.splitlines()):
        raise Refused(f"{path} has merge conflicts; resolve them, then run this again")


def change_file(ctx: Context, change: Callable[[str], str]) -> str:
    """Rewrite the staging file by a function of its text; a concurrent change is kept."""
    path = ctx.settings.staging.file

    def changed(before: str | None) -> str:
        refuse_conflicts(path, before or "")
        return change(before or "")

    return rewrite(ctx.worktree, path, changed)


def said(ctx: Context) -> StagingText:
    """What the staging file says, without any secrets in it."""
    return read_staging(storable(read_file(ctx)))


def refresh_passages(ctx: Context, *, read: Mapping[str, str] | None = None, anew: bool = False) -> None:
    """Make search and the inbox follow the file, which is also edited by hand; with `anew` even if it is unchanged."""
    folder, _, name = ctx.settings.staging.file.rpartition("/")
    stamp = ctx.worktree.stamps(folder, names=(name,)).get(name, "")  # taken before the text is read
    if not stamp or (not anew and (journal.readings_of(ctx) if read is None else read).get(KIND, "") == stamp):
        return  # a file that is gone takes nothing with it
    entries = said(ctx).entries
    with ctx.db.write(ctx.space) as tx:
        for entry in entries:
            if words_of(events.of(tx, id_of(entry))) != (entry.title, entry.body):
                words = {"title": entry.title, "body": entry.body}
                events.record(tx, ctx, subject=id_of(entry), what=SEEN, new=words, reason="edited by hand")
        found = [passage_of(ctx, tx, entry) for entry in entries]
        read_in(tx, ctx, KIND, stamp, found, passages.ids_of(tx, KIND))
        here = {*map(id_of, read_staging(read_file(ctx)).entries), *journal.held_elsewhere(tx, ctx.clone, source=KIND)}
        events.follow_sides(tx, KIND, here, at=ctx.clock.now())


def words_of(history: Sequence[Event]) -> tuple[str, str] | None:
    """The title and body that an entry had last, by its events."""
    said = [event.new for event in history if event.what in (ADDED, SEEN) and "body" in event.new]
    return (said[-1]["title"], said[-1]["body"]) if said else None


def lost(tx: Tx, ctx: Context) -> str:
    """A staging file that is gone, as it was; empty where it is there or no entry is known."""
    if ctx.worktree.read(ctx.settings.staging.file) is not None:
        return ""
    here = journal.held_here(tx, ctx.clone, source=KIND) - journal.held_elsewhere(tx, ctx.clone, source=KIND)
    histories = [events.of(tx, id) for id in here]
    text = ""
    for history in sorted(filter(None, histories), key=lambda history: history[0].seq):
        if words := words_of(history):
            text = with_entry(text or _BEGINNING, *words)
    return text


def faults(tx: Tx, ctx: Context) -> list[FileFault]:
    """The staging file, where it is gone and its entries are remembered."""
    if not (text := lost(tx, ctx)):
        return []
    detail = f"the file is gone; {counted(len(read_staging(text).entries), 'staged entry')} remembered"
    remedy = "recollect store rebuild --files writes it again; then delete there what you no longer want"
    return [FileFault(path=ctx.settings.staging.file, detail=detail, remedy=remedy)]


def write_again(ctx: Context) -> list[str]:
    """Write a missing staging file again; gives the files that were written."""
    text = ctx.read(lost, ctx)
    if text:
        change_file(ctx, lambda there: there or text)
        refresh_passages(ctx)
    return [ctx.settings.staging.file] if text else []


def passage_of(ctx: Context, tx: Tx, entry: StagedEntry) -> Passage:
    """A staged entry as a passage. An entry that was written by hand has no time: only git knows it."""
    staged_at = next((event.at for event in events.of(tx, id_of(entry)) if event.what == ADDED), 0)
    return Passage(
        id=id_of(entry),
        kind=KIND,
        title=entry.title,
        lines=tuple(line for line in entry.said.split("\n") if line.strip()),
        at=staged_at,
        trust="external" if entry.external else "agent",  # anyone who can write to the project can write the file
        thread=ctx.settings.staging.file,
        position=entry.first,
    )


def appended(ctx: Context, text: str, title: str, body: str) -> str:
    """The staging file with one more entry; refused while a fence or comment in it is still open."""
    if line := open_line(text):
        path = ctx.settings.staging.file
        raise Refused(f"{path}, line {line}: this fence or comment is never closed; close it, then run this again")
    return with_entry(text, title, body)


def _append(ctx: Context, title: str, body: str) -> tuple[StagedEntry, bool]:
    from recollect.models.embed import judge_of, nearest
    from recollect.text.compare import compare

    judge, said = judge_of(ctx), claims_of(title, body)
    repeated: list[StagedEntry] = []
    before = ctx.read(lost, ctx) or _BEGINNING
    outside = ctx.actor.trust == "external"
    body = f"{EXTERNAL}\n{body}" if outside else body

    def change(text: str) -> str:
        # Merged into an entry from outside, our own words would not be consolidated.
        known = [entry for entry in read_staging(text).entries if outside or not entry.external]
        found = nearest(ctx, said, {entry.slug: claims_of(entry.title, entry.said) for entry in known})
        same = {slug for slug, claims in found.items() if compare(said, claims, judge).repeats}
        repeated[:] = [entry for entry in known if entry.slug in same][:1]
        return text if repeated else appended(ctx, text or before, title, body)

    text = change_file(ctx, change)
    return (repeated[0], True) if repeated else (read_staging(text).entries[-1], False)


def claims_of(title: str, body: str) -> tuple[str, ...]:
    """What a staged learning claims: its title is a rule where it has no body."""
    from recollect.text.claims import claims

    return claims(title, body) or (title,)


def read_in(tx: Tx, ctx: Context, source: str, stamp: str, found: Sequence[Passage], known: Iterable[str]) -> None:
    """Make the passages of a source (`known`) equal to what was found in it; passages that another clone has stay.

    Where two clones say different things under one id, the passage that was read last is found.
    """
    ids = [passage.id for passage in found]
    journal.put_reading(tx, ctx.clone, source, stamp=stamp, ids=ids, at=ctx.clock.now())
    for id in set(known) - {*ids, *journal.held_elsewhere(tx, ctx.clone, source=source)}:
        passages.remove(tx, id)
    for passage in found:
        passages.put(tx, passage)
