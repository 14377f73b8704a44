"""One memory behind JSON lines, so that `benchmarks.peers` can ask every memory the same way.

    python -P peer_driver.py NAME FOLDER URL

Runs in the interpreter of the memory it drives, so it imports nothing else at the top. Says `{"version": …}`, then
answers `{"add": {id, session, who, date, at, text}}` with whether it was kept as a text of its own, and
`{"search": query, "k": 10}` with ids, both with the CPU milliseconds of this process. Each memory is called the way
its documentation or its MCP server calls it, with its defaults; it may write to FOLDER, and URL gives vectors.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

Text = dict[str, Any]
MODEL = "all-MiniLM-L6-v2"
SIZE = 384


class Driver(Protocol):
    def add(self, text: Text) -> str:
        """The memory's own id for it."""
        ...

    def search(self, query: str, k: int) -> list[str]:
        """The memory's own ids, best first."""
        ...


def said(text: Text) -> str:
    """All that Recollect is told; the others rank by what stands in the text, so the date stands there too."""
    return f"[{text['date']}] {text['who']}: {text['text']}"


class Mem0:
    def __init__(self, folder: Path, url: str) -> None:
        endpoint: dict[str, Any] = {"model": MODEL, "api_key": "none", "openai_base_url": url}
        store = {"path": str(folder / "qdrant"), "embedding_model_dims": SIZE, "on_disk": True}
        self._memory = import_module("mem0").Memory.from_config(
            {
                "embedder": {"provider": "openai", "config": {**endpoint, "embedding_dims": SIZE}},
                "llm": {"provider": "openai", "config": endpoint},  # it wants one, and never asks it
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": str(folder / "history.db"),
            }
        )

    def add(self, text: Text) -> str:
        made = self._memory.add(said(text), user_id="u", metadata={"session": text["session"]}, infer=False)
        return str(made["results"][0]["id"])

    def search(self, query: str, k: int) -> list[str]:
        return [hit["id"] for hit in self._memory.search(query, filters={"user_id": "u"}, top_k=k)["results"]]


class MemPalace:
    """`vector` re-ranks the nearest by BM25; `union` adds the best by BM25 to them."""

    def __init__(self, folder: Path, url: str, candidates: str = "vector") -> None:
        self._candidates = candidates
        os.environ |= {
            "MEMPALACE_PALACE_PATH": str(folder / "palace"),
            "MEMPALACE_CONFIG_DIR": str(folder / "config"),
            "MEMPALACE_EMBEDDING_MODEL": "openai-compat",
            "MEMPALACE_EMBEDDING_API_URL": url,
            "MEMPALACE_EMBEDDING_API_MODEL": MODEL,
        }
        self._tools = import_module("mempalace.mcp_server")

    def add(self, text: Text) -> str:
        made = self._tools.tool_add_drawer(wing="talk", room=f"session {text['session']}", content=said(text))
        return str(_checked(made)["drawer_id"])

    def search(self, query: str, k: int) -> list[str]:
        found = _checked(self._tools.tool_search(query, limit=k, candidate_strategy=self._candidates))
        return [hit["drawer_id"] for hit in found["results"]]


class MemSearch:
    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder / "notes"
        self._folder.mkdir()
        self._loop = asyncio.new_event_loop()
        self._memory = import_module("memsearch").MemSearch(
            [self._folder],
            embedding_provider="openai",
            embedding_model=MODEL,
            embedding_base_url=url,
            embedding_api_key="none",
            milvus_uri=str(folder / "milvus.db"),
        )

    def add(self, text: Text) -> str:
        file = (self._folder / f"{text['id'].replace('/', '_')}.md").resolve()
        file.write_text(said(text))
        self._loop.run_until_complete(self._memory.index_file(file))
        return str(file)

    def search(self, query: str, k: int) -> list[str]:
        return [hit["source"] for hit in self._loop.run_until_complete(self._memory.search(query, top_k=k))]


