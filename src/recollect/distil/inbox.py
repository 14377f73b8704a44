"""The inbox: what a person answers, what each answer does, and how an answer is taken back.

`EFFECTS` is the one table, kind of item × verb → effect. An effect is carried out at once and recorded. `restore`
brings a staged entry back, undoes what the answer changed in a document or another entry, and reopens the item.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

from recollect.capture import decide, edit, log, logs
from recollect.capture.change import PROPOSAL, UNDONE, Noun
from recollect.capture.learn import KIND as LEARNING_CONTRADICTION
from recollect.capture.learn import move
from recollect.capture.stage import (
    REMOVED,
    RESTORED,
    appended,
    change_file,
    claims_of,
    find_entry,
    id_of,
    read_file,
    refresh_passages,
    words_of,
)
from recollect.capture.undo import undo
from recollect.core.context import ME, Context, Event, Tx
from recollect.core.decision import DecisionEdit, Review
from recollect.core.errors import BadInput, Forbidden, NotFound, Refused, after
from recollect.core.journal import NewEntry
from recollect.core.new_learning import LearningEdit
from recollect.core.records import noun_of, plain, record
from recollect.core.trust import check_may
from recollect.distil import staged, themes
from recollect.distil.staged import CONTRADICTION, PLACE, PLACES, VAGUE
from recollect.models.embed import judge_of
from recollect.store import events
from recollect.store.events import Escalation
from recollect.store.files import content_hash
from recollect.text.claims import claims, is_sentence, parts_of, rules_in, statements, without_claim
from recollect.text.compare import RULE_AND_REASON, Judge, compare
from recollect.text.documents import (
    Section,
    rendered_entry,
    rendered_section,
    sections,
    sentences,
    with_block,
    with_section,
    without_block,
    without_sentences,
)
from recollect.text.staging import StagedEntry, read_staging, with_body

MIN_OPPOSITION = 0.1
"""Below this score of a contradiction a sentence is about something else. Chosen low: a person has said that the
section contradicts the entry, so one of its sentences does."""
SETTLED = "document.settled"
MERGED = "settled in the inbox: merge"
ABOUT_PERSON, IN_PROJECTS = "about-you", "known-elsewhere"
_STAGED, _DOCUMENT = "staged/", "doc/"


def resolve(ctx: Context, number: int, verb: str) -> Escalation:
    """Carry out a verb on an item, then close it. An item is resolved once, and by a person."""
    if ctx.actor.trust != "human":
        raise Forbidden("only a person may resolve an inbox item; run this from your own terminal")
    refresh_passages(ctx)  # closes what an edit of the staging file made moot
    item = ctx.read(events.get_escalation, number)
    if item.resolution == events.MOOT:
        raise Refused(f"inbox item {number} is closed: one of the two it is about is gone")
    if item.resolved_at is not None:
        raise Refused(f"inbox item {number} was resolved before: {item.resolution}")
    verbs = verbs_of(item)
    if verb not in verbs:
        given = repr(verb) if verb else "no verb"
        raise BadInput(f"{given} does not resolve a {item.kind} item; choose one of {', '.join(verbs)}")
    ctx = ctx.as_one_change()  # `take_back` finds what was done by it
    effect, _ = EFFECTS[item.kind][verb]
    there = {id_of(entry) for entry in read_staging(read_file(ctx)).entries}
    missing = [id for id in (item.subject, item.other) if noun_of(id) == "staged" and id not in there]
    if missing and effect is not _no_effect:
        raise Refused(f"{missing[0]} is not in {ctx.settings.staging.file} here; resolve this with dismiss")
    with after("Changes made so far stay", f"Resolve item {number} again, with dismiss if {verb} is refused"):
        effect(ctx, item)
        with ctx.db.write(ctx.space) as tx:
            events.resolve_escalation(tx, number, resolution=verb, at=ctx.clock.now())
            events.record(tx, ctx, subject=item.subject, what="inbox.resolved", reason=f"{number}: {verb}")
            return events.get_escalation(tx, number)


def take_back(ctx: Context, number: int) -> Escalation:
    """Undo what the answer to an item did, and reopen the item."""
    if ctx.actor.trust != "human":
        raise Forbidden("only a person may take back an answer; run this from your own terminal")
    with ctx.db.read(ctx.space) as tx:
        item = events.get_escalation(tx, number)
        if item.resolved_at is None:
            raise Refused(f"inbox item {number} is open already; there is no answer to take back")
        answers = [event for event in events.of(tx, item.subject) if event.what == "inbox.resolved"]
        change = next((one.change for one in reversed(answers) if one.reason.startswith(f"{number}: ")), "")
        done = events.of_change(tx, change) if change else []
    for event in done:
        while event.what == REMOVED and event.seq not in _taken_back(ctx.read(events.of, event.subject)):
            restore(ctx, event.subject)  # what was left of an entry may have gone on to a document since
        if event.what == "theme.renamed":
            themes.rename(ctx, event.new["name"], event.old["name"])
    if item.resolution == "keep-both" and noun_of(item.subject) == "staged":
        with suppress(NotFound):  # a consolidation placed it meanwhile
            entry = find_entry(ctx, item.subject)
            body = entry.body.removesuffix(_both_hold(item)).rstrip()
            change_file(ctx, lambda text: with_body(text, entry.title, entry.body, body))
            refresh_passages(ctx)
    if any(event.what.startswith(("learning.", "decision.")) for event in done):
        undo(ctx, change=change)
    with ctx.db.write(ctx.space) as tx:
        if events.get_escalation(tx, number).resolved_at is not None:  # a restored entry reopens it too
            events.reopen_escalation(tx, number)
            events.record(tx, ctx, subject=item.subject, what="inbox.reopened", reason=f"{number}: taken back")
        return events.get_escalation(tx, number)


def verbs_of(item: Escalation) -> dict[str, str]:
    """The verbs that resolve an item of its kind, each with what it does."""
    return {verb: does for verb, (_, does) in EFFECTS.get(item.kind, {}).items()}


# Effects on learnings


def _no_effect(ctx: Context, item: Escalation) -> None:
    """Only close the item. The next consolidation reads the verb of an item about a staged entry."""


def _make_best_practice(ctx: Context, item: Escalation) -> None:
    edit.edit(ctx, item.subject, LearningEdit(pattern_type="best-practice"))


def _supersede_old(ctx: Context, item: Escalation, new: str = "") -> None:
    edit.supersede(ctx, item.other, new or item.subject, reason=f"settled in the inbox: {item.reason}")


def _supersede_new(ctx: Context, item: Escalation) -> None:
    edit.supersede(ctx, item.subject, item.other, reason=f"settled in the inbox: {item.reason}")


def _merge_learnings(ctx: Context, item: Escalation, new: str = "") -> None:
    edit.merge(ctx, item.other, new or item.subject, reason="settled in the inbox")


# Effects on a staged entry (the subject) and what it contradicts: a document, a learning or another entry


def _drop_entry(ctx: Context, item: Escalation) -> None:
    _drop(ctx, item.subject, reason="settled in the inbox: keep-old", where=item.other)


def _replace_with_entry(ctx: Context, item: Escalation) -> None:
    if noun_of(item.other) == "staged":
        left = _without_clash(ctx, item)
        _drop(ctx, item.other, reason="settled in the inbox: keep-new", where=item.subject, left=left)
    elif noun_of(item.other) == "learning":
        _supersede_old(ctx, item, _promote_silently(ctx, item, "keep-new"))
    else:
        _write_into_document(ctx, item, "keep-new")


def _merge_with_entry(ctx: Context, item: Escalation) -> None:
    if noun_of(item.other) == "staged":
        entry, older = find_entry(ctx, item.subject), find_entry(ctx, item.other)
        _append_to_body(ctx, older, _as_paragraphs(entry.title, entry.body))
        _drop(ctx, item.subject, reason=MERGED, where=item.other)
    elif noun_of(item.other) == "learning":
        _merge_learnings(ctx, item, _promote_silently(ctx, item, "merge"))
    else:
        _write_into_document(ctx, item, "merge")


def _note_both_hold(ctx: Context, item: Escalation) -> None:
    """The next consolidation places the entry; its text says that the other is meant to stay too."""
    _append_to_body(ctx, find_entry(ctx, item.subject), _both_hold(item))
    refresh_passages(ctx)


def _both_hold(item: Escalation) -> str:
    return f"Both hold: see {item.other.removeprefix(_DOCUMENT)}."


def _bring_to_own_ring(ctx: Context, item: Escalation) -> None:
    """Log the entry in the person's ring too; logs are permanent, so it also stays where it is."""
    found = logs.entry(ctx, item.subject)
    title, topic = (found.topic, None) if found.titled else (None, found.topic)
    again = NewEntry(text=found.text, title=title, topic=topic, type=found.type)
    log.add(ctx.rings.named(ctx, ME).trusted_as(found.trust), again)


