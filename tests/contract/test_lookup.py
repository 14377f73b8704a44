"""Candidates of a store that holds more than enough of them: asked quickly, and the same as when all is read."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from recollect import Memory
from recollect.core.context import Tx
from recollect.core.records import Passage
from recollect.store import passages
from recollect.store.lookup import ENOUGH, GRADES, RARITY_POWER, Query, candidates, understand

SHARES = {"quartz": 0.02, "basalt": 0.85, "gneiss": 0.9, "schist": 0.95}  # of all passages; the second is enough
FILLER = " ".join(f"pebble{n % 30}" for n in range(60))  # what a long text says once it only mentions


@pytest.fixture
def tx(memory: Memory) -> Iterator[Tx]:
    chance = random.Random(3)
    made = [
        Passage(
            id=f"p/{n}",
            kind="note",
            title="",
            lines=(" ".join(word for word, share in SHARES.items() if chance.random() < share), FILLER * (n % 2)),
            at=0,
            trust="agent",
        )
        for n in range(round(ENOUGH / 0.8))
    ]
    with memory.context.db.write(memory.context.space) as tx:
        passages.add_all(tx, made)
    with memory.context.db.read(memory.context.space) as tx:
        yield tx


def summed(tx: Tx, query: Query, among: frozenset[int] | None = None) -> list[int]:
    """What `candidates` promises, from the whole index."""
    sums: dict[int, float] = {}
    for term, weight in query.weights.items():
        for docs, share in zip(*tx.match([term]), GRADES, strict=True):
            wanted = [doc for doc in docs if among is None or doc in among]
            for doc in wanted if len(sums) < ENOUGH else sums.keys() & wanted:
                sums[doc] = sums.get(doc, 0.0) + share * weight**RARITY_POWER
    return sorted(sums, key=lambda doc: (-sums[doc], doc))


@pytest.mark.parametrize("words", ["basalt gneiss schist", "quartz basalt gneiss schist", "quartz schist", "quartz"])
def test_common_words_order_what_the_rare_ones_brought(tx: Tx, words: str) -> None:
    query = understand(tx, words.split())
    for most in (50, 300, 2_000, 10_000):  # from what was looked up before, too
        assert candidates(tx, query, most=most) == summed(tx, query)[:most]


def test_the_few_that_are_wanted_are_found_by_any_word(tx: Tx) -> None:
    query = understand(tx, ["basalt", "gneiss", "schist"])
    everything = candidates(tx, query, most=10_000)
    few = frozenset(everything[::7]) | {doc for docs in tx.match(["schist"])[0] for doc in docs[::11]}
    assert candidates(tx, query, most=10_000, among=few) == summed(tx, query, few)


def test_looking_within_some_words_leaves_out_nobody_who_holds_one(tx: Tx) -> None:
    for term in ("gneiss", "quartz", "unsaid"):
        whole = [set(docs) for docs in tx.match([term])[0]]
        inside = [set(docs) for docs in tx.match([term], within=["basalt", "unsaid"])[0]]
        within = {doc for docs in tx.match(["basalt"])[0] for doc in docs}
        for all_docs, some in zip(whole, inside, strict=True):
            assert all_docs & within <= some <= all_docs


def test_common_words_are_not_read_beyond_what_may_be_read(tx: Tx) -> None:
    query = understand(tx, SHARES)
    assert candidates(tx, query, most=5, postings=10)
    assert {term for held in query.held.values() for term in held} == {"quartz"}, "the rarest always comes through"
