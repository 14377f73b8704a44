"""Purge: removes a thing with everything that quotes it, or a text wherever it is stored, for good.

A purge scrubs columns and files (a mark replaces the words), makes derived rows again, rewrites the database file
without free pages or log, and replaces the project's own backups and damaged copies by one fresh backup. Then it
searches every byte of Recollect's files for the words. Permanent documents belong to the user: they are only named.

`schema.TABLES` says which columns hold words and names, `kinds` which things can be purged by their id.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from recollect.capture import documents, finding, log, logs, stage, topics
from recollect.capture.finding import FOLDER
from recollect.core.calendar import LEVELS
from recollect.core.context import Context, Row, Tx, Vault
from recollect.core.errors import BadInput, Forbidden, NotFound, Refused
from recollect.core.records import noun_of, record, replace
from recollect.distil import themes
from recollect.store import bulk, events, journal, passages, spool
from recollect.store import themes as theme_rows
from recollect.store.db import every, update
from recollect.store.files import content_hash, is_odd, write_path
from recollect.store.project import Project
from recollect.store.schema import BY_NAME
from recollect.store.sqlite_file import kept_aside
from recollect.store.vault import FolderVault
from recollect.tend import backup
from recollect.tend.doctor import rebuild_tree
from recollect.tend.kinds import KINDS, expected, kind_of
from recollect.text import entries, nodes
from recollect.text.nodes import log_path
from recollect.text.redact import secrets_in
from recollect.text.staging import slug_of

MARK = "[purged]"
NAME = "purged"  # the mark inside ids and paths, where brackets are not allowed; also the slug of `MARK`
SHORTEST = 4  # characters of a text to purge: shorter texts are everywhere
SHORTEST_QUOTE = 20  # characters from which a sentence of a purged thing, found elsewhere, counts as a quotation
CHUNK = 1 << 20  # bytes read at a time; any size serves
OUT_OF_REACH: tuple[str, ...] = (
    "git history: a committed text stays in old commits until history is rewritten",
    "backups and exports that were copied elsewhere, and other clones of this project",
)
OUT_OF_REACH_OF_SERVER = (
    *OUT_OF_REACH,
    "copies that `vault pull` made on other machines: the next pull there marks those that nobody changed",
    "the database server's own log, its write-ahead log, replicas and backups: let them expire",
)
# Rows that are useless without the words: tags, and model answers, which are asked for again.
DROPPED = ("answers", "asks", "learning_tags", "decision_tags", "topic_aliases")


@record
class Purged:
    """What was removed or marked; `found` lists the files that still hold the words and should be empty."""

    things: tuple[str, ...]
    rows: dict[str, int]
    files: tuple[str, ...]
    backups_replaced: int
    fresh_backup: str | None
    found: tuple[str, ...]
    out_of_reach: tuple[str, ...]


@record
class PurgePlan:
    things: tuple[str, ...]
    rows: dict[str, int]
    files: tuple[str, ...]
    backups: int


@dataclass(frozen=True)
class Target:
    """Things by id, and texts wherever they are. `salt` makes the names of this purge unique."""

    things: tuple[str, ...]
    texts: tuple[str, ...]
    salt: str
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        parts = []
        for text in sorted({*self.texts}, key=lambda text: (-len(text), text)):
            parts.append(r"\s+".join(re.escape(word) for word in text.split()))
            if words := _slug_words(text):  # ids and names of files are made of a text's words
                parts.append("(" + r"[\s_-]+".join(map(re.escape, words)) + ")")
        object.__setattr__(self, "pattern", re.compile("|".join(parts) or r"(?!)", re.IGNORECASE))

    def scrub(self, text: str) -> str:
        return self.pattern.sub(lambda found: self._name(found[0]) if _in_name(found) else MARK, text)

    def rename(self, name: str) -> str:
        """An id, name or path without the words. Different words get different names, so that no rows collide."""
        kind, slash, rest = name.partition("/")
        if slash and kind in ("log", *LEVELS):
            return name  # made of dates
        if slash and kind in (stage.KIND, documents.KIND):
            return f"{kind}/{self.pattern.sub(NAME, rest)}"  # as the marked title will be called
        if slash and kind in (finding.KIND, themes.KIND):
            return f"{kind}/{self.rename(rest)}"
        return self.pattern.sub(lambda found: self._name(found[0]), name)

    def path(self, path: str) -> str:
        """A file's new path. Only names of findings and themes are made of people's words."""
        folder, slash, name = path.rpartition("/")
        stem, dot, suffix = name.rpartition(".")
        return f"{folder}{slash}{self.rename(stem)}{dot}{suffix}" if path.startswith(f"{FOLDER}/") else path

    def says(self, tag: str) -> bool:
        """Whether all words of a tag are in the texts: a learning's words give it its tags."""
        own = {word for text in self.texts for word in re.findall(r"\w+", text.lower())}
        return own.issuperset(re.findall(r"\w+", tag.lower()))

    def in_file(self, path: Path) -> bool:
        """Whether a file holds one of the texts, in any case, plain or escaped as in JSON."""
        forms = {form for text in self.texts for form in _forms(text)}
        overlap, tail = max(map(len, forms), default=1), b""
        with path.open("rb") as file:
            while piece := file.read(CHUNK):
                tail = (tail + piece).lower()
                if any(form in tail for form in forms):
                    return True
                tail = tail[-overlap:]
        return False

    def _name(self, words: str) -> str:
        return f"{NAME}-{content_hash(self.salt + words)[:4]}"


