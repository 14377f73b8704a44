"""When decisions shrink: the policy of an agent and a category, from the settings.

Ages and names only; what a level looks like is decided in `distil/levels.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from recollect.core.decision import STAKES
from recollect.core.errors import BadInput
from recollect.core.settings import DecisionSettings


@dataclass(frozen=True, kw_only=True)
class Policy:
    """When a decision shrinks. Bounds are days, half-open: at exactly `summary_days` it is a summary."""

    summary_days: int = 7
    digest_days: int = 30
    wisdom_days: int = 90
    unreviewed: Literal["full", "age"] = "full"
    keep: tuple[str, ...] = ()
    """What stays full whatever its age: `stakes:critical`, `tag:adr`."""

    def __post_init__(self) -> None:
        days = (self.summary_days, self.digest_days, self.wisdom_days)
        if not all(type(day) is int for day in days) or not 0 <= days[0] <= days[1] <= days[2]:
            raise BadInput(f"summary_days, digest_days, wisdom_days must be whole days in rising order: {days}")
        if self.unreviewed not in ("full", "age"):
            raise BadInput(f"unreviewed must be full or age, not {self.unreviewed!r}")
        object.__setattr__(self, "keep", tuple(self.keep))
        for rule in self.keep:
            kind, _, value = str(rule).partition(":")
            if kind not in ("stakes", "tag") or not value or (kind == "stakes" and value not in STAKES):
                raise BadInput(f"keep has {rule!r}; write stakes:high or tag:adr")


@dataclass(frozen=True, kw_only=True)
class Policies:
    """The default policy and what agents and categories change of it; a category's wish comes last."""

    default: Policy = Policy()
    agents: Mapping[str, Mapping[str, Any]]
    categories: Mapping[str, Mapping[str, Any]]

    def __post_init__(self) -> None:
        self.all()

    def all(self) -> list[Policy]:
        """Every policy that may apply to some decision."""
        return [self.of(agent, category) for agent in (*self.agents, "") for category in (*self.categories, "")]

    def shortest(self) -> int:
        """The age in days before which no decision is wisdom."""
        return min(policy.wisdom_days for policy in self.all())

    def of(self, agent: str, category: str) -> Policy:
        if agent not in self.agents and category not in self.categories:
            return self.default
        wishes: dict[str, Any] = {}
        known = {field.name for field in fields(Policy)}
        for who, table in ((agent, self.agents), (category, self.categories)):
            wish = table.get(who, {})
            if not isinstance(wish, Mapping) or not known.issuperset(wish):
                raise BadInput(f"the decision policy of {who} may set {', '.join(sorted(known))}, nothing else")
            wishes.update(wish)
        return replace(self.default, **wishes)


def policies_of(given: DecisionSettings) -> Policies:
    """The settings' policies; one that cannot hold is refused, whatever was asked."""
    default = Policy(**{field.name: getattr(given, field.name) for field in fields(Policy)})
    return Policies(default=default, agents=_wishes(given.agents), categories=_wishes(given.categories))


def _wishes(pairs: tuple[Any, ...]) -> dict[str, dict[str, Any]]:
    try:
        return {name: dict(wish) for name, wish in pairs}
    except (TypeError, ValueError):
        raise BadInput("write a policy as [decisions.agents.NAME] or [decisions.categories.NAME]") from None
