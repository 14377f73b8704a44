"""The journal and its tree with many processes at once, some of them killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import pytest

from recollect import Memory, ScriptedClock
from recollect.core.journal import NewEntry
from recollect.text import entries
from trees import grow, reachable

NOW = "2026-03-02T09:00:00Z"
DAY = date(2026, 3, 2)

WRITER = """
import sys
from recollect import Memory
from recollect.core.journal import NewEntry
memory = Memory.open(sys.argv[1])
for n in range(int(sys.argv[3])):
    logged = memory.journal.add(NewEntry(text=f"writer {sys.argv[2]} says {n}\\n```\\nopen fence", topic=f"t{n % 5}"))
    print(logged.id, f"{sys.argv[2]}/{n}", flush=True)
"""
CYCLER = """
import sys
from recollect import Memory
memory = Memory.open(sys.argv[1])
print("ready", flush=True)
for _ in range(int(sys.argv[2])):
    for change in memory.journal.compact()[0].changes:
        print(change.id, change.what, flush=True)
"""


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    environ = {**os.environ, "RECOLLECT_NOW": NOW}
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)


def made(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path, create=True, clock=ScriptedClock(NOW))


def files_of(memory: Memory) -> dict[str, str]:
    vault = memory.context.vault
    return {path: vault.read(path) or "" for path in vault.paths() if "/" in path or path.startswith("ROOT")}


def test_six_writers_and_two_cycles_at_once_lose_no_entry(tmp_path: Path) -> None:
    made(tmp_path).close()
    writers = [start(WRITER, tmp_path, name, 15) for name in "abcdef"]
    cyclers = [start(CYCLER, tmp_path, 10) for _ in range(2)]
    said = [line.split() for writer in writers for line in writer.communicate()[0].splitlines()]
    for cycler in cyclers:
        cycler.communicate()
    assert [process.returncode for process in (*writers, *cyclers)] == [0] * 8
    assert len(said) == 90
    with made(tmp_path) as memory:
        for id, who in said:
            name, n = who.split("/")
            assert memory.journal.entry(id).text.startswith(f"writer {name} says {n}\n"), id
        memory.journal.compact()
        log = memory.journal.show(DAY)
        assert {entry.ref for entry in entries.parse(DAY, log)} <= reachable(files_of(memory))
        assert files_of(memory) == grow({DAY: log}, DAY)


def test_a_writer_killed_again_and_again_loses_nothing_it_was_told_is_saved(tmp_path: Path) -> None:
    made(tmp_path).close()
    said: list[list[str]] = []
    for round in range(6):
        writer = start(WRITER, tmp_path, f"r{round}", 1000)
        assert writer.stdout
        said += [writer.stdout.readline().split() for _ in range(6)]
        writer.send_signal(signal.SIGKILL)
        said += [line.split() for line in writer.communicate()[0].splitlines() if "/" in line.partition(" ")[2]]
    with made(tmp_path) as memory:
        found = {entry.ref: entry.text for entry in entries.parse(DAY, memory.journal.show(DAY))}
        for id, who in said:
            name, n = who.split("/")
            assert found[id.removeprefix("log/")].startswith(f"writer {name} says {n}\n")
    assert len(said) >= 36


def test_a_cycle_killed_at_any_moment_is_finished_by_the_next(tmp_path: Path) -> None:
    with made(tmp_path) as memory:
        for n in range(40):
            memory.context.vault.append(f"2026-01-{n % 28 + 1:02d}.md", f"## topic {n}\nDecided {n}. Shipped v{n}.\n\n")
    for delay in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4):
        cycler = start(CYCLER, tmp_path, 1)
        assert cycler.stdout
        assert cycler.stdout.readline() == "ready\n"
        time.sleep(delay)
        cycler.send_signal(signal.SIGKILL)
        cycler.communicate()
        with Memory.open(tmp_path, clock=ScriptedClock("2026-03-02T10:00:00Z")) as memory:
            assert memory.context.vault.paths("daily") == sorted(memory.context.vault.paths("daily"))
    with Memory.open(tmp_path, clock=ScriptedClock("2026-03-02T10:00:00Z")) as memory:  # after the dead one's lease
        memory.journal.compact()
        days = [date(2026, 1, n + 1) for n in range(28)]
        assert files_of(memory) == grow({day: memory.journal.show(day) for day in days}, DAY)


@pytest.mark.parametrize("level", ["daily", "weekly", "monthly"])
def test_a_pass_cut_off_before_any_level_is_finished_by_the_next(tmp_path: Path, level: str) -> None:
    def stop(reached: str, *_: int) -> None:
        if reached == level:
            raise KeyboardInterrupt

    days = [date(2026, 1, n + 1) for n in range(28)]
    with made(tmp_path) as memory:
        for day in days:
            memory.context.vault.append(f"{day}.md", f"## topic\nDecided {day}.\n\n")
        with pytest.raises(KeyboardInterrupt):
            memory.journal.compact(progress=stop)
        memory.journal.compact()
        assert files_of(memory) == grow({day: memory.journal.show(day) for day in days}, DAY)


def test_two_cycles_at_once_do_each_node_once(tmp_path: Path) -> None:
    with made(tmp_path) as memory:
        for n in range(28):
            memory.journal.add(NewEntry(text=f"n {n}", topic="t"))
            memory.context.vault.append(f"2026-01-{n + 1:02d}.md", f"## topic {n}\nDecided {n}.\n\n")
    cyclers = [start(CYCLER, tmp_path, 1) for _ in range(6)]
    lines = [line for cycler in cyclers for line in cycler.communicate()[0].splitlines() if line != "ready"]
    assert [cycler.returncode for cycler in cyclers] == [0] * 6
    created = [line for line in lines if line.endswith("created")]
    assert len(created) == len(set(created)) == 29 + 6 + 2 + 1
