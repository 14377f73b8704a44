"""The facet of repeated requests: a key makes a request happen once, however often it is sent."""

from __future__ import annotations

from collections.abc import Mapping

from recollect.core.clock import DAY
from recollect.core.context import Context
from recollect.core.errors import BadInput, Refused
from recollect.store import requests as rows
from recollect.store.requests import Answered

KEY_LIMIT = 200
KEPT_FOR = DAY


class Requests:
    """Begun before the work, finished or taken back after it. One that was cut off by a crash stays begun."""

    def __init__(self, context: Context):
        self._context = context

    def begin(self, caller: str, key: str, *, hash: str) -> Answered | None:
        """What this request was told before; None when it is new and now under way."""
        ctx = self._context
        if not key.strip() or len(key) > KEY_LIMIT or not key.isprintable():
            raise BadInput(f"an Idempotency-Key is 1 to {KEY_LIMIT} printable characters")
        with ctx.db.write(ctx.space) as tx:
            now = ctx.clock.now()
            rows.forget_before(tx, now - KEPT_FOR)
            known = rows.find(tx, caller, key)
            if known is None:
                rows.begin(tx, caller, key, hash=hash, at=now)
                return None
        if known.hash != hash:
            raise Refused("this Idempotency-Key came with another request before; give every request a key of its own")
        if not known.status:
            raise Refused(
                "the first request with this Idempotency-Key is still under way, or the server stopped in the middle "
                "of it; look whether it was done before you send it under another key"
            )
        return known

    def finish(self, caller: str, key: str, *, status: int, answer: str, headers: Mapping[str, str]) -> None:
        with self._context.db.write(self._context.space) as tx:
            rows.finish(tx, caller, key, status=status, answer=answer, headers=headers)

    def take_back(self, caller: str, key: str) -> None:
        """The request failed and changed nothing: it may be sent again under its key."""
        with self._context.db.write(self._context.space) as tx:
            rows.forget(tx, caller, key)
