"""The documentation shows what the program prints: every example is run again and compared."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from examples import DOCS, renewed

PAGES = sorted(page.name for page in DOCS.glob("*.md"))


@pytest.mark.parametrize("name", PAGES)
def test_the_examples_of_a_page_print_what_the_page_shows(name: str, tmp_path: Path) -> None:
    page = (DOCS / name).read_text("utf-8")
    assert renewed(page, tmp_path) == page


@pytest.mark.parametrize("name", PAGES)
def test_links_between_pages_lead_somewhere(name: str) -> None:
    prose = re.sub(r"^```.*?^```$", "", (DOCS / name).read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", prose)
    assert [target for target in targets if not (DOCS / target).exists()] == []
