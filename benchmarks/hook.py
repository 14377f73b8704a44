"""Whole processes of the hooks that a person waits for, on a store of 100,000 passages, against `python -c pass`.

`python -m benchmarks.hook`. With `--rings` the passages are those of each of three rings: the project, a shared space
and the person's own. CPU time of the child, so that other work on the machine does not count; runs alternate.
The store holds learnings and log entries half and half, with a tree; vectors play no part: hooks work on words alone.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import recollect
from benchmarks import corpus
from benchmarks.learnings import bulk
from recollect import Actor, Memory
from recollect.core.journal import NewEntry
from recollect.core.records import Passage
from recollect.store import passages

BATCH = 5_000
PERSON = Actor(name="ada", channel="cli", trust="human")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--rings", action="store_true")
    given = parser.parse_args()
    compileall.compile_dir(Path(recollect.__file__).parent, quiet=2)  # as an installed package is
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch) / "project"
        project.mkdir()
        os.environ |= {"RECOLLECT_HOME": f"{scratch}/data", "XDG_CONFIG_HOME": f"{scratch}/config"}
        os.environ["RECOLLECT_EMBED_USE"] = "off"  # while it is filled: the cycle would make vectors
        _fill(project, given.passages)
        if given.rings:
            _fill_rings(Path(scratch), project, given.passages)
        del os.environ["RECOLLECT_EMBED_USE"]
        prompts = corpus.queries(given.runs, 12)
        asked = [{"session_id": f"s-{run}", "prompt": prompt} for run, prompt in enumerate(prompts)]
        _report("UserPromptSubmit", project, asked)
        started = [{"session_id": f"t-{run}", "source": "startup"} for run in range(given.runs)]
        _report("SessionStart", project, started)


def _fill(project: Path, size: int, *, seed: int = 7) -> None:
    with Memory.open(project, create=True, actor=PERSON) as memory:
        made = list(corpus.learnings(size // 2, seed=seed))
        for start in range(0, len(made), BATCH):
            bulk(memory, made[start : start + BATCH])
        entries = list(corpus.learnings(size - size // 2, seed=seed + 1))
        for start in range(0, len(entries), BATCH):
            with memory.context.db.write(memory.context.space) as tx:
                numbered = enumerate(entries[start : start + BATCH], start)
                passages.add_all(tx, (_entry(number, entry) for number, entry in numbered))
        for entry in corpus.learnings(150, seed=seed + 2):
            memory.journal.add(NewEntry(text=str(entry["observation"]), topic=str(entry["title"])))
        memory.cycle()


def _fill_rings(scratch: Path, project: Path, size: int) -> None:
    """A shared space and the person's own, each as large as the project and with other words."""
    team = scratch / "team"
    team.mkdir()
    _fill(team, size, seed=20)
    with Memory.open(project, actor=PERSON) as memory:
        me = memory.ring("me").project.root
    _fill(me, size, seed=30)
    with Memory.open(team, actor=PERSON) as memory:
        name = memory.context.space
    (scratch / "config" / "recollect").mkdir(parents=True)
    (scratch / "config" / "recollect" / "config.toml").write_text(f'[rings]\nshared = ["{name}"]\n', "utf-8")


def _entry(number: int, entry: dict[str, object]) -> Passage:
    """A log entry as search sees it."""
    day = f"2{number // 28 // 12:03d}-{number // 28 % 12 + 1:02d}-{number % 28 + 1:02d}"
    return Passage(
        id=f"log/{day}#1",
        kind="log",
        title=str(entry["title"]),
        lines=(str(entry["observation"]), str(entry["action"])),
        keywords=("project",),
        who="",
        at=number,
        trust="agent",
        thread=f"log/{day}",
        position=1,
    )


def _report(event: str, project: Path, asked: list[dict[str, str]]) -> None:
    command = [sys.executable, "-P", "-m", "recollect", "hook", event, "--host", "claude-code"]
    bare: list[float] = []
    ours: list[float] = []
    wall: list[float] = []
    answered = 0
    for given in asked:
        bare.append(_run([sys.executable, "-c", "pass"], project, "")[0])
        cpu, took, said = _run(command, project, json.dumps({**given, "cwd": str(project)}))
        ours.append(cpu)
        wall.append(took)
        answered += bool(said)
    ours.sort()
    wall.sort()
    base = statistics.median(bare)
    at = int(len(ours) * 0.99)
    print(f"{event}: {len(asked)} runs, {answered} answered; load {os.getloadavg()[0]:.1f}")
    print(f"  `python -c pass`  {base * 1000:.1f} ms CPU")
    print(f"  median  {statistics.median(ours) * 1000:.1f} ms CPU, {statistics.median(ours) / base:.2f} times that")
    print(f"  p99     {ours[at] * 1000:.1f} ms CPU, {ours[at] / base:.2f} times that")
    print(f"  wall    {statistics.median(wall) * 1000:.0f} ms median, {wall[at] * 1000:.0f} ms p99")


def _run(command: list[str], folder: Path, stdin: str) -> tuple[float, float, str]:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=folder, input=stdin, capture_output=True, text=True, check=True)
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, took, done.stdout


if __name__ == "__main__":
    main()
