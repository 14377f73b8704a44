"""Which requests name work, and which only go on with it."""

from __future__ import annotations

import pytest

from recollect.text.tokens import terms
from recollect.text.transcript import goes_on


@pytest.mark.parametrize(
    "asked",
    """yes|continue|thanks!|ok do it|run the tests|fix it|commit|Yes, please go ahead.|go on|looks good, commit|
    try again|now run the test suite again|option 2|perfect, thank you so much|fix the failing tests|lgtm, merge it|
    both please|do the second one|what else is left?|keep going|undo that|retry|no, stop|sounds good""".split("|"),
)
def test_goes_on(asked: str) -> None:
    assert goes_on(terms(asked))


@pytest.mark.parametrize(
    "asked",
    """Fix login|Add tests for the parser|Why is CI red?|Rename the user table|bump pydantic|commit hooks fail here|
    Update the README|explain src/app.py|Deploy staging to Frankfurt|use uv instead of pip|Run the migration|
    Is the cache thread-safe?|write a changelog|no, use PostgreSQL|ja, weiter""".split("|"),
)
def test_names_work_of_its_own(asked: str) -> None:
    assert not goes_on(terms(asked))