class McpMemoryService:
    """`semantic` is the nearest alone; `hybrid` fuses them with BM25."""

    def __init__(self, folder: Path, url: str, mode: str = "semantic") -> None:
        self._mode = mode
        os.environ |= {
            "MCP_MEMORY_BASE_DIR": str(folder),
            "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec",
            "MCP_EXTERNAL_EMBEDDING_URL": f"{url}/embeddings",
            "MCP_EXTERNAL_EMBEDDING_MODEL": MODEL,
        }
        self._loop = asyncio.new_event_loop()
        storage = import_module("mcp_memory_service.storage.sqlite_vec").SqliteVecMemoryStorage
        self._storage = storage(str(folder / "memory.db"))
        self._loop.run_until_complete(self._storage.initialize())
        self._hash = import_module("mcp_memory_service.utils.hashing").generate_content_hash
        self._service = import_module("mcp_memory_service.services.memory_service").MemoryService(self._storage)

    def add(self, text: Text) -> str:
        # Naming the conversation keeps a text that is only similar to another.
        made = self._loop.run_until_complete(self._service.store_memory(said(text), conversation_id=text["session"]))
        if "Duplicate content" not in made.get("error", ""):
            _checked(made)
        return str(self._hash(said(text)))

    def search(self, query: str, k: int) -> list[str]:
        found = self._loop.run_until_complete(self._storage.search_memories(query, mode=self._mode, limit=k))
        return [hit["content_hash"] for hit in _checked(found)["memories"]]


class Fts5:
    """BM25 alone, as SQLite brings it."""

    def __init__(self, folder: Path, url: str) -> None:
        self._tokens = import_module("recollect.text.tokens")
        self._db = import_module("apsw").Connection(str(folder / "bare.db"))
        self._db.execute("PRAGMA journal_mode=WAL").fetchall()
        self._db.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='porter')")

    def add(self, text: Text) -> str:
        self._db.execute("INSERT INTO texts (text) VALUES (?)", (said(text),))
        return str(self._db.last_insert_rowid())

    def search(self, query: str, k: int) -> list[str]:
        some = [word for word in self._tokens.words(query) if word.lower() not in self._tokens.STOP_WORDS]
        any_of = " OR ".join(f'"{word}"' for word in some)
        found = "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?"
        return [str(row[0]) for row in self._db.execute(found, (any_of, k))]


def _checked(answer: dict[str, Any]) -> dict[str, Any]:
    if answer.get("error"):
        raise RuntimeError(answer["error"])
    return answer


def _recollect(folder: Path, url: str) -> Driver:
    made: Driver = import_module("benchmarks.peer_recollect").Recollect(folder, url)
    return made


DRIVERS: dict[str, tuple[str, Callable[[Path, str], Driver]]] = {
    "mem0": ("mem0ai", Mem0),
    "mempalace": ("mempalace", MemPalace),
    "mempalace-union": ("mempalace", partial(MemPalace, candidates="union")),
    "memsearch": ("memsearch", MemSearch),
    "mcp-memory-service": ("mcp-memory-service", McpMemoryService),
    "mcp-memory-service-hybrid": ("mcp-memory-service", partial(McpMemoryService, mode="hybrid")),
    "fts5": ("apsw", Fts5),
    "recollect": ("recollect-memory", _recollect),
    "recollect-words": ("recollect-memory", lambda folder, url: _recollect(folder, "")),
}


def _only_loopback(event: str, given: tuple[Any, ...]) -> None:
    address = given[1] if event == "socket.connect" else given[0] if event == "socket.getaddrinfo" else None
    host = address[0] if isinstance(address, tuple) else address if event == "socket.getaddrinfo" else None
    if host is not None and host not in ("127.0.0.1", "::1", "localhost", b"localhost"):
        raise PermissionError(f"nothing but loopback is spoken to while measuring, not {host}")


def main() -> None:
    name, folder, url = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a memory prints is no answer
    sys.addaudithook(_only_loopback)
    package, make = DRIVERS[name]
    driver = make(folder, url)
    text_of: dict[str, str] = {}
    answers.write(json.dumps({"version": version(package)}) + "\n")
    for line in sys.stdin:
        asked = json.loads(line)
        started = time.process_time()
        if text := asked.get("add"):
            own = driver.add(text)
            answer: dict[str, Any] = {"kept": text_of.setdefault(own, text["id"]) == text["id"]}
        else:
            found = driver.search(asked["search"], asked["k"])
            answer = {"ids": list(dict.fromkeys(text_of[own] for own in found))}
        answer["cpu"] = 1000 * (time.process_time() - started)
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
