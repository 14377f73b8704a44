"""Precision, recall and F1 of the detectors on labelled pairs: python benchmarks/detectors.py FILE [--json]

FILE holds a JSON object a line: {"a": …, "b": …, "label": …}. A label that a detector answers for is a class
(`contradiction`, `redundant`); every other label only provides pairs that must not be found. A pair counts
as found when the detector says yes; `unsure` is not a find. `--split NAME` keeps the pairs whose
"split" is NAME; `--misses` lists what went wrong.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.models.embed import SentenceModel, default_files
from recollect.text import compare

CLASSES = ("contradiction", "redundant")
Pair = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Score:
    precision: float
    recall: float
    f1: float


def label_of(pair: Pair, alike: float | None) -> str:
    """The class the detectors put a pair in, "" for neither. Contradictions are asked for first."""
    if compare.contradiction(pair["a"], pair["b"]).holds:
        return "contradiction"
    if compare.redundancy(pair["a"], pair["b"], cosine=alike).holds:
        return "redundant"
    return ""


def scores(pairs: Sequence[Pair], found: Sequence[str]) -> dict[str, Score]:
    return {name: _score(pairs, found, name) for name in CLASSES}


def _score(pairs: Sequence[Pair], found: Sequence[str], name: str) -> Score:
    hits = sum(label == name == pair["label"] for pair, label in zip(pairs, found, strict=True))
    claimed = sum(label == name for label in found)
    actual = sum(pair["label"] == name for pair in pairs)
    precision = hits / claimed if claimed else 0.0
    recall = hits / actual if actual else 0.0
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return Score(precision=round(precision, 3), recall=round(recall, 3), f1=round(f1, 3))


def measure(pairs: Sequence[Pair]) -> dict[str, list[str]]:
    """What each way of comparing found; the embedder only where its extra is installed."""
    found = {"words": [label_of(pair, None) for pair in pairs]}
    model_files = default_files()
    if model_files:
        embed = SentenceModel(model_files).embed
        ones, others = embed([pair["a"] for pair in pairs]), embed([pair["b"] for pair in pairs])
        alike = [float(one @ other) for one, other in zip(ones, others, strict=True)]
        found["embedder"] = [label_of(pair, each) for pair, each in zip(pairs, alike, strict=True)]
    return found


def main(arguments: Sequence[str], show: Callable[[str], object] = print) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--split")
    parser.add_argument("--misses", action="store_true")
    given = parser.parse_args(arguments)
    pairs = [json.loads(line) for line in given.file.read_text("utf-8").splitlines() if line.strip()]
    pairs = [pair for pair in pairs if given.split in (None, pair.get("split"))]
    found = measure(pairs)
    if given.json:
        figures = {
            way: {name: vars(score) for name, score in scores(pairs, labels).items()} for way, labels in found.items()
        }
        show(json.dumps(figures, indent=2))
        return
    show(f"{len(pairs)} pairs")
    for way, labels in found.items():
        for name, score in scores(pairs, labels).items():
            show(f"{way:9} {name:14} P {score.precision:.3f}  R {score.recall:.3f}  F1 {score.f1:.3f}")
        for pair, label in zip(pairs, labels, strict=True):
            wrong = label != (pair["label"] if pair["label"] in CLASSES else "")
            if given.misses and wrong:
                show(f"  {pair['label']} taken for {label or 'neither'}: {pair['a']!r} | {pair['b']!r}")


if __name__ == "__main__":
    main(sys.argv[1:])
