"""What one prompt is given: relevant learnings, and earlier log entries about the same thing. Words only, no vectors.

Each is shown once per context of a session. Choosing only reads; what was shown is remembered afterwards, because the
answer must reach the agent even when nothing can be written.
"""

from __future__ import annotations

from recollect.core.records import record
from recollect.inject.learnings import INJECTABLE, NewInjection, relevant, shown, task_question
from recollect.search.rank import QUICK, Candidates, best
from recollect.store import passages, sessions
from recollect.store.passages import Narrow
from recollect.text.frame import ENTRIES_END, ENTRIES_HEADING, escape, one_line
from recollect.text.sentences import snippet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.core.context import Context, Tx
    from recollect.search.query import Question
    from recollect.store.passages import Stored
    from recollect.text.frame import ContextBudget

ENTRIES = Candidates(wanted=Narrow(kinds=("log",), trusts=INJECTABLE))
LINE_CHARACTERS = 300  # of one entry; chosen, three lines of a terminal


@record
class Given:
    """The text given to a prompt, the ids of what is in it, and the titles of its learnings."""

    text: str
    learnings: tuple[str, ...]
    entries: tuple[str, ...]
    titles: tuple[str, ...] = ()


def prompted(ctx: Context, prompt: str, *, session: str, task: str, room: ContextBudget, fresh: bool = False) -> Given:
    """What is relevant to a prompt and not in the agent's context yet, which may begin anew (`fresh`) with it; the text
    is empty when nothing is.

    When the host's budget is too small, entries are dropped before learnings, the least relevant first.
    """
    if not prompt.strip():
        return Given(text="", learnings=(), entries=())
    with ctx.db.read(ctx.space) as tx:
        known = sessions.in_context(tx, session) if task == session and not fresh else set()
        question = task_question(tx, prompt)
        wanted = NewInjection(task=task, outcome=session, title=prompt, known=tuple(known))
        learnings = relevant(tx, ctx, wanted, question)
        found = _entries(tx, ctx, question, known, session)
    chosen = shown(learnings, ctx.settings.inject.budget)
    while not room.fits(text := "\n".join(part for part in (chosen.markdown, _section(found)) if part)):
        if found:
            found.pop()
        else:
            chosen = shown(list(chosen.learnings[:-1]), ctx.settings.inject.budget)
    return Given(
        text=text,
        learnings=tuple(learning.id for learning in chosen.learnings),
        entries=tuple(entry.id for entry, _ in found),
        titles=tuple(one_line(learning.title) for learning in chosen.learnings),
    )


def _entries(tx: Tx, ctx: Context, question: Question, known: set[str], session: str) -> list[tuple[Stored, str]]:
    """Log entries of other sessions that answer the prompt well enough, each with the line that does."""
    most = ctx.settings.inject.entries
    if not most:
        return []
    hits = best(tx, question, ENTRIES, limit=most + len(known) + 5, effort=QUICK)
    found: list[tuple[Stored, str]] = []
    for hit in hits:
        if len(found) == most or hit.relevance < ctx.settings.inject.relevance:
            break
        entry = passages.by_id(tx, hit.passage.id) if hit.passage.id not in known else None
        if entry and not entry.thread.endswith(f"/{session}") and not _goes_on(entry, found):
            found.append((entry, _line(entry, frozenset(question.weights))))
    return found


def _goes_on(entry: Stored, found: Sequence[tuple[Stored, str]]) -> bool:
    """Whether a turn belongs to a piece of work that was found: the turns of one have one title."""
    work = (entry.thread, entry.title)
    return entry.text.startswith("- request:") and any((one.thread, one.title) == work for one, _ in found)


def _line(entry: Stored, terms: frozenset[str]) -> str:
    """The line of an entry with most of the prompt's words; the request itself only when there is no other line."""
    _, _, _, *bodies = entry.terms.split("\n")
    lines = entry.text.split("\n")
    places = [place for place, line in enumerate(lines) if not line.startswith("- request:")] or [0]
    best = max(places, key=lambda place: (len(terms.intersection(bodies[place].split())), -place))
    return snippet(lines[best].removeprefix("- "), terms, width=LINE_CHARACTERS)


def _section(found: Sequence[tuple[Stored, str]]) -> str:
    if not found:
        return ""
    lines = [f"- {entry.id} {escape(one_line(entry.title))}: {escape(one_line(line))}" for entry, line in found]
    return "\n".join([ENTRIES_HEADING, "", *lines, "", ENTRIES_END]) + "\n"
