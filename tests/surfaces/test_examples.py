"""The documentation shows what the program prints: every example is run again and compared.

The first pages that a reader sees run as real processes, the others as forks of one warm process.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import forked
from examples import PAGES, PROCESS, renewed
from shell import PROCESSES

SMOKE = ("README.md", "learn.md", "log.md", "serve.md")


@pytest.mark.parametrize("file", PAGES, ids=[file.name if file.parent.name == "docs" else "top" for file in PAGES])
def test_the_examples_of_a_page_print_what_the_page_shows(file: Path, tmp_path: Path) -> None:
    page = file.read_text("utf-8")
    recollect = PROCESS if PROCESSES or file.name in SMOKE else forked.client()
    assert renewed(page, tmp_path, recollect=recollect) == page


@pytest.mark.parametrize("file", PAGES, ids=[file.name if file.parent.name == "docs" else "top" for file in PAGES])
def test_links_between_pages_lead_somewhere(file: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", file.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", prose)
    assert [target for target in targets if not (file.parent / target).exists()] == []
