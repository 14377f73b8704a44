"""Rows of hosts' sessions: what happened in each, what it was given, how far its transcript was read, and the rows that
its start shows. A session waits for that start, so no record is read whole.

The first event of a session begins it. Its `context_at` moves when the host empties or compacts the context: the agent
no longer sees what was given before.
"""

from __future__ import annotations

import os

from recollect.core.clock import DAY, MINUTE
from recollect.core.records import loads, record
from recollect.store.db import add_row_once, among, count, one, record_from, select, update

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from recollect.core.context import Tx


@record
class ReportedEvent:
    """`given` names what the agent was shown; `why` holds the prompt, at the latest when its turn is logged."""

    session: str
    event: str
    at: int
    given: tuple[str, ...]
    why: dict[str, Any]


@record
class HostSession:
    id: str
    host: str
    began_at: int
    context_at: int
    transcript: str
    place: int
    pid: int
    machine: str

    @property
    def elsewhere(self) -> bool:
        """Whether its process is one of another machine; containers on one machine share a boot."""
        if not self.machine:
            return False
        (name, _, boot), (our_name, _, our_boot) = self.machine.rpartition(" "), machine().rpartition(" ")
        return name != our_name and (boot != our_boot or boot == NO_BOOT)


NO_BOOT = "-"


def machine() -> str:
    """The name of this machine and, on Linux, the id of its boot: a process number means nothing beyond them."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as file:
            boot = file.read().strip()
    except OSError:
        boot = NO_BOOT
    return f"{os.uname().nodename} {boot}"


QUIET = 10 * MINUTE  # a transcript without a write for so long belongs to a session that ended or was killed


def begin(tx: Tx, session: str, *, host: str, at: int, transcript: str = "", place: int = 0, pid: int = 0) -> None:
    """Record a session. Its transcript before `place` belongs to the session that it continues."""
    process = {"pid": pid, "machine": machine()}
    values = {"host": host, "began_at": at, "context_at": at, "transcript": transcript, "place": place, **process}
    if not add_row_once(tx, "host_sessions", "id", id=session, **values) and pid:  # resumed by another process
        update(tx, "host_sessions", {"id": session}, **process)


def happened(
    tx: Tx,
    *,
    id: str,
    session: str,
    event: str,
    at: int,
    given: Sequence[str] = (),
    fresh: bool = False,
    prompt: str | None = None,
) -> None:
    """Store an event once. `fresh`: the agent's context begins anew with it.

    Each event of a session has its own moment: an answer comes after its prompt however coarse the clock.
    """
    taken = "SELECT 1 FROM host_events WHERE space = :space AND session = :session AND at = :at AND id <> :id"
    while tx.value(taken, session=session, at=at, id=id):
        at += 1
    if fresh:
        tx.run(
            "UPDATE host_sessions SET context_at = :at WHERE space = :space AND id = :id AND context_at < :at",
            id=session,
            at=at,
        )
    said = {"given": list(given), **({} if prompt is None else {"why": {"prompt": prompt}})}
    add_row_once(tx, "host_events", "id", id=id, session=session, event=event, at=at, **said)


def in_context(tx: Tx, session: str) -> set[str]:
    """What a session was given since its context began."""
    rows = tx.rows(
        "SELECT e.given FROM host_events e JOIN host_sessions s ON s.space = e.space AND s.id = e.session "
        "WHERE e.space = :space AND e.session = :session AND e.at >= s.context_at",
        session=session,
    )
    return {id for (given,) in rows for id in loads(given)}


def session(tx: Tx, id: str) -> HostSession | None:
    return one(tx, HostSession, "host_sessions", "AND id = :id", id=id)


def latest_session(tx: Tx, host: str = "", *, but: str = "") -> HostSession | None:
    """The session with the newest event, of one host or of any."""
    row = tx.row(
        "SELECT s.id FROM host_events e JOIN host_sessions s ON s.space = e.space AND s.id = e.session "
        "WHERE e.space = :space AND (s.host = :host OR :host = '') AND s.id <> :but "
        "ORDER BY e.at DESC, e.id DESC LIMIT 1",
        host=host,
        but=but,
    )
    return session(tx, row[0]) if row else None


def recent(tx: Tx, *, limit: int = 20, offset: int = 0) -> tuple[list[HostSession], int]:
    more = "ORDER BY began_at DESC, id LIMIT :limit OFFSET :offset"
    return select(tx, HostSession, "host_sessions", more, limit=limit, offset=offset), count(tx, "host_sessions")


def events_of(tx: Tx, session: str) -> list[ReportedEvent]:
    return select(tx, ReportedEvent, "host_events", "AND session = :session ORDER BY at, id", session=session)


def last_heard(tx: Tx, host: str) -> dict[str, int]:
    rows = tx.rows(
        "SELECT e.event, max(e.at) FROM host_events e JOIN host_sessions s ON s.space = e.space AND s.id = e.session "
        "WHERE e.space = :space AND s.host = :host GROUP BY e.event ORDER BY e.event",
        host=host,
    )
    return dict(rows)


def read_up_to(tx: Tx, id: str, *, transcript: str, place: int) -> None:
    """Record how far a transcript was read. The place only moves forward within one file."""
    tx.run(
        """
        UPDATE host_sessions SET place = :place, transcript = :transcript
        WHERE space = :space AND id = :id AND (transcript <> :transcript OR place < :place)""",
        id=id,
        transcript=transcript,
        place=place,
    )


def left_behind(tx: Tx, *, since: int, now: int, but: str = "") -> list[tuple[HostSession, int]]:
    """Sessions that are over but not read to the end, each with how far to read, oldest first.

    A session is over when its host said so, when the host's process is gone, or when nothing was written for long. A
    session without a transcript is measured by its events, if the last one is a prompt.
    """
    found = []
    for each in select(tx, HostSession, "host_sessions", "AND began_at >= :since ORDER BY began_at, id", since=since):
        over = is_over(tx, each)
        if each.id == but and not over:  # a session that is resumed was over
            continue
        try:
            status = os.stat(each.transcript)
        except (OSError, ValueError):
            told = [one.event for one in events_of(tx, each.id)]
            said = [event for event in told if event in (*PROMPTS, *_ANSWERED[:2])]
            if over and not each.elsewhere and len(told) > each.place and said and said[-1] in PROMPTS:
                found.append((each, len(told)))
            continue
        if status.st_size > each.place and (status.st_mtime * 1000 < now - QUIET or over):
            found.append((each, status.st_size))
    return found


def is_over(tx: Tx, each: HostSession) -> bool:
    """Whether a session's host ended it, or is gone."""
    sql = "SELECT event FROM host_events WHERE space = :space AND session = :session ORDER BY at DESC, id DESC LIMIT 1"
    return tx.value(sql, session=each.id) == "SessionEnd" or not _runs(each)


