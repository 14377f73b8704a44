"""How well findings gather into themes: python -m benchmarks.themes FILE [--sample N] [--seed S] [--json]

FILE holds a JSON object a line: {"text": …, "label": …}. The texts become findings, four to a work unit, and are
planned as `recollect theme run` plans them.

- groups: natural groups before the limit of twenty themes; purity and NMI against the labels
- themes: what is written in the end; purity, NMI, and findings that did not fit their theme's budget
- stability: share of findings that keep their theme when one more work unit arrives
"""

import argparse
import json
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recollect.core.finding import Finding
from recollect.distil.theme_plan import KnownTheme, PlannedTheme, plan
from recollect.text.cluster import TOGETHER, group, topic_vectors

PER_UNIT = 4


def purity(groups: Sequence[Sequence[int]], labels: Sequence[str]) -> float:
    """The share of items whose group is mostly of their own label."""
    return sum(max(Counter(labels[item] for item in items).values()) for items in groups) / len(labels)


def nmi(groups: Sequence[Sequence[int]], labels: Sequence[str]) -> float:
    """Mutual information of groups and labels, over the mean of their entropies."""
    count = len(labels)
    sizes = Counter(labels)
    shared = 0.0
    for items in groups:
        for label, both in Counter(labels[item] for item in items).items():
            shared += both / count * math.log(both * count / (len(items) * sizes[label]))
    entropies = _entropy([len(items) for items in groups], count) + _entropy(list(sizes.values()), count)
    return 2 * shared / entropies if entropies else 1.0


def measure(texts: list[str], labels: list[str]) -> dict[str, Any]:
    """The figures; the last work unit arrives after the others."""
    findings = [
        Finding(work_id=f"unit-{n // PER_UNIT:05}", number=n % PER_UNIT + 1, description=text)
        for n, text in enumerate(texts)
    ]
    groups = group(topic_vectors(texts), TOGETHER)
    started = time.process_time()
    planned = plan(findings)
    seconds = time.process_time() - started
    number = {finding.id: n for n, finding in enumerate(findings)}
    themes = [[number[id] for id in one.theme.findings] for one in planned]
    before = plan(findings[:-PER_UNIT])
    after = homes(plan(findings, known(before)))
    kept = sum(after[id] == name for id, name in homes(before).items())
    return {
        "texts": len(texts),
        "groups": {"count": len(groups), "purity": purity(groups, labels), "nmi": nmi(groups, labels)},
        "themes": {
            "count": len(themes),
            "purity": purity(themes, labels),
            "nmi": nmi(themes, labels),
            "left_out": sum(len(one.theme.left_out) for one in planned),
        },
        "stability": kept / len(homes(before)),
        "cpu_seconds": seconds,
    }


def homes(planned: Sequence[PlannedTheme]) -> dict[str, str]:
    return {id: one.theme.name for one in planned for id in one.theme.findings}


def known(planned: Sequence[PlannedTheme]) -> list[KnownTheme]:
    return [KnownTheme(name=one.theme.name, findings=one.theme.findings) for one in planned]


def _entropy(sizes: Sequence[int], count: int) -> float:
    return -sum(size / count * math.log(size / count) for size in sizes)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--sample", type=int, help="so many texts, chosen by the seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    items = [json.loads(line) for line in given.file.read_text("utf-8").splitlines() if line.strip()]
    if given.sample and given.sample < len(items):
        items = random.Random(given.seed).sample(items, given.sample)
    texts, labels = [item["text"] for item in items], [str(item["label"]) for item in items]
    figures = measure(texts, labels)
    if given.json:
        print(json.dumps(figures, indent=2))
        return 0
    groups, themes = figures["groups"], figures["themes"]
    print(
        f"{figures['texts']} texts; {groups['count']} groups, purity {groups['purity']:.2f}, "
        f"NMI {groups['nmi']:.2f}; {themes['count']} themes, purity {themes['purity']:.2f}, "
        f"NMI {themes['nmi']:.2f}, {themes['left_out']} left out; stability {figures['stability']:.3f}; "
        f"{figures['cpu_seconds']:.1f} s CPU"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
