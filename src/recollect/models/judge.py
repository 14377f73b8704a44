"""A small trained judge of pairs: the chances that two claims say the same, the opposite, or that one is newer.

MiniLM-L6 as a cross-encoder with int8 weights, made by `training/judge.py`; the weights are pinned by their hash. It
runs where the embeddings extra is installed; elsewhere rules answer alone. A pair is asked in alphabetical order, so
that the answer does not depend on which text comes first; on `blind-7` and `blind-8` the mean of both orders was no
better. Knows nothing about what an answer is for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from heapq import nlargest
from pathlib import Path
from typing import Any, TypeVar

from recollect.core.context import Context
from recollect.models.embed import ModelFiles, SentenceModel, Similarity, default_files, load, similarity_to
from recollect.text.compare import FAR, Chances, Judge, shared_words

K = TypeVar("K")

COMPARED = 2  # texts by words, and as many by meaning: of the partners in `blind-8` 86 % are among them, 87 % with 3
LEAST_WORDS = 0.15  # Dice overlap and cosine below which two texts are about different things; chosen low
LEAST_COSINE = 0.4  # chosen low, as the overlap is
MANY_WORDS = 0.5  # overlap from which texts are compared whatever their cosine; chosen: there a rule may find a sign
GIST = 500  # characters whose meaning is compared
CACHED = 20_000  # pairs of one process; a consolidation asks for the same ones again
_WEIGHTS = Path(__file__).parent / "data" / "judge-int8.onnx"
_WEIGHTS_SHA256 = "beb0cb383df898059005c4d20fe1ae7da3234694a02ad7af126eacb836829a80"


def judge_of(ctx: Context, alike: Similarity | None = None) -> Judge | None:
    """What judges pairs; None where the local model is not installed or is switched off. `alike` keeps vectors."""
    embedder, files = ctx.models.embedder(), default_files()
    if not isinstance(embedder, SentenceModel) or files is None or judge_files() is None:
        return None
    return partial(judge_pairs, alike=alike if embedder.name == files.name else None, least=FAR)


@lru_cache(maxsize=1)
def judge_files() -> ModelFiles | None:
    """The judge beside the tokenizer that it shares with the embedder."""
    base = default_files()
    if base is None or not _WEIGHTS.exists():
        return None
    return ModelFiles(
        name="recollect-judge-2",
        weights=_WEIGHTS,
        tokenizer=base.tokenizer,
        weights_sha256=_WEIGHTS_SHA256,
        tokenizer_sha256=base.tokenizer_sha256,
    )


def nearest(
    ctx: Context, said: Sequence[str], known: Mapping[K, Sequence[str]], *, alike: Similarity | None = None
) -> dict[K, Sequence[str]]:
    """The known texts worth comparing with one: those that share the most words with it, and the nearest in meaning."""
    words = {
        key: max((shared_words(one, other) for one in said for other in claims), default=0.0)
        for key, claims in known.items()
    }
    chosen = [key for key in nlargest(COMPARED, words, key=lambda key: words[key]) if words[key] >= LEAST_WORDS]
    alike = alike or similarity_to(ctx)
    if alike and said:
        keys = [key for key, claims in known.items() if claims]
        cosines = dict(zip(keys, alike(" ".join(said), [" ".join(known[key])[:GIST] for key in keys]), strict=True))
        near = nlargest(COMPARED, cosines, key=lambda key: cosines[key])
        both = dict.fromkeys([*chosen, *near])
        chosen = [key for key in both if cosines[key] >= LEAST_COSINE or words[key] >= MANY_WORDS]
    return {key: known[key] for key in chosen}


def judge_pairs(
    pairs: Sequence[tuple[str, str]], *, alike: Similarity | None = None, least: float = -1.0
) -> list[Chances]:
    """The chances for each pair, in order; texts farther apart in meaning than `least` are not asked about."""
    found: list[Chances] = []
    for one, other in pairs:
        close = alike(one, [other])[0] if alike else float(_meaning(one) @ _meaning(other))
        found.append((*(_judged(*sorted((one, other))) if close >= least else (0.0, 0.0, 0.0, 1.0)), close))
    return found


@lru_cache(maxsize=CACHED)
def _judged(one: str, other: str) -> tuple[float, float, float, float]:
    import numpy as np

    files = judge_files()
    assert files is not None
    tokenizer, session = load(files)
    read = tokenizer.encode(one, other)
    given = {
        name: np.array([getattr(read, field)], dtype=np.int64)
        for name, field in (("input_ids", "ids"), ("attention_mask", "attention_mask"), ("token_type_ids", "type_ids"))
    }
    logits = session.run(None, given)[0][0]
    weights = np.exp(logits - logits.max())
    same, opposed, newer, near = (float(each) for each in weights / weights.sum())
    return same, opposed, newer, near


@lru_cache(maxsize=CACHED // 4)
def _meaning(text: str) -> Any:
    """By the model in the package, whichever embedder is configured: the bars of `text/compare` are for its cosines."""
    files = default_files()
    assert files is not None
    return SentenceModel(files).embed([text])[0]
