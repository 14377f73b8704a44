"""The memories of one server by their space, opened on demand and closed when idle.

A space that cannot be opened is an error only for requests to it. Knows nothing about HTTP.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from recollect.core.errors import NotFound, RecollectError, Trouble
from recollect.memory import Memory
from recollect.store.files import content_hash
from recollect.tend.tokens import Token

IDLE_SECONDS = 600  # chosen: a session asks again within minutes, and opening takes milliseconds
BROKEN_SECONDS = 10  # chosen: how long requests are refused at once after a store could not be opened


@dataclass(kw_only=True)
class OpenSpace:
    name: str
    memory: Memory
    users: int = 0
    used_at: float = 0.0


class Spaces:
    """Every space of the user: the server's own, and those in `places`, each with a folder that uses it."""

    def __init__(
        self,
        here: Memory,
        *,
        places: Callable[[], Mapping[str, Path]] = dict,
        opener: Callable[[Path], Memory] = Memory.open,
        seconds: Callable[[], float] = time.monotonic,
    ):
        self.here = here
        self._places = places
        self._opener = opener
        self._seconds = seconds
        self._lock = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}
        self._open = {here.context.space: OpenSpace(name=here.context.space, memory=here, users=1)}  # never idle
        self._broken: dict[str, tuple[float, RecollectError]] = {}
        self._of_secret: dict[str, str] = {}

    def names(self) -> list[str]:
        first = self.here.context.space
        try:
            return [first, *sorted(set(self._places()) - {first})]
        except RecollectError:  # a damaged register, which `doctor` reports
            return [first]

    def take(self, name: str) -> OpenSpace:
        """An open space, opened if needed; the caller must `release` it."""
        with self._lock:
            opening = self._opening.setdefault(name, threading.Lock())
        with opening:  # of two concurrent requests, the second finds it open
            with self._lock:
                if known := self._open.get(name):
                    known.users += 1
                    return known
            made = OpenSpace(name=name, memory=self._opened(name), users=1)
            with self._lock:
                self._open[name] = made
            return made

    def release(self, space: OpenSpace) -> None:
        with self._lock:
            space.users -= 1
            space.used_at = self._seconds()

    @contextmanager
    def using(self, name: str) -> Iterator[Memory]:
        space = self.take(name)
        try:
            yield space.memory
        finally:
            self.release(space)

    def take_for(self, secret: str) -> tuple[OpenSpace, Token] | None:
        """The token with this secret and its space, taken; Trouble if it may be in a space that cannot be read."""
        digest = content_hash(secret)
        known = self._of_secret.get(digest)
        troubled = False
        for name in sorted(self.names(), key=lambda name: name != known):
            try:
                space = self.take(name)
            except RecollectError:
                troubled = True
                continue
            try:
                token = space.memory.tokens.holder(secret)
            except RecollectError:
                token, troubled = None, True
            if token is not None:
                self._of_secret[digest] = name
                return space, token
            self.release(space)
        if troubled:
            raise Trouble("the server cannot read one of its memories now; see its output, then try again")
        return None

    def close_idle(self) -> None:
        with self._lock:
            before = self._seconds() - IDLE_SECONDS
            idle = [space for space in self._open.values() if not space.users and space.used_at <= before]
            for space in idle:
                del self._open[space.name]
        for space in idle:
            space.memory.close()

    def close(self) -> None:
        with self._lock:
            left = [space for space in self._open.values() if space.memory is not self.here]
            self._open = {self.here.context.space: self._open[self.here.context.space]}
        for space in left:
            space.memory.close()

    def _opened(self, name: str) -> Memory:
        until, error = self._broken.get(name, (0.0, None))
        if error is not None and self._seconds() < until:
            raise error
        folder = self._places().get(name)
        if folder is None:
            raise NotFound(f"no space {name[:80]!r} here; the spaces are {', '.join(self.names())}")
        try:
            memory = self._opener(folder)
            if (found := memory.context.space) != name:
                memory.close()
                raise Trouble(f"{folder} now uses space {found!r}, not {name!r}; run in that folder: recollect init")
        except RecollectError as error:
            self._broken[name] = (self._seconds() + BROKEN_SECONDS, error)
            raise
        self._broken.pop(name, None)
        return memory
