"""The mutants follow the code: one whose code is gone would never be put in again."""

from __future__ import annotations

import pytest

from mutants import MUTANTS, DoesNotApply, Mutant, symbol


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_applies_and_compiles(mutant: Mutant) -> None:
    file, source = mutant.applied()
    compile(source, str(file), "exec")
    assert mutant.old != mutant.new


def test_a_mutant_of_code_that_is_gone_or_doubled_does_not_apply() -> None:
    with pytest.raises(DoesNotApply):
        symbol("store:write_no_file_like_this")
    with pytest.raises(DoesNotApply):
        symbol("store:put")
    assert symbol("store.vectors:put")[0].name == "vectors.py"
    with pytest.raises(DoesNotApply):
        Mutant(name="", where="store.vectors:put", old="not a line of it", new="", tests=()).applied()


def test_each_mutant_has_its_own_name() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
