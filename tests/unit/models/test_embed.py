"""The sentence model: pinned files, unit vectors, paraphrases near and strangers far."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recollect.core.errors import BadInput, Trouble
from recollect.core.settings import EmbedSettings, ModelSettings
from recollect.models.configured import ConfiguredModels
from recollect.models.embed import ModelFiles, SentenceModel, default_files, files_in


@pytest.fixture(scope="module")
def files() -> ModelFiles:
    found = default_files()
    assert found is not None, "the tests need the extra `embeddings`"
    return found


@pytest.fixture(scope="module")
def model(files: ModelFiles) -> SentenceModel:
    return SentenceModel(files)


def test_a_paraphrase_is_nearer_than_a_stranger(model: SentenceModel) -> None:
    rule, same, other = model.embed(
        ["Raw logs must never be deleted", "Don't delete raw logs", "The team meets on Tuesdays"]
    )
    assert rule @ same > 0.8
    assert rule @ other < 0.3


def test_the_runtime_leaves_nothing_in_the_users_home_to_report(tmp_path: Path) -> None:
    code = "from recollect.models.embed import *; SentenceModel(default_files()).embed(['a'])"
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], env=environ, check=True, timeout=60)
    assert list(tmp_path.iterdir()) == []


def test_vectors_have_length_one_whatever_the_text(model: SentenceModel) -> None:
    for vector in model.embed(["", " ", "a", "word " * 5000, "\ud800 lone", "日本語のテキスト"]):
        assert vector.dtype == np.float32
        assert vector.shape == (384,)
        assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)


def test_a_text_has_the_same_vector_alone_and_in_any_batch(model: SentenceModel) -> None:
    texts = [f"Rule number {number} " + "about caching " * (number % 9) for number in range(70)]
    together = model.embed(texts)
    for at in (0, 33, 69):
        assert together[at] @ model.embed([texts[at]])[0] == pytest.approx(1.0, abs=1e-3)


def test_no_text_gives_no_vector(model: SentenceModel) -> None:
    assert model.embed([]) == []


def test_a_file_that_is_not_the_pinned_one_is_refused(files: ModelFiles, tmp_path: Path) -> None:
    damaged = tmp_path / "tokenizer.json"
    damaged.write_bytes(files.tokenizer.read_bytes() + b" ")
    with pytest.raises(Trouble, match="not the file this version was built for"):
        SentenceModel(replace(files, tokenizer=damaged)).embed(["x"])


def test_another_model_can_be_named_by_its_folder(files: ModelFiles, tmp_path: Path) -> None:
    shutil.copy(files.weights, tmp_path / "model.onnx")
    with pytest.raises(BadInput, match=r"tokenizer\.json"):
        files_in(tmp_path)
    shutil.copy(files.tokenizer, tmp_path / "tokenizer.json")
    other = ConfiguredModels(ModelSettings(), EmbedSettings(model=str(tmp_path)), {}).embedder()
    assert other is not None
    assert other.name == f"{tmp_path.name}@8199be6f699a"
    assert len(other.embed(["Use the cache"])[0]) == 384


def test_the_embedder_can_be_switched_off() -> None:
    assert ConfiguredModels(ModelSettings(), EmbedSettings(use="off"), {}).embedder() is None
    with_it = ConfiguredModels(ModelSettings(), EmbedSettings(), {}).embedder()
    assert with_it is not None
    assert with_it.name == "all-MiniLM-L6-v2-int8"
