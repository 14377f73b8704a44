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

SMOKE = ("README.md", "learnings.md", "journal.md", "serve.md")


@pytest.mark.parametrize("file", PAGES, ids=[file.name if file.parent.name == "docs" else "top" for file in PAGES])
def test_the_examples_of_a_page_print_what_the_page_shows(file: Path, tmp_path: Path) -> None:
    page = file.read_text("utf-8")
    recollect = PROCESS if PROCESSES or file.name in SMOKE else forked.client()
    assert renewed(page, tmp_path, recollect=recollect) == page


@pytest.mark.parametrize("file", PAGES, ids=[file.name if file.parent.name == "docs" else "top" for file in PAGES])
def test_links_between_pages_lead_to_a_page_and_a_heading(file: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", _prose(file))
    assert [target for target, _ in links if not (file.parent / target).exists()] == []
    pages = [((file.parent / target) if target else file, heading) for target, heading in links if heading]
    assert [heading for page, heading in pages if heading not in _headings(page)] == []


def _prose(file: Path) -> str:
    """A page without its code blocks and comments."""
    return re.sub(r"^```.*?^```$|<!--.*?-->", "", file.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def _headings(file: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", _prose(file), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