def _carry_out(ctx: Context, item: Escalation) -> None:
    """Make the proposed change, as the person who accepts it."""
    import msgspec  # heavy, and the cycle loads this module

    id, verb, given = item.subject, item.detail["verb"], item.detail["given"]
    if item.detail["noun"] == "theme":
        themes.rename(ctx, id.removeprefix("theme/"), **given)
        return
    noun: Noun[Any] = decide.DECISION if item.detail["noun"] == "decision" else edit.LEARNING
    now = ctx.read(noun.get, id)
    was = item.detail["was"]
    if moved := [name for name, value in was.items() if plain(getattr(now, name), name) != value]:
        raise Refused(f"{id} changed after this was proposed ({', '.join(moved)}); dismiss it or edit {id} yourself")
    if noun.name == "decision":
        if verb == "review":
            decide.review(ctx, id, Review(**given))
        else:
            decide.edit(ctx, id, msgspec.convert(given["changes"], DecisionEdit))
    elif "changes" in given:
        edit.edit(ctx, id, msgspec.convert(given["changes"], LearningEdit))
    else:
        _LEARNING_VERBS[verb](ctx, id, **given)


_LEARNING_VERBS: dict[str, Callable[..., object]] = {
    "label": edit.retag,
    "archive": edit.archive,
    "restore": edit.restore,
    "supersede": edit.supersede,
    "merge": edit.merge,
}
Effects = dict[str, tuple[Callable[[Context, Escalation], object], str]]
_DISMISS: Effects = {"dismiss": (_no_effect, "nothing changes")}
EFFECTS: dict[str, Effects] = {
    "best-practice": {
        "accept": (_make_best_practice, "the learning's type becomes best-practice"),
        **_DISMISS,
    },
    LEARNING_CONTRADICTION: {
        "keep-old": (_supersede_new, "the old learning supersedes the new one"),
        "keep-new": (_supersede_old, "the new learning supersedes the old one"),
        "merge": (_merge_learnings, "the old learning takes over tags, sources and recurrence of the new one"),
        "keep-both": (_no_effect, "they contradict each other and both stay"),
        "dismiss": (_no_effect, "they do not contradict each other; nothing changes"),
    },
    CONTRADICTION: {
        "keep-old": (_drop_entry, "the entry leaves the staging file, with a record"),
        "keep-new": (_replace_with_entry, "the entry replaces what it contradicts"),
        "merge": (_merge_with_entry, "the entry goes beside what it contradicts"),
        "keep-both": (_note_both_hold, "the entry says that both hold; the next consolidation places it"),
        "dismiss": (_no_effect, "no contradiction: the next consolidation places the entry"),
    },
    VAGUE: {
        "keep-old": (_drop_entry, "the entry leaves the staging file, with a record"),
        "keep-new": (_no_effect, "the next consolidation places the entry"),
        "keep-both": (_no_effect, "the next consolidation places the entry"),
        "dismiss": (_no_effect, "the entry stays staged"),
    },
    PLACE: {
        **{verb: (_no_effect, f"the next consolidation writes it to the {verb} place") for verb in PLACES},
        "new": (_no_effect, "the next consolidation writes it to the document for what fits no other"),
        "dismiss": (_no_effect, "the entry stays staged"),
    },
    PROPOSAL: {
        "accept": (_carry_out, "the change is made, as yours"),
        **_DISMISS,
    },
    ABOUT_PERSON: {
        "accept": (_bring_to_own_ring, "the entry goes to your own ring, which sessions of every project read"),
        **_DISMISS,
    },
    IN_PROJECTS: {
        "accept": (
            lambda ctx, item: move(ctx, item.subject, ctx.rings.named(ctx, ME), to=ME),
            "the learning moves to your own ring, which sessions of every project read",
        ),
        **_DISMISS,
    },
    "staging-size": _DISMISS,
    "file-limit": _DISMISS,
}
"""Kind of item × verb → effect, and what it does in words."""


