"""What a hit shows: the answer that a passage holds, the words around the match, and nothing twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.core import calendar
from recollect.core.learning import IMPLIED, Learning
from recollect.core.records import noun_of, replace
from recollect.store.db import HEADER_LINES
from recollect.text.markers import without_states
from recollect.text.sentences import snippet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.core.decision import Decision
    from recollect.search.query import Question
    from recollect.search.rank import Scored
    from recollect.store.passages import Ranked

LOG, NODE = "log", "node"
ANSWERS = ("outcome", "rule")  # the fields of a log entry that say what came out; a rule is the user's feedback
ANSWER_WIDTH = 240  # characters: three lines of a terminal


def answer_of(text: str, record: Learning | Decision | None, asked: frozenset[str]) -> str:
    """Of a learning its action, else what it states, of a reviewed decision what came of it, of a turn its outcome."""
    if isinstance(record, Learning):
        fields = (record.action, record.implication, record.observation)
        said = next((each for each in fields if not each.startswith(IMPLIED)), record.action)
    elif record is not None:
        said = f"{record.outcome}: {record.lesson or record.result}".rstrip(": ") if record.outcome else ""
    else:
        said = next((found for name in ANSWERS if (found := _field(text, name))), "")
        said = without_states(said) or said
    return snippet(" ".join(said.split()), asked, width=ANSWER_WIDTH)


def _field(text: str, name: str) -> str:
    """The last such field of an entry, with the lines that continue it."""
    _, found, rest = f"\n{text}".rpartition(f"\n- {name}:")
    return rest.partition("\n- ")[0].strip() if found else ""


def snippet_of(title: str, text: str, terms: str, asked: frozenset[str]) -> str:
    """The line that says most of the question, cut around its match; where only the title does, the title."""
    lines = text.split("\n")
    shared = [len(asked.intersection(line.split())) for line in terms.split("\n")]
    bodies = shared[HEADER_LINES:]
    best = max(range(len(bodies)), key=lambda number: (bodies[number], -number), default=0)
    if any(bodies):
        return snippet(lines[best], asked)
    return snippet(title if any(shared) else lines[0] or title, asked)


def without_copies(question: Question, scored: Iterable[Scored]) -> list[Scored]:
    """Hits without nodes that say no more of the question than hits before them that they sum up.

    The turns of one piece of work have one title: the one that says most of the question, of equals the latest, stands
    for all.
    """
    told: dict[str, frozenset[str]] = {}
    works: dict[tuple[str, str], int] = {}
    kept: list[Scored] = []
    scored = list(scored)
    nodes = any(hit.passage.kind == NODE for hit in scored)
    for hit in scored:
        one = hit.passage
        if one.kind == LOG and _body(one).startswith("request "):
            place = works.setdefault((one.thread, one.title), len(kept))
            if place < len(kept):
                if _told(question, one) > _told(question, kept[place].passage):
                    kept[place] = replace(kept[place], passage=one)
                continue
        said = question.terms.intersection(one.terms.split())
        if one.kind == NODE and said and said <= told.get(one.id, frozenset()):
            continue
        kept.append(hit)
        for node in _above(one.id) if nodes and one.kind in (LOG, NODE) else ():
            told[node] = told.get(node, frozenset()) | said
    return kept


def _body(one: Ranked) -> str:
    """The terms below the title."""
    return "\n".join(one.terms.split("\n")[HEADER_LINES:])


def _told(question: Question, one: Ranked) -> tuple[int, int]:
    """How much of a question an entry says below its title, and its place in its session."""
    return len(question.terms.intersection(_body(one).split())), one.position


def _above(id: str) -> tuple[str, ...]:
    """The nodes that sum up an entry or a node."""
    if noun_of(id) == "log":
        day = calendar.parse_day(id.removeprefix("log/").partition("#")[0])
        return calendar.day(day).id, calendar.week(day).id, calendar.month(day).id, calendar.ROOT
    parent = calendar.parent(calendar.parse_period(id)) if id != calendar.ROOT else None
    return (parent.id, *_above(parent.id)) if parent else (calendar.ROOT,)