def name_prompts(tx: Tx, session: str, asked: Sequence[str]) -> None:
    """Write a turn's requests to their events: the hook had no time to redact them."""
    where = "WHERE space = :space AND session = :session AND event IN (:keys) ORDER BY at, id"
    rows = among(tx, f"SELECT id, why FROM host_events {where}", PROMPTS, session=session)
    found = [(id, loads(why)) for id, why in rows]
    waiting = [(id, why) for id, why in found if "prompt" not in why]
    for (id, why), prompt in zip(reversed(waiting), reversed(asked), strict=False):
        update(tx, "host_events", {"id": id}, why={**why, "prompt": prompt[:PROMPT_CHARACTERS]})


PROMPTS = ("UserPromptSubmit", "BeforeAgent")
PROMPT_CHARACTERS = 300  # chosen: enough to tell prompts apart; the log has all of it
_ANSWERED = ("Stop", "AfterAgent", "SessionEnd")


def answers(tx: Tx, session: str) -> list[int]:
    return [each.at for each in events_of(tx, session) if each.event in _ANSWERED]


def asked_last(tx: Tx, session: str) -> tuple[str, ...]:
    """The prompts of a session's last answer, for a host that keeps no transcript."""
    prompts: list[str] = []
    prompted = False
    known = one(tx, HostSession, "host_sessions", "AND id = :id", id=session)
    for each in reversed(events_of(tx, session)[known.place if known else 0 :]):
        if each.event in _ANSWERED and prompted:
            break
        prompted |= each.event in PROMPTS
        prompts += filter(None, [each.why.get("prompt")])
    return tuple(reversed(prompts))


def broken_off(tx: Tx, *, now: int = 0, but: str = "", only: str = "") -> list[tuple[HostSession, str]]:
    """Killed sessions that no start told of yet, of the week before `now`, each with its last prompt; latest first."""
    found = []
    sql = "SELECT event, why, at FROM host_events WHERE space = :space AND session = :session AND event IN (:keys) "
    last = f"{sql} ORDER BY at DESC, id DESC LIMIT 1"
    for each in select(tx, HostSession, "host_sessions", "AND began_at >= :since AND pid > 0", since=now - 7 * DAY):
        if each.id == but or (only and each.id != only) or _runs(each):
            continue
        for event, why, at in among(tx, last, (*PROMPTS, *_ANSWERED), session=each.id):
            if event in PROMPTS and (prompt := loads(why).get("prompt")):
                found.append((at, each, prompt))
    return [(each, prompt) for _, each, prompt in sorted(found, key=lambda one: (-one[0], one[1].id))]


def told_broken_off(tx: Tx, *, now: int, but: str) -> None:
    """Remember that a start told of them: their process becomes a negative number."""
    for each, _ in broken_off(tx, now=now, but=but):
        update(tx, "host_sessions", {"id": each.id}, pid=-each.pid)


