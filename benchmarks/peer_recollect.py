"""Recollect as `peer_driver` drives it: through `Memory`, with the same server's vectors, or on words alone.

Texts come in the order of their days; the clock stands at the last one, as it would for somebody who writes daily.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from recollect import Memory, ScriptedClock
from recollect.core.context import Embedder
from recollect.core.journal import NewEntry
from recollect.core.settings import EmbedSettings, ModelSettings
from recollect.models.configured import ConfiguredModels


class ServedEmbedder:
    name = "served"
    loaded = True  # a text is embedded when it is added, as by the others

    def __init__(self, url: str) -> None:
        where = urlsplit(url)
        self._path = f"{where.path}/embeddings"
        self._connection = http.client.HTTPConnection(where.netloc)

    def embed(self, texts: Sequence[str]) -> list[Any]:
        body = json.dumps({"input": list(texts), "model": self.name})
        self._connection.request("POST", self._path, body, {"Content-Type": "application/json"})
        data = json.loads(self._connection.getresponse().read())["data"]
        return [np.array(each["embedding"], dtype=np.float32) for each in data]


class ServedModels(ConfiguredModels):
    def __init__(self, url: str) -> None:
        super().__init__(ModelSettings(), EmbedSettings(use="off"), {})
        self._served = ServedEmbedder(url) if url else None

    def embedder(self) -> Embedder | None:
        return self._served

    def loaded_embedder(self) -> Embedder | None:
        return self._served


class Recollect:
    """Without a URL it works on words alone."""

    def __init__(self, folder: Path, url: str) -> None:
        self._clock = ScriptedClock("2000-01-01T12:00:00Z")
        self._memory = Memory.open(folder, create=True, clock=self._clock, models=ServedModels(url))

    def add(self, text: dict[str, Any]) -> str:
        self._clock.advance(ms=text["at"] - self._clock.now())
        return self._memory.journal.add(NewEntry(text=text["text"], topic=text["who"], session=text["session"])).id

    def search(self, query: str, k: int) -> list[str]:
        return [hit.id for hit in self._memory.search(query, limit=k)]