def stored_secrets(ctx: Context, tx: Tx, project: Project) -> dict[str, str]:
    """Secrets in rows and files, each with its kind: an earlier version may have stored what this one redacts."""
    found: dict[str, str] = {}

    def look(text: str) -> str:
        found.update(secrets_in(text))
        return text

    bulk.scrub_rows(tx, look, look, dry=True)
    for vault, _ in _vaults(replace(ctx, vault=ctx.vault.inside(tx)), project):
        for path in vault.paths():
            look(vault.read(path) or "")
    return {secret: kind for secret, kind in found.items() if len(secret) >= SHORTEST}


def count_secrets(ctx: Context, project: Project) -> dict[str, int]:
    return dict(Counter(ctx.read(lambda tx: stored_secrets(ctx, tx, project)).values()))


def target_of(ctx: Context, tx: Tx, project: Project, id: str | None, text: str | None, secrets: bool) -> Target:
    salt = ctx.ids("purged")
    if secrets and id is None and text is None:
        if not (found := stored_secrets(ctx, tx, project)):
            raise NotFound("No secret is stored in this memory. Nothing was purged")
        return Target((), tuple(found), salt)
    if text is not None and id is None:
        if len("".join(text.split())) < SHORTEST:
            raise BadInput(f"A text to purge needs at least {SHORTEST} characters; shorter texts are everywhere")
        return Target((), (text.strip(),), salt)
    if id is None or text is not None:
        raise BadInput("Give one of: an id, --text, --secrets")
    kind = kind_of(id)
    if kind is not None and kind.name == logs.KIND:
        entry = logs.entry_within(tx, ctx, id)
        things, texts = [id], [line.strip() for line in (entry.topic, *entry.text.split("\n"))]
    elif kind is not None and kind.table:
        things, texts = bulk.quotes(tx, BY_NAME[kind.table], id)
    else:
        raise BadInput(f"{id[:80]} cannot be purged by its id; purge its words with --text")
    if not things and not any(event.what == "purged" for event in events.of(tx, id)):
        raise NotFound(f"There is no {id}, and nothing of that id was purged")
    return Target(tuple(things), tuple(text for text in texts if len(text) >= SHORTEST_QUOTE), salt)


