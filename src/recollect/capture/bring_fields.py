"""Fields of a record that somebody else wrote, one at a time: checked, redacted, never believed about themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from recollect.core.choices import Trust
from recollect.core.clock import parse_time
from recollect.core.context import Context
from recollect.core.errors import BadInput, Refused
from recollect.store.files import content_hash
from recollect.text.kept import kept_id
from recollect.text.normal import clean
from recollect.text.redact import redact

_ID = re.compile(r"[a-z]+_[0-9A-Za-z]{1,64}")

Fate = Literal["added", "adopted", "known", "conflict", "waiting"]
Values = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What holds for a whole import, whatever its lines say."""

    trust: Trust
    now: int
    change: str
    reason: str


def check_trust(ctx: Context, trust: Trust) -> None:
    """What comes in is external, unless a person vouches for it."""
    if trust not in ("external", "agent"):
        raise BadInput(f"trust must be external or agent, not {trust!r}")
    if trust == "agent" and ctx.actor.trust != "human":
        raise Refused("only a person may vouch for what comes from outside; run this from your own terminal")


def text_of(values: Values, name: str, *, limit: int) -> str:
    value = values.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > limit:
        raise BadInput(f"{name} must be text of at most {limit:,} characters")
    return redact(clean(value)).text.strip()


def time_of(values: Values, name: str, terms: Terms) -> int:
    """An instant no later than now; nothing that comes in may be from the future."""
    value = values.get(name)
    if value is None:
        return terms.now
    if not isinstance(value, str):
        raise BadInput(f"{name} must be an ISO 8601 time, not {value!r:.60}")
    return max(0, min(parse_time(value), terms.now))


def caller_id(values: Values, name: str) -> str | None:
    value = values.get(name)
    return None if value is None else kept_id(value, name)


def reference(values: Values, name: str) -> str | None:
    """The id of a row of ours, None for anything that cannot be one."""
    value = values.get(name)
    return value if isinstance(value, str) and _ID.fullmatch(value) else None


def row_id(values: Values, prefix: str, content: str) -> str:
    """The given id when it is well-formed, else one made of the content, so that a second import finds it again."""
    value = reference(values, "id")
    return value if value and value.startswith(prefix + "_") else f"{prefix}_{content_hash(content)[:16]}"
