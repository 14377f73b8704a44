"""Which model does which kind of job, by the settings, and whether it answers.

Every command imports this, so SDKs, runtimes and providers load only when needed. Offline, no provider is given and no
endpoint is called, whatever is configured.
"""

from __future__ import annotations

import time
from functools import cached_property, lru_cache

from recollect.core.errors import BadInput, NoAnswer
from recollect.core.records import check_choice, record, replace
from recollect.core.settings import ModelSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from recollect.core.context import Context, Embedder, Provider
    from recollect.core.settings import EmbedSettings

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
    "topic": "name a topic",
    "theme": "word what a theme's findings say",
    "compare": "judge a pair of rules that words cannot settle",
    "quality": "judge whether a staged learning states a rule",
    "route": "choose the document a staged learning belongs to",
    "rewrite": "word a staged learning for its document",
}

PROVIDERS = ("none", "anthropic", "openai", "command", "agent")


_OPTIONS = tuple(name for name in ModelSettings.__annotations__ if name not in ("calls", "daily_tokens", "jobs"))
_DEFAULTS = ModelSettings()
_NOT_INHERITED = {
    "provider": ("model", "base_url", "command", "key_env", "key_command", "price_in", "price_out"),
    "base_url": ("key_env", "key_command", "price_in", "price_out"),
    "model": ("price_in", "price_out"),
}
"""Settings that a job with another provider, address or model does not inherit, so that a key is sent nowhere else."""


@lru_cache(maxsize=64)
def job_of(settings: ModelSettings, kind: str) -> ModelSettings:
    """The settings for a kind: `[models]`, overridden by `[models.jobs.KIND]`."""
    given: dict[str, Any] = {name: getattr(settings, name) for name in _OPTIONS}
    own = _settings_by_kind(settings).get(kind, {})
    for chosen, dependent in _NOT_INHERITED.items():
        if own.get(chosen, given[chosen]) != given[chosen]:
            given |= {name: getattr(_DEFAULTS, name) for name in dependent}
    for name, value in own.items():
        if isinstance(given[name], float) and isinstance(value, int):
            value = float(value)
        if type(value) is not type(given[name]):
            raise BadInput(f"models.jobs.{kind}.{name} must be {type(given[name]).__name__}, not {value!r}")
        given[name] = value
    return _checked(ModelSettings(**given))


def _checked(job: ModelSettings) -> ModelSettings:
    check_choice(job.provider, "models.provider", PROVIDERS)
    if job.provider in ("anthropic", "openai") and not job.model:
        raise BadInput(f"models.provider = {job.provider} needs models.model")
    if job.provider == "command" and not job.command:
        raise BadInput('models.provider = command needs models.command, such as ["claude", "-p"]')
    for name in ("command", "key_command"):
        if not all(isinstance(part, str) for part in getattr(job, name)):
            raise BadInput(f"models.{name} must be a list of words")
    for name in ("seconds", "price_in", "price_out"):
        if not 0 <= getattr(job, name) < 1e6:
            raise BadInput(f"models.{name} must be 0 or more")
    return job


def _settings_by_kind(settings: ModelSettings) -> dict[str, dict[str, Any]]:
    try:
        given = {kind: dict(own) for kind, own in settings.jobs}
    except (TypeError, ValueError):
        raise BadInput(
            "models.jobs must be tables: write the model of one kind of job under [models.jobs.KIND]"
        ) from None
    for kind, own in given.items():
        if kind not in KINDS:
            raise BadInput(f"models.jobs has no kind {kind!r}; there are {', '.join(KINDS)}")
        if not set(own) <= set(_OPTIONS):
            raise BadInput(f"models.jobs.{kind} may set {', '.join(_OPTIONS)}, nothing else")
    return given


