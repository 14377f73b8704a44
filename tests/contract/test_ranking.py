"""Both engines rank alike: the engine says who holds a word, everything after that is the same code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import PERSON
from recollect import Memory, NewLearning, ScriptedClock
from samples import counted_ids

CORPUS = Path(__file__).parents[2] / "benchmarks" / "data" / "discoveries.jsonl"
TOP = 10


@pytest.fixture(scope="module")
def corpus() -> list[str]:
    """Sixty hand-written discoveries, each in five variants, so that every query has more matches than are shown."""
    texts = [json.loads(line)["content"] for line in CORPUS.read_text("utf-8").splitlines()]
    words = " ".join(texts).split()
    return [" ".join([text, *words[i * 7 % len(words) :][: 5 * n]]) for n in range(5) for i, text in enumerate(texts)]


@pytest.fixture(scope="module")
def memories(
    tmp_path_factory: pytest.TempPathFactory, postgres_url: str, corpus: list[str]
) -> Iterator[tuple[Memory, Memory]]:
    opened = []
    for more in ({}, {"RECOLLECT_STORE": postgres_url}):
        folder = tmp_path_factory.mktemp("ranked")
        memory = Memory.open(
            folder,
            create=True,
            actor=PERSON,
            clock=ScriptedClock("2026-03-02T09:00:00Z"),
            ids=counted_ids(),
            environ={"HOME": str(folder), **more},
        )
        for text in corpus:
            fields = {"title": text[:80], "context": text[:200], "observation": text, "action": text[-200:]}
            memory.learn(NewLearning(**fields, implication="So it is"), anyway=True)
        opened.append(memory)
    yield opened[0], opened[1]
    for memory in opened:
        memory.close()


def test_the_top_ten_on_words_alone_are_equal_on_both_engines(
    memories: tuple[Memory, Memory], corpus: list[str]
) -> None:
    full = 0
    for text in corpus[:60]:
        for query in (text, " ".join(text.split()[:3]), text.split()[-1]):
            embedded, server = ([(hit.learning.id, hit.score) for hit in m.search(query, limit=TOP)] for m in memories)
            assert embedded == server
            full += len(embedded) == TOP
    assert full >= 60  # most queries filled the page, so the order was really tested


@pytest.mark.parametrize(
    "query",
    [
        'zzz"OR(title:alpha*)OR"zzz',
        "'; DROP TABLE passages; --",
        "\\",
        "%s %(x)s :name",
        "C# Go .NET c++",
        "日本語の検索",
        "\0",
    ],
)
def test_nothing_in_a_query_is_syntax(memories: tuple[Memory, Memory], query: str) -> None:
    embedded, server = ([hit.learning.id for hit in memory.search(query)] for memory in memories)
    assert embedded == server


def test_a_text_with_more_words_than_one_index_entry_holds_is_found_by_each(memories: tuple[Memory, Memory]) -> None:
    words = [f"{'x' * 50}{number}" for number in range(20_000)]
    for memory in memories:
        with memory.context.db.write(memory.context.space) as tx:
            tx.index(10**9, words[:10_000], words[10_000:])
            asked = [words[n] for n in (0, 9_999, 19_999)]
            assert [[*one, *other] for one, other in tx.match(asked)] == [[10**9]] * 3
            tx.unindex(10**9)
            assert not any(one or other for one, other in tx.match(asked))
