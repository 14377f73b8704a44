"""The models of this machine: an embedder when its extra is installed, no provider.

Cheap to make, because the prompt hook makes one: nothing is looked for before it is asked for.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.core.context import Embedder, Provider
    from recollect.core.settings import EmbedSettings


class LocalModels:
    """Whole without a key: questions are answered by their offline twins, meaning by the local embedder."""

    def __init__(self, settings: EmbedSettings):
        self._settings = settings

    def provider(self, kind: str) -> Provider | None:
        return None

    def embedder(self) -> Embedder | None:
        return self._embedder

    def loaded_embedder(self) -> Embedder | None:
        known: Embedder | None = vars(self).get("_embedder")  # looking for one already costs imports
        return known if known is not None and known.loaded else None

    @cached_property
    def _embedder(self) -> Embedder | None:
        if self._settings.use == "off":
            return None
        from pathlib import Path

        from recollect.models.embed import SentenceModel, default_files, files_in

        folder = self._settings.model
        files = files_in(Path(folder).expanduser()) if folder else default_files()
        return SentenceModel(files) if files else None
