"""Tokens: how a program authenticates to the server.

A token is bound to a channel, and the channel decides how far its holder is trusted. The secret is shown once and never
stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from recollect.core.choices import Trust
from recollect.core.context import Actor

TokenChannel = Literal["api", "person", "import"]
TOKEN_CHANNELS: tuple[TokenChannel, ...] = get_args(TokenChannel)
TRUST_OF: dict[TokenChannel, Trust] = {"api": "agent", "person": "human", "import": "external"}
"""`api` is for agents and their workers, `person` for a program that only its owner uses, `import` for outside text."""

SECRET_PREFIX = "rct_"
NAME_LIMIT = 60  # characters; a name fits into a line of a list


@dataclass(frozen=True, kw_only=True)
class Token:
    """A token without its secret."""

    id: str
    name: str
    channel: TokenChannel
    read_only: bool
    made_by: str
    created_at: int
    revoked_at: int | None = None

    @property
    def actor(self) -> Actor:
        """Who acts when this token is shown."""
        return Actor(name=self.name, channel=self.channel, trust=TRUST_OF[self.channel])
