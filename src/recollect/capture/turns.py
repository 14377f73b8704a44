"""Turns: logging a host's session with one entry per turn.

A turn is read from the host's transcript, no part of which is read twice. Its key names the bytes of the transcript it
covers and the answer it holds. So the same event twice is one entry, and a process that was killed before it wrote how
far it had read is continued after the entry.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence

from recollect.capture.log import Logged, add_storable
from recollect.capture.log_text import keys
from recollect.capture.logs import today
from recollect.core.clock import DAY
from recollect.core.context import Context
from recollect.core.errors import BadInput, SessionBusy
from recollect.core.journal import BROKE_OFF, NewEntry
from recollect.core.learning import SessionTurn, Task
from recollect.core.new_learning import TITLE_LIMIT
from recollect.core.records import replace
from recollect.store import db, journal, sessions, tasks
from recollect.store.files import content_hash, open_file
from recollect.store.sessions import HostSession
from recollect.text import transcript
from recollect.text.markers import without_marks, without_signals
from recollect.text.sentences import cut
from recollect.text.storable import storable, storable_id, storable_record
from recollect.text.tokens import terms
from recollect.text.transcript import Turn, goes_on

LEASE_SECONDS = 30  # longer than the longest hook (8 seconds), so that a lease outlives only a killed process
LOOKED_BACK = 7 * DAY  # sessions whose transcripts a cycle looks at
KEPT = 30 * DAY  # what a session was shown matters while it lasts, and to `doctor` for a while after
ENDING = 200_000  # bytes at the end of a transcript that hold the last request
MOST_BYTES = 64_000_000  # of a transcript that grew by more since the last turn, only the end is read

_KEY = re.compile(r"(?P<first>\d+)-(?P<last>\d+)\.(?P<answer>[0-9a-f]+)")


def turn(
    ctx: Context,
    given: SessionTurn,
    *,
    heard_by: Callable[[Turn], None] | None = None,
    killed: bool = False,
    prompts: tuple[str, ...] | None = None,
) -> Logged | None:
    """Log what was said since the last turn; None when nothing was. `heard_by` gets the turn, logged or not.

    A turn that the user interrupted is an entry of its own. If the host was `killed`, the last turn broke off, too.
    Without a regular file at the path, the host's own words and the `prompts` since its last answer are logged; all
    but the last were interrupted.
    """
    session = storable_id(given.session, "session")
    path = given.path if os.path.isfile(given.path) else ""
    lease = db.take_lease(ctx, f"transcript/{session}", seconds=LEASE_SECONDS)
    if lease is None:
        raise SessionBusy(f"another process reads the transcript of session {session}; try again")
    try:
        place, logged_before = _reached(ctx, session, given.host, path)
        talk, read = _heard(given.host, path, place, given.end, one=True)
        if prompts is None:
            prompts = () if path else ctx.read(sessions.asked_last, session)
        if prompts[1:]:
            talk = Turn(requests=prompts[:1], broken=True)
        whole = given
        if talk.broken:  # what the host says is about the last turn
            given = replace(given, request="", answer="", topic="")
        request = (given.request,) if given.request.strip() else prompts
        answer = given.answer if given.answer.strip() else talk.answer
        files = tuple(file.removeprefix(f"{given.root}/") for file in talk.files)
        heard, kinds = storable_record(Turn(requests=talk.requests or request, answer=answer, files=files))
        asked = "\n\n".join(heard.requests).strip()
        said = without_marks(heard.answer).strip() or without_signals(heard.answer).strip()  # a turn leaves some word
        # A transcript tells two equal answers apart by their place; without one, only the request does.
        digest = content_hash(said if path else f"{asked}\n{said}")[:12]
        words = terms(asked)
        # Without a request the host has the agent go on, as when a subagent is done.
        work = _work_before(ctx, session, words) if goes_on(asked) and (asked or path) else ""
        title = work or cut(asked.partition("\n")[0].rstrip(".!"), TITLE_LIMIT)
        is_new = talk.requests or talk.broken or ((request or given.answer.strip()) and digest not in logged_before)
        logged = None
        if is_new and (asked or said):  # else there was nothing but our own words
            new = NewEntry(
                title=storable(given.topic) or title,
                session=session,
                request=asked or None,
                outcome=f"{BROKE_OFF} {said}".rstrip() if talk.broken or (killed and asked) else said or None,
                references=heard.files,
            )
            logged = add_storable(ctx, new, kinds, change=f"turn.{session}.{place}-{read}.{digest}")
        if path or title:
            with ctx.db.write(ctx.space) as tx:
                sessions.name_prompts(tx, session, heard.requests)
                if path:
                    sessions.read_up_to(tx, session, transcript=path, place=read)
                if title:  # what the turn discovered, it discovered while working on this
                    tasks.ensure_task(tx, session, outcome=session, at=ctx.clock.now(), title=title)
        if heard_by:
            heard_by(replace(heard, commands=talk.commands, edits=talk.edits))
    finally:
        db.release_lease(ctx, lease)
    return turn(ctx, whole, heard_by=heard_by, killed=killed, prompts=prompts[1:]) or logged if talk.broken else logged


def _work_before(ctx: Context, session: str, asked: Sequence[str]) -> str:
    """The last request that named a session's work, or where the session opens with "continue", that of the session
    before it within a week."""
    with ctx.db.read(ctx.space) as tx:
        last = sessions.latest_session(tx, but=session) if transcript.resumes(asked) else None
        ids = [session, *([last.id] if last and last.began_at > ctx.clock.now() - LOOKED_BACK else [])]
        found = [task.title for id in ids if (task := tasks.known(tx, Task, id))]
    return next(filter(None, found), "")


def tidy(ctx: Context, *, but: str = "") -> int:
    """Log the turns of sessions (`but` one) that ended without an event; gives how many entries that made.

    Also forget what was shown long ago.
    """
    now = ctx.clock.now()
    with ctx.db.write(ctx.space) as tx:
        sessions.forget_events(tx, before=now - KEPT)
        known = sessions.left_behind(tx, since=now - LOOKED_BACK, now=now, but=but)
    made = 0
    patience = 1.0 if but else 0.0  # seconds; the cycle that begins with a session may log it at this moment
    for session, size in known:
        path = session.transcript if os.path.isfile(session.transcript) else ""
        left = SessionTurn(session=session.id, host=session.host, path=path, end=size)
        while True:
            try:
                made += turn(ctx, left, killed=ctx.read(sessions.is_over, session)) is not None
                if not path:
                    ctx.write(sessions.read_up_to, session.id, transcript=session.transcript, place=size)
                break
            except SessionBusy:
                if patience <= 0:
                    break
            time.sleep(0.05)
            patience -= 0.05
    return made


def unlogged(session: HostSession) -> tuple[str, ...]:
    """What a session was asked since its last turn that was logged."""
    path = session.transcript if os.path.isfile(session.transcript) else ""
    talk, _ = _heard(session.host, path, session.place, os.path.getsize(path) if path else 0, one=False)
    return storable_record(Turn(requests=talk.requests))[0].requests


def ending(host: str, path: str) -> Turn:
    try:
        end = os.path.getsize(path)
    except OSError:
        return Turn()
    return transcript.read(host, (line for line, _ in _lines(path, max(end - ENDING, 0), end)))


def _reached(ctx: Context, session: str, host: str, path: str) -> tuple[int, set[str]]:
    """How far the transcript was read, by its row or by entries newer than the row; and which answers are logged."""
    now = ctx.clock.now()
    with ctx.db.write(ctx.space) as tx:
        sessions.begin(tx, session, host=host, at=now)
        known = sessions.session(tx, session)
        day = journal.session_day(tx, session, today(ctx))
    covered: dict[int, int] = {}
    answers: set[str] = set()
    for found in keys(ctx, day):
        if key := _KEY.fullmatch(found.removeprefix(f"turn.{session}.")):
            covered[int(key["first"])] = int(key["last"])
            answers.add(key["answer"])
    place = known.place if known and known.transcript == path else 0
    while path and covered.get(place, place) > place:
        place = covered[place]
    return place, answers


def _heard(host: str, path: str, place: int, end: int, *, one: bool) -> tuple[Turn, int]:
    before = read = place
    if not path:
        return Turn(), read

    def watched() -> Iterator[str]:
        nonlocal before, read
        for line, behind in _lines(path, max(place, end - MOST_BYTES), end):
            before, read = read, behind
            yield line

    talk = transcript.read(host, watched(), one=one)
    return talk, before if talk.next_began else read


def _lines(path: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    """Whole lines between two positions, each with the position behind it. A torn last line waits for the next turn."""
    try:
        with open_file(path) as file:
            file.seek(start)
            while start < end and (line := file.readline()):
                start += len(line)
                if not line.endswith(b"\n") or start > end:
                    return
                yield line.decode("utf-8", "replace"), start
    except (OSError, BadInput):
        return
