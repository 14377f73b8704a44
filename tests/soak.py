# ruff: noqa: E501
"""A server, hooks, commands and cycles at once for a long time: memory, open files and times must stay flat.

    python tests/soak.py MINUTES

Prints a line for each of twelve equal parts, then fails when the server of the last three parts held over a quarter more memory
or more open files than in the second to fourth, or when anything failed. Times are for a person to compare.
"""

from __future__ import annotations

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
from pathlib import Path

from recollect import Actor, Memory

PARTS = 12
PERSON = Actor(name="soak", channel="python", trust="human")
WORDS = "ledger refund invoice queue webhook cache index lock retry token parser budget lease cycle".split()


def resident(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def said(number: int) -> str:
    return " ".join(WORDS[(number * step) % len(WORDS)] for step in (1, 3, 5, 7)) + f" case{number}"


class Callers:
    """Threads that never stop: requests to the server, hooks of a session, commands, cycles."""

    def __init__(self, root: Path, port: int, secret: str):
        self.root, self.port, self.secret = root, port, secret
        self.stop, self.failed, self.times, self.counts = threading.Event(), [], [], {}  # type: ignore[var-annotated]
        self.threads = [
            threading.Thread(target=self.loop, args=(work,))
            for work in (self.request, self.hook, self.command, self.cycle)
        ]

    def loop(self, work) -> None:  # type: ignore[no-untyped-def]
        number = 0
        while not self.stop.is_set():
            try:
                work(number)
            except Exception as error:
                self.failed.append(f"{work.__name__}: {error!r}"[:300])
            number += 1
            self.counts[work.__name__] = number

    def request(self, number: int) -> None:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"authorization": f"Bearer {self.secret}", "content-type": "application/json"}
        for method, path, body in (
            ("POST", "/api/tasks", json.dumps({"id": f"task-{number}", "title": said(number)})),
            ("GET", f"/api/learnings/search?limit=10&q=case{number}", None),
            ("GET", "/api/learnings?limit=20", None),
        ):
            began = time.perf_counter()
            line.request(method, path, body, headers)
            answer = line.getresponse()
            answer.read()
            assert answer.status in (200, 201), answer.status
            self.times.append(time.perf_counter() - began)
        line.close()
        time.sleep(0.05)

    def hook(self, number: int) -> None:
        given = {"session_id": f"s{number % 20}", "cwd": str(self.root), "prompt": said(number)}
        self.run(["hook", "UserPromptSubmit", "--host", "claude-code"], json.dumps(given))
        self.run(
            ["hook", "Stop", "--host", "claude-code"],
            json.dumps({**given, "last_assistant_message": f"Done: {said(number)}"}),
        )
        time.sleep(1)

    def command(self, number: int) -> None:
        self.run(["log", "add", f"Worked on {said(number)}"])
        self.run(["search", said(number)])
        time.sleep(1)

    def cycle(self, number: int) -> None:
        self.run(["cycle"])
        time.sleep(15)

    def run(self, command: list[str], given: str = "") -> None:
        done = subprocess.run(
            [sys.executable, "-m", "recollect", *command],
            cwd=self.root,
            input=given,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr


def main(minutes: float) -> int:
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(
            HOME=folder,
            RECOLLECT_HOME=f"{folder}/home",
            RECOLLECT_EMBED_USE="off",
            RECOLLECT_SERVE_REQUESTS_PER_MINUTE="1000000",
        )
        os.environ.pop("CLAUDECODE", None)
        root = Path(folder) / "project"
        root.mkdir()
        with Memory.open(root, create=True, actor=PERSON) as memory:
            secret = memory.tokens.new("soak")[1]
        server = subprocess.Popen(
            [sys.executable, "-m", "recollect", "serve", "--port", "0"],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert server.stdout
        port = 0
        while not port:
            found = re.search(r"127\.0\.0\.1:(\d+)", server.stdout.readline())
            port = int(found[1]) if found else 0
        threading.Thread(target=server.stdout.read, daemon=True).start()
        callers = Callers(root, port, secret)
        for thread in callers.threads:
            thread.start()
        parts = []
        for part in range(PARTS):
            time.sleep(minutes * 60 / PARTS)
            times, callers.times = callers.times, []
            row = (
                resident(server.pid),
                len(os.listdir(f"/proc/{server.pid}/fd")),
                statistics.median(times) * 1000,
                len(times),
            )
            parts.append(row)
            print(
                f"part {part + 1:2}: {row[0]:6.1f} MB, {row[1]} open files, median call {row[2]:.1f} ms, {row[3]} calls",
                flush=True,
            )
        callers.stop.set()
        for thread in callers.threads:
            thread.join()
        server.terminate()
        server.wait(30)
        with Memory.open(root, actor=PERSON) as memory:
            wrong = [str(each) for each in memory.data.verify()] + callers.failed
    early, late = parts[1:4], parts[-3:]
    for what, place, most in (("memory", 0, 1.25), ("open files", 1, 1.25)):
        before, after = (statistics.median(row[place] for row in rows) for rows in (early, late))
        if after > before * most:
            wrong.append(f"{what} grew from {before:.1f} to {after:.1f}")
    print(json.dumps({"calls": callers.counts, "wrong": wrong[:20]}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
