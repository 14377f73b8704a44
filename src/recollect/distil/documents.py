"""The permanent documents of the worktree, and the memory index that lists them: reading, writing, splitting.

Never touched: CLAUDE.md, AGENTS.md, README, tests, and any document with uncommitted changes. Knows nothing about
staged learnings.
"""

from __future__ import annotations

from collections.abc import Mapping

from recollect.capture.documents import paths
from recollect.core.context import Context
from recollect.core.errors import NotFound, Refused, after
from recollect.core.records import record
from recollect.store.files import content_hash
from recollect.text import documents as text
from recollect.text.documents import IndexProblem, Split, make_index, relinked
from recollect.text.markdown import lines_of

NEW_DOCUMENT = "# Learnings\n"
"""How the document begins that takes every entry which fits no other."""


@record
class Refactored:
    """What a split made: every file it wrote, by path; none when the document was short enough."""

    path: str
    written: tuple[str, ...]


@record
class IndexState:
    """The memory index: what is, or was, wrong with it, and whether it was written."""

    path: str
    problems: tuple[IndexProblem, ...]
    written: bool


def load_documents(ctx: Context) -> dict[str, str]:
    """Every permanent document by path."""
    return {path: ctx.worktree.read(path) or "" for path in paths(ctx)}


def write_refusal(ctx: Context, path: str, document: str) -> str:
    """Why a document must not be written into now; empty when it may."""
    if "\ufffd" in document:
        return f"{path} is not valid UTF-8"
    # Our diff would be mixed with another author's.
    return f"{path} has uncommitted changes" if ctx.git.committed(path) != document else ""


def write_documents(ctx: Context, changed: Mapping[str, str], before: Mapping[str, str], *, last: str) -> None:
    """Write documents, the one that others were split from last: a crash leaves text twice, never nowhere."""
    for path in [*(each for each in changed if each != last), last]:
        if ctx.worktree.read(path) == changed[path]:
            continue  # a run that was cut off had come this far
        expect = content_hash(before[path]) if path in before else ""
        ctx.worktree.replace(path, changed[path], expect=expect)


def refactor(ctx: Context, path: str, *, force: bool = False) -> Refactored:
    """Split one document on demand, fix links to it, and write the index again. A short one is left alone."""
    documents = load_documents(ctx)
    if path not in documents:
        raise NotFound(f"{path} is not one of the permanent documents (setting consolidate.documents)")
    if not force and len(lines_of(documents[path])) <= text.MOST:
        return Refactored(path=path, written=())
    changed = split_document(ctx, path, documents, documents)
    with after("Parts that are written stay", "Run this again: no part is written twice"):
        write_documents(ctx, changed, documents, last=path)
        write_index(ctx)
    return Refactored(path=path, written=tuple(changed))


def split_document(ctx: Context, path: str, documents: Mapping[str, str], started: Mapping[str, str]) -> dict[str, str]:
    """Every file that changes when a document is split: its parts, itself, and documents that link to it.

    `started` are the documents before this run changed any: another author made what is not committed in those.
    """
    done = _parts(path, documents)
    if done is None:
        raise Refused(f"{path} has no H2 or H3 headings to split it at; add some, or split it by hand")
    changed = dict(done.files)
    for other, document in documents.items():
        if other not in changed and (linked := relinked(document, other, done.moved)) != document:
            changed[other] = linked
    reasons = [reason for name in changed if name in started and (reason := write_refusal(ctx, name, started[name]))]
    if reasons:
        raise Refused(f"{', '.join(reasons)}; fix that, then split {path}")
    return changed


def _parts(path: str, documents: Mapping[str, str]) -> Split | None:
    done = text.split(path, documents[path])
    foreign = done and any(documents.get(name, part) != part for name, part in done.files.items() if name != path)
    if not foreign:
        return done  # also when a run that was cut off wrote some of the parts
    return text.split(path, documents[path], taken=documents)


def check_index(ctx: Context) -> IndexState:
    """What is wrong with the memory index; nothing is written."""
    at = ctx.settings.consolidate.index
    found = text.check_index(ctx.worktree.read(at) or "", load_documents(ctx), at)
    return IndexState(path=at, problems=tuple(found), written=False)


def index_change(ctx: Context, documents: Mapping[str, str]) -> tuple[str | None, str]:
    """The memory index as it is and as these documents make it; both empty where there is neither."""
    at = ctx.settings.consolidate.index
    before = ctx.worktree.read(at)
    return ("", "") if before is None and not documents else (before, make_index(documents, at))


def write_index(ctx: Context) -> IndexState:
    """Make the memory index what the documents say."""
    at, documents = ctx.settings.consolidate.index, load_documents(ctx)
    before, after = index_change(ctx, documents)
    if before == after:
        return IndexState(path=at, problems=(), written=False)
    problems = text.check_index(before or "", documents, at)
    ctx.worktree.replace(at, after, expect="" if before is None else content_hash(before))
    return IndexState(path=at, problems=tuple(problems), written=True)
