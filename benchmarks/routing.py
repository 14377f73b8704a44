"""How often a learning is placed where a reader would put it: python benchmarks/routing.py FILE [--json]

FILE holds {"documents": {path: text}, "entries": [{title, body, path, heading}]}; an empty path means that no
document fits. Reports the share of entries put into the right document and under the right heading, and of those put
under somebody else's heading once their own document is gone, on words alone and, where its extra is installed, with
the embedder.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recollect.models.embed import SentenceModel, default_files
from recollect.text.route import Likeness, Placement, place


def placements(data: dict[str, Any], alike: Likeness | None) -> list[Placement]:
    return [place(f"{entry['title']}\n{entry['body']}", data["documents"], alike=alike) for entry in data["entries"]]


def astray(data: dict[str, Any], alike: Likeness | None) -> float:
    """The share of entries put under a heading where no document is about the same."""
    nested = 0
    for entry in data["entries"]:
        others = {path: text for path, text in data["documents"].items() if path != entry["path"]}
        nested += bool(place(f"{entry['title']}\n{entry['body']}", others, alike=alike).heading)
    return round(nested / len(data["entries"]), 3)


def figures(data: dict[str, Any], found: Sequence[Placement], astray: float) -> dict[str, float]:
    pairs = list(zip(data["entries"], found, strict=True))
    document = sum(entry["path"] == placed.path for entry, placed in pairs)
    heading = sum((entry["path"], entry["heading"]) == (placed.path, placed.heading) for entry, placed in pairs)
    return {"document": round(document / len(pairs), 3), "heading": round(heading / len(pairs), 3), "astray": astray}


def embedder() -> Likeness | None:
    """How alike texts are by the default model, each text embedded once; None without the extra."""
    files = default_files()
    if files is None:
        return None
    model = SentenceModel(files)
    known: dict[str, Any] = {}

    def alike(text: str, others: Sequence[str]) -> list[float]:
        new = [each for each in dict.fromkeys([text, *others]) if each not in known]
        known.update(zip(new, model.embed(new), strict=True))
        return [float(known[text] @ known[other]) for other in others]

    return alike


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--misses", action="store_true")
    given = parser.parse_args(arguments)
    data = json.loads(given.file.read_text("utf-8"))
    by_meaning = embedder()
    ways: dict[str, Likeness | None] = {"words": None, **({"embedder": by_meaning} if by_meaning else {})}
    found_by = {way: placements(data, alike) for way, alike in ways.items()}
    shares = {way: figures(data, found, astray(data, ways[way])) for way, found in found_by.items()}
    if given.json:
        print(json.dumps(shares, indent=2))
        return
    for way, found in found_by.items():
        told = "  ".join(f"{name} {share:.3f}" for name, share in shares[way].items())
        print(f"{way:9} {told}  of {len(found)} entries")
        for entry, placed in zip(data["entries"], found, strict=True):
            if given.misses and (entry["path"], entry["heading"]) != (placed.path, placed.heading):
                print(f"  {entry['title']!r}: {placed.kind} {placed.path}#{placed.heading} {placed.score}")


if __name__ == "__main__":
    main(sys.argv[1:])
