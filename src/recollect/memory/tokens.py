"""The facet of tokens: who may speak to the server."""

from __future__ import annotations

import secrets
from dataclasses import replace

from recollect.core.context import Context
from recollect.core.errors import BadInput, Refused
from recollect.core.token import NAME_LIMIT, SECRET_PREFIX, TOKEN_CHANNELS, Token, TokenChannel
from recollect.store import events
from recollect.store import tokens as rows
from recollect.store.files import content_hash


class Tokens:
    """Made and revoked by people only: an agent must not raise its own trust."""

    def __init__(self, context: Context):
        self._context = context

    def new(self, name: str, *, channel: TokenChannel = "api", read_only: bool = False) -> tuple[Token, str]:
        """A token and its secret, which is nowhere to be had again."""
        ctx = self._context
        self._refuse_agents("make")
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
            if any(known.name == token.name and known.revoked_at is None for known in rows.listed(tx)):
                raise Refused(f"there is a token {token.name} already; choose another name, or revoke it first")
            rows.add(tx, token, hash=content_hash(secret))
            new = {"name": token.name, "channel": channel, "read_only": read_only}
            events.record(tx, ctx, subject=token.id, what="token.made", new=new)
        return token, secret

    def list(self) -> list[Token]:
        """Every token, newest first, revoked ones too."""
        with self._context.db.read(self._context.space) as tx:
            return rows.listed(tx)

    def revoke(self, name: str) -> Token:
        """A token is refused from now on; named by its name or id."""
        ctx = self._context
        self._refuse_agents("revoke")
        with ctx.db.write(ctx.space) as tx:
            token = rows.named(tx, name)
            if token.revoked_at is not None:
                return token
            now = ctx.clock.now()
            rows.revoke(tx, token.id, at=now)
            events.record(tx, ctx, subject=token.id, what="token.revoked")
            return replace(token, revoked_at=now)

    def holder(self, secret: str) -> Token | None:
        """The valid token of a secret."""
        with self._context.db.read(self._context.space) as tx:
            return rows.of_hash(tx, content_hash(secret))

    def _refuse_agents(self, verb: str) -> None:
        if self._context.actor.trust != "human":
            raise Refused(f"only a person may {verb} a token; run this from your own terminal")
