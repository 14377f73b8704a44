"""How much of what should be hidden is hidden, how much else is, and what it costs.

    python -m benchmarks.redaction [--samples N] [--seed N] [--json]

Recall: a sample counts as hidden when no half of any of its random parts survives. False positives: innocent
lines (hashes, identifiers, placeholders, lookups) that came back changed. The Python standard library serves
as real text: the kinds found in it are listed, and CPU time is measured on it and on a short clean note.
"""

import argparse
import json
import random
import sysconfig
import time
from collections import Counter
from pathlib import Path

from benchmarks.innocent_samples import INNOCENT
from benchmarks.secret_samples import FORMATS, Sample, url_quoted, wrapped
from recollect.text.redact import redact
from recollect.text.storable import storable


def survives(sample: Sample, output: str) -> bool:
    for part in sample.hidden:
        middle = len(part) // 2
        for half in (part[:middle], part[middle:]):
            if half in output or url_quoted(half) in output:
                return True
    return False


def recall(samples: int, seed: int) -> tuple[dict[str, tuple[float, float]], dict[str, float]]:
    """Share hidden per kind, bare and wrapped; and per way of wrapping."""
    per_kind: dict[str, tuple[float, float]] = {}
    hidden_by_wrap: Counter[str] = Counter()
    tried_by_wrap: Counter[str] = Counter()
    for kind, make in FORMATS.items():
        rng = random.Random(f"{seed} {kind}")
        bare_hidden = wrapped_hidden = wrapped_tried = 0
        for _ in range(samples):
            sample = make(rng)
            bare_hidden += not survives(sample, storable(sample.text))
            for name, text in wrapped(sample).items():
                hidden = not survives(sample, storable(text))
                wrapped_tried += 1
                wrapped_hidden += hidden
                tried_by_wrap[name] += 1
                hidden_by_wrap[name] += hidden
        per_kind[kind] = bare_hidden / samples, wrapped_hidden / wrapped_tried
    return per_kind, {name: hidden_by_wrap[name] / tried for name, tried in tried_by_wrap.items()}


def false_positives(samples: int, seed: int) -> dict[str, float]:
    """Share of innocent lines that were changed, per kind of line."""
    shares: dict[str, float] = {}
    for name, make in INNOCENT.items():
        rng = random.Random(f"{seed} {name}")
        lines = [make(rng) for _ in range(samples)]
        shares[name] = sum(storable(line) != line for line in lines) / samples
    return shares


def standard_library() -> list[str]:
    folder = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(path for path in folder.rglob("*.py") if "site-packages" not in path.parts)
    return [path.read_text(encoding="utf-8", errors="replace") for path in files]


def on_real_text() -> dict[str, object]:
    texts = standard_library()
    kilobytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / 1024
    redact(texts[0])
    started = time.process_time()
    results = [redact(text) for text in texts]
    spent = time.process_time() - started
    return {
        "files": len(texts),
        "kilobytes": round(kilobytes),
        "cpu_ms_per_kb": round(spent * 1000 / kilobytes, 4),
        "files_changed": sum(bool(result.kinds) for result in results),
        "kinds": dict(Counter(kind for result in results for kind in result.kinds)),
    }


def on_clean_text() -> float:
    """CPU milliseconds a kilobyte on short notes without any secret, the usual case."""
    note = "We moved the importer to a queue because retries blocked requests; docs/import.md has the limits.\n" * 10
    runs = 2000
    redact(note)
    started = time.process_time()
    for _ in range(runs):
        redact(note)
    return (time.process_time() - started) * 1000 / (runs * len(note) / 1024)


def measure(samples: int, seed: int) -> dict[str, object]:
    per_kind, per_wrap = recall(samples, seed)
    innocent = false_positives(samples, seed)
    return {
        "samples_per_kind": samples,
        "seed": seed,
        "formats": len(per_kind),
        "recall_bare": sum(bare for bare, _ in per_kind.values()) / len(per_kind),
        "recall_wrapped": sum(inside for _, inside in per_kind.values()) / len(per_kind),
        "false_positives": sum(innocent.values()) / len(innocent),
        "per_kind": {kind: {"bare": bare, "wrapped": inside} for kind, (bare, inside) in per_kind.items()},
        "per_wrap": per_wrap,
        "per_innocent": innocent,
        "clean_cpu_ms_per_kb": round(on_clean_text(), 4),
        "standard_library": on_real_text(),
    }


def show(figures: dict[str, object]) -> None:
    for title in ("per_kind", "per_wrap", "per_innocent"):
        print(f"\n{title.replace('_', ' ')}")
        table = figures[title]
        assert isinstance(table, dict)
        for name, value in table.items():
            shares = value.values() if isinstance(value, dict) else (value,)
            print(f"  {name:28}" + "".join(f"{share:10.2%}" for share in shares))
    print()
    for name, value in figures.items():
        if not name.startswith("per_"):
            print(f"{name:24} {value:.3%}" if name.startswith(("recall", "false")) else f"{name:24} {value}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--samples", type=int, default=100, help="samples per kind (default 100)")
    parser.add_argument("--seed", type=int, default=28)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measure(options.samples, options.seed)
    if options.json:
        print(json.dumps(figures, indent=2))
    else:
        show(figures)


if __name__ == "__main__":
    main()
