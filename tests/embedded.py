"""What tests of the embedded store need: its connection, a dump of what is derived, some of everything in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect import Memory
from recollect.store import project as projects
from recollect.store.project import Project
from samples import FLAKY, MIGRATIONS, WEBHOOKS, learning


@pytest.fixture
def engine() -> str:
    """Imported by a module of tests, it makes `memory` an embedded one only."""
    return "sqlite"


def raw(memory: Memory) -> apsw.Connection:
    """The connection below everything, for putting faults in."""
    return memory.context.db.connection()  # type: ignore[attr-defined,no-any-return]


def database(memory: Memory) -> Path:
    return memory.project.database


def project_of(folder: Path, environ: Mapping[str, str]) -> Project:
    """Where the data of a project is."""
    return projects.load(folder.resolve(), environ)


def derived_dump(memory: Memory) -> dict[str, Any]:
    """Everything derived, without the numbers that only the index uses."""
    connection = raw(memory)
    connection.execute("DROP TABLE IF EXISTS temp.words")
    connection.execute("CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, passage_words, instance)")
    columns = "space, id, kind, title, text, keywords, who, at, trust, thread, position, hash, terms"
    counters = "space, id, times_injected, times_helpful, times_not_helpful, last_injected_at, recurrence"
    return {
        "passages": connection.execute(f"SELECT {columns} FROM passages ORDER BY space, id").fetchall(),
        "terms": connection.execute("SELECT * FROM terms ORDER BY 1, 2").fetchall(),
        "words": connection.execute(
            "SELECT term, id FROM temp.words JOIN passages ON passages.doc = words.doc ORDER BY 1, 2"
        ).fetchall(),
        "documents": connection.execute("SELECT count(*) FROM passage_words_docsize").fetchall(),
        "counters": connection.execute(f"SELECT {counters} FROM learnings ORDER BY 1, 2").fetchall(),
    }


def fill(memory: Memory) -> list[str]:
    """Three learnings, one edited, one shown and rated, a discovery; the ids of the three."""
    ids = [memory.learn(learning(base)).learning.id for base in (WEBHOOKS, MIGRATIONS, FLAKY)]
    memory.learnings.tag(ids[1], add=("locks",))
    memory.inject(task="t1", outcome="o1", title="Stripe webhooks arrive in which order")
    memory.feedback(f"LEARNING_HELPFUL: {ids[0]}", task="t1")
    memory.observe("DISCOVERY[blocker]: The linter needs node 20 to start", task="t2", outcome="o1")
    return ids
