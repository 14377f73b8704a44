"""The models that the settings name: a provider per kind of job, and an embedder.

Cheap to make, because the prompt hook makes one: nothing is looked for or imported before it is asked for. Offline,
no provider is given and no endpoint is spoken to, whatever is configured.
"""

from __future__ import annotations

import time
from functools import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.core.context import Embedder, Provider
    from recollect.core.settings import EmbedSettings, ModelSettings
    from recollect.models.jobs import Job


class ConfiguredModels:
    """By default nothing is configured: offline twins answer every question, the local embedder gives meaning."""

    def __init__(
        self, models: ModelSettings, embed: EmbedSettings, environ: Mapping[str, str], *, offline: bool = False
    ):
        self._models = models
        self._embed = embed
        self._environ = environ
        self._offline = offline
        self._made: dict[Job, Provider] = {}

    def provider(self, kind: str) -> Provider | None:
        if self._offline or (self._models.provider == "none" and not self._models.jobs):
            return None
        from recollect.models.jobs import job_of

        job = job_of(self._models, kind)
        if job.provider == "none":
            return None
        if job not in self._made:
            self._made[job] = _provider(job, self._environ)
        return self._made[job]

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def embedder(self) -> Embedder | None:
        return self._embedder

    def loaded_embedder(self) -> Embedder | None:
        known: Embedder | None = vars(self).get("_embedder")  # looking for one already costs imports
        return known if known is not None and known.loaded else None

    @cached_property
    def _embedder(self) -> Embedder | None:
        chosen = self._embed
        if chosen.use == "off":
            return None
        if chosen.use == "openai":
            if self._offline:
                return None
            from recollect.models.keys import key_from
            from recollect.models.openai import OpenAIEmbedder

            key = key_from(self._environ, chosen.key_env, chosen.key_command)
            return OpenAIEmbedder(model=chosen.model, base_url=chosen.base_url, key=key)
        from pathlib import Path

        from recollect.models.embed import SentenceModel, default_files, files_in

        files = files_in(Path(chosen.model).expanduser()) if chosen.model else default_files()
        return SentenceModel(files) if files else None


def offline_asked(environ: Mapping[str, str]) -> bool:
    """Whether this process may not call models: `RECOLLECT_OFFLINE`, which `--offline` sets."""
    return environ.get("RECOLLECT_OFFLINE", "") not in ("", "0")


def _provider(job: Job, environ: Mapping[str, str]) -> Provider:
    from recollect.models.keys import key_from

    if job.provider == "agent":
        from recollect.models.agent import AgentProvider

        return AgentProvider()
    if job.provider == "command":
        from recollect.models.command import CommandProvider

        return CommandProvider(command=job.command, model=job.model, environ=environ)
    if job.provider == "anthropic":
        from recollect.models.anthropic import AnthropicProvider

        key = key_from(environ, job.key_env or ("" if job.base_url else "ANTHROPIC_API_KEY"), job.key_command)
        return AnthropicProvider(model=job.model, base_url=job.base_url, key=key)
    from recollect.models.openai import OpenAIProvider

    key = key_from(environ, job.key_env or ("" if job.base_url else "OPENAI_API_KEY"), job.key_command)
    return OpenAIProvider(model=job.model, base_url=job.base_url, key=key)
