"""Settling what waits: one table says which verb does what to which kind of matter.

What each verb of the inbox does to a staged entry and to what it contradicts: a document, a learning, an entry.

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

from collections.abc import Callable

from recollect.capture import edit
from recollect.capture.learn import KIND as CONFLICT
from recollect.capture.stage import change_file, refresh_passages
from recollect.core.context import Context
from recollect.core.errors import BadInput, Forbidden, Refused, after
from recollect.core.new_learning import LearningEdit
from recollect.distil import restore_entry, staged
from recollect.distil.staged import EntryOutcome
from recollect.store import events
from recollect.store.events import Escalation
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
from recollect.text.staging import StagedEntry, with_body

MATTERS = 0.1  # overlap below which a sentence is about something else
_LEARNING, _STAGED, _DOCUMENT = "learn_", "staged/", "doc/"


def keep_old(ctx: Context, matter: Escalation) -> None:
    restore_entry.drop(ctx, matter.subject, reason="settled in the inbox: keep-old", where=matter.other)


def keep_new(ctx: Context, matter: Escalation) -> None:
    entry = restore_entry.entry(ctx, matter.subject)
    if matter.other.startswith(_STAGED):
        restore_entry.drop(ctx, matter.other, reason="settled in the inbox: keep-new", where=matter.subject)
    elif matter.other.startswith(_LEARNING):
        new = restore_entry.promote(ctx, entry.slug).learning.id
        _settle_echo(ctx, new, matter.other, "keep-new")
        edit.supersede(ctx, matter.other, new, reason=f"settled in the inbox: {matter.reason}")
    else:
        _into_document(ctx, matter, entry, verb="keep-new")


def merge(ctx: Context, matter: Escalation) -> None:
    entry = restore_entry.entry(ctx, matter.subject)
    if matter.other.startswith(_STAGED):
        older = restore_entry.entry(ctx, matter.other)
        words = restore_entry.merged_words(entry.title, entry.body)
        if not older.body.endswith(words):  # an answer that was cut off had come this far
            body = f"{older.body}\n\n{words}".strip()
            change_file(ctx, lambda text: with_body(text, older.title, older.body, body))
        restore_entry.drop(ctx, matter.subject, reason=restore_entry.MERGED, where=matter.other)
    elif matter.other.startswith(_LEARNING):
        new = restore_entry.promote(ctx, entry.slug).learning.id
        _settle_echo(ctx, new, matter.other, "merge")
        edit.merge(ctx, matter.other, new, reason="settled in the inbox")
    else:
        _into_document(ctx, matter, entry, verb="merge")


def keep_both(ctx: Context, matter: Escalation) -> None:
    """The next consolidation places the entry; whoever reads it learns that the other is meant to stand too."""
    entry = restore_entry.entry(ctx, matter.subject)
    words = f"Both hold: see {matter.other.removeprefix(_DOCUMENT)}."
    if not entry.body.endswith(words):
        body = f"{entry.body}\n\n{words}".strip()
        change_file(ctx, lambda text: with_body(text, entry.title, entry.body, body))
    refresh_passages(ctx)


def _into_document(ctx: Context, matter: Escalation, entry: StagedEntry, *, verb: str) -> None:
    """Write the entry into the section it contradicts, in place of what contradicts it when it is to win."""
    path, _, slug = matter.other.removeprefix(_DOCUMENT).partition("#")
    text = ctx.worktree.read(path)
    section = next((each for each in sections(text or "") if each.slug == slug), None)
    if text is None or section is None:
        raise Refused(f"{matter.other} is not there any more; settle this with keep-old or dismiss")
    if why := staged.document_refusal(ctx, path, text):
        raise Refused(f"{why}; put that right, then settle this")
    after = _with_both(text, section, entry) if verb == "merge" else _replaced(text, section, entry)
    now = next(each for each in sections(after) if each.first == section.first)
    ctx.worktree.replace(path, after, expect=content_hash(text))
    with ctx.db.write(ctx.space) as tx:
        events.record(
            tx,
            ctx,
            subject=matter.other,
            what=restore_entry.SETTLED,
            old={"title": section.title, "text": section.text, "level": section.level},
            new={"entry": matter.subject, "title": now.title, "text": now.text},
            reason=f"inbox {matter.number}: {verb}",
        )
    placed = EntryOutcome(
        slug=entry.slug, title=entry.title, fate="consolidated", where=f"{path}#{slug}", reason=f"inbox: {verb}"
    )
    restore_entry.leave(ctx, entry, placed)
    staged.write_index(ctx)


def _with_both(text: str, section: Section, entry: StagedEntry) -> str:
    return with_block(text, rendered_entry(entry.title, entry.body, section.level + 1), section.slug)


def _replaced(text: str, section: Section, entry: StagedEntry) -> str:
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
        echo = events.find_escalation(tx, kind=CONFLICT, subject=new, other=old)
        if echo and echo.resolved_at is None:
            events.resolve_escalation(tx, echo.number, resolution=verb, at=ctx.clock.now())


def resolve(ctx: Context, number: int, verb: str) -> Escalation:
    """Carry out a verb on a matter, then close it. A matter is settled once, and by a person."""
    if ctx.actor.trust != "human":
        raise Forbidden("only a person may settle what waits in the inbox; run this from your own terminal")
    with ctx.db.read(ctx.space) as tx:
        matter = events.get_escalation(tx, number)
    if matter.resolved_at is not None:
        raise Refused(f"matter {number} was settled before: {matter.resolution}")
    verbs = verbs_of(matter)
    if verb not in verbs:
        raise BadInput(f"{verb!r} does not settle a {matter.kind} matter; choose one of {', '.join(verbs)}")
    with after("What was carried out so far stays", f"Settle matter {number} again, with dismiss if {verb} is refused"):
        EFFECTS[matter.kind][verb](ctx, matter)
        with ctx.db.write(ctx.space) as tx:
            events.resolve_escalation(tx, number, resolution=verb, at=ctx.clock.now())
            events.record(tx, ctx, subject=matter.subject, what="inbox.resolved", reason=f"{number}: {verb}")
            return events.get_escalation(tx, number)


def verbs_of(matter: Escalation) -> tuple[str, ...]:
    """What settles a matter of its kind."""
    return tuple(sorted(EFFECTS.get(matter.kind, {})))


def _leave(ctx: Context, matter: Escalation) -> None:
    """The matter is closed, nothing else changes."""


def _make_best_practice(ctx: Context, matter: Escalation) -> None:
    edit.edit(ctx, matter.subject, LearningEdit(pattern_type="best-practice"))


def _keep_new(ctx: Context, matter: Escalation) -> None:
    edit.supersede(ctx, matter.other, matter.subject, reason=f"settled in the inbox: {matter.reason}")


def _keep_old(ctx: Context, matter: Escalation) -> None:
    edit.supersede(ctx, matter.subject, matter.other, reason=f"settled in the inbox: {matter.reason}")


def _merge(ctx: Context, matter: Escalation) -> None:
    edit.merge(ctx, matter.other, matter.subject, reason="settled in the inbox")


EFFECTS: dict[str, dict[str, Callable[[Context, Escalation], None]]] = {
    "best-practice": {"accept": _make_best_practice, "dismiss": _leave},
    "contradiction": {
        "keep-old": _keep_old,
        "keep-new": _keep_new,
        "merge": _merge,
        "keep-both": _leave,
        "dismiss": _leave,
    },
    "staged-contradiction": {
        "keep-old": keep_old,
        "keep-new": keep_new,
        "merge": merge,
        "keep-both": keep_both,
        "dismiss": _leave,
    },
    "staged-vague": {"keep-old": keep_old, "keep-new": _leave, "keep-both": _leave, "dismiss": _leave},
    "staging-size": {"dismiss": _leave},
    "file-limit": {"dismiss": _leave},
}
"""kind of matter × verb → effect. What is only left is read by the next consolidation, which goes by the verb."""
