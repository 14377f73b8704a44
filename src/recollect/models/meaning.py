"""How alike texts are in meaning: embeddings, each made once and kept with the models' answers.

A vector is kept under the model's name and the text's hash, so that another model never meets its vectors. Knows
nothing about what the likeness is for.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from recollect.core.context import Context, Embedder
from recollect.core.errors import NoAnswer
from recollect.models.spending import EMBEDDING, embed
from recollect.store import answers
from recollect.store.answers import AnswerKey
from recollect.store.files import content_hash

Embed = Callable[[Sequence[str]], list[Any]]
Alike = Callable[[str, Sequence[str]], list[float]]


def alike(ctx: Context) -> Alike | None:
    """A function that gives the cosine of a text with each of others; None when there is no embedder."""
    embedder = ctx.models.embedder()
    if embedder is None:
        return None

    def cosines(text: str, others: Sequence[str]) -> list[float]:
        try:
            one, *rest = vectors(ctx, embedder, [text, *others])
        except NoAnswer:  # an endpoint that fails makes nothing alike: unsure means keep
            return [0.0] * len(others)
        return [float(one @ other) for other in rest]

    return cosines


def for_distilling(ctx: Context) -> tuple[str, Embed] | None:
    """The embedder's name and what embeds with it, where the settings want it for themes and summaries."""
    embedder = ctx.models.embedder() if ctx.settings.embed.distil == "on" else None
    return (embedder.name, partial(vectors, ctx, embedder)) if embedder else None


def vectors(ctx: Context, embedder: Embedder, texts: Sequence[str]) -> list[Any]:
    """The texts' vectors, in order; what is not known yet is embedded in one batch and kept."""
    import numpy as np

    hashes = [content_hash(text) for text in texts]
    known: dict[str, Any] = {}
    with ctx.db.read(ctx.space) as tx:
        for digest in set(hashes):
            kept = answers.get(tx, _key(embedder, digest))
            if kept is not None:
                known[digest] = np.frombuffer(base64.b64decode(kept.answer), dtype=np.float32)
    new = {digest: text for digest, text in zip(hashes, texts, strict=True) if digest not in known}
    if new:
        made = embed(ctx, embedder, list(new.values()))
        known.update(zip(new, made, strict=True))
        with ctx.db.write(ctx.space) as tx:
            for digest, vector in zip(new, made, strict=True):
                answers.put(
                    tx,
                    _key(embedder, digest),
                    generator=embedder.name,
                    answer=base64.b64encode(vector.tobytes()).decode("ascii"),
                    at=ctx.clock.now(),
                )
    return [known[digest] for digest in hashes]


def _key(embedder: Embedder, digest: str) -> AnswerKey:
    return AnswerKey(kind=EMBEDDING, version=embedder.name, source_hash=digest)
