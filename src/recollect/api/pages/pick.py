"""Choosing the other one of two learnings or decisions by its words, and both side by side with what can be done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from fastapi.responses import HTMLResponse

from recollect.api.auth import PageRequest, Visiting
from recollect.api.pages.base import page, page_router
from recollect.core.decision import Decision
from recollect.core.learning import COIA, Learning
from recollect.core.records import record
from recollect.memory import Memory

NEAR = 8  # records that the picker offers

routes = page_router()
Noun = Literal["learnings", "decisions"]


@record
class Choice:
    """A record as the picker and the comparison show it."""

    id: str
    title: str
    record: Learning | Decision
    texts: dict[str, str]


def _learning(one: Learning) -> Choice:
    texts = {name.capitalize(): getattr(one, name) for name in ("title", *COIA)} | {"Tags": ", ".join(one.tags)}
    return Choice(id=one.id, title=one.title, record=one, texts=texts)


def _decision(one: Decision) -> Choice:
    texts = {"Decision": one.decision, "Context": one.context, "Reasons": "\n".join(each.text for each in one.reasons)}
    texts |= {"Pattern": one.pattern, "Outcome": one.outcome or "", "Lesson": one.lesson, "Tags": ", ".join(one.tags)}
    return Choice(id=one.id, title=one.decision, record=one, texts=texts)


def _like(memory: Memory, noun: Noun, words: str) -> list[Choice]:
    if noun == "learnings":
        return [_learning(one) for one in memory.learnings.search(words, limit=NEAR + 1, min_confidence=0.0)]
    hits, _ = memory.decisions.query(words, limit=NEAR + 1, whole=True)
    return [_decision(one) for one in memory.decisions.many([hit.id for hit in hits])]


GET: dict[Noun, Callable[[Memory, str], Choice]] = {
    "learnings": lambda memory, one: _learning(memory.learnings.get(one)),
    "decisions": lambda memory, one: _decision(memory.decisions.get(one)),
}


@routes.get("/{noun}/{id}/pick")
def pick(visit: Visiting, noun: Noun, id: str, q: str = "") -> HTMLResponse:
    """Another record, by its words; without any, those most like this one."""
    one = GET[noun](visit.memory, id)
    found = [each for each in _like(visit.memory, noun, q.strip() or one.title) if each.id != id]
    return _page("pick.html", visit, noun, one, q=q, found=found[:NEAR])


@routes.get("/{noun}/{id}/compare")
def compare(visit: Visiting, noun: Noun, id: str, other: str) -> HTMLResponse:
    return _page("compare.html", visit, noun, GET[noun](visit.memory, id), two=GET[noun](visit.memory, other))


def _page(template: str, visit: PageRequest, noun: Noun, one: Choice, **values: Any) -> HTMLResponse:
    title = "Merge or replace" if noun == "learnings" else "Replace"
    return page(template, visit, title=title, noun=noun, section=noun.capitalize(), one=one, **values)
