"""A learning as a file: what is rendered is read back, whatever its words, and an edit touches what it says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made import PLAIN
from recollect import BadInput
from recollect.core.learning import COIA
from recollect.hosts import memory_tool as files
from recollect.text.frame import one_line

LABELS = st.sampled_from(
    ["**Action**: x", "\n## Context\n", "Observation:", "_ID: learn_x_", "\\", "[confidence: 1.00]", "---"]
)
WORDS = st.lists(st.one_of(st.text(max_size=20), LABELS), max_size=4).map(" ".join).filter(one_line)


@given(title=WORDS, fields=st.tuples(WORDS, WORDS, WORDS, WORDS))
def test_what_is_rendered_is_read_back_in_normal_form(title: str, fields: tuple[str, ...]) -> None:
    texts = dict(zip(COIA, fields, strict=True))
    learning = replace(PLAIN, title=title, **texts)  # type: ignore[arg-type]
    expected = {"title": one_line(title), **{name: one_line(text) for name, text in texts.items()}}
    assert files.read(files.render(learning)) == expected
    assert files.edited(learning, files.render(learning)) == {}


@pytest.mark.parametrize(
    "text",
    [
        "# T\n\n**Context**: c\n**Observation**: o\n**Implication**: i\n**Action**: a\n",
        "# T\n\n**Context:** c\n**Observation:** o\n**Implication:** i\n**Action:** a\n",
        "## T\n\n## Context\nc\n\n## Observation\no\n## Implication\ni\n## Action\na",
        "# T\nAction: a\nContext: c\nObservation: o\nImplication: i",
        "# T\r\n- context: c\r\n- observation: o\r\n- implication: i\r\n- action: a\r\n",
    ],
)
def test_labels_are_understood_however_they_are_written(text: str) -> None:
    assert files.read(text) == {"title": "T", "context": "c", "observation": "o", "implication": "i", "action": "a"}


def test_a_field_goes_on_until_the_next_label() -> None:
    assert files.read("# T\n**Action**: one\ntwo\n\nthree\n**Context**: c")["action"] == "one two three"


def test_a_file_without_a_heading_is_called_by_its_name() -> None:
    assert (
        files.new_learning("Caches must be warmed after a deploy.", "cache-warming_notes").title
        == "Cache warming notes"
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text.replace("**Action**", "**Deed**"), "The edit removes action"),
        (lambda text: "A line above\n" + text, "A line belongs to no field"),
    ],
)
def test_an_edit_that_breaks_the_form_is_refused(change: Any, says: str) -> None:
    learning = PLAIN
    with pytest.raises(BadInput, match=says):
        files.edited(learning, change(files.render(learning)))


def test_a_files_name_leads_to_its_learning_even_after_the_title_changed() -> None:
    learning = PLAIN
    name = files.file_name(learning)
    assert files.id_in(name) == files.id_in(f"other-words.{learning.id}.md") == learning.id
    assert files.title_in("webhook-order.md", learning.id) == "Webhook order"
    assert files.title_in(f"webhook-order.{learning.id}.md", learning.id) == "Webhook order"
