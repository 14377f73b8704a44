"""The server: requests per second and p95 of search, list and create, as ratios to the same calls on Memory.

    python -m benchmarks.serve [--learnings 1000] [--seconds 3] [--requests 100000] [--store postgresql://…]

One `recollect serve` process, spoken to by 1, 8, 32 and 128 clients that keep their connections; the clients are
threads of this process, so on few cores they take their share of the machine. `Memory` is called here in one thread,
just before each, so that noise hits both. CPU is the server's own. Then so many requests more, and what the server's
memory grew by. Create makes tasks: learnings would be compared to each other, which is not the server's work.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchmarks.corpus import learnings, queries
from recollect import Actor, Memory, NewLearning
from recollect.capture.learn import _made  # the row a capture makes, without comparing it to others
from recollect.store import learnings as rows

CLIENTS = (1, 8, 32, 128)
NAMES = count()

Call = Callable[[int], object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learnings", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--store", default="", help="URL of a store on PostgreSQL, instead of the embedded one")
    given = parser.parse_args()
    if given.store:
        os.environ["RECOLLECT_STORE"] = given.store
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        person = Actor(name="bench", channel="python", trust="human")
        with Memory.open(Path(folder), create=True, actor=person) as memory:
            fill(memory, given.learnings)
            secret = memory.tokens.new("bench")[1]
            with serving(Path(folder)) as (port, process):
                report(memory, port, secret, process.pid, given.seconds)
                growth(port, secret, process.pid, given.requests)


def fill(memory: Memory, size: int) -> None:
    with memory.context.db.write(memory.context.space) as tx:
        for fields in learnings(size):
            made = _made(memory.context, NewLearning(**fields), origin="bench", now=memory.context.clock.now())  # type: ignore[arg-type]
            rows.insert(tx, made)


def calls(memory: Memory) -> dict[str, Call]:
    asked = queries(200, 3)
    return {
        "search": lambda number: memory.search(asked[number % len(asked)]),
        "list": lambda number: memory.learnings.page(limit=50),
        "create": lambda number: memory.work.add_task(f"task-{next(NAMES)}"),
    }


def requests(port: int, secret: str) -> dict[str, Call]:
    """The same over one connection."""
    asked = queries(200, 3)
    line = http.client.HTTPConnection("127.0.0.1", port)
    headers = {"authorization": f"Bearer {secret}", "content-type": "application/json"}

    def ask(method: str, path: str, body: str | None = None) -> None:
        line.request(method, path, body, headers)
        answer = line.getresponse()
        answer.read()
        assert answer.status in (200, 201), answer.status

    return {
        "search": lambda number: ask("GET", f"/api/learnings/search?limit=10&q={quote(asked[number % len(asked)])}"),
        "list": lambda number: ask("GET", "/api/learnings?limit=50"),
        "create": lambda number: ask("POST", "/api/tasks", json.dumps({"id": f"task-{next(NAMES)}"})),
    }


def rate(callers: list[Call], seconds: float) -> tuple[int, float, float]:
    """Calls of all callers together, how many a second, and the p95 of one call in milliseconds.

    Each caller ends with the call it is in, so many callers take longer than they were given.
    """
    taken: list[float] = []
    until = time.monotonic() + seconds

    def work(call: Call) -> None:
        for number in count():
            began = time.perf_counter()
            if time.monotonic() > until:
                return
            call(number)
            taken.append(time.perf_counter() - began)

    threads = [threading.Thread(target=work, args=(call,)) for call in callers]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(taken), len(taken) / (time.monotonic() - began), statistics.quantiles(taken, n=20)[18] * 1000


def report(memory: Memory, port: int, secret: str, pid: int, seconds: float) -> None:
    print("call    clients  per second  of Memory's    p95 ms  of Memory's    CPU ms  of Memory's")
    for name, call in calls(memory).items():
        for first in (call, requests(port, secret)[name]):
            first(0)  # the first search loads a model
        for clients in CLIENTS:
            began = time.process_time()
            made, own, own_p95 = rate([call], seconds)
            own_cpu = (time.process_time() - began) / made * 1000
            began = cpu(pid)
            made, served, p95 = rate([requests(port, secret)[name] for _ in range(clients)], seconds)
            used = (cpu(pid) - began) / made * 1000
            print(
                f"{name:<8}{clients:>7}{served:>12,.0f}{served / own:>13.2f}{p95:>10.2f}{p95 / own_p95:>13.1f}"
                f"{used:>10.2f}{used / own_cpu:>13.1f}",
                flush=True,
            )


def cpu(pid: int) -> float:
    """Seconds of processor time a process took so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def growth(port: int, secret: str, pid: int, wanted: int) -> None:
    """The server's memory over many requests of all kinds."""
    parts = 10
    print(f"memory after {wanted:,} requests:", end="")
    for part in range(parts + 1):
        print(f" {resident(pid):.1f}", end="", flush=True)
        files = len(os.listdir(f"/proc/{pid}/fd"))
        if part < parts:
            some = [list(requests(port, secret).values()) for _ in range(8)]
            spread(some, wanted // parts // len(some))
    print(f" MB; {files} open files")


def spread(callers: list[list[Call]], each: int) -> None:
    def work(kinds: list[Call]) -> None:
        for number in range(each):
            kinds[number % len(kinds)](number)

    threads = [threading.Thread(target=work, args=(kinds,)) for kinds in callers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def resident(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


@contextmanager
def serving(folder: Path) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    environ: dict[str, Any] = {**os.environ, "RECOLLECT_SERVE_REQUESTS_PER_MINUTE": "100000000"}
    process = subprocess.Popen(
        [sys.executable, "-m", "recollect", "serve", "--port", "0", "--no-cycle"],
        cwd=folder,
        env=environ,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        found = re.search(r":(\d+);", process.stderr.readline())
        assert found is not None
        yield int(found[1]), process
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
