"""Purge: a thing, or a text wherever it stands, is gone for good.

Rows lose it (a mark stays in its place), derived state is made again, the database file is written anew without free
pages or log, files of the vault and the spool get the mark, and the project's own backups and damaged copies, which
hold it too, give way to one fresh backup. At the end every byte that is ours is searched for it.

A later noun plugs in by naming its columns in `store/purging.py` and, when it has ids of its own, an entry in `THINGS`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from recollect.capture import documents
from recollect.capture import log as logs
from recollect.core.context import Context, Row, Tx
from recollect.core.errors import BadInput, NotFound, Refused, Stale
from recollect.core.learning import COIA
from recollect.store import (
    decisions,
    events,
    hosts,
    journal,
    learnings,
    passages,
    purging,
    requests,
    soundness,
    spool,
    tasks,
)
from recollect.store.damage import kept_aside
from recollect.store.files import content_hash, write_path
from recollect.store.project import Project
from recollect.store.sqlite import SqliteDb
from recollect.tend import backups
from recollect.tend.owners import OWNERS
from recollect.tend.rebuild import rebuild_tree
from recollect.text import entries
from recollect.text.tree import log_path

MARK = "[purged]"
SHORTEST = 4  # characters of a text to purge: "a" would be everywhere
SHORTEST_QUOTE = 20  # characters that, said by a purged thing and found elsewhere, count as quoting it
CHUNK = 1 << 20
_EDGES = ".,;:!?()[]{}<>\"'`"

OUT_OF_REACH: tuple[str, ...] = (
    "git history: a committed text stays in old commits until history is rewritten",
    "backups and exports that were copied elsewhere, and other clones of this project",
)
OUT_OF_REACH_OF_SERVER = (
    *OUT_OF_REACH,
    "the database server's own log, its write-ahead log, replicas and backups: let them expire",
)


@dataclass(frozen=True, kw_only=True)
class Purged:
    """What was removed or marked, by place; `found` is where it still stands, which should be nowhere."""

    things: tuple[str, ...]
    rows: dict[str, int]
    files: tuple[str, ...]
    backups_replaced: int
    fresh_backup: str | None
    found: tuple[str, ...]
    out_of_reach: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a purge would touch."""

    things: tuple[str, ...]
    rows: dict[str, int]
    files: tuple[str, ...]
    backups: int


@dataclass(frozen=True)
class _Target:
    """What has to go: things by id, and texts wherever they stand."""

    things: tuple[str, ...]
    texts: tuple[str, ...]
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        longest_first = sorted({*self.texts}, key=lambda text: (-len(text), text))
        parts = [r"\s+".join(re.escape(word) for word in text.split()) for text in longest_first]
        object.__setattr__(self, "pattern", re.compile("|".join(parts) or r"(?!)", re.IGNORECASE))

    def scrub(self, text: str) -> str:
        """The text with a mark where something went; what was cut off in the middle of it goes too."""
        marked = self.pattern.sub(MARK, text)
        body = marked.rstrip(" .…").lower()
        for wanted in map(str.lower, self.texts):
            begins = body.rfind(wanted[:SHORTEST_QUOTE])
            if len(wanted) > SHORTEST_QUOTE and begins >= 0 and wanted.startswith(body[begins:]):
                return marked[:begins] + MARK
        return marked

    def says(self, words: str) -> bool:
        """Whether a tag or domain is made of the texts' own words."""
        own = {word.strip(_EDGES) for text in self.texts for word in text.lower().split()}
        return all(word in own for word in words.lower().replace("-", " ").split())

    def in_bytes(self, data: bytes) -> bool:
        """Whether raw bytes hold one of the texts, plain or as JSON writes it."""
        return any(form in data for text in self.texts for form in _forms(text))


def plan(ctx: Context, project: Project, *, id: str | None = None, text: str | None = None) -> Plan:
    """What a purge would touch; changes nothing."""
    with ctx.db.read(ctx.space) as tx:
        target = _target(ctx, tx, id, text)
        rows = purging.count_texts(tx, target.scrub)
    own = len(backups.kept_files(project.database)) + len(kept_aside(project.database))
    files = (*_vault_files(ctx, target), *map(str, _spool_files(project, target)))
    return Plan(things=target.things, rows=rows, files=files, backups=own)


