"""Vectors beside passages: both engines find the same nearest pieces, and vectors go where their passages go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conftest import Opener
from recollect import Memory
from recollect.core.records import Passage
from recollect.store import passages, vectors
from recollect.store.vectors import Embedded, rounded

MODEL = "made-up"
SIZE = 100  # no multiple of 64: signs are packed into whole words


def unit(*seed: int, size: int = SIZE) -> Any:
    made = np.random.default_rng(seed).standard_normal(size).astype(np.float32)
    return made / np.linalg.norm(made)


def put(memory: Memory, id: str, *numbers: int, kind: str = "note", model: str = MODEL) -> int:
    """A passage with a made-up vector for each of its pieces; gives its number."""
    ctx = memory.context
    passage = Passage(id=id, kind=kind, title="", lines=(id,), at=0, trust="agent")
    with ctx.db.write(ctx.space) as tx:
        passages.put(tx, passage)
        doc, digest = tx.row("SELECT doc, hash FROM passages WHERE space = :space AND id = :id", id=id) or (0, "")
        pieces = [(piece, unit(number)) for piece, number in enumerate(numbers)]
        vectors.put(tx, model, [Embedded(doc=doc, kind=kind, hash=digest, pieces=pieces)], at=1)
    return int(doc)


def nearest(memory: Memory, number: int, *, limit: int = 3, model: str = MODEL, **more: Any) -> list[tuple[int, int]]:
    with memory.context.db.read(memory.context.space) as tx:
        found = vectors.nearest(tx, model, unit(number), limit=limit, **more)
    assert [cosine for _, _, cosine in found] == sorted((cosine for _, _, cosine in found), reverse=True)
    return [(doc, piece) for doc, piece, _ in found]


def test_the_nearest_piece_comes_first_with_its_cosine(memory: Memory) -> None:
    docs = [put(memory, f"note/{n}", 10 * n, 10 * n + 1) for n in range(40)]
    assert nearest(memory, 171)[0] == (docs[17], 1)
    with memory.context.db.read(memory.context.space) as tx:
        ((_, _, same), (_, _, other), *_) = vectors.nearest(tx, MODEL, unit(171), limit=2)
    assert same == pytest.approx(1, abs=2e-3)
    true = sorted((float(unit(171) @ unit(10 * n + p)) for n in range(40) for p in (0, 1)), reverse=True)
    assert other == pytest.approx(true[1], abs=2e-3)


def test_both_engines_give_the_same_cosines_in_the_same_order(memory: Memory) -> None:
    docs = {put(memory, f"note/{n}", n): n for n in range(60)}
    with memory.context.db.read(memory.context.space) as tx:
        found = [(docs[doc], cosine) for doc, _, cosine in vectors.nearest(tx, MODEL, unit(7, 7), limit=60)]
    steps, numbers = zip(*(rounded(unit(n)) for n in range(60)), strict=True)
    cosines = (np.array(steps)[:, None] * np.array(numbers)).astype(np.float16) @ unit(7, 7).astype(np.float16).astype(
        float
    )
    assert [n for n, _ in found] == np.argsort(-cosines).tolist()
    assert [cosine for _, cosine in found] == pytest.approx(sorted(cosines, reverse=True), abs=1e-5)


def test_a_kind_of_passage_is_searched_alone(memory: Memory) -> None:
    put(memory, "note/1", 1)
    wanted = put(memory, "learn/1", 2, kind="learning")
    assert nearest(memory, 1, kinds=("learning",)) == [(wanted, 0)]
    assert len(nearest(memory, 1, kinds=("learning", "note"))) == 2
    assert nearest(memory, 1, kinds=("theme",)) == []


def test_given_passages_are_compared_piece_by_piece(memory: Memory) -> None:
    one, two = put(memory, "note/1", 1, 2, 3), put(memory, "note/2", 4)
    with memory.context.db.read(memory.context.space) as tx:
        found = vectors.cosines(tx, MODEL, unit(3), [two, one, 999_999])
    assert set(found) == {one, two}
    assert set(found[one]) == {0, 1, 2}
    assert found[one][2] == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("size", [100, 384, 3072])
def test_eight_bits_keep_a_cosine_and_fit_a_half_float(size: int) -> None:
    for n in range(50):
        vector, other = unit(n, size=size), unit(n, 1, size=size)
        step, numbers = rounded(vector)
        kept = step * np.array(numbers)
        assert max(map(abs, numbers)) <= 127
        assert (kept.astype(np.float16) == kept).all()
        assert kept @ other == pytest.approx(vector @ other, abs=3e-3)


def test_a_space_without_vectors_of_the_model_says_so(memory: Memory) -> None:
    with memory.context.db.read(memory.context.space) as tx:
        assert not vectors.known(tx, MODEL)
        assert vectors.nearest(tx, MODEL, unit(1), limit=5) == []
        assert vectors.cosines(tx, MODEL, unit(1), [1]) == {}
    put(memory, "note/1", 1)
    with memory.context.db.read(memory.context.space) as tx:
        assert vectors.known(tx, MODEL)
        assert not vectors.known(tx, "another")


def test_models_do_not_meet(memory: Memory) -> None:
    doc = put(memory, "note/1", 1)
    put(memory, "note/2", 2, model="another")
    assert nearest(memory, 2) == [(doc, 0)]


def test_spaces_do_not_meet(memory: Memory, open_memory: Opener, environ: dict[str, str]) -> None:
    put(memory, "note/1", 1)
    other = open_memory(environ={**environ, "RECOLLECT_SPACE": f"{memory.context.space}-2"})
    assert nearest(other, 1) == []
    theirs = put(other, "note/1", 1)
    assert nearest(other, 1) == [(theirs, 0)]
    assert len(nearest(memory, 1)) == 1


def test_a_deleted_vector_does_not_lead_to_one_of_another_space_or_kind(
    memory: Memory, open_memory: Opener, environ: dict[str, str]
) -> None:
    other = open_memory(environ={**environ, "RECOLLECT_SPACE": f"{memory.context.space}-2"})
    kept = put(memory, "note/1", 1)
    for number, (place, kind) in enumerate([(other, "note"), (memory, "theme")], start=2):
        put(memory, f"note/{number}", number)
        with memory.context.db.write(memory.context.space) as tx:
            passages.remove(tx, f"note/{number}")
        put(place, f"{kind}/{number}", number, kind=kind)
    assert nearest(memory, 2, kinds=("note",)) == [(kept, 0)]


def test_a_passage_that_goes_takes_its_vectors_along(memory: Memory) -> None:
    put(memory, "note/1", 1)
    kept = put(memory, "note/2", 2)
    with memory.context.db.write(memory.context.space) as tx:
        passages.remove(tx, "note/1")
    assert nearest(memory, 1) == [(kept, 0)]
    with memory.context.db.read(memory.context.space) as tx:
        assert vectors.counts(tx, MODEL) == (1, 0)


def test_vectors_of_a_passage_that_changed_meanwhile_are_not_kept(memory: Memory) -> None:
    doc = put(memory, "note/1", 1)
    ctx = memory.context
    with ctx.db.write(ctx.space) as tx:
        stale = Embedded(doc=doc, kind="note", hash="of an earlier state", pieces=[(0, unit(2))])
        gone = Embedded(doc=doc + 1000, kind="note", hash="x", pieces=[(0, unit(2))])
        assert vectors.put(tx, MODEL, [stale, gone], at=1) == 0
        assert vectors.cosines(tx, MODEL, unit(1), [doc])[doc][0] > 0.99


def test_waiting_are_the_passages_after_the_last_one_embedded(memory: Memory) -> None:
    put(memory, "note/1", 1)
    ctx = memory.context
    with ctx.db.write(ctx.space) as tx:
        for n in (2, 3, 4):
            passages.put(tx, Passage(id=f"note/{n}", kind="note", title="", lines=(f"text {n}",), at=0, trust="agent"))
        assert [one.text for one in vectors.waiting(tx, MODEL, limit=2)] == ["text 2", "text 3"]
        assert len(vectors.waiting(tx, "another", limit=9)) == 4
    with ctx.db.read(ctx.space) as tx:
        assert vectors.counts(tx, MODEL) == (1, 3)
        assert vectors.counts(tx, "another") == (0, 4)


def test_the_number_of_a_deleted_passage_may_be_used_again(memory: Memory) -> None:
    put(memory, "note/1", 1)
    put(memory, "note/2", 2)
    with memory.context.db.write(memory.context.space) as tx:
        passages.remove(tx, "note/2")
    with memory.context.db.write(memory.context.space) as tx:
        passages.put(tx, Passage(id="note/3", kind="note", title="", lines=("new",), at=0, trust="agent"))
        assert [one.text for one in vectors.waiting(tx, MODEL, limit=2)] == ["new"]
        assert vectors.cosines(tx, MODEL, unit(1), [vectors.waiting(tx, MODEL, limit=1)[0].doc]) == {}
