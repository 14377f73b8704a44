"""A host's session on its way into the log: one entry per turn, read from its transcript and never read twice.

An entry's key says which bytes of the transcript it covers and which answer it holds. So the same event twice is one
entry, and whoever was killed between the entry and the row that says how far was read is noticed by the next one, who
goes on behind the entry. Knows nothing about hosts' events.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress

from recollect.capture import log, logs
from recollect.capture.log import Logged
from recollect.core.clock import DAY, MINUTE
from recollect.core.context import Context
from recollect.core.errors import BadInput, SessionBusy
from recollect.core.journal import EntryType, NewEntry
from recollect.core.new_learning import TITLE_LIMIT
from recollect.store import db, journal, sessions, tasks
from recollect.store.files import content_hash, is_odd, open_file
from recollect.text import frame, transcript
from recollect.text.markers import without_signals
from recollect.text.storable import storable, storable_id
from recollect.text.transcript import Turn

LEASE_SECONDS = 30
QUIET = 10 * MINUTE
"""A transcript that nobody wrote to for so long belongs to a session that ended, or was killed."""
LOOKED_BACK = 7 * DAY
KEPT = 30 * DAY
"""What a session was shown is of use while it lasts, and to `doctor` for a while after."""
ENDING = 200_000
"""Bytes at the end of a transcript that hold what was asked last."""
MOST_BYTES = 64_000_000
"""Of a transcript that grew by more between two looks, the end is read."""

_KEY = re.compile(r"(?P<first>\d+)-(?P<last>\d+)\.(?P<answer>[0-9a-f]+)")


def turn(
    ctx: Context,
    *,
    session: str,
    host: str,
    path: str = "",
    end: int = 0,
    root: str = "",
    request: str = "",
    answer: str = "",
    topic: str = "",
) -> Logged | None:
    """Log what was said since the last time; None when nothing was. `end` is where the transcript ended then.

    A path that leads to no regular file is no transcript: then only what was given in words is logged.
    """
    if path and is_odd(path):
        path = ""
    lease = db.take_lease(ctx, f"transcript/{session}", seconds=LEASE_SECONDS)
    if lease is None:
        raise SessionBusy(f"another process reads the transcript of session {session}; try again")
    try:
        place, logged_before = _reached(ctx, session, host, path)
        talk, read = _heard(host, path, place, end)
        requests = talk.requests or ((request,) if request.strip() else ())
        asked = "\n\n".join(map(frame.strip, requests)).strip()
        said = without_signals(frame.strip(answer if answer.strip() else talk.answer)).strip()
        # A transcript tells two equal answers apart by their place; without one, only the request does.
        digest = content_hash(said if path else f"{asked}\n{said}")[:12]
        logged = None
        if talk.requests or ((requests or answer.strip()) and digest not in logged_before):
            files = tuple(file.removeprefix(f"{root}/") for file in talk.files)
            new = _entry(asked=asked, said=said, files=files, topic=topic, session=session)
            logged = log.add(ctx, new, change=f"turn.{session}.{place}-{read}.{digest}") if new else None
        title = storable(asked).strip().partition("\n")[0][:TITLE_LIMIT]
        if path or title:
            task = storable_id(session, "session")  # what the turn discovered, it did while working on this
            with ctx.db.write(ctx.space) as tx:
                if path:
                    sessions.read_up_to(tx, session, transcript=path, place=read)
                if title:
                    tasks.ensure_task(tx, task, outcome=task, at=ctx.clock.now(), title=title)
        return logged
    finally:
        db.release_lease(ctx, lease)


def entry(ctx: Context, *, session: str, topic: str, text: str, type: EntryType = "project", change: str) -> Logged:
    """Log something a host says about a session as a whole."""
    return log.add(ctx, NewEntry(text=text, topic=topic, type=type, session=session), change=change)


def tidy(ctx: Context) -> int:
    """Log what sessions left behind that ended without saying so, and forget what was shown long ago.

    Gives how many entries that made.
    """
    now = ctx.clock.now()
    with ctx.db.write(ctx.space) as tx:
        sessions.forget_events(tx, before=now - KEPT)
        known = sessions.with_transcript(tx, since=now - LOOKED_BACK)
    made = 0
    for session in known:
        try:
            status = os.stat(session.transcript)
        except OSError:
            continue
        if is_odd(session.transcript):
            continue
        if status.st_size > session.place and status.st_mtime * 1000 < now - QUIET:
            with suppress(SessionBusy):  # somebody else is at this one
                logged = turn(ctx, session=session.id, host=session.host, path=session.transcript, end=status.st_size)
                made += logged is not None
    return made


def ending(host: str, path: str) -> Turn:
    """The end of a conversation; empty when there is no transcript."""
    try:
        end = os.path.getsize(path)
    except OSError:
        return Turn()
    return transcript.read(host, (line for line, _ in _lines(path, max(end - ENDING, 0), end)))


def _entry(*, asked: str, said: str, files: tuple[str, ...], topic: str, session: str) -> NewEntry | None:
    if not asked and not said:
        return None  # nothing but our own words
    return NewEntry(
        topic=topic or (asked or said).splitlines()[0].rstrip(".!"),
        session=session,
        request=asked or None,
        outcome=said or None,
        references=files,
    )


def _reached(ctx: Context, session: str, host: str, path: str) -> tuple[int, set[str]]:
    """How far this transcript was read, by the row or by entries it does not know of; which answers are logged."""
    now = ctx.clock.now()
    with ctx.db.write(ctx.space) as tx:
        sessions.begin(tx, session, host=host, at=now)
        known = sessions.session(tx, session)
        day = journal.session_day(tx, session, logs.today(ctx))
    covered: dict[int, int] = {}
    answers: set[str] = set()
    for found in logs.keys(ctx, day):
        if key := _KEY.fullmatch(found.removeprefix(f"turn.{session}.")):
            covered[int(key["first"])] = int(key["last"])
            answers.add(key["answer"])
    place = known.place if known and known.transcript == path else 0
    while path and covered.get(place, place) > place:
        place = covered[place]
    return place, answers


def _heard(host: str, path: str, place: int, end: int) -> tuple[Turn, int]:
    """The conversation between two places of a transcript, and the place behind its last whole line."""
    read = place
    if not path:
        return Turn(), read

    def watched() -> Iterator[str]:
        nonlocal read
        for line, after in _lines(path, max(place, end - MOST_BYTES), end):
            read = after
            yield line

    return transcript.read(host, watched()), read


def _lines(path: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    """Whole lines between two places, each with the place behind it. A torn last line waits for its end."""
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