def purge(ctx: Context, project: Project, *, id: str | None = None, text: str | None = None) -> Purged:
    """Remove a thing and what quotes it, or a text wherever it stands. There is no way back."""
    if ctx.actor.trust != "human":
        raise Refused("only a person may purge, because nothing brings it back; run this from your own terminal")
    with ctx.db.write(ctx.space) as tx:
        target = _target(ctx, tx, id, text)
        rows = _purge_rows(tx, ctx, target)
    files = (*_empty_entries(ctx, target), *_mark_vault(ctx, target), *_mark_spool(project, target))
    _renew_tree(ctx)
    with ctx.db.write(ctx.space) as tx:
        _renew_passages(tx, ctx, target)  # of what lives in files, which have just changed
    if isinstance(ctx.db, SqliteDb):
        soundness.remake_indexes(ctx.db)
    ctx.db.write_anew()
    replaced = backups.discard(project.database)
    on_server = not isinstance(ctx.db, SqliteDb)
    out_of_reach = (*(OUT_OF_REACH_OF_SERVER if on_server else OUT_OF_REACH), *_documents(ctx, target))
    if on_server and not replaced:
        return _report(target, rows, files, out_of_reach=out_of_reach)
    copy = backups.backup(ctx, project.database)
    fresh = Path(copy.path)
    found = [path for path in _ours(project) if _holds(path, target)]
    if fresh in found and len(copy.spaces) > 1:
        found.remove(fresh)
        out_of_reach = (*out_of_reach, "other spaces in the same store: one of them holds the same words, which stay")
    return _report(target, rows, files, replaced=replaced, fresh=fresh, found=found, out_of_reach=out_of_reach)


def _report(
    target: _Target,
    rows: dict[str, int],
    files: tuple[str, ...],
    *,
    out_of_reach: tuple[str, ...],
    replaced: int = 0,
    fresh: Path | None = None,
    found: Iterable[Path] = (),
) -> Purged:
    return Purged(
        things=target.things,
        rows=rows,
        files=files,
        backups_replaced=replaced,
        fresh_backup=str(fresh) if fresh else None,
        found=tuple(map(str, found)),
        out_of_reach=out_of_reach,
    )


def _target(ctx: Context, tx: Tx, id: str | None, text: str | None) -> _Target:
    if (id is None) == (text is None):
        raise BadInput("say either the id of a thing or --text")
    if text is not None:
        if len("".join(text.split())) < SHORTEST:
            raise BadInput(f"a text to purge needs at least {SHORTEST} characters; shorter ones are everywhere")
        return _Target((), (text.strip(),))
    assert id is not None
    if id.startswith("log/"):
        entry = logs.entry(replace(ctx, vault=ctx.vault.inside(tx)), id)
        said = (entry.topic, *entry.text.split("\n"))
        return _Target((id,), tuple(line.strip() for line in said if len(line.strip()) >= SHORTEST_QUOTE))
    describe = THINGS.get(id.partition("_")[0])
    if describe is None:
        raise BadInput(f"{id[:80]} is nothing that can be purged by its id; use --text for its words")
    things, texts = describe(tx, id)
    if not things and not any(event.what == "purged" for event in events.of(tx, id)):
        raise NotFound(f"no {id} here, and nothing of that id was purged")
    return _Target(tuple(things), tuple(text for text in texts if len(text) >= SHORTEST_QUOTE))


def _learning(tx: Tx, id: str) -> tuple[list[str], list[str]]:
    """A learning, the raw discoveries it was made of, and everything it ever said."""
    found = learnings.many(tx, [id])
    if not found:
        return [], []
    things, texts = [id], [found[0].title, *found[0].fields]
    for event in events.of(tx, id):
        said = {**event.old, **event.new}
        texts += [said[name] for name in ("title", *COIA) if isinstance(said.get(name), str)]
        texts += [event.old[name] for name in ("title", *COIA) if isinstance(event.old.get(name), str)]
    for discovery in purging.discoveries_of(tx, id):
        more_things, more_texts = _discovery(tx, discovery)
        things += more_things
        texts += more_texts
    return things, texts


