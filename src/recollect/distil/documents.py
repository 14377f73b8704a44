"""The permanent documents of the worktree: which there are, splitting a long one, keeping the memory index true.

Never touched: CLAUDE.md, AGENTS.md, README, tests, and any document with changes that nobody committed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recollect.capture.documents import paths
from recollect.core.context import Context
from recollect.core.errors import NotFound, Refused, after
from recollect.store.files import content_hash
from recollect.text.memory_index import Problem, check_index, make_index
from recollect.text.split import Split, relinked, split
from recollect.text.staging import lines_of

SHARED_BEGINNING = "# Learnings\n"


@dataclass(frozen=True, kw_only=True)
class Refactored:
    """What a split made: every file it wrote, by path; none when the document was short enough."""

    path: str
    written: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class IndexState:
    """The memory index: what is, or was, wrong with it, and whether it was written."""

    path: str
    problems: tuple[Problem, ...]
    written: bool


def load(ctx: Context) -> dict[str, str]:
    """Every permanent document by path."""
    return {path: ctx.worktree.read(path) or "" for path in paths(ctx)}


def uncommitted(ctx: Context, path: str, text: str) -> bool:
    """Whether a document differs from what HEAD has, so that a diff of ours would be mixed with somebody's."""
    return ctx.git.committed(path) != text


def refusal(ctx: Context, path: str, text: str) -> str:
    """Why a document must not be written into now, or nothing."""
    if "\ufffd" in text:
        return f"{path} is not UTF-8 throughout"
    return f"{path} has changes that are not committed" if uncommitted(ctx, path, text) else ""


def split_of(ctx: Context, path: str, documents: Mapping[str, str], started: Mapping[str, str]) -> dict[str, str]:
    """Every file that changes when a document is split: its parts, itself, and documents that link to it.

    `started` are the documents before anything of ours: what is not committed in those is somebody else's.
    """
    done = _split(ctx, path, documents)
    if done is None:
        raise Refused(f"{path} has no H2 or H3 headings to split it at; give it some, or split it by hand")
    changed = dict(done.files)
    for other, text in documents.items():
        if other not in changed and (after := relinked(text, other, done.moved)) != text:
            changed[other] = after
    reasons = [reason for name in changed if name in started and (reason := refusal(ctx, name, started[name]))]
    if reasons:
        raise Refused(f"{', '.join(reasons)}; put that right, then split {path}")
    return changed


def refactor(ctx: Context, path: str, *, force: bool = False) -> Refactored:
    """Split one document on demand, fix links to it, and write the index again. A short one is left alone."""
    documents = load(ctx)
    if path not in documents:
        raise NotFound(f"{path} is not one of the permanent documents (setting consolidate.documents)")
    if not force and len(lines_of(documents[path])) <= ctx.settings.consolidate.split_most:
        return Refactored(path=path, written=())
    changed = split_of(ctx, path, documents, documents)
    with after("Parts that are written stay", "Run this again: no part is written twice"):
        write(ctx, changed, documents, last=path)
        write_index(ctx)
    return Refactored(path=path, written=tuple(changed))


def write(ctx: Context, changed: Mapping[str, str], before: Mapping[str, str], *, last: str) -> None:
    """Write documents, the one that others were taken out of last: a crash leaves text twice, never nowhere."""
    for path in [*(each for each in changed if each != last), last]:
        text = changed[path]
        if ctx.worktree.read(path) == text:
            continue  # a run that was cut off had come this far
        expect = content_hash(before[path]) if path in before else ""
        ctx.worktree.replace(path, text, expect=expect)


def check(ctx: Context) -> IndexState:
    """What is wrong with the memory index, without touching it."""
    at = ctx.settings.consolidate.index
    found = check_index(ctx.worktree.read(at) or "", load(ctx), at)
    return IndexState(path=at, problems=tuple(found), written=False)


def index_change(ctx: Context, documents: Mapping[str, str]) -> tuple[str | None, str]:
    """The memory index as it is and as these documents make it; where there is neither, both are empty."""
    at = ctx.settings.consolidate.index
    before = ctx.worktree.read(at)
    return ("", "") if before is None and not documents else (before, make_index(documents, at))


def write_index(ctx: Context) -> IndexState:
    """Make the memory index what the documents say."""
    at, documents = ctx.settings.consolidate.index, load(ctx)
    before, after = index_change(ctx, documents)
    if before == after:
        return IndexState(path=at, problems=(), written=False)
    problems = check_index(before or "", documents, at)
    ctx.worktree.replace(at, after, expect="" if before is None else content_hash(before))
    return IndexState(path=at, problems=tuple(problems), written=True)


def is_full(ctx: Context, text: str) -> bool:
    return len(lines_of(text)) >= ctx.settings.consolidate.file_limit


def _split(ctx: Context, path: str, documents: Mapping[str, str]) -> Split | None:
    limits = ctx.settings.consolidate
    done = split(path, documents[path], least=limits.split_least, most=limits.split_most)
    foreign = done and any(documents.get(name, text) != text for name, text in done.files.items() if name != path)
    if not foreign:
        return done  # also when a run that was cut off wrote some of the parts
    return split(path, documents[path], taken=documents, least=limits.split_least, most=limits.split_most)
