"""Real processes for fault tests: workers forked from one that has everything imported, so that a kill costs little.

Run as a program (`python processes.py WHAT …`), never inside the test process: a fork there would copy its connections.
A worker acknowledges by writing a line to a pipe after the call returned; what is in the pipe was promised.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from recollect import Actor, LearningEdit, Memory, NewLearning, Stale
from recollect.cli import tasks  # noqa: F401  imported before the fork
from recollect.cli.command import run
from recollect.cli.inject import main as inject_command
from recollect.core.errors import Trouble
from recollect.store.files import content_hash

PERSON = Actor(name="ada", channel="cli", trust="human")
SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split()

Work = Callable[[Memory, random.Random, Callable[..., None]], None]


def words(chance: random.Random, count: int) -> str:
    """Words that no two texts share by accident, so that no learning is taken for another."""
    return " ".join("".join(chance.choices(SYLLABLES, k=4)) for _ in range(count))


def a_learning(chance: random.Random) -> NewLearning:
    return NewLearning(
        title=words(chance, 5),
        context=words(chance, 8),
        observation=words(chance, 12),
        implication=words(chance, 8),
        action=words(chance, 8),
        tags=(words(chance, 1),),
    )


def writes_learnings(memory: Memory, chance: random.Random, acknowledge: Callable[..., None]) -> None:
    """Through Python."""
    kept = memory.learn(a_learning(chance)).learning
    acknowledge(what="learning", id=kept.id, title=kept.title, action=kept.action)


def edits_shared_ones(memory: Memory, chance: random.Random, acknowledge: Callable[..., None]) -> None:
    """Through Python, against others: a stale edit is refused and tried again with what it read."""
    shared = memory.learnings.page(sort="oldest", limit=3)[0]
    chosen = chance.choice(shared)
    mark = words(chance, 3)
    with contextlib.suppress(Stale):
        edited = memory.learnings.edit(chosen.id, LearningEdit(context=mark), expect=chosen.version)
        acknowledge(what="edit", id=edited.id, version=edited.version, mark=mark)


def is_shown_and_rates(memory: Memory, chance: random.Random, acknowledge: Callable[..., None]) -> None:
    """Through the command line, one task after the other."""
    chosen = chance.choice(memory.learnings.page(sort="oldest", limit=3)[0])
    task = words(chance, 2)
    given = ["--task", task, "--outcome", "work", "--learning", chosen.id, "--project", str(memory.project.root)]
    if _quietly(inject_command, given) == 0:
        acknowledge(what="injection", task=task, id=chosen.id)
    given = ["task", "feedback", "--task", task, "--project", str(memory.project.root)]
    if _quietly(run, given, stdin=f"LEARNING_HELPFUL: {chosen.id}\n") == 0:
        acknowledge(what="verdict", task=task, id=chosen.id)


def observes(memory: Memory, chance: random.Random, acknowledge: Callable[..., None]) -> None:
    """Through the command line, a finished task's output."""
    task, text = words(chance, 2), words(chance, 9)
    given = ["task", "observe", "--task", task, "--project", str(memory.project.root)]
    if _quietly(run, given, stdin=f"DISCOVERY[blocker]: {text}\n") == 0:
        acknowledge(what="discovery", task=task, text=text)


def reads(memory: Memory, chance: random.Random, acknowledge: Callable[..., None]) -> None:
    """A reader with a long view of the store."""
    with memory.context.db.read(memory.context.space) as tx:
        for _ in range(20):
            tx.rows("SELECT count(*) FROM events WHERE space = :space")
            time.sleep(0.002)
    memory.search(words(chance, 3))
    time.sleep(0.02)  # with a reader at every instant, the log could never be begun anew


def tends(memory: Memory, chance: random.Random, acknowledge: Callable[..., None]) -> None:
    memory.cycle()
    time.sleep(0.05)


WRITERS: tuple[Work, ...] = (writes_learnings, edits_shared_ones, is_shown_and_rates, observes)


