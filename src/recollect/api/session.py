"""Signing in to the page: a one-time code, a session cookie, and a token in every form.

Whoever started the server sees the code in their terminal, so whoever types it is that person. A code serves once;
after it was used, or guessed at too often, the next one is printed. Sessions live in this process: a restart signs
everybody out. Knows nothing about what the pages show.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from recollect.api.access import Denied
from recollect.core.actor import Actor
from recollect.core.ids import ALPHABET
from recollect.memory import Memory

COOKIE = "recollect_session"
CSRF_FIELD = "csrf_token"
CSRF_HEADER = "x-csrf-token"
GUESSES = 10
MOST_SESSIONS = 100


@dataclass(frozen=True, kw_only=True)
class Session:
    """A browser that is signed in."""

    csrf: str
    until: float


@dataclass(frozen=True, kw_only=True)
class Visit:
    """What a page is given: the memory on behalf of the person, and the token its forms must carry."""

    memory: Memory
    csrf: str


class SignInNeeded(Exception):
    """The browser is not signed in, or no longer."""


class Sessions:
    """Codes and sessions of one server. `announce` is told each new code; without it nobody can sign in."""

    def __init__(
        self, *, hours: float, announce: Callable[[str], object] | None, seconds: Callable[[], float] = time.monotonic
    ):
        self._seconds_open = hours * 3600
        self._announce = announce
        self._seconds = seconds
        self._lock = threading.Lock()
        self._open: dict[str, Session] = {}
        self._code = ""
        self._guesses = 0

    def begin(self) -> None:
        """Make the next code and announce it."""
        with self._lock:
            self._renew()

    def sign_in(self, code: str) -> str | None:
        """The cookie of a new session, or None for a wrong code."""
        with self._lock:
            given = "".join(code.split()).replace("-", "").lower()
            right = bool(self._code) and hmac.compare_digest(given.encode(), self._code.replace("-", "").encode())
            self._guesses += 1
            if not right and self._guesses < GUESSES:
                return None
            self._renew()
            if not right:
                return None
            now = self._seconds()
            self._open = {name: session for name, session in self._open.items() if session.until > now}
            while len(self._open) >= MOST_SESSIONS:
                del self._open[next(iter(self._open))]
            cookie = secrets.token_urlsafe(32)
            self._open[cookie] = Session(csrf=secrets.token_urlsafe(32), until=now + self._seconds_open)
            return cookie

    def find(self, cookie: str | None) -> Session | None:
        with self._lock:
            session = self._open.get(cookie or "")
        return session if session and session.until > self._seconds() else None

    def sign_out(self, cookie: str | None) -> None:
        with self._lock:
            self._open.pop(cookie or "", None)

    def _renew(self) -> None:
        self._guesses = 0
        if self._announce is None:
            return
        letters = "".join(secrets.choice(ALPHABET) for _ in range(10))
        self._code = f"{letters[:5]}-{letters[5:]}"  # 50 bits, against ten guesses
        self._announce(self._code)


def visit_of(request: Request) -> Visit | None:
    """On whose behalf a request comes; None for a browser that is not signed in."""
    sessions: Sessions = request.app.state.sessions
    session = sessions.find(request.cookies.get(COOKIE))
    if session is None:
        return None
    memory: Memory = request.app.state.memory
    person: str = request.app.state.person
    return Visit(memory=memory.acting_as(Actor(name=person, channel="page", trust="human")), csrf=session.csrf)


async def _signed_in(request: Request) -> Visit:
    visit = visit_of(request)
    if visit is None:
        raise SignInNeeded
    return visit


async def visiting(visit: Annotated[Visit, Depends(_signed_in)]) -> Visit:
    """For a browser that is signed in; changes nothing."""
    return visit


async def changing(request: Request, visit: Annotated[Visit, Depends(_signed_in)]) -> Visit:
    """For a form of our own page: the session's token came with it, in a field or in a header."""
    given = request.headers.get(CSRF_HEADER)
    if given is None:
        given = str((await request.form()).get(CSRF_FIELD, ""))
    if not hmac.compare_digest(given.encode("utf-8", "replace"), visit.csrf.encode()):
        raise Denied(403, "this form does not belong to your session; reload the page and try again")
    return visit


Visiting = Annotated[Visit, Depends(visiting)]
Changing = Annotated[Visit, Depends(changing)]
