"""The door to the store: every text field of a record is redacted, and what passes without a look is harmless."""

from __future__ import annotations

import json
import random
import re
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.capture.stage import NewStaged
from recollect.core.decision import Bridge, DecisionEdit, NewDecision, Reason, Review
from recollect.core.finding import Finding, NewFinding
from recollect.core.journal import NewEntry
from recollect.core.learning import (
    Discovery,
    Outcome,
    SessionEvent,
    SessionNote,
    SessionTurn,
    Task,
    TaskInjection,
    TaskOutput,
    TaskVerdicts,
)
from recollect.core.new_learning import LearningEdit, NewLearning
from recollect.text import secret_context
from recollect.text.frame import BRIEF_END, BRIEF_HEADING
from recollect.text.redact import SHAPES, redact
from recollect.text.storable import clean, plain, storable, storable_id, storable_record
from unit.text.test_redact import EXAMPLES

UNSEEN = (Path(__file__).parents[2] / "data" / "unseen_secrets.jsonl").read_text("utf-8").splitlines()


@pytest.mark.parametrize("text", [text for _, text, _ in EXAMPLES], ids=range(len(EXAMPLES)))
def test_no_known_secret_passes_as_plain(text: str) -> None:
    assert not plain(text)
    assert storable(text) == redact(text).text


@pytest.mark.parametrize("text", ["", "Handle Stripe webhooks", "Fix the login page (again), v2.1 of C#", "a/b.py"])
def test_everyday_titles_pass(text: str) -> None:
    assert plain(text)
    assert storable(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "<private>x</private>",
        "my password is hunter2hunter2",
        "a=b",
        "x" * 16,
        "mail me@example.org",
        "é",
        "by 'hunter'",
    ],
)
def test_anything_else_is_looked_at(text: str) -> None:
    assert not plain(text)


@given(st.text("aB3./#'(),  ", max_size=60))
def test_plain_is_never_wrong(text: str) -> None:
    if plain(text):
        assert redact(text).text == text


NAMES = sorted({word for words in secret_context._WORDS.values() for word in re.split(r"[^\w ]+", words) if word})
WORDS = [
    *"the is was for use as with by lautet ist login connect identified recovery codes phrase root box Basic".split(),
    *NAMES,
    *sorted({hint.decode() for shape in SHAPES for hint in shape.hints}),
]
VALUES = (string.ascii_letters + string.digits, string.ascii_letters, string.digits, string.ascii_lowercase + "07#/.")


def test_no_text_that_redaction_changes_passes_as_plain() -> None:
    """Any names and hints of the tables, in any order, beside values of any kind."""
    rng = random.Random(24)
    changed = 0
    for _ in range(6_000):
        value = "".join(rng.choices(rng.choice(VALUES), k=rng.randint(4, 15)))
        value = rng.choice((value, value, f"'{value}'", f"('{value}', 'hunterx')"))
        words = rng.choices(rng.choice((WORDS, WORDS[:18], NAMES)), k=rng.randint(1, 4))
        words.insert(rng.randint(0, len(words)), value)
        text = " ".join(words)
        found = redact(text).text
        changed += found != text
        assert found == text or not plain(text), text
    assert changed > 100


@pytest.mark.parametrize("text", [json.loads(line)["text"] for line in UNSEEN])
def test_the_door_hides_what_redaction_hides(text: str) -> None:
    assert storable(text) == redact(clean(text)).text


@pytest.mark.parametrize("id", ["pw-Kz9qWm4pB78", "lab_psk_Kz9qWm4pB78"])
def test_an_id_with_the_name_of_a_secret_is_looked_at(id: str) -> None:
    assert "Kz9qWm4pB78" not in storable_id(id, "task")


def test_characters_that_no_store_takes_are_gone_first() -> None:
    assert storable("a\x00b \ud800") == "ab ?"


KEY = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
COIA = dict.fromkeys(("context", "observation", "implication", "action"), KEY)
GIVEN = [
    NewLearning(title=KEY, **COIA, tags=(KEY,), domain=KEY, source_task_id=KEY, source_outcome_id=KEY),
    LearningEdit(title=KEY, **COIA, tags=(KEY,), domain=KEY),
    NewEntry(text=KEY, topic=KEY, session=KEY, decisions=(KEY,), references=(KEY,), outcome=KEY, rule=KEY),
    NewFinding(description=KEY, category=KEY, source=KEY, proposed_rule=KEY, disposition=KEY),
    Finding(work_id="wu-1", number=1, description=KEY, category=KEY, source=KEY, proposed_rule=KEY, disposition=KEY),
    NewStaged(title=KEY, body=KEY),
    NewDecision(
        decision=KEY,
        context=KEY,
        pattern=KEY,
        confidence=0.5,
        category="tooling",
        tags=(KEY,),
        reasons=(Reason(text=KEY),),
        bridge=Bridge(structure=KEY, function=KEY),
    ),
    DecisionEdit(decision=KEY, context=KEY, reasons=(Reason(text=KEY),), tags=(KEY,)),
    Review(outcome="success", result=KEY, lesson=KEY),
    Outcome(id=KEY, name=KEY, created_at=1),
    Task(id=KEY, outcome_id=KEY, title=KEY, created_at=1),
    Discovery(id="disc_1", type="blocker", content=KEY, task_id=KEY, outcome_id=KEY, created_at=1, skipped=KEY),
    TaskInjection(task=KEY, outcome=KEY, title=KEY, learnings=()),
    SessionEvent(session=KEY, host="codex", event="Stop", task=KEY),
    SessionTurn(session=KEY, host="codex", request=KEY, answer=KEY, topic=KEY),
    SessionNote(session=KEY, topic=KEY, text=KEY),
    TaskOutput(output=KEY, task=KEY, outcome=KEY, title=KEY),
    TaskVerdicts(output=KEY, task=KEY),
]


@pytest.mark.parametrize("record", GIVEN, ids=lambda record: type(record).__name__)
def test_no_field_of_a_record_keeps_a_secret(record: object) -> None:
    stored, _ = storable_record(record)
    assert KEY not in repr(stored)
    assert "[redacted:" in repr(stored)
    assert storable_record(stored) == (stored, ())


def test_the_kinds_of_secrets_are_named_once_for_each() -> None:
    assert storable_record(NewStaged(title=f"Keep {KEY}", body=f"and {KEY}"))[1] == ("stripe-key", "stripe-key")


def test_a_record_without_secrets_is_not_made_again() -> None:
    record = NewStaged(title="Pin the image", body="by its digest")
    assert storable_record(record)[0] is record


def test_paths_and_our_own_ids_stay_as_they_are() -> None:
    record = SessionTurn(session="s-1", host="codex", path=f"/home/{KEY}/t.jsonl", root=f"/home/{KEY}")
    assert storable_record(record)[0] is record


def test_a_message_loses_what_we_injected_and_keeps_its_spaces() -> None:
    said = f"  before\n{BRIEF_HEADING}\n\ninjected\n\n{BRIEF_END}\nafter "
    assert storable_record(SessionNote(session="s-1", topic="t", text=said))[0].text == "  before\nafter "
