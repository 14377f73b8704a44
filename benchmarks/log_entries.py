"""What one more log entry costs by how many its day has: CPU milliseconds of `Memory.journal.add`, the median of ten.

python -m benchmarks.log_entries [--sizes 10 100 300 600]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time

from benchmarks.corpus import learnings
from recollect import Memory
from recollect.core.journal import NewEntry

MEASURED = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100, 300, 600])
    sizes = parser.parse_args().sizes
    texts = (f"{one['title']} {one['observation']}"[:230] for one in learnings(max(sizes) + MEASURED))
    taken: list[float] = []
    with tempfile.TemporaryDirectory() as folder, Memory.open(folder, create=True) as memory:
        for text in texts:
            started = time.process_time()
            memory.journal.add(NewEntry(text=text))
            taken.append((time.process_time() - started) * 1000)
    for size in sizes:
        print(f"{size:>6} entries: {statistics.median(taken[size : size + MEASURED]):.2f} ms")


if __name__ == "__main__":
    main()
