"""The dump: everything that is not made from something else, in an order that can be loaded, and nothing twice."""

from __future__ import annotations

import re
from typing import Any

import pytest

from recollect import Memory
from recollect.core.learning import Discovery
from recollect.store import bulk, tasks
from recollect.store.schema import MIGRATIONS as STEPS
from recollect.store.schema import TABLES, Table, statements
from samples import FLAKY, MIGRATIONS, WEBHOOKS, learning


@pytest.fixture
def lived_in(memory: Memory) -> Memory:
    """A memory with a row in most tables, a chain of three learnings that replace each other among them."""
    first = memory.learn(learning(WEBHOOKS, source_task_id="task-0", source_outcome_id="billing")).learning
    second = memory.learn(learning(MIGRATIONS)).learning
    third = memory.learn(learning(FLAKY)).learning
    memory.learnings.supersede(second.id, first.id)
    memory.learnings.supersede(third.id, second.id)
    found = Discovery(id="disc_1", type="blocker", content="npm hangs", task_id="task-0", outcome_id=None, created_at=1)
    with memory.context.db.write(memory.context.space) as tx:
        tasks.add_discovery(tx, found, digest="d")
    memory.inject(task="task-2", outcome="shop", title="Handle Stripe webhooks out of order")
    memory.rate(first.id, "helpful")
    return memory


Rows = list[tuple[Table, list[dict[str, Any]]]]


def _rows(memory: Memory) -> Rows:
    with memory.context.db.read(memory.context.space) as tx:
        return [(table, list(bulk.rows(tx, table))) for table in bulk.DUMPED]


def _load(memory: Memory, space: str, given: Rows) -> None:
    with memory.context.db.write(space) as tx:
        for table, rows in given:
            bulk.load(tx, table, rows)


def _sums(memory: Memory, space: str) -> dict[str, tuple[int, str]]:
    with memory.context.db.read(space) as tx:
        return {table.name: bulk.sums(tx, table) for table in bulk.DUMPED}


def test_a_dump_loads_into_an_equal_space(lived_in: Memory) -> None:
    other = lived_in.context.space + "-copy"
    _load(lived_in, other, _rows(lived_in))
    before = _sums(lived_in, lived_in.context.space)
    assert _sums(lived_in, other) == before
    assert before["learnings"][0] == 3
    assert all(
        before[name][0] for name in ("tasks", "learning_tags", "discoveries", "injections", "events", "passages")
    )


def test_what_is_loaded_is_found_by_its_words(lived_in: Memory) -> None:
    other = lived_in.context.space + "-copy"
    _load(lived_in, other, _rows(lived_in))
    with lived_in.context.db.read(lived_in.context.space) as tx:
        found = [len(docs) for docs in tx.match(["webhook"])[0]]
    with lived_in.context.db.read(other) as tx:
        assert [len(docs) for docs in tx.match(["webhook"])[0]] == found == [1, 0]


def test_loading_rows_twice_leaves_them_once(lived_in: Memory) -> None:
    other = lived_in.context.space + "-copy"
    _load(lived_in, other, _rows(lived_in))
    _load(lived_in, other, [(table, rows) for table, rows in _rows(lived_in) if table.key])
    assert _sums(lived_in, other) == _sums(lived_in, lived_in.context.space)


def test_a_space_can_be_emptied_again(lived_in: Memory) -> None:
    other = lived_in.context.space + "-copy"
    _load(lived_in, other, _rows(lived_in))
    with lived_in.context.db.write(other) as tx:
        bulk.empty(tx)
    assert set(_sums(lived_in, other).values()) == {(0, "")}
    assert _sums(lived_in, lived_in.context.space)["learnings"][0] == 3


def test_every_table_is_dumped_or_said_to_be_left_out(memory: Memory) -> None:
    listed = {table.name for table in TABLES}
    schema = "\n".join(text for step in STEPS for text in statements(step, {}))
    there = set(re.findall(r"CREATE TABLE (\w+)", schema)) - set(re.findall(r"DROP TABLE (\w+)", schema))
    assert there <= listed
    with memory.context.db.read(memory.context.space) as tx:
        for table in bulk.DUMPED:
            assert {*table.key, *table.order, *table.made, "space"} <= set(tx.columns(table.name)) | {""}
