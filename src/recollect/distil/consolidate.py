"""Consolidation: move staged learnings that have proved themselves into the permanent documents.

In order: supersession, contradiction, redundancy, quality, route, write, report. An entry is placed whole or not at
all: the document is written first, then the event, then the staging file loses exactly that entry; the next run
recognises what a crashed one placed by its text. Nothing is dropped without a record (`inbox.restore`), and a question
for a person does not hold up the other entries.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, replace

from recollect.capture.documents import shared_path
from recollect.capture.logs import today
from recollect.capture.stage import change_file, refresh_passages
from recollect.core.context import Context
from recollect.core.errors import BadInput, NotFound, Refused, after
from recollect.distil import documents, staged, staging_checks
from recollect.distil.staged import (
    CONTRADICTION,
    VAGUE,
    Consolidation,
    EntryOutcome,
    Fate,
    StagingFile,
    planned,
    read_with_history,
    was_restored,
)
from recollect.distil.staging_checks import KnownText, Match
from recollect.models.ask import OFFLINE, ask
from recollect.models.ask import cached_answer as known_answer
from recollect.models.embed import Similarity, similarity_to
from recollect.store import db, events
from recollect.text import route
from recollect.text.documents import holds_block, rendered_entry, with_block
from recollect.text.markdown import lines_of
from recollect.text.sentences import counted
from recollect.text.staging import StagedEntry, marked_consolidated, without
from recollect.text.staging_due import Aged, ConsolidationPlan

LEASE_SECONDS = 600  # longer than a model may take for one entry: three calls of 30 seconds, three tries each
SIZE, LIMIT = "staging-size", "file-limit"


def consolidate(ctx: Context, *, dry_run: bool = False) -> Consolidation:
    """Do what is due. With `dry_run` nothing is written and `diff` says what would be."""
    if dry_run:
        return _consolidate(ctx, dry_run=True)
    lease = db.take_lease(ctx, "consolidate", seconds=LEASE_SECONDS)
    if lease is None:
        return Consolidation(due=False, trigger="none", reason="another process is consolidating")
    try:
        with after("Entries moved so far stay moved", "Run this again: no entry is moved twice"):
            return _consolidate(ctx, dry_run=False, lease=lease)
    finally:
        db.release_lease(ctx, lease)


def due(ctx: Context) -> ConsolidationPlan:
    """What a consolidation would take up now, by the trigger test and the freshness test."""
    return planned(ctx, read_with_history(ctx, ctx.settings.staging.file), _waiting(ctx))


def _consolidate(ctx: Context, *, dry_run: bool, lease: db.Lease | None = None) -> Consolidation:
    try:
        file = read_with_history(ctx, ctx.settings.staging.file)
        if "\ufffd" in file.text:
            # Found out only after a document was written, an entry would be placed again by every run.
            raise Refused(f"{file.path} is not valid UTF-8; fix that, then run this again")
    except (NotFound, Refused, BadInput) as unusable:  # a hand-off goes on without a consolidation
        return Consolidation(due=False, trigger="none", reason=str(unusable))
    made = planned(ctx, file, _waiting(ctx))
    if made.trigger == "none":
        return Consolidation(due=False, trigger="none", reason=made.reason, held=made.held)
    run = _Run(ctx=ctx, file=file, dry_run=dry_run, documents=documents.load_documents(ctx), alike=similarity_to(ctx))
    if made.short:
        ripe = counted(len(file.entries) - len(made.held), "entry")
        reason = f"{made.reason}; ripe: {ripe}, needed: {ctx.settings.staging.batch}"
        if made.trigger == "size":
            advice = "Remove entries by hand, resolve inbox items, or wait until more entries are ripe"
            since = file.last_consolidation.isoformat() if file.last_consolidation else "never"
            run.escalate(SIZE, file.path, since, f"{reason}. {advice}")
        # Due only the first time: after that the item waits in the inbox and there is nothing new to report.
        return Consolidation(
            due=bool(run.escalations),
            trigger=made.trigger,
            reason=reason,
            held=made.held,
            escalations=tuple(run.escalations),
        )
    queue, spare = list(made.batch), list(made.spare)
    while queue:
        outcome = run.settle(queue.pop(0))
        run.outcomes.append(outcome)
        if not outcome.left and spare:
            queue.append(spare.pop(0))
        if lease:
            db.renew_lease(ctx, lease, seconds=LEASE_SECONDS)  # a model may have taken its time
    return run.finish(made)


def _waiting(ctx: Context) -> dict[str, str]:
    """Entries that wait for a person, with the reason: taken up again they would be in the way of the others."""
    waiting: dict[str, str] = {}
    with ctx.db.read(ctx.space) as tx:
        for item in events.all_escalations(tx):
            if item.kind not in (CONTRADICTION, VAGUE):
                continue
            if item.resolved_at is None:
                reason = f"waits for an answer to inbox item {item.number}"
            elif (item.kind, item.resolution) == (VAGUE, "dismiss"):
                reason = f"too vague (inbox item {item.number}); give it a title that states the rule"
            else:
                continue
            entries = [id for id in (item.subject, item.other) if id.startswith("staged/")]
            waiting |= {id.removeprefix("staged/"): reason for id in entries}
    return waiting


@dataclass(kw_only=True)
class _Run:
    """The state of one consolidation: the documents as they were and as they are now, and the outcomes so far."""

    ctx: Context
    file: StagingFile
    dry_run: bool
    documents: dict[str, str]
    alike: Similarity | None
    started: dict[str, str] = field(init=False)
    manner: frozenset[str] = field(init=False)
    _parsed: dict[str, tuple[str, list[KnownText]]] = field(default_factory=dict)
    outcomes: list[EntryOutcome] = field(default_factory=list)
    splits: list[str] = field(default_factory=list)
    escalations: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.started = dict(self.documents)
        self.manner = route.manner([f"{each.entry.title}\n{each.entry.body}" for each in self.file.entries])

    # Deciding

    def settle(self, one: Aged) -> EntryOutcome:
        entry = one.entry
        if path := self._placed_before(one):
            return self._leave(one, "consolidated", path, "was placed by an earlier run that did not finish")
        others = [other for other in self.file.entries if other.entry.slug not in self._gone()]
        if newer := staging_checks.superseding(one, others):
            if not was_restored(self.ctx, entry.slug):
                return self._leave(one, "superseded", newer.known.id, newer.comparison.reason, newer)
            if asked := self._contradicted(one, newer):
                return asked
        if disputed := self._conflict_of_one_day(one, others):
            return disputed
        pieces = [*self._sections(), *staging_checks.known_in_learnings(self.ctx, entry)]
        if (conflict := staging_checks.contradicting(self.ctx, entry, pieces)) and (
            asked := self._contradicted(one, conflict)
        ):
            return asked
        older = [staging_checks.known_in_entry(each.entry) for each in others if each.entry.first < entry.first]
        if (same := staging_checks.repeating(entry, [*pieces, *older], self.alike)) and not was_restored(
            self.ctx, entry.slug
        ):
            return self._leave(one, "redundant", same.known.id, same.comparison.reason, same)
        refusal = ask(self.ctx, staging_checks.quality_question(entry)).value
        if refusal and self._resolution(VAGUE, entry.slug, "") not in ("keep-new", "keep-both"):
            self.escalate(VAGUE, f"staged/{entry.slug}", "", f"{refusal.why}. {refusal.rephrase}", title=entry.title)
            return self._stay(one, "vague", f"staged/{entry.slug}", refusal.why)
        return self._place(one)

    def _sections(self) -> list[KnownText]:
        """The sections of all documents; only a document that was written since is parsed again."""
        for path, text in self.documents.items():
            if path not in self._parsed or self._parsed[path][0] != text:
                self._parsed[path] = (text, staging_checks.known_in_documents({path: text}))
        return [piece for path in self.documents for piece in self._parsed[path][1]]

    def _contradicted(self, one: Aged, found: Match) -> EntryOutcome | None:
        """Ask a person once; afterwards follow the answer."""
        settled = self._resolution(CONTRADICTION, one.entry.slug, found.known.id)
        if settled == "keep-old":
            return self._leave(one, "redundant", found.known.id, "a person chose keep-old", found)
        if settled or self._both_stand(one, found):
            return None
        self._ask(one.entry, found)
        return self._disputed(one, found)

    def _conflict_of_one_day(self, one: Aged, others: list[Aged]) -> EntryOutcome | None:
        """Neither of two entries of one day is the newer one: a person is asked, once for both."""
        for other in others:
            if found := staging_checks.contradicting_same_day(one, other):
                older, newer = sorted((one.entry, other.entry), key=lambda entry: entry.first)
                if not self._resolution(CONTRADICTION, newer.slug, f"staged/{older.slug}"):
                    self._ask(newer, replace(found, known=staging_checks.known_in_entry(older)))
                    return self._disputed(one, found)
        return None

    def _disputed(self, one: Aged, found: Match) -> EntryOutcome:
        return self._stay(one, "contradiction", found.known.id, found.comparison.conflict, found.comparison.score)

    def _both_stand(self, one: Aged, found: Match) -> bool:
        """Whether a person kept both this entry and another one that has since been placed in a document."""
        id, said = f"staged/{one.entry.slug}", staging_checks.opposing_sentence(one.entry, found.known)
        with self.ctx.db.read(self.ctx.space) as tx:
            items = [each for each in events.all_escalations(tx) if each.kind == CONTRADICTION]
        return any(
            each.resolution in ("keep-both", "dismiss")
            and (id, said) in ((each.subject, each.detail.get("known")), (each.other, each.detail.get("new")))
            for each in items
        )

    def _ask(self, entry: StagedEntry, found: Match) -> None:
        self.escalate(
            CONTRADICTION,
            f"staged/{entry.slug}",
            found.known.id,
            found.comparison.conflict,
            new=entry.title,
            known=staging_checks.opposing_sentence(entry, found.known),
            under=found.known.title,
            score=found.comparison.score,
        )

    # Placing

    def _place(self, one: Aged, *, split_before: bool = False) -> EntryOutcome:
        entry = one.entry
        chosen = staging_checks.choose_place(self.ctx, entry, self.documents, self.started, self.alike, self.manner)
        said = ask(self.ctx, staging_checks.rewrite_question(entry))
        placed, words = chosen.value, said.value
        path = placed.path or shared_path(self.ctx)
        text = self.documents.get(path, documents.NEW_DOCUMENT)
        # Uncommitted changes from before the run are somebody else's; later ones are ours.
        if path in self.started and (why := documents.write_refusal(self.ctx, path, self.started[path])):
            return self._stay(one, "refused", path, why)
        if len(lines_of(text)) >= self.ctx.settings.consolidate.file_limit and not split_before:
            try:
                self._split(path)
            except Refused as refused:
                self.escalate(LIMIT, path, "", str(refused))
                return self._stay(one, "file limit", path, str(refused))
            return self._place(one, split_before=True)
        level = 3 if placed.heading else 2
        block = rendered_entry(words.title, words.body, level)
        how = "" if chosen.generator == OFFLINE else f", chosen by {chosen.generator}"
        how += "" if said.generator == OFFLINE else f", worded by {said.generator}"
        reason = ("nearest in meaning" if path in self.documents else "new document") + how
        self._write({path: with_block(text, block, placed.heading or None)}, last=path)
        return self._leave(one, "consolidated", f"{path}#{placed.heading}" if placed.heading else path, reason)

    def _split(self, path: str) -> None:
        changed = documents.split_document(self.ctx, path, self.documents, self.started)
        parts = [name for name in changed if name not in self.documents]
        self._write(changed, last=path)
        self.splits.append(f"{path} into {', '.join(parts)}")

    def _write(self, changed: dict[str, str], *, last: str) -> None:
        if not self.dry_run:
            documents.write_documents(self.ctx, changed, self.documents, last=last)
        self.documents |= changed

    def _placed_before(self, one: Aged) -> str:
        """The document in which an earlier run put this entry before it could take it out of the staging file."""
        entry = one.entry
        worded = known_answer(self.ctx, staging_checks.rewrite_question(entry))
        forms = [(entry.title, entry.body), *([(worded.value.title, worded.value.body)] if worded else [])]
        blocks = [rendered_entry(title, body, level) for title, body in forms for level in (2, 3)]
        for path, text in self.documents.items():
            if entry.body and any(holds_block(text, block) for block in blocks):
                return path
        return ""

    # Recording

    def _leave(self, one: Aged, fate: Fate, where: str, reason: str, found: Match | None = None) -> EntryOutcome:
        outcome = EntryOutcome(
            slug=one.entry.slug,
            title=one.entry.title,
            fate=fate,
            where=where,
            reason=reason,
            score=found.comparison.score if found else 0.0,
        )
        if not self.dry_run:
            if fate == "redundant" and found:
                staged.record_recurrence(self.ctx, found.known, one.entry)
            staged.remove_entry(self.ctx, one.entry, outcome)
        return outcome

    def _stay(self, one: Aged, fate: Fate, where: str, reason: str, score: float = 0.0) -> EntryOutcome:
        return EntryOutcome(
            slug=one.entry.slug, title=one.entry.title, fate=fate, where=where, reason=reason, score=score
        )

    def escalate(self, kind: str, subject: str, other: str, reason: str, **detail: object) -> None:
        """Raise an inbox item, and report it, once; a dry run only reports that it would."""
        with self.ctx.db.read(self.ctx.space) as tx:
            if events.find_escalation(tx, kind=kind, subject=subject, other=other):
                return
        if not self.dry_run:
            with self.ctx.db.write(self.ctx.space) as tx:
                events.raise_escalation(
                    tx, kind=kind, subject=subject, other=other, reason=reason, detail=detail, at=self.ctx.clock.now()
                )
        against = f" against {other}" if kind == CONTRADICTION else ""
        self.escalations.append(f"{subject}{against}: {reason}")

    def _resolution(self, kind: str, slug: str, other: str) -> str:
        with self.ctx.db.read(self.ctx.space) as tx:
            item = events.find_escalation(tx, kind=kind, subject=f"staged/{slug}", other=other)
        return (item.resolution or "") if item else ""

    def _gone(self) -> set[str]:
        return {outcome.slug for outcome in self.outcomes if outcome.left}

    # Ending

    def finish(self, made: ConsolidationPlan) -> Consolidation:
        ctx, gone = self.ctx, self._gone()
        taken_up = {outcome.slug for outcome in self.outcomes}
        done = Consolidation(
            due=True,
            trigger=made.trigger,
            reason=made.reason,
            outcomes=tuple(self.outcomes),
            held=tuple(each for each in made.held if each.slug not in taken_up),
            splits=tuple(self.splits),
            escalations=tuple(self.escalations),
        )
        if self.dry_run:
            return replace(done, diff=self._diff(gone))
        if gone:
            change_file(ctx, lambda text: marked_consolidated(text, today(ctx)))
        refresh_passages(ctx)
        index = documents.write_index(ctx)
        changes = tuple(f"{problem.fault}: {problem.line}" for problem in index.problems) if index.written else ()
        done = replace(done, index_changes=changes, report=ctx.settings.consolidate.report)
        ctx.worktree.replace(done.report, staged.render_report(done, today(ctx)))
        return done

    def _diff(self, gone: set[str]) -> str:
        staging = without(self.file.text, gone)
        changes = {path: (self.started.get(path, ""), text) for path, text in self.documents.items()}
        changes[self.file.path] = (self.file.text, marked_consolidated(staging, today(self.ctx)) if gone else staging)
        index, after = documents.index_change(self.ctx, self.documents)
        changes[self.ctx.settings.consolidate.index] = (index or "", after)
        return "".join(
            _unified(path, before, after) for path, (before, after) in sorted(changes.items()) if before != after
        )


def _unified(path: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{path}", f"b/{path}"
    )
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)
