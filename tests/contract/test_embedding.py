"""Vectors are made in the cycle, kept with their passages, and made again when a passage or the model changes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from conftest import Opener
from embedders import WordEmbedder
from recollect import LearningEdit, Memory, NewLearning, ScriptedClock
from recollect.core.errors import Refused, Trouble
from recollect.core.finding import NewFinding
from recollect.core.journal import NewEntry
from recollect.core.settings import EmbedSettings, ModelSettings
from recollect.models.configured import ConfiguredModels
from recollect.models.embed import default_files
from recollect.models.scripted import ScriptedModels
from recollect.search import meaning as refreshing
from recollect.search.meaning import refresh
from recollect.store import db, vectors

QUEUE = "The queue retries a refund twice."
CACHE = "The cache holds invoices for one hour."


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def memory(open_memory: Opener, embedder: WordEmbedder) -> Memory:
    return open_memory(models=ScriptedModels({}, embedder=embedder))


def noted(memory: Memory, text: str) -> None:
    memory.journal.add(NewEntry(text=text, topic="billing"))


def step(memory: Memory, name: str = "vectors") -> str:
    return dict(memory.cycle().steps)[name]


def found(memory: Memory, text: str, embedder: WordEmbedder, *, kinds: tuple[str, ...] = ()) -> str:
    """The id of the passage whose piece is nearest to a text."""
    with memory.context.db.read(memory.context.space) as tx:
        ((doc, _, _), *_) = vectors.nearest(tx, embedder.name, embedder.vector(text), limit=1, kinds=kinds)
        return str(tx.value("SELECT id FROM passages WHERE space = :space AND doc = :doc", doc=doc))


def test_the_cycle_makes_the_vectors_that_wait(memory: Memory, embedder: WordEmbedder) -> None:
    noted(memory, QUEUE)
    noted(memory, CACHE)
    assert memory.status().vectors == {"passages": 0, "waiting": 2}
    assert step(memory).startswith("made for ")
    assert memory.status().vectors["waiting"] == 0
    assert step(memory) == "nothing due"
    assert found(memory, "the cache holds invoices", embedder, kinds=("log",)).endswith("#2")


def test_a_cycle_has_a_bound_and_the_next_one_goes_on(open_memory: Opener, environ: dict[str, str]) -> None:
    embedder = WordEmbedder()
    environ["RECOLLECT_EMBED_PER_CYCLE"] = "2"
    memory = open_memory(models=ScriptedModels({}, embedder=embedder))
    for n in range(3):
        memory.learn(learning(n))
    assert step(memory) == "made for 2 passages; 1 wait (recollect model embed makes them now)"
    assert step(memory) == "made for 1 passage"
    assert len(embedder.asked) == len(set(embedder.asked))


def learning(n: int) -> NewLearning:
    words = ("alpha", "beta", "gamma", "delta")[n]
    return NewLearning(
        title=f"{words.title()} service rule",
        context=f"Working on the {words} service of the shop",
        observation=f"The {words} service forgets its {words} tokens",
        implication=f"Every {words} call may fail once",
        action=f"Refresh the {words} token before each call",
    )


def test_a_changed_passage_gets_new_vectors_and_an_unchanged_one_keeps_its_own(
    memory: Memory, embedder: WordEmbedder
) -> None:
    ids = [memory.learn(learning(n)).learning.id for n in range(2)]
    refresh(memory.context)
    embedder.asked.clear()
    memory.learnings.edit(ids[0], LearningEdit(action="Rotate the key on Sundays"))
    assert memory.status().vectors == {"passages": 1, "waiting": 1}
    refresh(memory.context)
    assert any("Sundays" in text for text in embedder.asked)
    assert not any("Beta" in text for text in embedder.asked)
    assert found(memory, "Rotate the key on Sundays", embedder) == ids[0]


def test_rebuild_keeps_the_vectors_of_what_did_not_change(memory: Memory, embedder: WordEmbedder) -> None:
    noted(memory, QUEUE)
    memory.learn(learning(0))
    memory.cycle()
    before = memory.status().vectors
    embedder.asked.clear()
    memory.data.rebuild()
    assert memory.status().vectors == before
    refresh(memory.context)
    assert embedder.asked == []
    assert memory.data.verify() == ()


def test_another_model_embeds_anew_and_the_old_vectors_stay_for_whoever_uses_them(
    open_memory: Opener, clock: ScriptedClock
) -> None:
    old, new = WordEmbedder("old"), WordEmbedder("new")
    first = open_memory(models=ScriptedModels({}, embedder=old))
    second = open_memory(models=ScriptedModels({}, embedder=new))
    kept = first.learn(learning(0)).learning.id
    refresh(first.context)
    assert second.status().vectors == {"passages": 0, "waiting": 1}
    refresh(second.context)
    assert found(first, "alpha token", old) == found(second, "alpha token", new) == kept
    clock.advance(days=31)
    refresh(second.context)
    with second.context.db.read(second.context.space) as tx:
        assert not vectors.known(tx, "old")
        assert vectors.known(tx, "new")
        assert (
            tx.value(
                "SELECT count(*) FROM vectors JOIN passages USING (doc) WHERE passages.space = :space AND piece = 0"
            )
            == 1
        )


def test_embed_moves_a_space_to_the_model_that_is_configured(open_memory: Opener, tmp_path: Path) -> None:
    pinned = default_files()
    assert pinned is not None, "the tests need the extra `embeddings`"
    (folder := tmp_path / "another").mkdir()
    shutil.copy(pinned.weights, folder / "model.onnx")
    shutil.copy(pinned.tokenizer, folder / "tokenizer.json")
    before, after = (
        open_memory(models=ConfiguredModels(ModelSettings(), embed, {}))
        for embed in (EmbedSettings(), EmbedSettings(model=str(folder)))
    )
    kept = before.learn(learning(0)).learning.id
    before.data.embed()
    with pytest.raises(Refused, match=r"are of all-MiniLM-L6-v2-int8, not of another@.*recollect model embed"):
        after.search("alpha token", strategy="semantic")
    assert [hit.id for hit in after.search("alpha token")] == [kept], "by words until then"
    assert after.data.embed().made == 1
    assert [hit.id for hit in after.search("alpha token", strategy="semantic")] == [kept]
    with after.context.db.read(after.context.space) as tx:
        assert {one.model.partition("@")[0] for one in vectors.models(tx)} == {"all-MiniLM-L6-v2-int8", "another"}


def test_while_one_process_embeds_another_does_nothing(memory: Memory) -> None:
    memory.learn(learning(0))
    lease = db.take_lease(memory.context, "vectors", seconds=60)
    assert lease is not None
    assert refresh(memory.context).why_not == "another process is at it"
    db.release_lease(memory.context, lease)
    assert refresh(memory.context).made == 1


def test_no_transaction_is_open_while_the_model_works(memory: Memory, embedder: WordEmbedder) -> None:
    memory.learn(learning(0))
    embedder.on_embed = lambda: noted(memory, QUEUE)  # type: ignore[method-assign]  # would nest, and be refused
    assert refresh(memory.context, most=1).made == 1
    assert memory.status().vectors["waiting"] >= 1


def test_what_changed_while_the_model_worked_is_embedded_as_it_is_now(memory: Memory, embedder: WordEmbedder) -> None:
    id = memory.learn(learning(0)).learning.id
    edits = iter(["Rotate the key on Sundays"])

    def edit() -> None:
        for action in edits:
            memory.learnings.edit(id, LearningEdit(action=action))

    embedder.on_embed = edit  # type: ignore[method-assign]
    refresh(memory.context)
    assert memory.status().vectors == {"passages": 1, "waiting": 0}
    assert found(memory, "Rotate the key on Sundays", embedder) == id
    assert memory.data.verify() == ()


def test_whoever_was_overtaken_writes_nothing(memory: Memory, embedder: WordEmbedder, clock: ScriptedClock) -> None:
    memory.learn(learning(0))

    def overtake() -> None:
        embedder.on_embed = lambda: None  # type: ignore[method-assign]
        clock.advance(hours=1)
        assert refresh(memory.context).made == 1
        with memory.context.db.write(memory.context.space) as tx:
            tx.run("UPDATE vectors SET piece = 77 WHERE piece = 0 AND :space <> ''")

    embedder.on_embed = overtake  # type: ignore[method-assign]
    assert refresh(memory.context).note == "another process went on with it"
    with memory.context.db.read(memory.context.space) as tx:
        assert tx.value("SELECT max(piece) FROM vectors WHERE :space <> ''") == 77


def test_a_capture_is_embedded_at_once_when_the_model_is_loaded(open_memory: Opener) -> None:
    embedder = WordEmbedder(loaded=True)
    memory = open_memory(models=ScriptedModels({}, embedder=embedder))
    id = memory.learn(learning(0)).learning.id
    assert memory.status().vectors == {"passages": 1, "waiting": 0}
    assert found(memory, "alpha token", embedder) == id
    noted(memory, QUEUE)
    memory.observe("DISCOVERY[blocker]: The beta service drops its tokens at midnight.", task="t-1")
    assert memory.status().vectors == {"passages": 3, "waiting": 0}


def test_a_capture_loads_no_model(memory: Memory, embedder: WordEmbedder) -> None:
    memory.learn(learning(0))
    noted(memory, QUEUE)
    asked_for_vectors = [text for text in embedder.asked if ": " in text]
    assert asked_for_vectors == []
    assert memory.status().vectors == {"passages": 0, "waiting": 2}


def test_a_capture_does_not_wait_for_a_backlog(open_memory: Opener) -> None:
    embedder = WordEmbedder()
    memory = open_memory(models=ScriptedModels({}, embedder=embedder))
    for n in range(refreshing.AT_ONCE + 1):
        noted(memory, f"{QUEUE} Number {n}.")
    embedder.loaded = True
    noted(memory, CACHE)
    assert memory.status().vectors["passages"] == 0


def test_a_capture_is_saved_though_its_vectors_fail(open_memory: Opener) -> None:
    embedder = WordEmbedder(loaded=True)

    def fail() -> None:
        raise Trouble("the model's file is gone")

    embedder.on_embed = fail  # type: ignore[method-assign]
    memory = open_memory(models=ScriptedModels({}, embedder=embedder))
    noted(memory, QUEUE)
    assert memory.status().vectors == {"passages": 0, "waiting": 1}
    assert step(memory) == "not made: the model's file is gone"


def test_without_an_embedder_the_cycle_and_status_say_so(open_memory: Opener) -> None:
    memory = open_memory(models=ScriptedModels({}))
    noted(memory, QUEUE)
    assert step(memory) == "none: everything works on words alone"
    assert memory.data.embed().why_not
    assert memory.status().vectors == {"passages": 0, "waiting": 0}


def test_a_gap_is_reported_and_rebuild_closes_it(memory: Memory) -> None:
    for n in range(3):
        memory.learn(learning(n))
    refresh(memory.context)
    with memory.context.db.write(memory.context.space) as tx:
        tx.run("DELETE FROM vectors WHERE doc = (SELECT min(doc) FROM passages WHERE space = :space)")
    (gap,) = memory.data.verify()
    assert (gap.level, gap.what) == ("difference", "vector")
    assert memory.data.rebuild().vectors_dropped == 2
    assert refresh(memory.context).made == 3
    assert memory.data.verify() == ()


def summarised(memory: Memory) -> str:
    """A day so long that its node is a summary."""
    for n in range(60):
        text = "\n".join(f"- Decided to keep rule {n}.{line} for the billing queue of shard {n}" for line in range(5))
        memory.journal.add(NewEntry(text=text, topic=f"topic {n % 7}"))
    memory.journal.compact()
    return memory.journal.node("daily/2026-03-02")


def test_summaries_and_themes_compare_by_words(memory: Memory, embedder: WordEmbedder) -> None:
    assert "generator: offline/1\n" in summarised(memory)
    gathered(memory)
    assert embedder.asked == []


def gathered(memory: Memory) -> None:
    for n in range(5):
        found = NewFinding(category="bug", source="review", description=f"The cache key {n} misses the lockfile hash")
        memory.themes.add(f"unit-{n}", found)
    assert memory.themes.run(always=True).ran