def plan(
    ctx: Context, project: Project, *, id: str | None = None, text: str | None = None, secrets: bool = False
) -> PurgePlan:
    """What a purge would touch; changes nothing. Raises NotFound for a text that is nowhere."""
    with ctx.db.read(ctx.space) as tx:
        target = target_of(ctx, tx, project, id, text, secrets)
        rows = _counted(bulk.scrub_rows(tx, target.scrub, target.rename, dry=True))
        # Search may know words that only another clone's files hold.
        said = every(tx, "passages", "id, title, text")
        searched = any(target.pattern.search(f"{title}\n{text}") for _, title, text in said)
    own = len(backup.kept_files(project.database)) + len(kept_aside(project.database))
    in_vault = [shown for *_, shown in _holding(ctx, project, target)]
    in_json = [str(path) for path, _ in _json_files(project, target)]
    files = tuple(dict.fromkeys((*in_vault, *in_json)))  # the staging file may be in the vault
    found = id is not None or rows or files or searched or _documents_saying(ctx, target)
    if not found and not any(target.in_file(path) for path in _ours(project)):
        raise NotFound(
            "The text is nowhere in this memory: not in rows, files, the spool or own backups. Nothing was purged"
        )
    return PurgePlan(things=target.things, rows=rows, files=files, backups=own)


def purge(
    ctx: Context, project: Project, *, id: str | None = None, text: str | None = None, secrets: bool = False
) -> Purged:
    """Remove a thing and what quotes it, a text, or every stored secret. This cannot be undone."""
    if ctx.actor.trust != "human":
        raise Forbidden("only a person may purge, because a purge cannot be undone; run this from your own terminal")
    plan(ctx, project, id=id, text=text, secrets=secrets)
    backup.sweep(project, grace=0)
    with ctx.db.write(ctx.space) as tx:
        target = target_of(ctx, tx, project, id, text, secrets)
        rows = _purge_rows(tx, ctx, target)
    files = tuple(dict.fromkeys(_mark_files(ctx, project, target)))
    ctx.write(journal.hash_again, lambda day, text: entries.remembered(day, text).hash)
    if rebuild_tree(ctx).held:  # what was derived from the logs may quote anything
        raise Refused(
            "The text is gone from rows and files, but another process holds the tree, or was killed there less than "
            "ten minutes ago. Run the purge again"
        )
    with ctx.db.write(ctx.space) as tx:
        _renew_passages(tx, ctx, target)  # of what lives in files, which have just changed
        marked = [id for id, name in every(tx, "topics", "id, name") if MARK in name]
        for gone in topics.forget(tx, [id for id in target.things if noun_of(id) == "log"], renamed=marked):
            bulk.remove_mentions(tx, gone)
    ctx.db.remake_indexes()
    ctx.db.write_anew()
    replaced = backup.discard(project.database)
    on_server = ctx.db.holds_vault
    copy = backup.backup(ctx, project.database) if replaced or not on_server else None
    found = [str(path) for path in _ours(project) if target.in_file(path)]
    out_of_reach = (*(OUT_OF_REACH_OF_SERVER if on_server else OUT_OF_REACH), *_documents_saying(ctx, target))
    if copy and copy.path in found and len(copy.spaces) > 1:
        found.remove(copy.path)
        out_of_reach = (*out_of_reach, "other spaces in the same store: one of them holds the same words, which stay")
    return Purged(
        things=target.things,
        rows=rows,
        files=files,
        backups_replaced=replaced,
        fresh_backup=copy.path if copy else None,
        found=tuple(found),
        out_of_reach=out_of_reach,
    )


