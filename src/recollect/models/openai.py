"""Endpoints that speak OpenAI's format (OpenAI, Ollama, vLLM, llama.cpp), through OpenAI's SDK: words and vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

from recollect.core.errors import NoAnswer
from recollect.core.prompt import Completion, Prompt
from recollect.models.calling import called
from recollect.models.keys import Key

T = TypeVar("T")
OWN_HOST = "api.openai.com"
BATCH = 64
EMBED_SECONDS = 30.0
_STOPS = {"length": "length", "content_filter": "refusal"}


class OpenAIProvider:
    """One model of an endpoint."""

    def __init__(self, *, model: str, base_url: str, key: Key):
        self.name = f"openai:{model}"
        self._model = model
        self._base_url = base_url
        self._key = key

    def complete(self, prompt: Prompt) -> Completion:
        return _called(self._base_url, self._key, prompt.timeout, lambda client: self._said(client, prompt))

    def _said(self, client: Any, prompt: Prompt) -> Completion:
        # OpenAI's newer models know only the one name of the limit, most other servers only the other.
        limit = "max_completion_tokens" if _host(self._base_url) == OWN_HOST else "max_tokens"
        made = client.chat.completions.create(
            model=self._model,
            messages=[{"role": "system", "content": prompt.instructions}, {"role": "user", "content": prompt.data}],
            **{limit: prompt.max_tokens},
        )
        choice = made.choices[0]
        refused = getattr(choice.message, "refusal", None)
        return Completion(
            text=refused or choice.message.content or "",
            input_tokens=made.usage.prompt_tokens if made.usage else None,
            output_tokens=made.usage.completion_tokens if made.usage else None,
            stop="refusal" if refused else _STOPS.get(choice.finish_reason, "end"),  # type: ignore[arg-type]
        )


class OpenAIEmbedder:
    """Vectors of an endpoint's model; its name tells them from every other model's."""

    def __init__(self, *, model: str, base_url: str, key: Key):
        self.name = f"{model}@{_host(base_url)}"
        self._model = model
        self._base_url = base_url
        self._key = key

    @property
    def loaded(self) -> bool:
        """Never at once: nobody who captures a text waits for an endpoint."""
        return False

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """One unit vector per text, in order. Raises NoAnswer."""
        vectors: list[Any] = []
        for start in range(0, len(texts), BATCH):
            batch = list(texts[start : start + BATCH])
            vectors += _called(self._base_url, self._key, EMBED_SECONDS, partial(self._made, batch))
        return vectors

    def _made(self, texts: list[str], client: Any) -> list[Any]:
        import numpy as np

        data = client.embeddings.create(model=self._model, input=texts, encoding_format="float").data
        found = [np.array(each.embedding, dtype=np.float32) for each in sorted(data, key=lambda each: each.index)]
        shapes = {vector.shape for vector in found}
        if len(found) != len(texts) or len(shapes) != 1 or not all(np.isfinite(vector).all() for vector in found):
            raise NoAnswer("the endpoint did not give one vector of numbers per text", billed=True)
        return [vector / max(float(np.linalg.norm(vector)), 1e-9) for vector in found]


def _called(base_url: str, key: Key, seconds: float, call: Callable[[Any], T]) -> T:
    return called("openai", "OpenAI", key=key, base_url=base_url, seconds=seconds, call=call)


def _host(base_url: str) -> str:
    return urlsplit(base_url).netloc or OWN_HOST
