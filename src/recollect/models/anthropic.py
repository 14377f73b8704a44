"""Anthropic's models through its own SDK."""

from __future__ import annotations

from typing import Any

from recollect.core.prompt import Completion, Prompt
from recollect.models.calling import called
from recollect.models.keys import Key

_STOPS = {"max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "refusal"}


class AnthropicProvider:
    """One model of Anthropic's, or of a server that speaks the same format."""

    def __init__(self, *, model: str, base_url: str, key: Key):
        self.name = f"anthropic:{model}"
        self._model = model
        self._base_url = base_url
        self._key = key

    def complete(self, prompt: Prompt) -> Completion:
        return called(
            "anthropic",
            "Anthropic",
            key=self._key,
            base_url=self._base_url,
            seconds=prompt.timeout,
            call=lambda client: self._said(client, prompt),
        )

    def _said(self, client: Any, prompt: Prompt) -> Completion:
        message = client.messages.create(
            model=self._model,
            max_tokens=prompt.max_tokens,
            system=prompt.instructions,
            messages=[{"role": "user", "content": prompt.data}],
        )
        text = "".join(block.text for block in message.content if block.type == "text")
        return Completion(
            text=text,
            input_tokens=message.usage.input_tokens
            + (message.usage.cache_read_input_tokens or 0)
            + (message.usage.cache_creation_input_tokens or 0),
            output_tokens=message.usage.output_tokens,
            stop=_STOPS.get(message.stop_reason, "end"),  # type: ignore[arg-type]
        )
