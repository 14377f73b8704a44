"""How well a learning is read out of a discovery without a model: python benchmarks/extraction.py [--json]

`data/discoveries.jsonl` holds 60 discoveries with the fields a reader would fill in, written before the rules. One
author wrote both, so the figures say how well the rules sort clear English, not how people write. For half of them
(`held_out`) no single miss was looked at while the rules were written: trust that column.

Title, observation, implication and action are scored by token F1 where the discovery states them; `states …` is how
often extraction knows whether the text states such a thing at all; tags by recall, domain by accuracy. `invented` is
the mean number of words in a learning that come neither from the discovery, its task and outcome, nor from the fixed
neutral wording.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from recollect.core.learning import COIA
from recollect.text import markers
from recollect.text.markers import Coia

DATA = Path(__file__).parent / "data" / "discoveries.jsonl"
SCORED = ("title", "observation", "implication", "action")
_WORD = re.compile(r"\w+(?:[.'/-]\w+)*")


def load() -> list[dict[str, Any]]:
    return [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


def extracted(case: dict[str, Any]) -> Coia:
    return markers.extract(case["type"], case["content"], case["task"], case["outcome"])


def token_f1(found: str, expected: str) -> float:
    a, b = Counter(words(found)), Counter(words(expected))
    shared = sum((a & b).values())
    return 2 * shared / (sum(a.values()) + sum(b.values())) if shared else 0.0


def words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def invented(case: dict[str, Any], found: Coia) -> set[str]:
    """Words of the fields that nobody gave."""
    given = set(words(" ".join([case["content"], case["task"], case["outcome"]])))
    for said in ("It broke.", "Never retry."):  # what neither states is the fixed wording
        bare = markers.extract(case["type"], said, "", "")
        given |= {word for name in set(COIA).difference(bare.stated) for word in words(getattr(bare, name))}
    return set(words(" ".join([found.title, *(getattr(found, name) for name in COIA)]))) - given


def scores(cases: Iterable[dict[str, Any]]) -> dict[str, float]:
    sums: dict[str, list[float]] = {}
    for case in cases:
        found, expected = extracted(case), case["expected"]
        for name in SCORED:
            if expected[name]:
                sums.setdefault(name, []).append(token_f1(getattr(found, name), expected[name]))
        for name in ("implication", "action"):
            sums.setdefault(f"states {name}", []).append((name in found.stated) == bool(expected[name]))
        wanted = set(expected["tags"])
        sums.setdefault("tag recall", []).append(len(wanted & set(found.tags)) / len(wanted))
        sums.setdefault("domain", []).append(found.domain == expected["domain"])
        sums.setdefault("invented", []).append(len(invented(case, found)))
    return {name: round(sum(values) / len(values), 3) for name, values in sums.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    cases = load()
    seen, held_out = ([case for case in cases if case["held_out"] is half] for half in (False, True))
    result = {"seen": scores(seen), "held out": scores(held_out)}
    if arguments.json:
        print(json.dumps(result, indent=2))
        return
    print(f"{'':20}{f'seen ({len(seen)})':>12}{f'held out ({len(held_out)})':>16}")
    for name in result["seen"]:
        print(f"{name:20}{result['seen'][name]:12.3f}{result['held out'][name]:16.3f}")


if __name__ == "__main__":
    main()
