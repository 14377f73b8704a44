"""Who may speak to the server: tokens, made and revoked by people only.

A token is bound to a channel, which decides how far its holder is trusted, and to scopes, which decide what the holder
may ask for. The secret is shown once; only its hash is stored, so the store's readers cannot use it. An agent must not
raise its own trust, so it may not make a token. Knows nothing about HTTP.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Literal, get_args

from recollect.core.choices import Trust
from recollect.core.clock import HOUR
from recollect.core.context import Actor, Context, Tx
from recollect.core.errors import BadInput, Forbidden, NotFound, Refused, Trouble
from recollect.core.records import check_choice, record, replace
from recollect.store import db, events
from recollect.store.files import content_hash

TokenChannel = Literal["api", "person", "import"]
TOKEN_CHANNELS: tuple[TokenChannel, ...] = get_args(TokenChannel)
TRUST_OF: dict[TokenChannel, Trust] = {"api": "agent", "person": "human", "import": "external"}
"""`api` is for agents and their workers, `person` for a program that only its owner uses, `import` for outside text."""
TokenScope = Literal["read", "write", "import", "admin"]
SCOPES: tuple[TokenScope, ...] = get_args(TokenScope)
"""`read` answers questions, `write` changes the memory, `import` adds text from outside and proposes changes, `admin`
starts maintenance: cycle, consolidation, compaction, gathering."""
SCOPES_OF: dict[TokenChannel, tuple[TokenScope, ...]] = {
    "api": ("read", "write", "admin"),
    "person": ("read", "write", "admin"),
    "import": ("read", "import"),
}
DEFAULT_SCOPES = {**SCOPES_OF, "api": ("read", "write")}

SECRET_PREFIX = "rct_"
NAME_LIMIT = 60  # characters; a name fits into a line of a list


@record
class Token:
    """A token without its secret."""

    id: str
    name: str
    channel: TokenChannel
    scopes: tuple[TokenScope, ...]
    made_by: str
    created_at: int
    expires_at: int | None = None
    last_used_at: int | None = None  # to the hour
    revoked_at: int | None = None

    def may(self, *scopes: TokenScope) -> bool:
        return not set(scopes).isdisjoint(self.scopes)

    def valid(self, now: int) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    @property
    def actor(self) -> Actor:
        return Actor(name=self.name, channel=self.channel, trust=TRUST_OF[self.channel])


def tokens(tx: Tx) -> list[Token]:
    """Every token, newest first, revoked ones too."""
    return list(_by_hash(tx).values())


def _by_hash(tx: Tx) -> dict[str, Token]:
    """Every token under the hash of its secret, newest first."""
    names = tuple(Token.__annotations__)
    known = {}
    for *row, hash in db.every(tx, "tokens", ", ".join((*names, "hash"))):
        values = dict(zip(names, row, strict=True))
        known[hash] = Token(**{**values, "scopes": tuple(values["scopes"].split())})
    return dict(sorted(known.items(), key=lambda pair: pair[1].created_at, reverse=True))


def new_token(
    ctx: Context,
    name: str,
    *,
    channel: TokenChannel = "api",
    scopes: Sequence[TokenScope] = (),
    expires: str = "",
) -> tuple[Token, str]:
    """A token and its secret, which cannot be shown again. `expires` is a time span such as 30d; by default, never."""
    _refuse_agents(ctx, "make")
    check_choice(channel, "channel", TOKEN_CHANNELS)
    scopes = tuple(dict.fromkeys(scopes)) or DEFAULT_SCOPES[channel]
    if wrong := [scope for scope in scopes if scope not in SCOPES_OF[channel]]:
        allowed = ", ".join(SCOPES_OF[channel])
        raise BadInput(f"a token of channel {channel} cannot have the scope {wrong[0]!r}; choose from {allowed}")
    if not name.strip() or len(name) > NAME_LIMIT or not name.isprintable():
        raise BadInput(f"a token's name must be 1 to {NAME_LIMIT} printable characters")
    import secrets

    from recollect.capture.decide import time_span  # heavy, and commands read the choices above

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
        if any(known.name == token.name and known.valid(now) for known in tokens(tx)):
            raise Refused(f"there is a token {token.name} already; choose another name, or revoke it first")
        values = {**vars(token), "scopes": " ".join(scopes), "hash": content_hash(secret)}
        db.add_row(tx, "tokens", **values)
        new = {"name": token.name, "channel": channel, "scopes": list(scopes), "expires": expires}
        events.record(tx, ctx, subject=token.id, what="token.made", new=new)
    return token, secret


def holder(ctx: Context, secret: str) -> Token | None:
    """The valid token of a secret; its use is recorded at most once an hour."""
    now = ctx.clock.now()
    token = ctx.read(_by_hash).get(content_hash(secret))
    if token is None or not token.valid(now):
        return None
    if token.last_used_at is None or now - token.last_used_at >= HOUR:
        with suppress(Trouble), ctx.db.write(ctx.space) as tx:  # a store that cannot be written can still be read
            db.update(tx, "tokens", {"id": token.id}, last_used_at=now)
    return token


def revoke_token(ctx: Context, name: str) -> Token:
    _refuse_agents(ctx, "revoke")
    with ctx.db.write(ctx.space) as tx:
        token = _named(tx, name)
        if token.revoked_at is not None:
            return token
        now = ctx.clock.now()
        db.update(tx, "tokens", {"id": token.id}, revoked_at=now)
        events.record(tx, ctx, subject=token.id, what="token.revoked")
        return replace(token, revoked_at=now)


def _named(tx: Tx, name: str) -> Token:
    """The newest token with this id, or the valid one with this name."""
    for token in tokens(tx):
        if token.id == name or (token.name == name and token.revoked_at is None):
            return token
    raise NotFound(f"There is no token {name[:80]!r}. List the tokens with `recollect host token list`")


def _refuse_agents(ctx: Context, verb: str) -> None:
    if ctx.actor.trust != "human":
        raise Forbidden(f"only a person may {verb} a token; run this from your own terminal")
