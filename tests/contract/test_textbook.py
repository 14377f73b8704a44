"""Search is never below textbook BM25. The set is our own documentation: a sentence that links to a section of another
page was labelled by its author."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bm25 import Bm25, Pairs

from recollect import Memory

DOCS = Path(__file__).parents[2] / "docs"
DIARY = "experiments.md"
LINK = re.compile(r"\[([^\]]+)\]\(([\w-]+\.md)(#[\w-]+)?\)")
LEAST_WORDS = 4


def sections() -> Iterator[tuple[str, str, str]]:
    """Page and anchor, heading, and text of each section."""
    for page in sorted(DOCS.glob("*.md")):
        if page.name != DIARY:
            parts = re.split(r"^#+ (.+)$", page.read_text("utf-8"), flags=re.MULTILINE)
            for heading, text in zip(parts[1::2], parts[2::2], strict=True):
                anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
                yield f"{page.name}#{anchor}", heading, LINK.sub(r"\1", text).strip()


def questions() -> Iterator[tuple[str, str]]:
    """Sentences that link to another page, with that page's section (the page, where none is named)."""
    for page in sorted(DOCS.glob("*.md")):
        for sentence in re.split(r"(?<=[.:;|])\s|\n\n", page.read_text("utf-8")):
            named = [(found[2], found[3] or "") for found in LINK.finditer(sentence)]
            asked = " ".join(LINK.sub(r"\1", sentence).split())
            if len(named) == 1 and named[0][0] != page.name and len(asked.split()) >= LEAST_WORDS:
                yield asked, "".join(named[0])


def test_search_is_not_below_textbook_bm25_on_our_own_documentation(memory: Memory) -> None:
    found = list(sections())
    stored = {}
    for name, heading, text in found:
        for_page = name.partition("#")[0]
        stored[memory.journal.add(text=text or heading, topic=heading, session=for_page).id] = name
    baseline = Bm25(found)
    pairs = Pairs()
    for asked, gold in questions():
        right = [name for name, _, _ in found if name == gold or ("#" not in gold and name.startswith(f"{gold}#"))]
        if right:
            ours = [stored[hit.id] for hit in memory.search(asked, strategy="bm25", limit=20)]
            pairs.add(asked, "link", ours, baseline.best(asked), right)
    assert len(pairs.by_name["link"]) >= 40, "a set that says something"
    assert pairs.below() == [], dict(pairs.compared())
