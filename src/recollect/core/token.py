"""Tokens: how a program authenticates to the server.

A token is bound to a channel, which decides how far its holder is trusted, and to scopes, which decide what the holder
may ask for. The secret is shown once and never stored.
"""

from __future__ import annotations

from typing import Literal, get_args

from recollect.core.choices import Trust
from recollect.core.context import Actor
from recollect.core.records import record

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
"""The scopes that a channel can have."""

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
        """Whether it has one of these scopes."""
        return not set(scopes).isdisjoint(self.scopes)

    def valid(self, now: int) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    @property
    def actor(self) -> Actor:
        """Who acts when this token is shown."""
        return Actor(name=self.name, channel=self.channel, trust=TRUST_OF[self.channel])
