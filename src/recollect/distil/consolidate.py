"""Consolidation: move staged learnings that have proved themselves into the permanent documents.

In order: supersession, contradiction, redundancy, quality, route, write, report. The document is written first, then
the event, then the staging file loses that entry; after a crash the next run recognises the placed text. Nothing is
dropped without a record (`inbox.restore`), and a question for a person does not hold up the other entries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain

from recollect.capture.documents import shared_path
from recollect.capture.logs import today
from recollect.capture.stage import change_file, refresh_passages
from recollect.core.context import Context
from recollect.core.errors import BadInput, NotFound, Refused, after
from recollect.core.records import noun_of, replace
from recollect.core.trust import check_may
from recollect.distil import staged, staging_checks
from recollect.distil.staged import (
    CONTRADICTION,
    PLACE,
    PLACES,
    VAGUE,
    Consolidation,
    EntryOutcome,
    Fate,
    StagingFile,
    planned,
    read_with_history,
    was_restored,
)
from recollect.distil.staging_checks import Checks, Match
from recollect.models.ask import OFFLINE, cached_answer
from recollect.models.budget import limited
from recollect.models.embed import Similarity, judge_of, similarity_to
from recollect.store import db, events
from recollect.text.compare import CLOSE
from recollect.text.documents import holds_block, rendered_entry, sections, with_block
from recollect.text.markdown import lines_of, unified
from recollect.text.route import DECIDED, NEW_FILE, Placement, Router, manner
from recollect.text.sentences import counted
from recollect.text.staging import Aged, ConsolidationPlan, HeldBack, StagedEntry, marked_consolidated, without

LEASE_SECONDS = 600  # longer than a model may take for one entry: three calls of 30 seconds, three tries each
SIZE, LIMIT = "staging-size", "file-limit"


def consolidate(ctx: Context, *, dry_run: bool = False) -> Consolidation:
    """Do what is due. With `dry_run` nothing is written and `diff` says what would be."""
    check_may(ctx.actor.trust, "staged", "consolidate")
    if dry_run:
        return _consolidate(limited(ctx), dry_run=True)
    lease = db.take_lease(ctx, "consolidate", seconds=LEASE_SECONDS)
    if lease is None:
        return Consolidation(due=False, trigger="none", reason="another process is consolidating")
    try:
        with after("Entries moved so far stay moved", "Run this again: no entry is moved twice"):
            return _consolidate(limited(ctx), dry_run=False, lease=lease)
    finally:
        db.release_lease(ctx, lease)


def due(ctx: Context) -> ConsolidationPlan:
    """What a consolidation would take up now, by the trigger test and the freshness test."""
    file = read_with_history(ctx, ctx.settings.staging.file)
    return planned(ctx, file, _waiting(ctx, file))


def _consolidate(ctx: Context, *, dry_run: bool, lease: db.Lease | None = None) -> Consolidation:
    try:
        file = read_with_history(ctx, ctx.settings.staging.file)
        if "\ufffd" in file.text:
            # Found out only after a document was written, an entry would be placed again by every run.
            raise Refused(f"{file.path} is not valid UTF-8; fix that, then run this again")
    except (NotFound, Refused, BadInput) as unusable:  # a hand-off goes on without a consolidation
        return Consolidation(due=False, trigger="none", reason=str(unusable))
    made = planned(ctx, file, _waiting(ctx, file))
    run = _Run(ctx=ctx, file=file, dry_run=dry_run, documents=staged.load_documents(ctx), alike=similarity_to(ctx))
    # A run that was killed left an entry in its document and in the staging file: finish it, whatever holds it now.
    begun = [one for one in file.entries if not one.entry.external and run.placed_before(one)]
    if made.trigger == "none" and not begun:
        return Consolidation(due=False, trigger="none", reason=made.reason, held=made.held)
    if made.short and not begun:
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
    queue, spare = begun, []
    if made.trigger != "none" and not made.short:
        queue, spare = [*begun, *(one for one in made.batch if one not in begun)], list(made.spare)
    while queue:
        try:
            outcome = run.settle(queue[0])
        except staging_checks.CallsUsedUp:
            break
        del queue[0]
        run.outcomes.append(outcome)
        if not outcome.left and spare:
            queue.append(spare.pop(0))
        if lease:
            db.renew_lease(ctx, lease, seconds=LEASE_SECONDS)  # a model may have taken its time
    later = [HeldBack(slug=one.entry.slug, reason="the models' calls are used up (models.calls)") for one in queue]
    return run.finish(replace(made, held=(*made.held, *later)))


def _waiting(ctx: Context, file: StagingFile) -> dict[str, str]:
    """The entries that wait for a person, each with the reason."""
    waiting = {
        one.entry.slug: f"came from outside; adopt it first: recollect staged adopt {one.entry.slug}"
        for one in file.entries
        if one.entry.external
    }
    for item in ctx.read(events.all_escalations):
        if item.kind not in (CONTRADICTION, VAGUE, PLACE):
            continue
        if item.resolved_at is None:
            reason = f"waits for an answer to inbox item {item.number}"
        elif (item.kind, item.resolution) == (VAGUE, "dismiss"):
            reason = f"too vague (inbox item {item.number}); give it a title that states the rule"
        elif (item.kind, item.resolution) == (PLACE, "dismiss"):
            reason = f"no place for it (inbox item {item.number}); move it by hand"
        else:
            continue
        entries = [id for id in (item.subject, item.other) if noun_of(id) == "staged"]
        waiting |= {id.removeprefix("staged/"): reason for id in entries}
    return waiting


LISTED = 20  # changes of the index that a report names; a screen


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
    router: Router = field(init=False)
    checks: Checks = field(init=False)
    refusal: Callable[[str], str] = field(init=False)
    outcomes: list[EntryOutcome] = field(default_factory=list)
    splits: list[str] = field(default_factory=list)
    escalations: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.started = dict(self.documents)
        # Each entry meets a dozen texts: of nine doubts below this cosine on a real file none was right, and of the 108
        # conflicts that are asked about between entries of blind sets two are lost.
        judge = judge_of(self.ctx, self.alike, least=CLOSE)
        self.checks = Checks(ctx=self.ctx, alike=self.alike, judge=judge, met={})
        # Asked once for each document: an answer takes two git processes.
        self.refusal = cache(lambda path: staged.write_refusal(self.ctx, path, self.started[path]))
        self.manner = manner([f"{each.entry.title}\n{each.entry.body}" for each in self.file.entries])
        self.router = staging_checks.learn_places(self.ctx, self.documents, self.alike)

    # Deciding

    def settle(self, one: Aged) -> EntryOutcome:
        entry = one.entry
        if path := self.placed_before(one):
            return self._leave(one, "consolidated", path, "was placed by an earlier run that did not finish")
        gone = self._gone()
        others = [each for each in self.file.entries if each.entry.slug not in gone and not each.entry.external]
        beside = self.checks.beside(one, others)
        asked: EntryOutcome | None = None
        disputed = None
        for each in (each for each in beside if each.found.comparison.conflicts):
            newer, older = both = each.newer, each.older
            said = each.found.comparison
            if each.later and said.sure and not said.partly and not was_restored(self.ctx, older.slug):
                if older is entry:
                    return self._leave(one, "superseded", f"staged/{newer.slug}", said.reason, each.found)
            # Edited or brought back, an entry became the newer one: the answer is under the other order.
            elif not any(self._resolution(CONTRADICTION, a.slug, f"staged/{b.slug}") for a, b in (both, both[::-1])):
                disputed = disputed or each
        known = staging_checks.all_known(self.ctx, self.documents, entry)
        repeated = (each.found for each in beside if each.newer is entry and each.found.comparison.repeats)
        for found in chain(self.checks.settle(entry, known), repeated):
            if not found.comparison.repeats:
                if asked := self._contradicted(one, found):
                    break
            elif not was_restored(self.ctx, entry.slug):
                return self._leave(one, "redundant", found.known.id, found.comparison.reason, found)
        if disputed and not (asked and asked.left):
            self._ask(disputed.newer, disputed.found)
            other = disputed.older if disputed.newer is entry else disputed.newer
            asked = asked or self._disputed(one, f"staged/{other.slug}", disputed.found)
        if asked:
            return asked
        refusal = staging_checks.answered(self.ctx, staging_checks.quality_question(entry)).value
        if refusal and self._resolution(VAGUE, entry.slug, "") not in ("keep-new", "keep-both"):
            self.escalate(VAGUE, f"staged/{entry.slug}", "", f"{refusal.why}. {refusal.rephrase}", title=entry.title)
            return self._stay(one, "vague", f"staged/{entry.slug}", refusal.why)
        return self._place(one)

    def _contradicted(self, one: Aged, found: Match) -> EntryOutcome | None:
        """Ask a person once; afterwards follow the answer."""
        settled = self._resolution(CONTRADICTION, one.entry.slug, found.known.id)
        if settled == "keep-old":
            return self._leave(one, "redundant", found.known.id, "a person chose keep-old", found)
        if settled or self._both_stand(one, found):
            return None
        self._ask(one.entry, found)
        return self._disputed(one, found.known.id, found)

    def _disputed(self, one: Aged, other: str, found: Match) -> EntryOutcome:
        return self._stay(one, "contradiction", other, found.comparison.question, found.comparison.score)

    def _both_stand(self, one: Aged, found: Match) -> bool:
        """Whether a person kept both this entry and another one that has since been placed in a document."""
        id, said = f"staged/{one.entry.slug}", found.comparison.sides[1]
        return any(
            each.kind == CONTRADICTION
            and each.resolution in ("keep-both", "dismiss")
            and (id, said) in ((each.subject, each.detail.get("known")), (each.other, each.detail.get("new")))
            for each in self.ctx.read(events.all_escalations)
        )

    def _ask(self, entry: StagedEntry, found: Match) -> None:
        new, known = found.comparison.sides
        self.escalate(
            CONTRADICTION,
            f"staged/{entry.slug}",
            found.known.id,
            found.comparison.question,
            new=new,
            known=known,
            under=found.known.title,
            score=found.comparison.score,
            why=found.comparison.explained,
        )

    # Placing

    def _place(self, one: Aged, *, split_before: bool = False) -> EntryOutcome:
        entry = one.entry
        if self.router.paths != self.documents.keys():  # a new document, or one that was split
            self.router = staging_checks.learn_places(self.ctx, self.documents, self.alike)
        chosen = staging_checks.choose_place(self.ctx, entry, self.router, self.documents, self.manner)
        places = ", ".join(f"{each.where} {each.score:.0%}" for each in chosen.value[: len(PLACES)])
        self.checks.met.setdefault(f"staged/{entry.slug}", []).append(f"places: {places or 'none is near'}")
        by_person = self._chosen_by_person(entry)
        placed = by_person or next(iter(chosen.value), NEW_FILE)
        if not by_person and chosen.generator == OFFLINE and placed.path and placed.score < DECIDED:
            return self._undecided(one, chosen.value[: len(PLACES)])
        said = staging_checks.answered(self.ctx, staging_checks.rewrite_question(entry))
        words = said.value
        path = placed.path or shared_path(self.ctx)
        text = self.documents.get(path, staged.NEW_DOCUMENT)
        # Uncommitted changes from before the run are another author's; later ones are ours.
        if path in self.started and (why := self.refusal(path)):
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
        reason = "chosen in the inbox" if by_person else "likeliest" if path in self.documents else "new document"
        reason += how
        self._write({path: with_block(text, block, placed.heading or None)}, last=path)
        where = f"{path}#{placed.heading}" if placed.heading else path
        return self._leave(one, "consolidated", where, reason, score=placed.score)

    def _undecided(self, one: Aged, places: Sequence[Placement]) -> EntryOutcome:
        """Ask a person where an entry belongs when several places fit about equally."""
        offered = {verb: each.where for verb, each in zip(PLACES, places, strict=False)}
        told = ", ".join(f"{verb} {where}" for verb, where in offered.items())
        self.escalate(PLACE, f"staged/{one.entry.slug}", "", f"it fits more than one place: {told}", **offered)
        return self._stay(one, "undecided", f"staged/{one.entry.slug}", f"it fits more than one place: {told}")

    def _chosen_by_person(self, entry: StagedEntry) -> Placement | None:
        """The place that a person chose among those offered; None if it has gone since."""
        item = self.ctx.read(events.find_escalation, kind=PLACE, subject=f"staged/{entry.slug}", other="")
        if item is None or item.resolution not in (*PLACES, "new"):
            return None
        path, _, heading = str(item.detail.get(item.resolution, "")).partition("#")
        there = {section.slug for section in sections(self.documents.get(path, ""))}
        return replace(
            NEW_FILE, path=path if path in self.documents else "", heading=heading if heading in there else ""
        )

    def _split(self, path: str) -> None:
        changed = staged.split_document(self.ctx, path, self.documents, self.started)
        parts = [name for name in changed if name not in self.documents]
        self._write(changed, last=path)
        self.splits.append(f"{path} into {', '.join(parts)}")

    def _write(self, changed: dict[str, str], *, last: str) -> None:
        if not self.dry_run:
            staged.write_documents(self.ctx, changed, self.documents, last=last)
        self.documents |= changed

    def placed_before(self, one: Aged) -> str:
        """The document in which an earlier run put this entry before it could take it out of the staging file."""
        entry = one.entry
        worded = cached_answer(self.ctx, staging_checks.rewrite_question(entry))
        forms = [(entry.title, entry.body), *([(worded.value.title, worded.value.body)] if worded else [])]
        blocks = [rendered_entry(title, body, level) for title, body in forms for level in (2, 3)]
        for path, text in self.documents.items():
            if entry.body and any(holds_block(text, block) for block in blocks):
                return path
        return ""

    # Recording

    def _leave(
        self, one: Aged, fate: Fate, where: str, reason: str, found: Match | None = None, score: float = 0.0
    ) -> EntryOutcome:
        outcome = self._stay(one, fate, where, reason, found.comparison.score if found else score)
        if not self.dry_run:
            if fate == "redundant" and found:
                staged.record_recurrence(self.ctx, found.known, one.entry)
            staged.remove_entry(self.ctx, one.entry, fate, where, reason)
        return outcome

    def _stay(self, one: Aged, fate: Fate, where: str, reason: str, score: float = 0.0) -> EntryOutcome:
        entry = one.entry
        met = tuple(dict.fromkeys(self.checks.met.get(f"staged/{entry.slug}", ())))
        return EntryOutcome(
            slug=entry.slug, title=entry.title, fate=fate, where=where, reason=reason, score=score, met=met
        )

    def escalate(self, kind: str, subject: str, other: str, reason: str, **detail: object) -> None:
        """Raise an inbox item, and report it, once; a dry run only reports that it would."""
        known = self.ctx.read(events.find_escalation, kind=kind, subject=subject, other=other)
        if known and known.resolution != events.MOOT:
            return
        if not self.dry_run:
            with self.ctx.db.write(self.ctx.space) as tx:
                if known:
                    events.reopen_escalation(tx, known.number)
                events.raise_escalation(
                    tx, kind=kind, subject=subject, other=other, reason=reason, detail=detail, at=self.ctx.clock.now()
                )
        against = f" against {other}" if kind == CONTRADICTION else ""
        self.escalations.append(f"{subject}{against}: {reason}")

    def _resolution(self, kind: str, slug: str, other: str) -> str:
        item = self.ctx.read(events.find_escalation, kind=kind, subject=f"staged/{slug}", other=other)
        return item.resolution or "" if item and item.resolution != events.MOOT else ""

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
        before = ctx.worktree.read(ctx.settings.consolidate.index)
        index = staged.write_index(ctx)
        changes = tuple(f"{problem.fault}: {problem.line}" for problem in index.problems) if index.written else ()
        if before is None and changes:  # every line would be reported as missing
            changes = (f"created {index.path} with {counted(len(changes), 'line')}",)
        elif len(changes) > LISTED:  # as for an index that a person began
            changes = (*changes[:LISTED], f"and {len(changes) - LISTED} more")
        done = replace(done, index_changes=changes, report=ctx.settings.consolidate.report)
        ctx.worktree.replace(done.report, staged.render_report(done, today(ctx)))
        return done

    def _diff(self, gone: set[str]) -> str:
        staging = without(self.file.text, gone)
        changes = {path: (self.started.get(path), text) for path, text in self.documents.items()}
        changes[self.file.path] = (self.file.text, marked_consolidated(staging, today(self.ctx)) if gone else staging)
        changes[self.ctx.settings.consolidate.index] = staged.index_change(self.ctx, self.documents)
        return "".join(
            unified(path, before, after, self.ctx.worktree.line_end(path))
            for path, (before, after) in sorted(changes.items())
            if before != after
        )
