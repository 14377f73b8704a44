"""Models that answer from a script, for tests without a key, a bill or the network. Public."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from recollect.core.context import Completion, Embedder, Prompt, Provider


class ScriptedProvider:
    """Answers each prompt with the next line of its script; a function in the script is called with the prompt."""

    name = "scripted"

    def __init__(self, script: Sequence[str | Callable[[Prompt], str]]):
        self._script = list(script)
        self.prompts: list[Prompt] = []

    def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        assert self._script, f"the script has no answer left for {prompt.kind}"
        line = self._script.pop(0)
        return Completion(text=line(prompt) if callable(line) else line)


class ScriptedModels:
    """Providers by kind of question; other kinds are answered offline. A pause takes no time."""

    def __init__(self, providers: Mapping[str, Provider] | None = None, *, embedder: Embedder | None = None):
        self._providers = dict(providers or {})
        self._embedder = embedder
        self.pauses: list[float] = []

    def provider(self, kind: str) -> Provider | None:
        return self._providers.get(kind)

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def embedder(self) -> Embedder | None:
        return self._embedder

    def loaded_embedder(self) -> Embedder | None:
        return self._embedder if self._embedder is not None and self._embedder.loaded else None
