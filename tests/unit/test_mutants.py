"""The mutants follow the code: one whose text is gone would never be put in again."""

from __future__ import annotations

import pytest

from mutants import MUTANTS, ROOT, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_what_a_mutant_breaks_stands_in_its_file(mutant: Mutant) -> None:
    assert (ROOT / "src" / "recollect" / mutant.file).read_text("utf-8").count(mutant.old) == 1
    assert mutant.old != mutant.new
