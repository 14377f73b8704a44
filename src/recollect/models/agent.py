"""The agent as a provider that answers later: asks are left open for `recollect pending` and `recollect apply`."""

from __future__ import annotations

from recollect.core.errors import NoAnswer
from recollect.core.prompt import Completion, Prompt


class AgentProvider:
    """Never answers at once. Until somebody applied an answer, the offline twin's stands."""

    name = "agent"

    def complete(self, prompt: Prompt) -> Completion:
        raise NoAnswer("an agent answers later; see: recollect pending")