def _runs(each: HostSession) -> bool:
    """Whether a session's process runs; one that is unknown, or of another machine, counts as running."""
    if not each.pid or each.elsewhere:
        return True
    if each.machine and each.machine.rpartition(" ")[2] != machine().rpartition(" ")[2]:
        return False  # this machine was restarted since
    try:
        os.kill(abs(each.pid), 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # another user's
    return True


def forget_events(tx: Tx, *, before: int) -> int:
    return tx.run("DELETE FROM host_events WHERE space = :space AND at < :before", before=before)


TYPED_AMONG = 200  # latest entries that are searched for those of a type
LOOKED_AT = 50  # latest decisions, of which the pinned ones come first


@record
class Told:
    id: str
    title: str
    text: str
    at: int


def due(tx: Tx, *, now: int, otherwise_after: int) -> list[tuple[str, str]]:
    """Open decisions whose review is due, longest first; one without a date is due `otherwise_after` ms after it was
    made."""
    return tx.rows(
        """
        SELECT id, decision FROM decisions
        WHERE space = :space AND outcome IS NULL AND status = 'active'
          AND coalesce(review_at, decided_at + :after) <= :now
        ORDER BY coalesce(review_at, decided_at + :after), id""",
        now=now,
        after=otherwise_after,
    )


def latest_entries(tx: Tx, limit: int) -> list[Told]:
    """The latest log entries that may be shown, newest first."""
    more = "AND kind = 'log' AND trust <> 'external' ORDER BY at DESC, doc DESC LIMIT :limit"
    return select(tx, Told, "passages", more, limit=limit)


def entries_of_types(tx: Tx, types: Sequence[str], *, limit: int, since: int = 0) -> list[Told]:
    """The latest log entries of some types that may be shown, newest first."""
    rows = tx.rows(
        "SELECT doc, keywords FROM passages WHERE space = :space AND kind = 'log' AND at > :since "
        "AND trust <> 'external' ORDER BY at DESC, doc DESC LIMIT :limit",
        since=since,
        limit=TYPED_AMONG,
    )
    docs = [doc for doc, words in rows if words.partition(" ")[0] in types][:limit]  # the type is the first keyword
    found = among(tx, "SELECT doc, id, title, text, at FROM passages WHERE space = :space AND doc IN (:keys)", docs)
    told = {doc: record_from(Told, row) for doc, *row in found}
    return [told[doc] for doc in docs]


def entries_of(tx: Tx, topic: str, limit: int) -> list[Told]:
    """The latest entries with this first topic that may be shown, newest first."""
    rows = tx.rows(
        """
        SELECT p.id, p.title, p.text, p.at FROM topic_entries e
        JOIN passages p ON p.space = e.space AND p.id = e.entry_id AND p.trust <> 'external'
        WHERE e.space = :space AND e.topic_id = :topic AND e.place = 1
        ORDER BY e.at DESC, p.doc DESC LIMIT :limit""",
        topic=topic,
        limit=limit,
    )
    return [record_from(Told, row) for row in rows]


def lessons(tx: Tx, limit: int) -> list[tuple[str, str, str, str, int, int]]:
    """Learnings that helped more than they misled, then the latest by a person without a bad verdict."""
    sql = """
        SELECT id, title, observation, action, confidence, times_helpful FROM learnings
        WHERE space = :space AND status = 'active' AND trust """
    helped = "<> 'external' AND times_helpful > 0 AND times_helpful > times_not_helpful"
    helped += " ORDER BY confidence * times_helpful DESC, id LIMIT :limit"
    by_person = "= 'human' AND times_not_helpful = 0 ORDER BY created_at DESC, id LIMIT :limit"
    return list(dict.fromkeys([*tx.rows(sql + helped, limit=limit), *tx.rows(sql + by_person, limit=limit)]))


def binding(tx: Tx, *, now: int, but: Sequence[str], limit: int) -> list[tuple[str, str, str, int]]:
    """Active decisions that did not fail: pinned ones first, then the latest; id, decision, category, when."""
    rows = tx.rows(
        """
        SELECT id, decision, category, decided_at, preserve FROM decisions
        WHERE space = :space AND decided_at <= :now AND status = 'active' AND trust <> 'external'
          AND coalesce(outcome, 'success') IN ('success', 'partial')
        ORDER BY decided_at DESC, id LIMIT :limit""",
        now=now,
        limit=LOOKED_AT,
    )
    rows.sort(key=lambda row: -row[4])
    return [(id, said, category, at) for id, said, category, at, _ in rows if id not in but][:limit]


def principles(tx: Tx, *, now: int) -> list[tuple[str, list[str]]]:
    """The principles in the stored wisdom, with the decisions that confirm them; most confirmed first."""
    stored = tx.rows("SELECT wisdom FROM decision_wisdom WHERE space = :space AND valid_until > :now", now=now)
    found = {
        principle["text"]: principle["ids"]
        for (wisdom,) in stored
        for category in loads(wisdom)
        for principle in category["principles"]
    }
    return sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
