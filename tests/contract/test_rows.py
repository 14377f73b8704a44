"""What most tables are written and read with behaves alike on both engines."""

from __future__ import annotations

from recollect import Memory
from recollect.store import db
from recollect.store.db import PAGE, among

BY_ID = "SELECT id FROM outcomes WHERE space = :space AND id IN (:keys) AND name = :name"


def test_more_keys_than_one_statement_takes_are_all_asked_for(memory: Memory) -> None:
    ids = [f"o-{number}" for number in range(2 * PAGE + 1)]
    with memory.context.db.write(memory.context.space) as tx:
        for id in ids:
            db.add_row(tx, "outcomes", id=id, name="other" if id == "o-7" else "same", created_at=0)
        found = [id for (id,) in among(tx, BY_ID, [*ids, "o-unknown"], name="same")]
        assert list(among(tx, BY_ID, [], name="same")) == []
    assert sorted(found) == sorted(set(ids) - {"o-7"})


def test_a_row_is_added_once_and_put_in_the_place_of_another(memory: Memory) -> None:
    with memory.context.db.write(memory.context.space) as tx:
        added = [db.add_row_once(tx, "outcomes", "id", id="o", name=name, created_at=0) for name in ("first", "second")]
        assert added == [True, False]
        assert tx.value("SELECT name FROM outcomes WHERE space = :space") == "first"
        db.put_row(tx, "outcomes", "id", id="o", name="third", created_at=5)
        assert tx.rows("SELECT id, name, created_at FROM outcomes WHERE space = :space") == [("o", "third", 5)]
