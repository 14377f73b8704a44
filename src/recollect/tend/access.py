"""Who may speak to the server: tokens, made and revoked by people only.

An agent must not raise its own trust, so it may not make a token. Knows nothing about HTTP.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import suppress

from recollect.capture.decide import time_span
from recollect.core.clock import HOUR
from recollect.core.context import Context
from recollect.core.errors import BadInput, Forbidden, Refused, Trouble
from recollect.core.records import replace
from recollect.store import events
from recollect.store import tokens as rows
from recollect.store.files import content_hash
from recollect.store.tokens import (
    DEFAULT_SCOPES,
    NAME_LIMIT,
    SCOPES_OF,
    SECRET_PREFIX,
    TOKEN_CHANNELS,
    Token,
    TokenChannel,
    TokenScope,
)


def new_token(
    ctx: Context,
    name: str,
    *,
    channel: TokenChannel = "api",
    scopes: Sequence[TokenScope] = (),
    expires: str = "",
) -> tuple[Token, str]:
    """A token and its secret, which cannot be shown again. The default scopes are those of the channel.

    `expires` is a time span such as 30d; without one the token is valid until it is revoked.
    """
    _refuse_agents(ctx, "make")
    if channel not in TOKEN_CHANNELS:
        raise BadInput(f"channel must be one of {', '.join(TOKEN_CHANNELS)}, not {channel!r}")
    scopes = tuple(dict.fromkeys(scopes)) or DEFAULT_SCOPES[channel]
    if wrong := [scope for scope in scopes if scope not in SCOPES_OF[channel]]:
        allowed = ", ".join(SCOPES_OF[channel])
        raise BadInput(f"a token of channel {channel} cannot have the scope {wrong[0]!r}; choose from {allowed}")
    if not name.strip() or len(name) > NAME_LIMIT or not name.isprintable():
        raise BadInput(f"a token's name must be 1 to {NAME_LIMIT} printable characters")
    now = ctx.clock.now()
    secret = SECRET_PREFIX + secrets.token_urlsafe(32)
    token = Token(
        id=ctx.ids("token"),
        name=name.strip(),
        channel=channel,
        scopes=scopes,
        made_by=ctx.actor.name,
        created_at=now,
        expires_at=now + time_span(expires) if expires else None,
    )
    with ctx.db.write(ctx.space) as tx:
        if any(known.name == token.name and known.valid(now) for known in rows.tokens(tx)):
            raise Refused(f"there is a token {token.name} already; choose another name, or revoke it first")
        rows.add_token(tx, token, hash=content_hash(secret))
        new = {"name": token.name, "channel": channel, "scopes": list(scopes), "expires": expires}
        events.record(tx, ctx, subject=token.id, what="token.made", new=new)
    return token, secret


def holder(ctx: Context, secret: str) -> Token | None:
    """The valid token of a secret; its use is recorded at most once an hour."""
    now = ctx.clock.now()
    token = ctx.read(rows.token_of_hash, content_hash(secret))
    if token is None or not token.valid(now):
        return None
    if token.last_used_at is None or now - token.last_used_at >= HOUR:
        with suppress(Trouble), ctx.db.write(ctx.space) as tx:  # a store that cannot be written can still be read
            rows.token_used(tx, token.id, at=now)
    return token


def revoke_token(ctx: Context, name: str) -> Token:
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