def _drop(ctx: Context, id: str, *, reason: str, where: str, left: str = "") -> None:
    staged.remove_entry(ctx, find_entry(ctx, id), "redundant", where, reason, left=left)
    refresh_passages(ctx)


def _without_clash(ctx: Context, item: Escalation) -> str:
    """The body of the older of two entries without the claim that the newer one replaces; empty if it says no more."""
    new, old = find_entry(ctx, item.subject), find_entry(ctx, item.other)
    rules = rules_in(claims_of(old.title, old.said))
    shown = [claim for claim in rules if item.detail.get("known") in (parts_of(claim)[-1], " — ".join(parts_of(claim)))]
    if shown == rules and len(statements(rules[0])) > RULE_AND_REASON:
        left = _without_opposed(old.title, old.body, new, judge_of(ctx)) or ""
    else:
        left = without_claim(old.body, shown[0]) if shown and shown != rules else ""
    return left if claims(old.title, left) else ""


def _append_to_body(ctx: Context, entry: StagedEntry, words: str) -> None:
    if not entry.body.endswith(words):  # an answer that was cut off had come this far
        body = f"{entry.body}\n\n{words}".strip()
        change_file(ctx, lambda text: with_body(text, entry.title, entry.body, body))


def _as_paragraphs(title: str, body: str) -> str:
    return f"{title.rstrip('.')}.\n\n{body}".strip()