def _purge_rows(tx: Tx, ctx: Context, target: Target) -> dict[str, int]:
    orphans: dict[str, str] = {}
    for id in target.things:
        table = kind.table if (kind := kind_of(id)) else ""
        if table:
            orphans |= bulk.remove(tx, table, id)
        else:
            bulk.remove_mentions(tx, id)
    changed = bulk.scrub_rows(tx, target.scrub, target.rename)
    scrubbed = {id for (id,) in changed.get("learnings", [])}
    tags = every(tx, "learning_tags", "learning_id, position, tag", key=2)
    said = [(id, number) for id, number, tag in tags if id in scrubbed and target.says(tag)]
    changed.setdefault("learning_tags", []).extend(said)
    for table in DROPPED:
        bulk.drop(tx, table, changed.get(table, []))
    bulk.forget_made(tx)
    for (id,) in changed.get("discoveries", []):
        update(tx, "discoveries", {"id": id}, hash=content_hash(f"{MARK}:{id}"))
    touched: set[str] = set()
    for noun, parts in (("learnings", ("learning_tags",)), ("decisions", ("decision_tags",))):
        ids = {row[0] for table in (noun, *parts) for row in changed.get(table, [])}
        bulk.touch(tx, noun, ids, at=ctx.clock.now())
        touched |= ids
    change = ctx.ids("change")
    # One event at least: `restore` tells by it that a backup is older than a purge.
    for id in (*target.things, *sorted(touched)) or ("purge",):
        events.record(tx, ctx, change=change, subject=id, what="purged")
    for id, status in orphans.items():
        if id not in target.things:
            reason = f"its successor was purged, so it is {status}"
            events.record(tx, ctx, change=change, subject=id, what="purged", new={"status": status}, reason=reason)
    return _counted(changed)


def _counted(changed: dict[str, list[Row]]) -> dict[str, int]:
    return {table: len(keys) for table, keys in changed.items() if keys}


def _renew_passages(tx: Tx, ctx: Context, target: Target) -> None:
    """Write all passages again. Forget sections of permanent documents that hold the words, what only other clones
    have, and passages whose id changed."""
    gone: set[str] = set()
    for kind in KINDS:
        made = list(expected(ctx, tx, kind))
        if kind.name == documents.KIND:
            made = [one for one in made if not target.pattern.search(f"{one.title}\n{one.text}")]
        if kind.name in (stage.KIND, documents.KIND, finding.KIND, themes.KIND):
            gone.update({*passages.ids_of(tx, kind.name)} - {one.id for one in made})
        for passage in made:
            passages.put(tx, passage)
    for id in gone:
        passages.remove(tx, id)
    journal.keep_only_readings(tx, ctx.clone, without=gone)


def _vaults(ctx: Context, project: Project) -> list[tuple[Vault, str]]:
    """The vault, and the copy of a server's vault that `vault pull` left in the memory folder."""
    if not ctx.db.holds_vault:
        return [(ctx.vault, "memory/")]
    return [(ctx.vault, "memory/"), (FolderVault(project.vault, project.data / "vault.lock"), f"{project.vault}/")]


def _holding(ctx: Context, project: Project, target: Target) -> Iterator[tuple[Vault, str, str]]:
    """The files of vault and staging that hold the words: (vault, path there, path to show)."""
    found = [(vault, path, f"{shown}{path}") for vault, shown in _vaults(ctx, project) for path in vault.paths()]
    staging = ctx.settings.staging.file
    for vault, path, shown in ((ctx.worktree, staging, staging), *found):
        text = vault.read(path) or ""
        if _marked(path, text, target) != text or target.path(path) != path:
            yield vault, path, shown


def _mark_files(ctx: Context, project: Project, target: Target) -> Iterator[str]:
    """Scrub all files; yields those that changed, as they are shown."""
    yield from _empty_entries(ctx, project, target)
    for vault, path, shown in _holding(ctx, project, target):
        before, after = log.rewrite(vault, path, lambda text, path=path: _marked(path, text, target))  # type: ignore[misc]
        if (place := target.path(path)) != path:
            vault.replace(place, after)
            vault.delete(path)
        ctx.write(theme_rows.file_rewritten, content_hash(before), content_hash(after))
        yield shown.removesuffix(path) + place
    for file, marked in _json_files(project, target):
        write_path(file, marked, mode=0o600)
        if target.in_file(file):  # it is torn, and spells the words in escapes
            file.unlink()
        yield str(file)


