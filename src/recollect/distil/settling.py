"""What each verb of the inbox does to a staged entry and to what it contradicts: a document, a learning, an entry.

| verb | effect |
|---|---|
| keep-old | the entry leaves the staging file |
| keep-new | the entry takes the place of what contradicted it |
| merge | both become one: a section with both, one learning, one entry |
| keep-both | both stand, and the entry says so |
| dismiss | they do not contradict each other; the entry goes its way |

Everything is done at once and recorded; `recollect restore-entry` brings the entry back, with what it replaced.
"""

from __future__ import annotations

from recollect.capture import edit
from recollect.capture.conflicts import KIND as CONFLICT
from recollect.capture.stage import change_file, refresh_passages
from recollect.core.context import Context
from recollect.core.errors import Refused
from recollect.distil import documents, removal
from recollect.distil.report import Outcome
from recollect.store import escalations, events
from recollect.store.escalations import Escalation
from recollect.store.files import content_hash
from recollect.text.compare import contradiction
from recollect.text.documents import (
    Section,
    rendered_entry,
    rendered_section,
    sections,
    sentences,
    with_block,
    with_section,
    without_sentences,
)
from recollect.text.staging import Entry, with_body

MATTERS = 0.1  # overlap below which a sentence is about something else
_LEARNING, _STAGED, _DOCUMENT = "learn_", "staged/", "doc/"


def keep_old(ctx: Context, matter: Escalation) -> None:
    removal.drop(ctx, matter.subject, reason="settled in the inbox: keep-old", where=matter.other)


def keep_new(ctx: Context, matter: Escalation) -> None:
    entry = removal.entry(ctx, matter.subject)
    if matter.other.startswith(_STAGED):
        removal.drop(ctx, matter.other, reason="settled in the inbox: keep-new", where=matter.subject)
    elif matter.other.startswith(_LEARNING):
        new = removal.promote(ctx, entry.slug).learning.id
        _settle_echo(ctx, new, matter.other, "keep-new")
        edit.supersede(ctx, matter.other, new, reason=f"settled in the inbox: {matter.reason}")
    else:
        _into_document(ctx, matter, entry, verb="keep-new")


def merge(ctx: Context, matter: Escalation) -> None:
    entry = removal.entry(ctx, matter.subject)
    if matter.other.startswith(_STAGED):
        older = removal.entry(ctx, matter.other)
        words = removal.merged_words(entry.title, entry.body)
        if not older.body.endswith(words):  # an answer that was cut off had come this far
            body = f"{older.body}\n\n{words}".strip()
            change_file(ctx, lambda text: with_body(text, older.title, older.body, body))
        removal.drop(ctx, matter.subject, reason=removal.MERGED, where=matter.other)
    elif matter.other.startswith(_LEARNING):
        new = removal.promote(ctx, entry.slug).learning.id
        _settle_echo(ctx, new, matter.other, "merge")
        edit.merge(ctx, matter.other, new, reason="settled in the inbox")
    else:
        _into_document(ctx, matter, entry, verb="merge")


def keep_both(ctx: Context, matter: Escalation) -> None:
    """The next consolidation places the entry; whoever reads it learns that the other is meant to stand too."""
    entry = removal.entry(ctx, matter.subject)
    words = f"Both hold: see {matter.other.removeprefix(_DOCUMENT)}."
    if not entry.body.endswith(words):
        body = f"{entry.body}\n\n{words}".strip()
        change_file(ctx, lambda text: with_body(text, entry.title, entry.body, body))
    refresh_passages(ctx)


def _into_document(ctx: Context, matter: Escalation, entry: Entry, *, verb: str) -> None:
    """Write the entry into the section it contradicts, in place of what contradicts it when it is to win."""
    path, _, slug = matter.other.removeprefix(_DOCUMENT).partition("#")
    text = ctx.worktree.read(path)
    section = next((each for each in sections(text or "") if each.slug == slug), None)
    if text is None or section is None:
        raise Refused(f"{matter.other} is not there any more; settle this with keep-old or dismiss")
    if why := documents.refusal(ctx, path, text):
        raise Refused(f"{why}; put that right, then settle this")
    after = _with_both(text, section, entry) if verb == "merge" else _replaced(text, section, entry)
    now = next(each for each in sections(after) if each.first == section.first)
    ctx.worktree.replace(path, after, expect=content_hash(text))
    with ctx.db.write(ctx.space) as tx:
        events.record(
            tx,
            ctx,
            subject=matter.other,
            what=removal.SETTLED,
            old={"title": section.title, "text": section.text, "level": section.level},
            new={"entry": matter.subject, "title": now.title, "text": now.text},
            reason=f"inbox {matter.number}: {verb}",
        )
    placed = Outcome(
        slug=entry.slug, title=entry.title, fate="consolidated", where=f"{path}#{slug}", reason=f"inbox: {verb}"
    )
    removal.leave(ctx, entry, placed)
    documents.write_index(ctx)


def _with_both(text: str, section: Section, entry: Entry) -> str:
    return with_block(text, rendered_entry(entry.title, entry.body, section.level + 1), section.slug)


def _replaced(text: str, section: Section, entry: Entry) -> str:
    """The document with the entry in place of the words that say most plainly otherwise: a sentence, or the heading."""

    def opposes(said: str) -> float:
        found = contradiction(entry.title, said)
        return found.score if found.answer != "no" else 0.0

    most = max(map(opposes, sentences(section.text)), default=0.0)
    if opposes(section.title) >= max(most, MATTERS):
        return with_section(text, section, rendered_entry(entry.title, entry.body, section.level))
    if most < MATTERS:
        raise Refused(f"no sentence under {section.title!r} says the contrary by itself; edit it, then choose dismiss")
    left = without_sentences(section.text, lambda said: opposes(said) == most)
    kept = with_section(text, section, rendered_section(section.title, left, section.level))
    return _with_both(kept, section, entry)


def _settle_echo(ctx: Context, new: str, old: str, verb: str) -> None:
    """Making a learning of the entry raised the same question once more; it has its answer."""
    with ctx.db.write(ctx.space) as tx:
        echo = escalations.find(tx, kind=CONFLICT, subject=new, other=old)
        if echo and echo.resolved_at is None:
            escalations.resolve(tx, echo.number, resolution=verb, at=ctx.clock.now())
