"""What the agent sees: the whole context of a prompt as the host gets it, and what past sessions were given.

The texts are made by the calls that the hooks make, so they are the same bytes. Nothing is recorded, unless a person
gives chosen learnings to a task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from fastapi import Response
from fastapi.responses import HTMLResponse

from recollect.api.auth import Changing, Visiting
from recollect.api.pages.base import DONE, Sent, page, page_router, paged
from recollect.api.wire import Offset
from recollect.core.errors import BadInput, NotFound, Refused
from recollect.core.learning import Injection, Learning
from recollect.core.records import record
from recollect.memory import Memory
from recollect.store.sessions import HostSession, ReportedEvent
from recollect.text.frame import ROOMS
from recollect.text.tokens import tokens

routes = page_router()
ASKED = "preview"
"""The session that a preview asks for; nothing is recorded under it."""
ROWS = 20


@record
class ShownPart:
    """A part of what an agent is shown, with what it costs."""

    title: str
    text: str
    tokens: int


@record
class ShownSession:
    """A session with what it was given and what came of it."""

    session: HostSession
    events: tuple[ReportedEvent, ...]
    shown: tuple[tuple[Injection, Learning | None], ...]
    signs: Mapping[str, str]
    wrote: tuple[str, ...]
    titles: Mapping[str, str]

    @property
    def asked(self) -> list[str]:
        """Its prompts, in order."""
        return [event.why["prompt"] for event in self.events if event.why.get("prompt")]

    @property
    def entries(self) -> list[str]:
        """The log entries it was given, in order."""
        return _entries_in(self.events)


@routes.get("/agent")
def agent(visit: Visiting, prompt: str = "", host: str = "claude-code") -> HTMLResponse:
    if host not in ROOMS:
        raise BadInput(f"unknown host {host!r:.40}. Known hosts: {', '.join(ROOMS)}")
    sessions, room = visit.memory.sessions, ROOMS[host]
    brief = sessions.brief(room)
    given = sessions.prompted(prompt, session=ASKED, task=ASKED, room=room) if prompt.strip() else None
    return page(
        "agent.html",
        visit,
        title="What the agent sees",
        prompt=prompt,
        host=host,
        hosts=tuple(ROOMS),
        brief=brief,
        brief_parts=list(_parts(brief.text, "### ")),
        given=given,
        given_parts=list(_parts(given.text, "## ")) if given else [],
        candidates=sessions.candidates(prompt, given) if given else [],
        room=room,
        spent=tokens(brief.text) + (tokens(given.text) if given else 0),
    )


def _parts(text: str, mark: str) -> Iterator[ShownPart]:
    """A text cut before each of its headings; the parts together are the text."""
    lines: list[str] = []
    for line in [*text.splitlines(keepends=True), mark]:
        if line.startswith(mark) and lines:
            said = "".join(lines)
            yield ShownPart(title=lines[0].lstrip("# ").strip(), text=said, tokens=tokens(said))
            lines = []
        lines.append(line)


@routes.post("/agent")
def inject(visit: Changing, sent: Sent) -> Response:
    """Give a task the learnings that were ticked: recorded as shown, ready to be pasted."""
    try:
        shown = visit.memory.inject(
            task=sent.text("task_id"),
            outcome=sent.given("outcome_id") or sent.text("task_id"),
            title=sent.text("prompt"),
            learnings=sent.every("learning"),
        )
    except (BadInput, Refused, NotFound) as wrong:
        return page("problem.html", visit, title="What the agent sees", status=400, detail=str(wrong))
    return page("injected.html", visit, title="Injected", shown=shown, task=sent.text("task_id"))


@routes.get("/sessions")
def sessions(visit: Visiting, offset: Offset = 0) -> HTMLResponse:
    found, total = visit.memory.sessions.recent(limit=ROWS, offset=offset)
    shown = [_shown(visit.memory, each) for each in found]
    return page(
        "sessions.html",
        visit,
        title="Last sessions",
        **paged(shown, total, offset, ROWS, lambda offset: f"/sessions?offset={offset}"),
    )


def _entries_in(events: Iterable[ReportedEvent]) -> list[str]:
    return list(dict.fromkeys(id for event in events for id in event.given if id.startswith("log/")))


def _shown(memory: Memory, session: HostSession) -> ShownSession:
    shown: list[Injection] = []
    with suppress(NotFound):  # a session that was shown no learning is no task
        shown = memory.work.injections(task=session.id)
    events, wrote = tuple(memory.sessions.events(session.id)), tuple(memory.sessions.wrote(session.id))
    learnings = {one.id: one for one in memory.learnings.many([each.learning_id for each in shown])}
    return ShownSession(
        session=session,
        events=events,
        shown=tuple((each, learnings.get(each.learning_id)) for each in shown),
        signs={id: DONE[f"sign.{kind}"] for id, kind in memory.work.signs(session.id, list(learnings))},
        wrote=wrote,
        titles={id: said[0] for id, said in memory.texts.briefly([*wrote, *_entries_in(events)]).items()},
    )
