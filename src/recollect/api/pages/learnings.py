"""Learnings: the table and what is done to several at once, the card, the editor, and the comparison with another.

What the agent sees: the whole context of a prompt as the host gets it, and what past sessions were given. The texts are
made by the calls that the hooks make, so they are the same bytes. Nothing is recorded, unless a person gives chosen
learnings to a task.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from fastapi import Response

from recollect.api.auth import Changing, PageRequest, Visiting
from recollect.api.pages import base
from recollect.api.pages.entrance import local_path
from recollect.api.pages.prose import place
from recollect.api.wire import Offset
from recollect.core.choices import PATTERN_TYPES, STATUSES
from recollect.core.context import ME
from recollect.core.errors import BadInput, NotFound, Refused, Stale
from recollect.core.learning import COIA, Injection, Learning
from recollect.core.new_learning import LearningEdit, NewLearning
from recollect.core.records import MOST, noun_of, record
from recollect.inject import brief as bars
from recollect.memory import Memory
from recollect.store.learnings import SORTS
from recollect.store.sessions import HostSession, ReportedEvent
from recollect.text.sentences import counted
from recollect.text.tokens import ROOMS, tokens

ROWS = 25  # a screen and a half; chosen

routes = base.page_router()


@routes.get("/learnings")
def table(
    visit: Visiting,
    q: str = "",
    status: str = "active",
    domain: str = "",
    tag: str = "",
    min_confidence: str = "",
    sort: str = "",
    offset: Offset = 0,
) -> Response:
    """Without an order, the best matches of a query come first."""
    learnings = visit.memory.learnings
    least = base.Fields({"min_confidence": (min_confidence,)}).number("min_confidence") or 0.0
    narrow: dict[str, Any] = {"status": status, "domain": domain or None, "tag": tag or None, "min_confidence": least}
    if q.strip():
        matching = learnings.search(q, limit=MOST, **narrow)
        total = len(matching)
        if sort:
            matching = learnings.sorted([one.id for one in matching], sort=sort)
        found = matching[offset : offset + ROWS]
    else:
        found, total = learnings.page(**narrow, sort=sort or "newest", limit=ROWS, offset=offset)
    wanted = {"q": q, "status": status, "domain": domain, "tag": tag, "min_confidence": min_confidence, "sort": sort}
    return base.page(
        "learnings.html",
        visit,
        title="Learnings",
        **base.paged(found, total, offset, ROWS, base.addressed("/learnings", wanted)),
        wanted=wanted,
        statuses=(*STATUSES, "all"),
        sorts=("", *SORTS),
        facets=learnings.facets(),
        capped=bool(q.strip()) and total == MOST,
    )


@routes.post("/learnings/bulk")
def bulk(visit: Changing, sent: base.Sent) -> Response:
    """One action on all ticked rows, undone together."""
    chosen, verb = sent.every("learning"), sent.text("verb")
    back = local_path(sent.text("back")).removeprefix(visit.base) or "/learnings"
    if verb == "merge" and len(chosen) == 2:
        return base.go(visit, f"/learnings/{chosen[0]}/compare?other={chosen[1]}")
    if not chosen or verb not in BULK or (verb == "tag" and not sent.words("tag")):
        asks = {"merge": "Tick two rows to merge them", "tag": "Tick rows and write a tag"}
        return base.go(visit, back, f"{asks.get(verb, 'Tick the rows first')}; nothing changed")
    refused: list[str] = []

    def do(memory: Memory) -> None:
        for id in chosen:
            try:
                BULK[verb][1](memory, id, sent)
            except (BadInput, Refused, NotFound) as wrong:
                refused.append(str(wrong))

    _, change = base.changing_once(visit, do)
    moved = {event.subject for event in visit.memory.work.of_change(change)} if change else set()
    records = visit.memory.learnings.many([id for id in chosen if id in moved])
    said = [f"{BULK[verb][0]} {counted(len(records), 'learning')}: {base.named(*records)}"] if records else []
    if same := len(chosen) - len(records) - len(refused):
        said.append(f"{same if said else 'Nothing changed: all'} {'was' if same == 1 and said else 'were'} so already")
    return base.go(visit, back, "; ".join((*said, *refused[:1])), undo="/undo" if records else "", change=change)


@routes.get("/learnings/new")
def blank(visit: Visiting) -> Response:
    return _editor(visit, {})


@routes.post("/learnings")
def create(visit: Changing, sent: base.Sent) -> Response:
    try:
        made, change = base.changing_once(visit, lambda memory: memory.learn(NewLearning(**_fields(sent))))
    except BadInput as wrong:
        return _editor(visit, sent.kept(), problem=str(wrong), status=400)
    said = "Merged into" if made.merged else "Saved"
    return base.captured(visit, f"/learnings/{made.learning.id}", said, made, change)


@routes.get("/learnings/{id}/edit")
def edit(visit: Visiting, id: str) -> Response:
    stored = visit.memory.learnings.get(id)
    draft = {**vars(stored), "domain": stored.domain or "", "tags": ", ".join(stored.tags)}
    return _editor(visit, draft, of=id, version=stored.version)


@routes.post("/learnings/{id}/edit")
def save(visit: Changing, id: str, sent: base.Sent) -> Response:
    """If someone else saved meanwhile, the form shows their text and keeps what was typed."""
    version = sent.version
    editor = partial(_editor, visit, sent.kept(), of=id)
    try:
        typed = {**_fields(sent), "domain": sent.text("domain")}  # an empty one removes it
        changes = LearningEdit(**typed, confidence=sent.number("confidence"))
        saved, change = base.changing_once(visit, lambda memory: memory.learnings.edit(id, changes, expect=version))
    except Stale as stale:
        theirs = visit.memory.learnings.get(id)
        return editor(version=theirs.version, theirs=theirs, problem=str(stale), status=409)
    except BadInput as wrong:
        return editor(version=version, problem=str(wrong), status=400)
    return base.done(visit, f"/learnings/{id}", "Saved", saved, change)


@routes.post("/learnings/{id}/{verb}")
def act(visit: Changing, id: str, verb: str, sent: base.Sent) -> Response:
    if verb not in ACTIONS:
        raise NotFound(f"a learning has no action {verb!r}")
    said, do = ACTIONS[verb]
    before = next((each.feedback for each in visit.memory.learnings.injections(id)), None)
    _, change = base.changing_once(visit, lambda memory: do(memory, id, sent))
    undo = f"/learnings/{id}/{_RATED[before]}" if verb in _RATED.values() else "/undo"
    return base.done(visit, f"/learnings/{id}", said, visit.memory.learnings.get(id), change, undo=undo)


Action = tuple[str, Callable[[Memory, str, base.Fields], object]]
BULK: dict[str, Action] = {
    "archive": ("Archived", lambda memory, one, sent: memory.learnings.archive(one)),
    "restore": ("Restored", lambda memory, one, sent: memory.learnings.restore(one)),
    "pin": ("Pinned", lambda memory, one, sent: memory.learnings.pin(one)),
    "unpin": ("Unpinned", lambda memory, one, sent: memory.learnings.pin(one, on=False)),
    "adopt": ("Adopted", lambda memory, one, sent: memory.learnings.adopt(one)),
    "tag": (
        "Changed the tags of",
        lambda memory, one, sent: memory.learnings.tag(one, add=sent.words("tag"), remove=sent.every("remove")),
    ),
}
ACTIONS: dict[str, Action] = {
    **BULK,
    "helpful": ("Rated as helpful:", lambda memory, one, sent: memory.rate(one, "helpful")),
    "not-helpful": ("Rated as misleading:", lambda memory, one, sent: memory.rate(one, "not_helpful")),
    "no-verdict": ("Took back the verdict on", lambda memory, one, sent: memory.rate(one, None)),
    "move": ("Moved to your own ring:", lambda memory, one, sent: memory.learnings.move(one, to=ME)),
    "supersede": ("Replaced", lambda memory, one, sent: memory.learnings.supersede(one, sent.text("other"))),
    "merge": ("Merged another into", lambda memory, one, sent: memory.learnings.merge(one, sent.text("other"))),
}
_RATED = {"helpful": "helpful", "not_helpful": "not-helpful", None: "no-verdict"}


@routes.get("/learnings/{id}")
def card(visit: Visiting, id: str) -> Response:
    memory = visit.memory
    learning = memory.learnings.get(id)
    return base.page(
        "learning.html",
        visit,
        title=learning.title,
        learning=learning,
        why=memory.why(id),
        moments=memory.learnings.history(id),
        bar=memory.context.settings.inject.min_confidence,
        now=memory.context.clock.now(),
        coia=COIA,
        movable=memory.context.rings.has_me,
    )


def _editor(
    visit: PageRequest,
    draft: Mapping[str, Any],
    *,
    of: str = "",
    version: int | None = None,
    theirs: Learning | None = None,
    problem: str = "",
    status: int = 200,
) -> Response:
    """The form for a new learning, or for the one with the id `of`."""
    return base.page(
        "learning_editor.html",
        visit,
        title="Edit learning" if of else "New learning",
        status=status,
        problem=problem,
        draft=defaultdict(str, draft),
        action=f"/learnings/{of}/edit" if of else "/learnings",
        version=version,
        theirs=theirs,
        coia=COIA,
        types=PATTERN_TYPES,
    )


def _fields(sent: base.Fields) -> dict[str, Any]:
    return {
        **sent.named("title", *COIA),
        "domain": sent.given("domain"),
        "pattern_type": sent.given("pattern_type") or "solution",
        "tags": sent.words("tags"),
    }


ASKED = "preview"
"""The session id of previews; nothing is recorded under it."""
AGENT_ROWS = 20  # chosen: sessions on a page, each a card of several lines


@record
class ShownPart:
    """A part of what an agent is shown, with its cost."""

    title: str
    text: str
    tokens: int


@record
class ShownSession:
    """A session with what it was given and its effects."""

    session: HostSession
    events: tuple[ReportedEvent, ...]
    shown: tuple[tuple[Injection, Learning | None], ...]
    signs: Mapping[str, str]
    wrote: tuple[str, ...]
    entries: tuple[str, ...]
    titles: Mapping[str, str]

    @property
    def asked(self) -> list[str]:
        return [event.why["prompt"] for event in self.events if event.why.get("prompt")]


@routes.get("/agent")
def agent(visit: Visiting, prompt: str = "", host: str = "claude-code") -> Response:
    if host not in ROOMS:
        raise BadInput(f"unknown host {host!r:.40}. Choose one of: {', '.join(ROOMS)}")
    sessions, room = visit.memory.sessions, ROOMS[host]
    brief = sessions.brief(room)
    given = sessions.prompted(prompt, session=ASKED, task=ASKED, room=room) if prompt.strip() else None
    considered = sessions.candidates(prompt, given) if given else []
    return base.page(
        "agent.html",
        visit,
        title="What the agent sees",
        prompt=prompt,
        host=host,
        hosts=tuple(ROOMS),
        brief_parts=list(_parts(brief.text, "### ")),
        told=[("", 0), *zip(brief.parts, brief.left_out, strict=True)],  # of each part; the first introduces them
        given=given,
        given_parts=list(_parts(given.text, "## ")) if given else [],
        candidates=considered,
        bases=base.ring_bases(visit, [one.ring for one in considered]),
        at=place,
        bars=bars,
        room=room,
        spent=tokens(brief.text) + (tokens(given.text) if given else 0),
    )


def _parts(text: str, mark: str) -> Iterator[ShownPart]:
    lines: list[str] = []
    for line in [*text.splitlines(keepends=True), mark]:
        if line.startswith(mark) and lines:
            said = "".join(lines)
            yield ShownPart(title=lines[0].lstrip("# ").strip(), text=said, tokens=tokens(said))
            lines = []
        lines.append(line)


@routes.post("/agent")
def inject(visit: Changing, sent: base.Sent) -> Response:
    """Inject the ticked learnings into a task: record them as shown and render them for pasting."""
    shown = visit.memory.inject(
        task=sent.text("task_id"),
        outcome=sent.given("outcome_id") or sent.text("task_id"),
        title=sent.text("prompt"),
        learnings=sent.every("learning"),
    )
    return base.page("injected.html", visit, title="Injected", shown=shown, task=sent.text("task_id"))


@routes.get("/sessions")
def sessions(visit: Visiting, offset: Offset = 0) -> Response:
    found, total = visit.memory.sessions.recent(limit=AGENT_ROWS, offset=offset)
    shown = [_shown(visit.memory, each) for each in found]
    return base.page(
        "sessions.html",
        visit,
        title="Last sessions",
        **base.paged(shown, total, offset, AGENT_ROWS, lambda offset: f"/sessions?offset={offset}"),
    )


def _shown(memory: Memory, session: HostSession) -> ShownSession:
    shown: list[Injection] = []
    with suppress(NotFound):  # a session that was shown no learning has no task
        shown = memory.work.injections(task=session.id)
    events, wrote = tuple(memory.sessions.events(session.id)), tuple(memory.sessions.wrote(session.id))
    entries = dict.fromkeys(id for event in events for id in event.given if noun_of(id) == "log")
    learnings = {one.id: one for one in memory.learnings.many([each.learning_id for each in shown])}
    return ShownSession(
        session=session,
        events=events,
        shown=tuple((each, learnings.get(each.learning_id)) for each in shown),
        signs=dict(memory.work.signs(session.id, list(learnings))),
        wrote=wrote,
        entries=tuple(entries),
        titles={id: said[0] for id, said in memory.texts.briefly([*wrote, *entries]).items()},
    )
