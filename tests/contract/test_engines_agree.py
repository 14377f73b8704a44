"""The engines behave alike: a random life in a plain model, in SQLite and in PostgreSQL leaves no difference."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from conftest import PERSON
from plain_model import Entry, Model, No, Verdict
from recollect import LearningEdit, Memory, NewLearning, RecollectError, ScriptedClock
from recollect.store import bulk
from samples import counted_ids

POOL = {
    "zebra": "Zebra crossings need a painted curb before winter",
    "quartz": "Quartz timers drift when batteries age beyond limits",
    "lantern": "Lantern fuel evaporates inside unsealed metal canisters",
    "velvet": "Velvet curtains swallow echo from rehearsal pianos",
}
TASKS = st.sampled_from(["t1", "t2", "t3"])
VERDICTS: st.SearchStrategy[Verdict] = st.sampled_from(["helpful", "not_helpful"])
WORDS = st.sampled_from(
    [*POOL, "battery", "painted winter", "Echo pianos", "no such thing", "", "'\"\\:*", "the of and"]
)


def _new(key: str, confidence: float | None) -> NewLearning:
    return NewLearning(
        title=POOL[key],
        context="Seen once",
        observation=f"{POOL[key]}, as the {key} team found",
        implication="Plans change",
        action=f"Check every {key} first",
        tags=(key, "shared"),
        confidence=confidence,
    )


class Lives(RuleBasedStateMachine):
    """`both` does one thing in each store and insists on one answer."""

    url: str

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.folders = [tempfile.TemporaryDirectory() for _ in range(2)]
        self.clock = ScriptedClock("2026-03-02T09:00:00Z")
        self.memories = [
            Memory.open(
                Path(folder.name),
                create=True,
                actor=PERSON,
                clock=self.clock,
                ids=counted_ids(),
                environ={"HOME": folder.name, "PATH": os.environ["PATH"], **more},
            )
            for folder, more in zip(self.folders, ({}, {"RECOLLECT_STORE": self.url}), strict=True)
        ]

    def teardown(self) -> None:
        sums = []
        for memory in self.memories:
            with memory.context.db.read(memory.context.space) as tx:
                sums.append({table.name: bulk.sums(tx, table) for table in bulk.DUMPED})
            memory.close()
        for folder in self.folders:
            folder.cleanup()
        assert sums[0] == sums[1]

    def both(self, action: Callable[[Memory], Any]) -> Any:
        """The answer of both stores; the class of the error when they refuse."""
        answers: list[Any] = []
        for memory in self.memories:
            try:
                answers.append(action(memory))
            except RecollectError as error:
                answers.append((type(error), str(error)))
        assert answers[0] == answers[1]
        return answers[0]

    def refused_like(self, action: Callable[[Memory], Any], expected: Callable[[], None]) -> None:
        answer = self.both(action)
        try:
            expected()
        except No:
            assert isinstance(answer, tuple), f"should have been refused: {answer}"
        else:
            assert not isinstance(answer, tuple), f"should have been done: {answer}"

    def pick(self, number: int) -> str:
        return sorted(self.model.entries)[number % len(self.model.entries)]

    @initialize(key=st.sampled_from(list(POOL)))
    def begin(self, key: str) -> None:
        self.learn(key, None)

    @rule(key=st.sampled_from(list(POOL)), confidence=st.none() | st.sampled_from([0.0, 0.3, 0.5, 0.55, 1.0]))
    def learn(self, key: str, confidence: float | None) -> None:
        id = self.both(lambda memory: memory.learn(_new(key, confidence)).learning.id)
        given = {} if confidence is None else {"confidence": round(confidence * 1000)}
        entry = Entry(key=key, created_at=self.clock.now(), title=POOL[key], tags=(key, "shared"), domain=None, **given)
        assert self.model.learn(id, entry) == id

    @rule(number=st.integers(0, 9), domain=st.sampled_from(["api", "db"]), confidence=st.sampled_from([0.05, 0.5, 0.9]))
    def edit(self, number: int, domain: str, confidence: float) -> None:
        id = self.pick(number)
        self.both(lambda memory: memory.learnings.edit(id, LearningEdit(domain=domain, confidence=confidence)))
        self.model.change(id, domain=domain, confidence=round(confidence * 1000))

    @rule(number=st.integers(0, 9), step=st.integers(-1, 1))
    def edit_a_version(self, number: int, step: int) -> None:
        id = self.pick(number)
        expect = self.model.entries[id].version + step
        edit = LearningEdit(domain=f"v{expect}")

        def expected() -> None:
            if step:
                raise No
            self.model.change(id, domain=f"v{expect}")

        self.refused_like(lambda memory: memory.learnings.edit(id, edit, expect=expect), expected)

    @rule(number=st.integers(0, 9), tag=st.sampled_from(["one", "two"]), add=st.booleans())
    def tag(self, number: int, tag: str, add: bool) -> None:
        id = self.pick(number)
        words = {"add" if add else "remove": (tag,)}
        self.both(lambda memory: memory.learnings.tag(id, **words))  # type: ignore[arg-type]
        kept = tuple(known for known in self.model.entries[id].tags if add or known != tag)
        self.model.change(id, tags=tuple(dict.fromkeys((*kept, tag))) if add else kept)

    @rule(number=st.integers(0, 9))
    def archive(self, number: int) -> None:
        id = self.pick(number)
        self.refused_like(lambda memory: memory.learnings.archive(id), lambda: self.model.archive(id))

    @rule(number=st.integers(0, 9))
    def restore(self, number: int) -> None:
        id = self.pick(number)
        self.both(lambda memory: memory.learnings.restore(id))
        self.model.restore(id, self.clock.now())

    @rule(number=st.integers(0, 9), on=st.booleans())
    def pin(self, number: int, on: bool) -> None:
        id = self.pick(number)
        self.both(lambda memory: memory.learnings.pin(id, on=on))
        self.model.pin(id, self.clock.now(), on=on)

    @rule(first=st.integers(0, 9), second=st.integers(0, 9))
    def supersede(self, first: int, second: int) -> None:
        old, new = self.pick(first), self.pick(second)
        self.refused_like(lambda memory: memory.learnings.supersede(old, new), lambda: self.model.supersede(old, new))

    @rule(numbers=st.lists(st.integers(0, 9), min_size=1, max_size=3), task=TASKS)
    def inject(self, numbers: list[int], task: str) -> None:
        ids = list(dict.fromkeys(self.pick(number) for number in numbers))

        def shown(memory: Memory) -> Any:
            return memory.inject(task=task, outcome="o", title="", learnings=tuple(ids)).markdown

        self.refused_like(shown, lambda: self.model.inject(ids, task, self.clock.now()))

    @rule(words=WORDS, task=TASKS)
    def inject_what_is_relevant(self, words: str, task: str) -> None:
        shown = self.both(
            lambda memory: [found.id for found in memory.inject(task=task, outcome="o", title=f"{words} x").learnings]
        )
        self.model.inject(shown, task, self.clock.now())

    @rule(number=st.integers(0, 9), task=TASKS, verdict=VERDICTS)
    def feedback(self, number: int, task: str, verdict: Verdict) -> None:
        id = self.pick(number)
        output = f"Done.\nLEARNING_{verdict.upper()}: {id}\n"
        taken = self.both(lambda memory: memory.feedback(output, task=task))
        assert taken.counted == ((id,) if self.model.verdict(id, task, verdict, may_change=False) else ())

    @rule(number=st.integers(0, 9), task=TASKS, verdict=VERDICTS)
    def rate(self, number: int, task: str, verdict: Verdict) -> None:
        id = self.pick(number)
        answer = self.both(lambda memory: memory.rate(id, verdict, task=task))
        known = (id, task) in self.model.verdicts
        assert isinstance(answer, tuple) != known
        self.model.verdict(id, task, verdict, may_change=True)

    @rule(days=st.sampled_from([0.5, 29, 31, 100]))
    def time_passes(self, days: float) -> None:
        self.clock.advance(days=days)
        self.both(lambda memory: dict(memory.cycle().steps)["decay"])
        self.model.decay(self.clock.now())

    @rule()
    def undo(self) -> None:
        self.refused_like(lambda memory: [found.id for found in memory.learnings.undo()], self.model.undo)

    @rule(words=WORDS)
    def search(self, words: str) -> None:
        found = self.both(
            lambda memory: [(hit.learning.id, hit.score, hit.snippet) for hit in memory.search(words, limit=100)]
        )
        if words in POOL:
            assert {id for id, _, _ in found} == self.model.found(words)

    @precondition(lambda self: self.model.entries)
    @invariant()
    def all_three_remember_the_same(self) -> None:
        pages = self.both(lambda memory: memory.learnings.page(status="all", sort="oldest", limit=1000)[0])
        found = {
            each.id: (
                *(each.title, each.tags, each.domain, round(each.confidence * 1000), each.status, each.superseded_by),
                *(each.pinned, each.times_injected, each.times_helpful, each.times_not_helpful),
                *(each.recurrence, each.version),
            )
            for each in pages
        }
        assert found == {
            id: (
                *(each.title, each.tags, each.domain, each.confidence, each.status, each.superseded_by),
                *(each.pinned, each.injected, each.helpful, each.not_helpful, each.recurrence, each.version),
            )
            for id, each in self.model.entries.items()
        }


def test_a_random_life_is_the_same_in_both_engines_and_in_the_model(postgres_url: str) -> None:
    class Here(Lives):
        url = postgres_url

    # Not shrunk: each life is two real stores, and a shorter one would take minutes to find.
    lives = settings(stateful_step_count=25, phases=(Phase.explicit, Phase.reuse, Phase.generate))
    run_state_machine_as_test(Here, settings=lives)
