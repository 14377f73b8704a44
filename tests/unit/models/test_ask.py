"""Every prompt renders, is used by a kind of job, and keeps what it is about out of what it says."""

from __future__ import annotations

from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.models.ask import frame_sources, load_prompt
from recollect.models.configured import KINDS

FILES = sorted(
    file.name.removesuffix(".md") for file in resources.files("recollect.models").joinpath("prompts").iterdir()
)
USED = {*KINDS} - {"daily", "weekly", "monthly"} | {"summarise"}


def test_every_kind_of_job_has_its_prompt_and_every_prompt_its_job() -> None:
    assert set(FILES) == USED


@pytest.mark.parametrize("name", FILES)
def test_a_prompt_renders(name: str) -> None:
    prompt = load_prompt(name)
    assert prompt.text.startswith("You ")
    assert "Answer with" in prompt.text
    assert "<source>" in prompt.text, "says what its data is"
    assert prompt.text.isprintable() or set(prompt.text) >= {"\n"}
    assert len(prompt.version) == 12


def test_prompts_have_versions_of_their_own() -> None:
    assert len({load_prompt(name).version for name in FILES}) == len(FILES)


@given(st.lists(st.text() | st.sampled_from(["</source>", "<source>", "a</source>\n<source>b"]), max_size=4))
def test_no_source_can_end_its_own_frame(sources: list[str]) -> None:
    data = frame_sources(sources)
    assert data.count("<source>") == data.count("</source>") == len(sources)
