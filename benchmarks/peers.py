"""Other memories on the same texts in the same run: what they find, and what a search and a text cost.

    python -m benchmarks.peers DIR [--stores N] [--queries N] [--peer NAME…] [--envs FOLDER] [--python PYTHON]
        [--cache FILE] [--json]

DIR is a folder as `benchmarks.retrieval` reads it. Each peer gets a virtual environment of its own in FOLDER, made by
the first run, because their dependencies clash; PYTHON (3.11 or newer) makes them, and mcp-memory-service wants one
whose sqlite3 loads extensions. `peer_driver.py` runs there and is told one text or one question at a
time; the sides take turns, so that noise hits all. All of them get the same MiniLM vectors from a server on loopback.

Single texts count among the ten hits of the search that is timed, sessions among fifty hits of a second one. A search
embeds its question anew and its time includes that; `vector` is how much of it the server took. Texts are
embedded once for all sides, so the time of adding one is without the server's; `vectors a text` says how many it gave.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Self

from benchmarks.embeddings_server import Embeddings, serving
from benchmarks.retrieval import Figures, in_order, stores

MEMPALACE, MCP_MEMORY_SERVICE = "mempalace==3.11.0", "mcp-memory-service==12.2.0"
NEEDED = {
    "mempalace": MEMPALACE,
    "mempalace-union": MEMPALACE,
    "mem0": "mem0ai==2.2.1",
    "memsearch": "memsearch==0.4.23",
    "mcp-memory-service": MCP_MEMORY_SERVICE,
    "mcp-memory-service-hybrid": MCP_MEMORY_SERVICE,
}
OURS = ("recollect", "recollect-words", "fts5")
TIMED, DEEP = 10, 50
QUIET = {"MEM0_TELEMETRY": "False", "ANONYMIZED_TELEMETRY": "False", "DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1"}


class Gone(Exception):
    """A memory that could not be installed, started or asked; the rest goes on without it."""


@dataclass
class Tally:
    version: str = ""
    texts: Figures = field(default_factory=Figures)
    sessions: Figures = field(default_factory=Figures)
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    vectors: int = 0
    refused: int = 0

    def shown(self) -> dict[str, Any]:
        return {
            "version": self.version,
            "texts": self.texts.shown(),
            "sessions": self.sessions.shown(),
            "p50": {name: round(statistics.median(times), 1) for name, times in self.times.items()},
            "vectors a text": round(self.vectors / max(1, len(self.times["add"])), 2),
            "texts refused": self.refused,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--stores", type=int, help="only the first so many")
    parser.add_argument("--queries", type=int, help="only the first so many of each store")
    parser.add_argument("--peer", nargs="+", choices=(*NEEDED, *OURS), default=[*OURS, *NEEDED])
    parser.add_argument("--envs", type=Path, default=Path(tempfile.gettempdir()) / "recollect-peers")
    parser.add_argument("--python", default=sys.executable, help="what makes the environments")
    parser.add_argument("--cache", type=Path, help="a file that keeps the vectors of texts between runs")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    gone: dict[str, str] = {}
    interpreters = {}
    for name in given.peer:
        with _leaving_out(name, gone):
            interpreters[name] = sys.executable if name in OURS else _installed(NEEDED[name], given.envs, given.python)
    tallies = {name: Tally() for name in interpreters}
    embeddings = Embeddings(given.cache)
    with serving(embeddings) as url:
        for texts, questions in islice(stores(given.folder), given.stores):
            _run(interpreters, texts, questions[: given.queries], embeddings, url, tallies, gone)
    shown = {name: tally.shown() for name, tally in tallies.items() if name not in gone}
    print(json.dumps({"peers": shown, "left out": gone}, indent=2) if given.json else _as_text(shown, gone))


@contextmanager
def _leaving_out(name: str, gone: dict[str, str]) -> Iterator[None]:
    """Go on without a memory that fails, and keep its first reason."""
    try:
        yield
    except Gone as failure:
        gone.setdefault(name, str(failure))


def _installed(requirement: str, envs: Path, maker: str) -> str:
    """The interpreter of an environment that holds a peer, made when there is none."""
    folder = envs / requirement
    python, done = folder / "bin" / "python", folder / "installed"
    if not done.exists():
        make = (
            [maker, "-m", "venv", "--clear", str(folder)],
            [str(python), "-m", "pip", "install", "--quiet", "--only-binary", ":all:", requirement],
        )
        for command in make:
            if (ran := subprocess.run(command, capture_output=True, text=True)).returncode:
                raise Gone(f"{requirement} does not install: {_last_line(ran.stderr)}")
        done.touch()
    return str(python)


class Peer:
    """One memory in a process of its own, with a store of its own."""

    def __init__(self, name: str, python: str, folder: Path, url: str) -> None:
        folder.mkdir()
        environ = {**os.environ, **QUIET, "HOME": str(folder)}
        if name in OURS:
            environ["PYTHONPATH"] = os.pathsep.join(sys.path)
        self._errors = (folder / "errors").open("w+")
        self._process = subprocess.Popen(
            [python, "-P", str(Path(__file__).with_name("peer_driver.py")), name, str(folder), url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environ,
            cwd=folder,
            text=True,
        )
        self.version = str(self._answer()["version"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def ask(self, **asked: Any) -> tuple[dict[str, Any], float]:
        """The answer, and the milliseconds until it came."""
        assert self._process.stdin is not None
        started = time.perf_counter()
        with suppress(BrokenPipeError):  # why is among its errors
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
        return self._answer(), 1000 * (time.perf_counter() - started)

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        if line := self._process.stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            return answer
        self._process.wait()
        self._errors.seek(0)
        raise Gone(_last_line(self._errors.read()))


def _run(
    interpreters: dict[str, str],
    texts: Sequence[dict[str, Any]],
    questions: Sequence[dict[str, Any]],
    embeddings: Embeddings,
    url: str,
    tallies: dict[str, Tally],
    gone: dict[str, str],
) -> None:
    """Give one store's texts to every memory and ask its questions, by turns."""
    session_of = {text["id"]: text["session"] for text in texts}
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        peers: dict[str, Peer] = {}
        for name, python in interpreters.items():
            with _leaving_out(name, gone):
                peers[name] = stack.enter_context(Peer(name, python, scratch / name, url))
                tallies[name].version = peers[name].version
        for moment, text in in_order(texts):
            for name, peer in peers.items():
                with _leaving_out(name, gone):
                    _add(peer, {**text, "at": moment}, embeddings, tallies[name])
        for question in questions:
            for name, peer in peers.items():
                with _leaving_out(name, gone):
                    _search(peer, question, session_of, embeddings, tallies[name])


