"""Which model does which kind of job, by the settings. Names and values only: nothing is called here."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from recollect.core.errors import BadInput
from recollect.core.record import record
from recollect.core.settings import ModelSettings

KINDS = {
    "extract": "turn a discovery into a learning",
    "observe": "find discoveries in a finished task's output",
    "daily": "summarise a day",
    "weekly": "summarise a week",
    "monthly": "summarise a month",
    "root": "word the recent patterns of ROOT.md",
    "decision-summary": "shorten a decision",
    "decision-digest": "reduce a decision to a line",
    "principle": "word a principle that decisions share",
    "theme": "word what a theme's findings say",
    "compare": "judge a pair of rules that words cannot settle",
    "quality": "judge whether a staged learning states a rule",
    "route": "choose the document a staged learning belongs to",
    "rewrite": "word a staged learning for its document",
}
"""Every kind of job, and what it is."""

PROVIDERS = ("none", "anthropic", "openai", "command", "agent")


@record
class Job:
    """How one kind of job is done."""

    provider: str
    model: str
    base_url: str
    command: tuple[str, ...]
    key_env: str
    key_command: tuple[str, ...]
    seconds: float
    price_in: float
    price_out: float

    def __post_init__(self) -> None:
        if self.provider not in PROVIDERS:
            raise BadInput(f"models.provider must be one of {', '.join(PROVIDERS)}, not {self.provider!r}")
        if self.provider in ("anthropic", "openai") and not self.model:
            raise BadInput(f"models.provider = {self.provider} needs models.model")
        if self.provider == "command" and not self.command:
            raise BadInput('models.provider = command needs models.command, such as ["claude", "-p"]')
        for name in ("command", "key_command"):
            if not all(isinstance(part, str) for part in getattr(self, name)):
                raise BadInput(f"models.{name} must be a list of words")
        for name in ("seconds", "price_in", "price_out"):
            if not 0 <= getattr(self, name) < 1e6:
                raise BadInput(f"models.{name} must be 0 or more")


_OPTIONS = tuple(Job.__annotations__)
_NOTHING = ModelSettings()
_BELONGS = {
    "provider": ("model", "base_url", "command", "key_env", "key_command", "price_in", "price_out"),
    "base_url": ("key_env", "key_command", "price_in", "price_out"),
    "model": ("price_in", "price_out"),
}
"""What a kind of job with another provider, address or model does not take over: above all, no key goes elsewhere."""


@lru_cache(maxsize=64)
def job_of(settings: ModelSettings, kind: str) -> Job:
    """The settings for a kind: `[models]`, with what `[models.jobs.KIND]` says over it."""
    given: dict[str, Any] = {name: getattr(settings, name) for name in _OPTIONS}
    wish = _wishes(settings).get(kind, {})
    for chosen, belonging in _BELONGS.items():
        if wish.get(chosen, given[chosen]) != given[chosen]:
            given |= {name: getattr(_NOTHING, name) for name in belonging}
    for name, value in wish.items():
        if isinstance(given[name], float) and isinstance(value, int):
            value = float(value)
        if type(value) is not type(given[name]):
            raise BadInput(f"models.jobs.{kind}.{name} must be {type(given[name]).__name__}, not {value!r}")
        given[name] = value
    return Job(**given)


def _wishes(settings: ModelSettings) -> dict[str, dict[str, Any]]:
    try:
        wishes = {kind: dict(wish) for kind, wish in settings.jobs}
    except (TypeError, ValueError):
        raise BadInput("write the model of one kind of job as [models.jobs.KIND]") from None
    for kind, wish in wishes.items():
        if kind not in KINDS:
            raise BadInput(f"models.jobs has no kind {kind!r}; there are {', '.join(KINDS)}")
        if not set(wish) <= set(_OPTIONS):
            raise BadInput(f"models.jobs.{kind} may set {', '.join(_OPTIONS)}, nothing else")
    return wishes
