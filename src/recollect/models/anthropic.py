"""Anthropic's models through its own SDK, which is an extra and imported at the call."""

from __future__ import annotations

from typing import Any

from recollect.core.errors import NoAnswer
from recollect.core.prompt import Completion, Prompt
from recollect.models.calling import failure_of, within
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
        try:
            import anthropic
        except ImportError:
            raise NoAnswer("this needs the SDK; run: pip install 'recollect-memory[anthropic]'") from None
        key = self._key()
        client = anthropic.Anthropic(
            api_key=key, base_url=self._base_url or None, timeout=prompt.timeout, max_retries=0
        )
        try:
            return within(prompt.timeout, lambda: self._said(client, prompt), client.close)
        except NoAnswer:
            raise
        except Exception as error:  # noqa: BLE001 an SDK raises what it likes on what a server likes to send
            raise failure_of(error, key) from None
        finally:
            client.close()

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
