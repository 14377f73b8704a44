"""Staging a learning: one more H2 section at the end of the staging file, past the quality gate.

The file holds the staged learnings; their passages are derived from it. A refused learning is still counted, because an
incident that keeps happening may deserve a rule one day. `read_in` makes passages equal to what a file of this clone
says; documents use it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput, RecollectError, Refused, Rejected, Stale, not_searchable
from recollect.core.records import as_text, check_text, line
from recollect.core.values import Passage
from recollect.store import events, journal, passages
from recollect.store.files import content_hash
from recollect.text import quality
from recollect.text.compare import redundancy
from recollect.text.staging import StagedEntry, closed, open_line, read_staging, slug_of, with_entry
from recollect.text.storable import storable_record

KIND = "staged"
TITLE_LIMIT = 200  # characters; a heading that still reads as one rule
BODY_LIMIT = 20_000  # characters; more belongs in the log
TRIES = 20  # attempts to write a file that other processes change at the same time; each takes milliseconds

_BEGINNING = """\
# Learnings

Jotted between hand-offs, one `##` section each. `recollect staged consolidate` moves what has proved itself on.

---
"""


@dataclass(frozen=True, kw_only=True)
class NewStaged:
    """What a caller gives: the rule as a title, and more about it."""

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


@dataclass(frozen=True, kw_only=True)
class Staged:
    """A staged learning; `repeated` when an entry already said the same and none was added.

    `warning` when it is in the file but not searchable yet.
    """

    id: str
    title: str
    body: str
    repeated: bool
    redacted: tuple[str, ...]
    warning: str = ""


def stage(ctx: Context, title: str, body: str = "") -> Staged:
    """Append a learning to the staging file; one below the quality gate is rejected with advice."""
    new, redacted = storable_record(NewStaged(title=title, body=body))
    title, body = new.title, closed(new.body)
    refusal = quality.staged_refusal(title, body)
    if refusal is not None:
        seen = _count_rejected(ctx, title, refusal.flaw)
        again = f" Seen {seen} times." if seen > 1 else ""
        raise Rejected(f"not staged: {refusal.why}. {refusal.rephrase} The incident was counted.{again}")
    entry, repeated = _append(ctx, title, body)
    warning = ""
    try:
        with ctx.db.write(ctx.space) as tx:
            events.record(
                tx,
                ctx,
                subject=id_of(entry),
                what="staged.recurred" if repeated else "staged.added",
                new={"title": title},
                reason=f"redacted: {', '.join(redacted)}" if redacted else "",
            )
        refresh_passages(ctx)
    except RecollectError as trouble:  # the entry is in the file for good
        warning = not_searchable("The staged learning", trouble)
    return Staged(
        id=id_of(entry), title=entry.title, body=entry.body, repeated=repeated, redacted=redacted, warning=warning
    )


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
    for _ in range(TRIES):
        before = ctx.worktree.read(path)
        refuse_conflicts(path, before or "")
        after = change(before or "")
        if after == (before or ""):
            return after
        try:
            ctx.worktree.replace(path, after, expect="" if before is None else content_hash(before))
            return after
        except Stale:
            continue
    raise Stale(f"{path} keeps changing: another process writes it all the time. Try again")


def refresh_passages(ctx: Context, *, read: Mapping[str, str] | None = None, anew: bool = False) -> None:
    """Make search follow the file, which people and agents also edit by hand; with `anew` even if it is unchanged.

    `read` are the stamps of the sources that were read, where the caller has them.
    """
    folder, _, name = ctx.settings.staging.file.rpartition("/")
    stamp = ctx.worktree.stamps(folder, names=(name,)).get(name, "")  # taken before the text is read
    if not anew and (journal.readings_of(ctx) if read is None else read).get(KIND, "") == stamp:
        return
    entries = read_staging(read_file(ctx)).entries
    with ctx.db.write(ctx.space) as tx:
        found = [passage_of(ctx, tx, entry) for entry in entries]
        read_in(tx, ctx, KIND, stamp, found, passages.ids_of(tx, KIND))


def passage_of(ctx: Context, tx: Tx, entry: StagedEntry) -> Passage:
    """A staged entry as a passage. An entry that was written by hand has no time: only git knows it."""
    staged_at = next((event.at for event in events.of(tx, id_of(entry)) if event.what == "staged.added"), 0)
    return Passage(
        id=id_of(entry),
        kind=KIND,
        title=entry.title,
        lines=tuple(line for line in entry.body.split("\n") if line.strip()),
        at=staged_at,
        trust="agent",  # anyone who can write to the project can write the file
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
    repeated: list[StagedEntry] = []

    def change(text: str) -> str:
        repeated[:] = [entry for entry in read_staging(text).entries if _same(entry, title, body)][:1]
        return text if repeated else appended(ctx, text or _BEGINNING, title, body)

    after = change_file(ctx, change)
    return (repeated[0], True) if repeated else (read_staging(after).entries[-1], False)


def _same(entry: StagedEntry, title: str, body: str) -> bool:
    whole = redundancy(f"{entry.title}. {entry.body}", f"{title}. {body}").holds
    return whole or (not body and redundancy(entry.title, title).holds)


def _count_rejected(ctx: Context, title: str, flaw: str) -> int:
    subject = f"{KIND}/{slug_of(title)}"
    with ctx.db.write(ctx.space) as tx:
        events.record(tx, ctx, subject=subject, what="staged.rejected", new={"title": title}, reason=flaw)
        return sum(event.what == "staged.rejected" for event in events.of(tx, subject))


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