def _add(peer: Peer, text: dict[str, Any], embeddings: Embeddings, tally: Tally) -> None:
    embeddings.restart(reuse=True)
    answer, took = peer.ask(add=text)
    tally.times["add"].append(took - embeddings.spent)
    tally.times["add CPU"].append(answer["cpu"])
    tally.vectors += embeddings.given
    tally.refused += not answer["kept"]


def _search(
    peer: Peer, question: dict[str, Any], session_of: dict[str, str], embeddings: Embeddings, tally: Tally
) -> None:
    embeddings.restart(reuse=False)
    answer, took = peer.ask(search=question["query"], k=TIMED)
    tally.times["search"].append(took)
    tally.times["search CPU"].append(answer["cpu"])
    tally.times["vector"].append(embeddings.spent)
    tally.texts.add(answer["ids"], question["gold"])
    embeddings.restart(reuse=True)
    deep, _ = peer.ask(search=question["query"], k=DEEP)
    tally.sessions.add(list(dict.fromkeys(session_of[id] for id in deep["ids"])), question["gold_sessions"])


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it ended without a word"])[-1]


def _as_text(shown: dict[str, dict[str, Any]], gone: dict[str, str]) -> str:
    times = ("search", "search CPU", "vector", "add", "add CPU")
    heads = ("text@5", "text@10", "session@5", "session@10", *times, "vectors", "refused")
    lines = [f"{'':<34}" + "".join(f"{head:>11}" for head in heads)]
    for name, figures in shown.items():
        recall = [figures[level][f"recall@{k}"] for level in ("texts", "sessions") for k in (5, 10)]
        costs = [figures["p50"].get(name, 0) for name in times]
        row = [*recall, *costs, figures["vectors a text"], figures["texts refused"]]
        lines.append(f"{name + ' ' + figures['version']:<34}" + "".join(f"{cell:>11.4g}" for cell in row))
    return "\n".join([*lines, *(f"{name} was left out: {reason}" for name, reason in gone.items())])


if __name__ == "__main__":
    main()