def _promote_silently(ctx: Context, item: Escalation, verb: str) -> str:
    """Make the entry a learning; capturing it raises the same contradiction again, which has its answer already."""
    new = staged.promote(ctx, item.subject).learning.id
    with ctx.db.write(ctx.space) as tx:
        echo = events.find_escalation(tx, kind=LEARNING_CONTRADICTION, subject=new, other=item.other)
        if echo and echo.resolved_at is None:
            events.resolve_escalation(tx, echo.number, resolution=verb, at=ctx.clock.now())
    return new


def _write_into_document(ctx: Context, item: Escalation, verb: str) -> None:
    """Write the entry into the section it contradicts: beside what contradicts it, or (`keep-new`) in its place."""
    entry = find_entry(ctx, item.subject)
    path, _, slug = item.other.removeprefix(_DOCUMENT).partition("#")
    text = ctx.worktree.read(path)
    section = next((each for each in sections(text or "") if each.slug == slug), None)
    if text is None or section is None:
        raise Refused(f"{item.other} no longer exists; resolve this with keep-old or dismiss")
    if why := staged.write_refusal(ctx, path, text):
        own = " (the consolidation's own may be among them); commit or stash them"
        raise Refused(why + ("; fix that" if "\ufffd" in text else own) + ", then run this again")
    after = (
        _with_both(text, section, entry)
        if verb == "merge"
        else _with_entry_instead(text, section, entry, judge_of(ctx))
    )
    now = next(each for each in sections(after) if each.first == section.first)
    ctx.worktree.replace(path, after, expect=content_hash(text))
    ctx.write(
        events.record,
        ctx,
        subject=item.other,
        what=SETTLED,
        old={"title": section.title, "text": section.text, "level": section.level},
        new={"entry": item.subject, "title": now.title, "text": now.text},
        reason=f"inbox {item.number}: {verb}",
    )
    staged.remove_entry(ctx, entry, "consolidated", f"{path}#{slug}", f"inbox: {verb}")
    refresh_passages(ctx)
    staged.write_index(ctx)


def _with_both(text: str, section: Section, entry: StagedEntry) -> str:
    return with_block(text, rendered_entry(entry.title, entry.body, section.level + 1), section.slug)


def _with_entry_instead(text: str, section: Section, entry: StagedEntry, judge: Judge | None) -> str:
    """The document with the entry in place of what contradicts it most: a sentence, or a heading that is one."""
    left = _without_opposed(section.title, section.text, entry, judge)
    if left is None:
        return with_section(text, section, rendered_entry(entry.title, entry.body, section.level))
    if left == section.text:
        raise Refused(
            f"no single sentence under {section.title!r} contradicts the entry; edit the section, then choose dismiss"
        )
    return _with_both(with_section(text, section, rendered_section(section.title, left, section.level)), section, entry)


def _without_opposed(title: str, text: str, entry: StagedEntry, judge: Judge | None) -> str | None:
    """A text without the sentence that contradicts an entry most; None if its heading does."""

    def opposition(said: str) -> float:
        found = compare(claims_of(entry.title, entry.said), (said,), judge)
        return found.score if found.kind != "near" else 0.0

    most = max(map(opposition, sentences(text)), default=0.0)
    if is_sentence(title) and opposition(title) >= max(most, MIN_OPPOSITION):
        return None
    return text if most < MIN_OPPOSITION else without_sentences(text, lambda said: opposition(said) == most)


