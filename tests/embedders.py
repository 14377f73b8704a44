"""An embedder without a model: texts that share words are near."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

SIZE = 256


class WordEmbedder:
    """Each word is a fixed random direction. Remembers what it was asked; `on_embed` is called before each batch."""

    def __init__(self, name: str = "words", *, loaded: bool = False) -> None:
        self.name = name
        self.loaded = loaded
        self.asked: list[str] = []

    def on_embed(self) -> None:
        """Nothing, unless a test puts something here."""

    def embed(self, texts: Sequence[str]) -> list[Any]:
        self.on_embed()
        self.asked += texts
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> Any:
        words = [word.strip(".,:;").lower() for word in text.split()] or [""]
        total = sum(
            np.random.default_rng(zlib.crc32(f"{self.name} {word}".encode())).standard_normal(SIZE) for word in words
        )
        return (total / np.linalg.norm(total)).astype(np.float32)
