"""Search while typing: does the beginning of a word find a text that holds the word?

`python -m benchmarks.prefix`. Every section of `docs/` is a log entry; 300 words of seven letters or more are drawn
from them with a fixed seed, and each is cut after 4 letters, after 6, and before its last letter. Found means: one of
ten hits holds the whole word. The baseline is the same search with beginnings switched off.
"""

from __future__ import annotations

import random
import re
import tempfile
from pathlib import Path

from recollect import Memory
from recollect.core.journal import NewEntry
from recollect.search import query

WORDS = 300
CUTS = {"4 letters": 4, "6 letters": 6, "all but the last": -1}
DOCS = Path(__file__).parents[1] / "docs"


def main() -> None:
    pages = [path.read_text("utf-8") for path in sorted(DOCS.glob("*.md")) if path.name != "experiments.md"]
    sections = [part.strip() for page in pages for part in re.split(r"(?m)^## ", page) if part.strip()]
    known = sorted({word for part in sections for word in re.findall(r"(?<![\w/.-])[a-z]{7,}(?![\w/.-])", part)})
    drawn = random.Random(7).sample(known, WORDS)
    begun = query.BEGUN_LETTERS
    with tempfile.TemporaryDirectory() as scratch, Memory.open(Path(scratch), create=True) as memory:
        for part in sections:
            title, _, body = part.partition("\n")
            memory.journal.add(NewEntry(text=body or title, topic=title[:100]))
        texts = {hit.id: memory.texts.get(hit.id).text for hit in memory.search("", kinds=("log",), limit=1000)}
        print(f"{len(texts)} sections, {WORDS} words; found among ten hits")
        print("| typed | with beginnings | without |\n|---|---|---|")
        for name, cut in CUTS.items():
            shares = []
            for letters in (begun, query.MISSPELT_LETTERS):
                query.BEGUN_LETTERS = letters
                query.COMPLETIONS = 8 if letters is begun else 0
                found = sum(_finds(memory, texts, word, word[:cut]) for word in drawn)
                shares.append(f"{found / WORDS:.1%}")
            print(f"| {name} | {' | '.join(shares)} |")


def _finds(memory: Memory, texts: dict[str, str], word: str, typed: str) -> bool:
    hits = memory.search(typed, kinds=("log",), strategy="bm25")
    return any(word in texts[hit.id].lower() or word in hit.title.lower() for hit in hits)


if __name__ == "__main__":
    main()
