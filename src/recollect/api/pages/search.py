"""Search: everything remembered, with filters and why it matched; and any text by its id."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query, Response
from fastapi.responses import HTMLResponse

from recollect.api.auth import Changing, Visiting
from recollect.api.pages.base import given, go, page, page_router
from recollect.api.pages.prose import place
from recollect.core.errors import BadInput, Refused
from recollect.core.records import FURTHEST
from recollect.search.everything import KINDS, STRATEGIES, TRUSTS, Hit, nothing_found

routes = page_router()
HITS = 20
MOST_HITS = 200
RAW = 64_000  # characters of a text in a page; escaping them takes a millisecond


@routes.get("/search")
def search(
    visit: Visiting,
    q: str = "",
    kind: str = "",
    trust: str = "",
    tag: str = "",
    topic: str = "",
    since: str = "",
    until: str = "",
    strategy: str = "",
    where: str = "",
    limit: Annotated[int, Query(ge=1, le=MOST_HITS)] = HITS,
) -> HTMLResponse:
    hits: list[Hit] = []
    problem = ""
    memory = visit.memory.in_its_space() if where else visit.memory
    if q.strip():
        try:
            filters = {"kinds": kind and (kind,), "trusts": trust and (trust,), "tag": tag, "topic": topic}
            filters |= {"since": since, "until": until, "strategy": strategy}
            hits = memory.search(q, **given(filters), limit=limit, explain=True)
        except BadInput as wrong:
            problem = str(wrong)
    narrow = {"kind": kind, "trust": trust, "tag": tag, "topic": topic, "since": since, "until": until}
    wanted = {"q": q, **narrow, "strategy": strategy, "where": where}
    context = visit.memory.context
    spaces = {name: context.rings.named(context, name).space for name in {hit.ring for hit in hits}}
    more = min(2 * limit, MOST_HITS) if len(hits) == limit < MOST_HITS else 0
    return page(
        "search.html",
        visit,
        title="Search",
        problem=problem,
        wanted=wanted,
        nothing=nothing_found(q, [name for name, value in narrow.items() if value]),
        hits=hits,
        bases={name: f"/s/{space}" for name, space in spaces.items() if space in visit.spaces},
        rings=context.rings.names,
        at=place,
        more=f"/search?{urlencode({**wanted, 'limit': more})}" if more else "",
        kinds=("", *KINDS),
        trusts=("", *TRUSTS),
        strategies=STRATEGIES,
    )


@routes.get("/text/{id:path}")
def whole(visit: Visiting, id: str) -> HTMLResponse:
    """Any text by its id, with its neighbours before and after."""
    text = visit.memory.texts.get(id)
    beside = visit.memory.texts.around(id)
    return page("text.html", visit, title=text.title or id, whole=text, beside=beside)


@routes.post("/text/{id:path}/adopt")
def adopt(visit: Changing, id: str) -> Response:
    """Vouch for an entry that came from outside."""
    try:
        made = visit.memory.journal.adopt(id)
    except (BadInput, Refused) as wrong:
        return go(visit, place("", id), str(wrong))
    return go(visit, place("", made.id), f"Adopted {id} as {made.id}")


@routes.get("/raw/{id:path}")
def raw(visit: Visiting, id: str, part: Annotated[int, Query(ge=1, le=FURTHEST)] = 1) -> HTMLResponse:
    """A part of a text that is too long for a page, as it was written."""
    text = visit.memory.texts.get(id).text
    first = (part - 1) * RAW
    shown = text[first : first + RAW]
    numbers = {"number": part, "first": first, "last": first + len(shown), "total": len(text)}
    return page("part.html", visit, title=f"Part {part} of {id}", section="Search", id=id, text=shown, **numbers)