def _discovery(tx: Tx, id: str) -> tuple[list[str], list[str]]:
    found = tasks.known_discovery(tx, id)
    return ([id], [found.content]) if found else ([], [])


def _decision(tx: Tx, id: str) -> tuple[list[str], list[str]]:
    """A decision and everything it ever said."""
    found = decisions.many(tx, [id])
    if not found:
        return [], []
    texts = list(decisions.passage_of(found[0]).lines)
    for event in events.of(tx, id):
        texts += [text for said in (event.old, event.new) for text in _strings(said)]
    return [id], texts


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


THINGS: dict[str, Callable[[Tx, str], tuple[list[str], list[str]]]] = {
    "learn": _learning,
    "disc": _discovery,
    "dec": _decision,
}
"""By the prefix of an id: the things that go with it, and the texts they hold. No things: there is no such id."""

_REMOVE: dict[str, Callable[[Tx, str], None]] = {
    "learn": purging.remove_learning,
    "disc": purging.remove_discovery,
    "dec": purging.remove_decision,
    "log": purging.remove_entry,
}


def _purge_rows(tx: Tx, ctx: Context, target: _Target) -> dict[str, int]:
    for id in target.things:
        _REMOVE[re.split("[_/]", id)[0]](tx, id)
    for rows in (journal, hosts):
        rows.forget_sessions(tx, lambda session: target.scrub(session) != session)
    renamed = purging.rename_ids(tx, target.scrub, lambda: ctx.ids("purged"))
    changed = purging.scrub_texts(tx, target.scrub)
    requests.forget_all(tx)  # answers of a day, in case somebody repeats a request
    purging.forget_answers(tx, changed.get("answers", []))
    purging.forget_asks(tx, changed.get("asks", []))
    purging.forget_embeddings(tx)
    changed.setdefault("learning_tags", []).extend(_tags_from(tx, target, changed.get("learnings", [])))
    purging.drop_tags(tx, changed["learning_tags"])
    for (id,) in changed.get("discoveries", []):
        purging.rehash_discovery(tx, id, content_hash(f"{MARK}:{id}"))
    touched = {row[0] for table in ("learnings", "learning_tags") for row in changed.get(table, [])}
    for id in sorted(touched):
        purging.touch_learning(tx, id, at=ctx.clock.now())
    touched |= _touch_decisions(tx, ctx, changed)
    _renew_passages(tx, ctx, target)
    change = ctx.ids("change")
    for id in (*target.things, *sorted(touched)):
        events.record(tx, ctx, change=change, subject=id, what="purged")
    counts = {table: len(keys) for table, keys in changed.items() if keys}
    if renamed:
        counts["ids"] = renamed
    return counts


def _tags_from(tx: Tx, target: _Target, quoting: list[Row]) -> list[Row]:
    """Tags of learnings that quoted a text, where they are words of it: whoever read the text made them."""
    return [
        (learning.id, position)
        for learning in learnings.many(tx, [id for (id,) in quoting])
        for position, tag in enumerate(learning.tags)
        if target.says(tag)
    ]


def _touch_decisions(tx: Tx, ctx: Context, changed: dict[str, list[Row]]) -> set[str]:
    purging.drop_decision_tags(tx, changed.get("decision_tags", []))
    tables = ("decisions", "decision_tags", "decision_wordings")
    touched = {row[0] for table in tables for row in changed.get(table, [])}
    for id in sorted(touched):
        purging.touch_decision(tx, id, at=ctx.clock.now())
    if touched or changed.get("decision_wisdom"):
        purging.forget_wisdom(tx)
    return touched


def _renew_passages(tx: Tx, ctx: Context, target: _Target) -> None:
    """A passage that did not change costs a read; what quotes the text may be anywhere.

    A permanent document is the user's file: it stays as it is and is said to be out of reach, but search forgets the
    section.
    """
    for kind, owner in OWNERS.items():
        for passage in owner.make(ctx, tx, list(owner.ids(ctx, tx))):
            if kind == documents.KIND and target.pattern.search(f"{passage.title}\n{passage.text}"):
                passages.remove(tx, passage.id)
            else:
                passages.put(tx, passage)


