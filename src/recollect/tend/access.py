"""Who may speak to the server: tokens, made and revoked by people only, and requests that are answered once.

An agent must not raise its own trust, so it may not make a token. A request with an Idempotency-Key happens once,
however often it is sent. Knows nothing about HTTP.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace

from recollect.core.clock import DAY
from recollect.core.context import Context
from recollect.core.errors import BadInput, Forbidden, Refused
from recollect.core.token import NAME_LIMIT, SECRET_PREFIX, TOKEN_CHANNELS, Token, TokenChannel
from recollect.store import access as rows
from recollect.store import events
from recollect.store.access import Answered
from recollect.store.files import content_hash

KEY_LIMIT = 200  # characters; clients send a UUID, which has 36
KEPT_FOR = DAY  # longer than any client goes on repeating a request


def new_token(ctx: Context, name: str, *, channel: TokenChannel = "api", read_only: bool = False) -> tuple[Token, str]:
    """A token and its secret, which cannot be shown again."""
    _refuse_agents(ctx, "make")
    if channel not in TOKEN_CHANNELS:
        raise BadInput(f"channel must be one of {', '.join(TOKEN_CHANNELS)}, not {channel!r}")
    if not name.strip() or len(name) > NAME_LIMIT or not name.isprintable():
        raise BadInput(f"a token's name must be 1 to {NAME_LIMIT} printable characters")
    secret = SECRET_PREFIX + secrets.token_urlsafe(32)
    token = Token(
        id=ctx.ids("token"),
        name=name.strip(),
        channel=channel,
        read_only=read_only,
        made_by=ctx.actor.name,
        created_at=ctx.clock.now(),
    )
    with ctx.db.write(ctx.space) as tx:
        if any(known.name == token.name and known.revoked_at is None for known in rows.tokens(tx)):
            raise Refused(f"there is a token {token.name} already; choose another name, or revoke it first")
        rows.add_token(tx, token, hash=content_hash(secret))
        new = {"name": token.name, "channel": channel, "read_only": read_only}
        events.record(tx, ctx, subject=token.id, what="token.made", new=new)
    return token, secret


def revoke_token(ctx: Context, name: str) -> Token:
    """Refuse a token from now on; it is named by its name or id."""
    _refuse_agents(ctx, "revoke")
    with ctx.db.write(ctx.space) as tx:
        token = rows.token_named(tx, name)
        if token.revoked_at is not None:
            return token
        now = ctx.clock.now()
        rows.revoke_token(tx, token.id, at=now)
        events.record(tx, ctx, subject=token.id, what="token.revoked")
        return replace(token, revoked_at=now)


def _refuse_agents(ctx: Context, verb: str) -> None:
    if ctx.actor.trust != "human":
        raise Forbidden(f"only a person may {verb} a token; run this from your own terminal")


def begin_request(ctx: Context, caller: str, key: str, *, hash: str) -> Answered | None:
    """What this request was answered before; None when it is new and now under way.

    A request that a crash cut off stays begun.
    """
    if not key.strip() or len(key) > KEY_LIMIT or not key.isprintable():
        raise BadInput(f"an Idempotency-Key is 1 to {KEY_LIMIT} printable characters")
    with ctx.db.write(ctx.space) as tx:
        now = ctx.clock.now()
        rows.forget_requests_before(tx, now - KEPT_FOR)
        known = rows.find_request(tx, caller, key)
        if known is None:
            rows.begin_request(tx, caller, key, hash=hash, at=now)
            return None
    if known.hash != hash:
        raise Refused("this Idempotency-Key came with another request before; give every request a key of its own")
    if not known.status:
        raise Refused(
            "the first request with this Idempotency-Key is still under way, or the server stopped in the middle "
            "of it; look whether it was done before you send it under another key"
        )
    return known


def finish_request(
    ctx: Context, caller: str, key: str, *, status: int, answer: str, headers: Mapping[str, str]
) -> None:
    """Remember the answer, to give it again when the request is repeated."""
    with ctx.db.write(ctx.space) as tx:
        rows.finish_request(tx, caller, key, status=status, answer=answer, headers=headers)


def take_back_request(ctx: Context, caller: str, key: str) -> None:
    """Forget a request that failed and changed nothing: it may be sent again under its key."""
    with ctx.db.write(ctx.space) as tx:
        rows.forget_request(tx, caller, key)