def forked(project: Path, work: Work, seed: int | str, *, rounds: int | None = None) -> tuple[int, int]:
    """A worker that opens the project and works until it is killed, or for some rounds: its process and its pipe."""
    read_end, write_end = os.pipe()
    process = os.fork()
    if process:
        os.close(write_end)
        return process, read_end
    code = 1
    try:
        os.close(read_end)
        chance = random.Random(seed)

        def acknowledge(**said: Any) -> None:
            os.write(write_end, json.dumps(said).encode() + b"\n")

        with Memory.open(project, actor=PERSON) as memory:
            done = 0
            while rounds is None or done < rounds:
                work(memory, chance, acknowledge)
                done += 1
        code = 0
    except Trouble as error:
        os.write(write_end, json.dumps({"what": "trouble", "said": str(error)}).encode() + b"\n")
    except BaseException as error:
        os.write(write_end, json.dumps({"what": "bug", "said": repr(error)}).encode() + b"\n")
    finally:
        os._exit(code)


def said(pipe: int) -> Iterator[dict[str, Any]]:
    """What a worker acknowledged, once it is gone; a line that was cut off by the kill was not said."""
    with os.fdopen(pipe, "rb") as stream:
        for line in stream.read().split(b"\n")[:-1]:
            yield json.loads(line)


def finished(workers: list[tuple[int, int]]) -> list[dict[str, Any]]:
    """Everything that workers said who end by themselves."""
    heard: list[dict[str, Any]] = []
    for process, pipe in workers:
        heard += said(pipe)
        os.waitpid(process, 0)
    return heard


def kills(project: Path, count: int, seed: int) -> dict[str, Any]:
    """Keep four writers, a reader and a tender busy and kill one after the other, `count` times.

    The pace follows the machine: the next one is killed when six writes per kill were acknowledged, at any moment of
    its work.
    """
    chance = random.Random(seed)
    heard: dict[int, bytes] = {}
    workers: dict[int, tuple[Work, int]] = {}

    def start(work: Work) -> None:
        process, pipe = forked(project, work, chance.randrange(2**60))
        workers[process] = (work, pipe)
        heard[pipe] = b""

    def listen(seconds: float) -> None:
        for pipe in select.select([pipe for _, pipe in workers.values()], [], [], seconds)[0]:
            heard[pipe] += os.read(pipe, 65536)

    def stop(process: int) -> Work:
        work, pipe = workers.pop(process)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        while piece := os.read(pipe, 65536):
            heard[pipe] += piece
        gone.append(heard.pop(pipe))
        os.close(pipe)
        return work

    gone: list[bytes] = []
    for work in (*WRITERS, reads, tends):
        start(work)
    killed = 0
    while killed < count:
        while sum(said.count(b"\n") for said in (*gone, *heard.values())) < 6 * (killed + 1):
            listen(0.5)
        time.sleep(chance.uniform(0, 0.03))
        writers = [process for process, (work, _) in workers.items() if work in WRITERS]
        others = [process for process in workers if process not in writers]
        stopped = stop(chance.choice(others) if chance.random() < 0.05 else chance.choice(writers))
        killed += stopped in WRITERS
        start(stopped)
    for process in list(workers):
        stop(process)
    # A line that was cut off by the kill was not said.
    return {"killed": killed, "heard": [json.loads(line) for said in gone for line in said.split(b"\n")[:-1]]}


def _quietly(command: Callable[[list[str]], int], given: list[str], *, stdin: str = "") -> int:
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()))
    out, errors = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = command(given)
    if code not in (0, 1):
        errors.flush()
        raise AssertionError(f"{given}: {errors.buffer.getvalue()!r}")  # type: ignore[attr-defined]
    return code


def main() -> None:
    what, project, *rest = sys.argv[1:]
    os.environ.pop("CLAUDECODE", None)
    print(json.dumps(PROGRAMS[what](Path(project), *map(int, rest))))