class ConfiguredModels:
    """The providers and the embedder of a project. By default only the local embedder."""

    def __init__(
        self, models: ModelSettings, embed: EmbedSettings, environ: Mapping[str, str], *, offline: bool = False
    ):
        self._models = models
        self._embed = embed
        self._environ = environ
        self._offline = offline
        self._made: dict[ModelSettings, Provider] = {}

    def provider(self, kind: str) -> Provider | None:
        if self._offline or (self._models.provider == "none" and not self._models.jobs):
            return None
        job = job_of(self._models, kind)
        if job.provider == "none":
            return None
        if job not in self._made:
            self._made[job] = _make_provider(job, self._environ)
        return self._made[job]

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def embedder(self) -> Embedder | None:
        return self._embedder

    def loaded_embedder(self) -> Embedder | None:
        known: Embedder | None = vars(self).get("_embedder")  # making one would cost imports
        return known if known is not None and known.loaded else None

    @cached_property
    def _embedder(self) -> Embedder | None:
        chosen = self._embed
        if chosen.use == "off":
            return None
        if chosen.use == "openai":
            if self._offline:
                return None
            from recollect.models.providers import OpenAIEmbedder, key_from

            key = key_from(self._environ, chosen.key_env, chosen.key_command)
            return OpenAIEmbedder(model=chosen.model, base_url=chosen.base_url, key=key)
        from pathlib import Path

        from recollect.models.embed import SentenceModel, default_files, files_in

        files = files_in(Path(chosen.model).expanduser()) if chosen.model else default_files()
        return SentenceModel(files) if files else None


def offline_requested(environ: Mapping[str, str]) -> bool:
    """Whether this process may not call models: `RECOLLECT_OFFLINE`, which `--offline` sets."""
    return environ.get("RECOLLECT_OFFLINE", "") not in ("", "0")


def _make_provider(job: ModelSettings, environ: Mapping[str, str]) -> Provider:
    from recollect.models import providers

    if job.provider == "agent":
        from recollect.models.ask import AgentProvider

        return AgentProvider()
    if job.provider == "command":
        return providers.CommandProvider(command=job.command, model=job.model, environ=environ)
    make = providers.AnthropicProvider if job.provider == "anthropic" else providers.OpenAIProvider
    # The usual variable holds the key of the provider's own server and is sent to no other.
    variable = job.key_env or ("" if job.base_url else f"{job.provider.upper()}_API_KEY")
    return make(model=job.model, base_url=job.base_url, key=providers.key_from(environ, variable, job.key_command))


CHECK_INSTRUCTIONS = "Answer with the word that the data holds, and nothing else."
CHECK_WORD = "ready"
CHECK_TOKENS = 1_000  # the answer is one word; the rest is room for a model that reasons first


@record
class ProviderCheck:
    """One provider: the kinds of job it does, and how a tiny call went. An agent is not called."""

    name: str
    kinds: tuple[str, ...]
    ok: bool
    reason: str = ""
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None


def check(ctx: Context) -> list[ProviderCheck]:
    """Check every configured provider, in the order of the kinds."""
    by_provider: dict[Provider, list[str]] = {}
    for kind in KINDS:
        if provider := ctx.models.provider(kind):
            by_provider.setdefault(provider, []).append(kind)
    return [_check_provider(ctx, provider, tuple(kinds)) for provider, kinds in by_provider.items()]


def _check_provider(ctx: Context, provider: Provider, kinds: tuple[str, ...]) -> ProviderCheck:
    from recollect.core.context import Prompt
    from recollect.models.ask import AgentProvider, frame_sources
    from recollect.models.budget import call_once

    done = ProviderCheck(name=provider.name, kinds=kinds, ok=False)
    if isinstance(provider, AgentProvider):
        return replace(done, ok=True, reason="answers later; see: recollect model pending")
    job = job_of(ctx.settings.models, kinds[0])
    prompt = Prompt(
        kind="check",
        instructions=CHECK_INSTRUCTIONS,
        data=frame_sources([CHECK_WORD]),
        max_tokens=CHECK_TOKENS,
        timeout=job.seconds or 30.0,
    )
    started = time.monotonic()
    try:
        said, used = call_once(
            ctx, prompt, kind=kinds[0], generator=provider.name, call=lambda: provider.complete(prompt)
        )
    except NoAnswer as failure:
        return replace(done, reason=str(failure))
    seconds = time.monotonic() - started
    return replace(
        done,
        ok=bool(said.text.strip()),
        reason="" if said.text.strip() else "the answer is empty",
        seconds=round(seconds, 3),
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cost=used.cost_micros / 1e6 if job.price_in or job.price_out else None,
    )
