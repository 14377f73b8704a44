"""Taking what a purge is after out of the rows, and making what was derived from them again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from recollect.capture import documents, finding, stage
from recollect.core.context import Context, Row, Tx
from recollect.distil import themes
from recollect.store import decisions, events, hosts, journal, learnings, passages, purging, readings, requests, wisdom
from recollect.store.files import content_hash
from recollect.tend.owners import OWNERS
from recollect.tend.purge_names import MARK, rename
from recollect.tend.purge_target import Target

_REMOVE: dict[str, Callable[[Tx, str], None]] = {
    "learn": purging.remove_learning,
    "disc": purging.remove_discovery,
    "dec": purging.remove_decision,
    "log": purging.remove_entry,
}


def purge_rows(tx: Tx, ctx: Context, target: Target) -> dict[str, int]:
    orphans = {old: status for id in target.things for old, status in _replaced(tx, id) if old not in target.things}
    for id in target.things:
        _REMOVE[re.split("[_/]", id)[0]](tx, id)
    for rows in (journal, hosts):
        rows.forget_sessions(tx, lambda session: target.scrub(session) != session)
    rename(tx, target.names)
    renamed = purging.rename_ids(tx, target.scrub, lambda: ctx.ids("purged"))
    purging.rename_subjects(tx, target.scrub_id)
    changed = purging.scrub_texts(tx, target.scrub)
    requests.forget_all(tx)  # answers of a day, in case somebody repeats a request
    for table in ("answers", "asks"):  # whoever asked will ask about what is left
        purging.drop(tx, table, changed.get(table, []))
    purging.forget_embeddings(tx)
    changed.setdefault("learning_tags", []).extend(_tags_from(tx, target, changed.get("learnings", [])))
    purging.drop(tx, "learning_tags", changed["learning_tags"])
    for (id,) in changed.get("discoveries", []):
        purging.rehash_discovery(tx, id, content_hash(f"{MARK}:{id}"))
    touched = {row[0] for table in ("learnings", "learning_tags") for row in changed.get(table, [])}
    for id in sorted(touched):
        purging.touch_learning(tx, id, at=ctx.clock.now())
    touched |= _touch_decisions(tx, ctx, changed)
    renew_passages(tx, ctx, target)
    change = ctx.ids("change")
    for id in (*target.things, *sorted(touched)):
        events.record(tx, ctx, change=change, subject=id, what="purged")
    for id, status in orphans.items():
        reason = f"what had replaced it was purged, so it is {status}"
        events.record(tx, ctx, change=change, subject=id, what="purged", new={"status": status}, reason=reason)
    counts = {table: len(keys) for table, keys in changed.items() if keys}
    if renamed:
        counts["ids"] = renamed
    return counts


def _replaced(tx: Tx, id: str) -> Iterator[tuple[str, str]]:
    """What a thing had replaced, and what that is without it."""
    yield from ((old, "archived") for old in learnings.replaced_by(tx, id))
    yield from ((old, "reversed") for old in decisions.replaced_by(tx, id))


def _tags_from(tx: Tx, target: Target, quoting: list[Row]) -> list[Row]:
    """Tags of learnings that quoted a text, where they are words of it: whoever read the text made them."""
    return [
        (learning.id, position)
        for learning in learnings.many(tx, [id for (id,) in quoting])
        for position, tag in enumerate(learning.tags)
        if target.says(tag)
    ]


def _touch_decisions(tx: Tx, ctx: Context, changed: dict[str, list[Row]]) -> set[str]:
    purging.drop(tx, "decision_tags", changed.get("decision_tags", []))
    tables = ("decisions", "decision_tags", "decision_wordings")
    touched = {row[0] for table in tables for row in changed.get(table, [])}
    for id in sorted(touched):
        purging.touch_decision(tx, id, at=ctx.clock.now())
    if touched or changed.get("decision_wisdom"):
        wisdom.forget(tx)
    return touched


def renew_passages(tx: Tx, ctx: Context, target: Target) -> None:
    """A passage that did not change costs a read; what quotes the text may be anywhere.

    A permanent document is the user's file: it stays as it is and is said to be out of reach, but search forgets the
    section. What only other clones have, and what goes by another name now, is forgotten too.
    """
    gone: set[str] = set()
    for kind, owner in OWNERS.items():
        made = list(owner.make(ctx, tx, list(owner.ids(ctx, tx))))
        if kind == documents.KIND:
            made = [one for one in made if not target.pattern.search(f"{one.title}\n{one.text}")]
        if kind in (stage.KIND, documents.KIND, finding.KIND, themes.KIND):
            gone.update({*passages.ids_of(tx, kind)} - {one.id for one in made})
        for passage in made:
            passages.put(tx, passage)
    for id in gone:
        passages.remove(tx, id)
    readings.keep_only(tx, ctx.clone, without=gone)