def opened_at_once(project: Path, processes: int, seed: int) -> dict[str, Any]:
    """Several processes make the project and write into it at the same instant."""
    start = time.time() + 0.3

    def opens(folder: Path, number: int) -> tuple[int, int]:
        read_end, write_end = os.pipe()
        process = os.fork()
        if process:
            os.close(write_end)
            return process, read_end
        try:
            time.sleep(max(0.0, start - time.time()))
            with Memory.open(folder, create=True, actor=PERSON) as memory:
                kept = memory.learn(a_learning(random.Random(f"{seed} {number}"))).learning
                os.write(write_end, json.dumps({"id": kept.id, "space": memory.context.space}).encode() + b"\n")
        except BaseException as error:
            os.write(write_end, json.dumps({"failed": repr(error)}).encode() + b"\n")
        finally:
            os._exit(0)

    return {"heard": finished([opens(project, number) for number in range(processes)])}


def many_writers(project: Path, processes: int, rounds: int, seed: int) -> dict[str, Any]:
    """Many writers and a long reader at once, none of which may see a lock."""
    workers = [forked(project, WRITERS[number % 4], f"{seed} {number}", rounds=rounds) for number in range(processes)]
    workers.append(forked(project, reads, f"{seed} reader", rounds=max(1, rounds // 4)))
    return {"heard": finished(workers)}


def versioned_edits(project: Path, processes: int, rounds: int, seed: int) -> dict[str, Any]:
    """Each process adds its own words to one text; who was overtaken reads again."""

    def adds(memory: Memory, chance: random.Random, acknowledge: Callable[..., None]) -> None:
        mark = words(chance, 1)
        while True:
            now = memory.learnings.page(sort="oldest", limit=1)[0][0]
            try:
                memory.learnings.edit(now.id, LearningEdit(context=f"{now.context} {mark}"), expect=now.version)
            except Stale:
                acknowledge(what="stale")
                continue
            acknowledge(what="edit", mark=mark)
            return

    return {
        "heard": finished([forked(project, adds, f"{seed} {number}", rounds=rounds) for number in range(processes)])
    }


def vault_swaps(project: Path, processes: int, rounds: int, seed: int) -> dict[str, Any]:
    """Each process adds its own line to one file by compare-and-swap, and one to another by appending."""

    def adds(memory: Memory, chance: random.Random, acknowledge: Callable[..., None]) -> None:
        vault, mark = memory.context.vault, words(chance, 2)
        vault.append("log.md", f"{mark}\n")
        while True:
            text = vault.read("node.md")
            try:
                vault.replace("node.md", f"{text or ''}{mark}\n", expect="" if text is None else content_hash(text))
            except Stale:
                continue
            acknowledge(what="line", mark=mark)
            return

    return {
        "heard": finished([forked(project, adds, f"{seed} {number}", rounds=rounds) for number in range(processes)])
    }


def backups_under_load(project: Path, count: int, seed: int) -> dict[str, Any]:
    """Backups one after the other while four writers never stop, each with what was acknowledged when it began."""
    with Memory.open(project, create=True, actor=PERSON) as memory:
        for number in range(3):
            memory.learn(a_learning(random.Random(f"shared {number}")))
    read_end, write_end = os.pipe()
    processes = []
    for number in range(4):
        process = os.fork()
        if not process:
            chance = random.Random(f"{seed} {number}")
            with Memory.open(project, actor=PERSON) as memory:
                while True:
                    kept = memory.learn(a_learning(chance)).learning
                    os.write(write_end, kept.id.encode() + b"\n")
        processes.append(process)
    os.close(write_end)
    os.set_blocking(read_end, False)
    heard = b""
    copies = []
    with Memory.open(project, actor=PERSON) as memory:
        for number in range(count):
            time.sleep(0.4)
            with contextlib.suppress(BlockingIOError):
                while piece := os.read(read_end, 65536):
                    heard += piece
            acknowledged = heard.decode().split("\n")[:-1]
            path = memory.data.backup(project / f"copy{number}.db").path
            copies.append({"path": path, "acknowledged": acknowledged})
    for process in processes:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    return {"copies": copies}


PROGRAMS: dict[str, Callable[..., dict[str, Any]]] = {
    "backups_under_load": backups_under_load,
    "kills": kills,
    "opened_at_once": opened_at_once,
    "many_writers": many_writers,
    "vault_swaps": vault_swaps,
    "versioned_edits": versioned_edits,
}

if __name__ == "__main__":
    main()