def _empty_entries(ctx: Context, project: Project, target: Target) -> Iterator[str]:
    """Remove the heading and words of purged log entries from every file, then from their rows, which keep the ids."""
    for id in target.things:
        if noun_of(id) != "log":
            continue
        day, number = logs.day_of_entry(id), int(id.partition("#")[2])
        for vault, shown in _vaults(ctx, project):
            if log.empty(replace(ctx, vault=vault), day, number):
                yield f"{shown}{log_path(day)}"
        with ctx.db.write(ctx.space) as tx:
            journal.empty_entry(tx, day, number, text=entries.PURGED_SECTION)


def _marked(path: str, text: str, target: Target) -> str:
    """A file without the words. Raw findings stay JSON, and our nodes stay readable: a mark at the beginning of a topic
    would break the frontmatter."""
    if path.startswith(f"{FOLDER}/") and path.endswith(".json"):
        return _marked_json(text, target)
    marked = target.scrub(text)
    level, _, name = path.removesuffix(".md").partition("/")
    if marked == text or level not in LEVELS or "." in name:
        return marked
    node = nodes.parse(f"{level}/{name}", text)
    if node.generator == nodes.FOREIGN:
        return marked
    topics = tuple(replace(topic, name=target.scrub(topic.name)) for topic in node.topics)
    return nodes.render(replace(node, topics=topics, body=target.scrub(node.body)))


def _json_files(project: Project, target: Target) -> Iterator[tuple[Path, str]]:
    """Our JSON files that hold the words, each with its scrubbed text: the spool, and the state of `vault pull`."""
    for path in (*spool.pending(project.spools), *spool.aside(project.spools), *project.data.glob("*.json")):
        if is_odd(path):
            continue
        text = path.read_text("utf-8", "replace")
        if (marked := _marked_json(text, target)) != text or target.in_file(path):
            yield path, marked


def _marked_json(text: str, target: Target) -> str:
    """JSON without the words, escaped or not; invalid JSON is scrubbed as text."""
    try:
        said = json.loads(text.removeprefix("\ufeff"))
        left = bulk.walked(said, target.scrub)
    except (ValueError, RecursionError):
        return target.scrub(text)
    if isinstance(said, dict) and isinstance(said.get("workId"), str):
        left["workId"] = target.rename(said["workId"])
    return text if left == said else json.dumps(left, ensure_ascii=False, indent=2) + "\n"


def _documents_saying(ctx: Context, target: Target) -> tuple[str, ...]:
    holding = [path for path in documents.paths(ctx) if target.pattern.search(ctx.worktree.read(path) or "")]
    return tuple(f"{path}, which holds the text: edit the file and commit the change" for path in holding)


def _ours(project: Project) -> Iterable[Path]:
    """Every file of ours. The fresh backup is read in place of the database, which no second handle may open."""
    in_use = {project.database, project.database.with_name(project.database.name + "-shm")}
    for folder in backup.folders_of(project):
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if path.is_file() and not path.is_symlink() and path not in in_use:
                yield path


def _in_name(found: re.Match[str]) -> bool:
    """Whether the words are part of a name: joined by hyphens, or next to a joining character."""
    before = found.string[max(0, found.start() - 1) : found.start()]
    after = found.string[found.end() : found.end() + 1]
    joined = found.lastindex is not None and not re.search(r"\s", found[0])
    return joined or before in ("/", "-", "_") or after in ("-", "_", "#")


def _slug_words(text: str) -> list[str]:
    """The words of a text's slug; none where they are too short to identify it."""
    words = [slug_of(word) for word in re.findall(r"\w+", text)]
    return words if len("".join(words)) >= SHORTEST else []


def _forms(text: str) -> set[bytes]:
    """The spellings of a text in a file, in lower case: plain, on one line, as a slug, and inside JSON."""
    spellings = {text, " ".join(text.split()), text.lower(), "-".join(_slug_words(text)) or text}
    escaped = {json.dumps(one, ensure_ascii=ascii)[1:-1] for one in spellings for ascii in (True, False)}
    return {one.encode("utf-8", "replace").lower() for one in spellings | escaped}
