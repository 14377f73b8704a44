"""Tokens: how a program authenticates to the server, and their rows.

A token is bound to a channel, which decides how far its holder is trusted, and to scopes, which decide what the holder
may ask for. The secret is shown once; only its hash is stored, so the store's readers cannot use it.
"""

from __future__ import annotations

from typing import Literal, get_args

from recollect.core.choices import Trust
from recollect.core.context import Actor, Tx
from recollect.core.errors import NotFound
from recollect.core.records import record
from recollect.store import db

TokenChannel = Literal["api", "person", "import"]
TOKEN_CHANNELS: tuple[TokenChannel, ...] = get_args(TokenChannel)
TRUST_OF: dict[TokenChannel, Trust] = {"api": "agent", "person": "human", "import": "external"}
"""`api` is for agents and their workers, `person` for a program that only its owner uses, `import` for outside text."""
TokenScope = Literal["read", "write", "import", "admin"]
SCOPES: tuple[TokenScope, ...] = get_args(TokenScope)
"""`read` answers questions, `write` changes the memory, `import` adds text from outside and proposes changes, `admin`
starts maintenance: cycle, consolidation, compaction, gathering."""
DEFAULT_SCOPES: dict[TokenChannel, tuple[TokenScope, ...]] = {
    "api": ("read", "write"),
    "person": ("read", "write", "admin"),
    "import": ("read", "import"),
}
SCOPES_OF: dict[TokenChannel, tuple[TokenScope, ...]] = {
    "api": ("read", "write", "admin"),
    "person": ("read", "write", "admin"),
    "import": ("read", "import"),
}

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
        """Who acts when this token is shown."""
        return Actor(name=self.name, channel=self.channel, trust=TRUST_OF[self.channel])


def add_token(tx: Tx, token: Token, *, hash: str) -> None:
    db.add_row(tx, "tokens", **{**vars(token), "scopes": " ".join(token.scopes), "hash": hash})


def tokens(tx: Tx) -> list[Token]:
    """Every token, newest first, revoked ones too."""
    return _tokens(tx, "ORDER BY created_at DESC, id")


def token_named(tx: Tx, name: str) -> Token:
    """The token with this id, or the valid one with this name."""
    valid = "AND (id = :name OR (name = :name AND revoked_at IS NULL)) ORDER BY created_at DESC"
    found = _tokens(tx, valid, name=name)
    if not found:
        raise NotFound(f"There is no token {name[:80]!r}. List the tokens with `recollect host token list`")
    return found[0]


def token_of_hash(tx: Tx, hash: str) -> Token | None:
    """Valid or not."""
    return next(iter(_tokens(tx, "AND hash = :hash", hash=hash)), None)


def token_used(tx: Tx, id: str, *, at: int) -> None:
    db.update(tx, "tokens", {"id": id}, last_used_at=at)


def revoke_token(tx: Tx, id: str, *, at: int) -> None:
    db.update(tx, "tokens", {"id": id}, revoked_at=at)


def _tokens(tx: Tx, more: str, **params: str) -> list[Token]:
    rows = tx.rows(f"SELECT {db.columns_of(Token)} FROM tokens WHERE space = :space {more}", **params)
    found = (dict(zip(Token.__annotations__, row, strict=True)) for row in rows)
    return [Token(**{**values, "scopes": tuple(values["scopes"].split())}) for values in found]