def _documents(ctx: Context, target: _Target) -> tuple[str, ...]:
    holding = [path for path in documents.paths(ctx) if target.pattern.search(ctx.worktree.read(path) or "")]
    return tuple(f"{path}, which says it: edit the file, and commit that" for path in holding)


def _vault_files(ctx: Context, target: _Target) -> list[str]:
    return [path for path in ctx.vault.paths() if target.pattern.search(ctx.vault.read(path) or "")]


def _mark_vault(ctx: Context, target: _Target) -> Iterator[str]:
    for path in _vault_files(ctx, target):
        while True:
            text = ctx.vault.read(path) or ""
            try:
                ctx.vault.replace(path, target.scrub(text), expect=content_hash(text))
                break
            except Stale:
                continue  # somebody appended meanwhile; their words stay
        yield f"memory/{path}"


def _empty_entries(ctx: Context, target: _Target) -> Iterator[str]:
    """An entry's heading and words go; its place stays, so that the others keep their ids."""
    for id in target.things:
        if not id.startswith("log/"):
            continue
        path, number = log_path(logs.day_of_entry(id)), int(id.partition("#")[2])
        while True:
            text = ctx.vault.read(path) or ""
            try:
                ctx.vault.replace(path, entries.emptied(text, {number}), expect=content_hash(text))
                break
            except Stale:
                continue  # somebody appended meanwhile; their words stay
        yield f"memory/{path}"


def _renew_tree(ctx: Context) -> None:
    """What was derived from the logs may quote anything: it is forgotten and made again from what they say now."""
    if rebuild_tree(ctx).held:
        raise Refused("the words are gone from rows and files; another process works on the tree, so purge again")


def _spool_files(project: Project, target: _Target) -> list[Path]:
    waiting = [*spool.pending(project.spools), *spool.unreadable(project.spools)]
    return [path for path in waiting if target.pattern.search(_decoded(path))]


def _decoded(path: Path) -> str:
    """A spooled record with its escapes resolved, or as it is when it does not read."""
    raw = path.read_text("utf-8", "replace")
    try:
        return json.dumps(json.loads(raw), ensure_ascii=False) + raw
    except ValueError:
        return raw


def _mark_spool(project: Project, target: _Target) -> Iterator[str]:
    for path in _spool_files(project, target):
        try:
            record = json.loads(path.read_text("utf-8"))
            write_path(path, json.dumps(_walked(record, target), ensure_ascii=False), mode=0o600)
        except ValueError:
            path.unlink(missing_ok=True)  # it does not read, so the text cannot be taken out of it
        yield str(path)


def _walked(value: Any, target: _Target) -> Any:
    if isinstance(value, str):
        return target.scrub(value)
    if isinstance(value, list):
        return [_walked(item, target) for item in value]
    if isinstance(value, dict):
        return {key: _walked(item, target) for key, item in value.items()}
    return value


def _ours(project: Project) -> Iterable[Path]:
    """Every file of ours. The fresh backup stands for the database, page by page, which no second handle may open."""
    in_use = {project.database, project.database.with_name(project.database.name + "-shm")}
    for folder in (project.data, project.vault, *project.spools):
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if path.is_file() and not path.is_symlink() and path not in in_use:
                yield path


def _holds(path: Path, target: _Target) -> bool:
    overlap = max((len(form) for text in target.texts for form in _forms(text)), default=1)
    tail = b""
    with path.open("rb") as file:
        while piece := file.read(CHUNK):
            if target.in_bytes(tail + piece):
                return True
            tail = (tail + piece)[-overlap:]
    return False


def _forms(text: str) -> set[bytes]:
    """How a text may stand in a file: as it is, on one line, lower-cased, and inside JSON."""
    spellings = {text, " ".join(text.split()), text.lower()}
    escaped = {json.dumps(one, ensure_ascii=ascii)[1:-1] for one in spellings for ascii in (True, False)}
    return {one.encode("utf-8", "replace") for one in spellings | escaped}