# Taking an answer back


@record
class RestoredEntry:
    """An entry that is staged again; `taken_out_of` names what it was taken out of, empty when its text stays there."""

    id: str
    title: str
    taken_out_of: str
    note: str


def restore(ctx: Context, slug: str) -> RestoredEntry:
    """Stage an entry again that left the file, word for word, and reopen the items it was dropped by."""
    check_may(ctx.actor.trust, "staged", "restore")
    slug = slug.removeprefix(_STAGED)
    history = ctx.read(events.of, f"staged/{slug}")
    taken_back = _taken_back(history)
    removals = [event for event in history if event.what == REMOVED and event.seq not in taken_back]
    event = removals[-1] if removals else None
    words = (event.old["title"], event.old["body"]) if event else words_of(history)
    if words is None:
        raise NotFound(f"{slug!r} is not among the entries that left the staging file, and no words of it are known")
    title, body = words
    if any((entry.title, entry.body) == (title, body) for entry in read_staging(read_file(ctx)).entries):
        raise Refused(f"{title!r} is staged already")
    taken_out_of, note = _take_out(ctx, event) if event else ("", "it was gone from the file")

    def again(text: str) -> str:
        left = event.new.get("left") if event else None
        whole = with_body(text, title, left, body) if left else text
        return appended(ctx, text, title, body) if whole == text else whole

    taken_out = after(f"{title!r} was taken out of {taken_out_of}", "Run this again to stage it")
    with taken_out if taken_out_of else nullcontext():
        change_file(ctx, again)
    with after(f"{title!r} is staged again", "Once that is fixed, run: recollect cycle"):
        with ctx.db.write(ctx.space) as tx:
            events.record(
                tx,
                ctx,
                subject=f"staged/{slug}",
                what=RESTORED,
                new={"removal": event.seq if event else 0},
                reason=note or "asked for",
            )
            if event:
                _reopen(tx, ctx, event)
        refresh_passages(ctx)
    return RestoredEntry(id=f"staged/{slug}", title=title, taken_out_of=taken_out_of, note=note)


def _taken_back(history: list[Event]) -> set[int]:
    return {event.new["removal"] for event in history if event.what == RESTORED}


def _reopen(tx: Tx, ctx: Context, removal: Event) -> None:
    """Reopen the item whose answer took an entry out. A learning that was made of one stays."""
    for item in list(events.all_escalations(tx)):
        sides = (item.subject, item.other.removeprefix(_DOCUMENT))
        between = (removal.subject, removal.new["where"].removeprefix(_DOCUMENT))
        if item.resolution in UNDONE and between in (sides, sides[::-1]):
            events.reopen_escalation(tx, item.number)
            reason = f"{item.number}: {removal.subject} was restored"
            events.record(tx, ctx, subject=item.subject, what="inbox.reopened", reason=reason)


def _take_out(ctx: Context, event: Event) -> tuple[str, str]:
    """Take an entry's text out of where it went; where that was, or why the text stays there."""
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
    before = _without_entry_text(text, event, replaced) if text is not None else None
    if text is None or before is None:
        return "", f"{path} was changed since, so the text there stays too"
    if before.strip() in ("", staged.NEW_DOCUMENT.strip()):
        ctx.worktree.delete(path, expect=content_hash(text))
    else:
        ctx.worktree.replace(path, before, expect=content_hash(text))
    with after(f"{event.old['title']!r} was taken out of {path}", "Run this again to stage it"):
        staged.write_index(ctx)
    return path, ""


def _take_out_of_entry(ctx: Context, event: Event, where: str) -> tuple[str, str]:
    other = read_staging(read_file(ctx)).entry(where.removeprefix(_STAGED))
    words = _as_paragraphs(event.old["title"], event.old["body"])
    if other is None or not other.body.endswith(words):
        return "", f"{where} is gone or was changed since, so the text there stays too"
    body = other.body.removesuffix(words).strip()
    change_file(ctx, lambda text: with_body(text, other.title, other.body, body))
    return where, ""


def _without_entry_text(text: str, event: Event, replaced: Event | None) -> str | None:
    """A document as it was without an entry; None when what was written then was changed since."""
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
