"""CPU of whole processes of everyday commands, as a multiple of `python -c pass`.

`python -m benchmarks.start_up`. User and system time of the child process, median of nine runs that alternate with the
bare interpreter, so that other work on the machine hardly counts. The store is small: what is measured is imports and
opening. No embedder is configured.
"""

from __future__ import annotations

import compileall
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import recollect
from benchmarks import corpus
from recollect import Actor, Memory
from recollect.core.journal import NewEntry
from recollect.core.new_learning import NewLearning

RUNS = 9
LEARNINGS = 50
PERSON = Actor(name="ada", channel="cli", trust="human")
PROMPT = {"session_id": "s-1", "prompt": "the invoices fail when the worker retries a webhook"}
FIELDS = ("title", "context", "observation", "implication", "action")
LIST = "".join(
    json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": {}}) + "\n"
    for number, method in enumerate(("initialize", "tools/list"))
)
START = {"session_id": "s-2", "source": "startup"}

# Each command with the ratio that it should not exceed, and its standard input. `learn add` gets other words each run.
# What writes comes last: the measured cycles are idle.
COMMANDS: tuple[tuple[str, float, str], ...] = (
    ("--version", 3, ""),
    ("--help", 8, ""),
    ("status", 8, ""),
    ("search invoices", 8, ""),
    ("cycle", 10, ""),
    ("inject --task T-1 --outcome billing --title invoices", 4, ""),
    ("hook UserPromptSubmit --host claude-code", 5, json.dumps(PROMPT)),
    ("hook SessionStart --host claude-code", 5, json.dumps(START)),
    ("mcp", 8, LIST),
    ("learn add", 8, ""),
    ("log add Retried.", 10, ""),
)


def main() -> None:
    compileall.compile_dir(Path(recollect.__file__).parent, quiet=2)  # as an installed package is
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch)
        _fill(project)
        _cpu([sys.executable, "-P", "-m", "recollect", "cycle"], project, "")
        bare: list[float] = []
        found: dict[str, list[float]] = {command: [] for command, _, _ in COMMANDS}
        for command, _, stdin in COMMANDS:
            for learning in corpus.learnings(RUNS, seed=5):
                said = [f"--{name}={learning[name]}" for name in FIELDS]
                bare.append(_cpu([sys.executable, "-c", "pass"], project, ""))
                arguments = [*command.split(), *(said if command == "learn add" else ())]
                found[command].append(_cpu([sys.executable, "-P", "-m", "recollect", *arguments], project, stdin))
    base = statistics.median(bare)
    print(f"`python -c pass`: {base * 1000:.1f} ms CPU; median of {RUNS}; load {os.getloadavg()[0]:.1f}")
    print("| command | CPU ms | ratio | aim |\n|---|---|---|---|")
    for command, aim, _ in COMMANDS:
        took = statistics.median(found[command])
        name = " ".join(command.split()[:2])
        print(f"| `{name}` | {took * 1000:.0f} | {took / base:.1f} | ≤ {aim:g} |")


def _fill(project: Path) -> None:
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    with Memory.open(project, create=True, actor=PERSON) as memory:
        for learning in corpus.learnings(LEARNINGS):
            memory.learn(NewLearning(**learning))  # type: ignore[arg-type]
        for entry in corpus.learnings(LEARNINGS, seed=9):
            memory.journal.add(NewEntry(text=str(entry["observation"]), topic=str(entry["title"])))
    with (project / "recollect.toml").open("a") as settings:
        settings.write('\n[embed]\nuse = "off"\n')


def _cpu(command: list[str], folder: Path, stdin: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, input=stdin, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
