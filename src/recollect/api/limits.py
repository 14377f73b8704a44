"""How often: a bucket per caller that refills steadily, so that nobody takes the server from the others."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

MOST_CALLERS = 10_000


class Rate:
    """At most `per_minute` in any minute, per key. Forgets the keys that were quiet longest."""

    def __init__(self, per_minute: int, *, seconds: Callable[[], float] = time.monotonic):
        self._most = float(per_minute)
        self._seconds = seconds
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, key: str) -> int:
        """0 when there is room, which is taken; else in how many seconds to ask again."""
        with self._lock:
            now = self._seconds()
            left, then = self._left.pop(key, (self._most, now))
            left = min(self._most, left + (now - then) * self._most / 60)
            waits = 0 if left >= 1 else int((1 - left) * 60 / self._most) + 1
            self._left[key] = (left if waits else left - 1, now)
            if len(self._left) > MOST_CALLERS:
                self._left.popitem(last=False)
            return waits
