"""The providers of answers and vectors: Anthropic, OpenAI-compatible endpoints, and any program.

A provider makes one call within a time limit and turns every failure into one NoAnswer whose text is safe to show. The
SDKs are extras, imported at the call. Keys are read when a call needs one and stored nowhere.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import PurePath
from typing import IO, Any, TypeVar
from urllib.parse import urlsplit

from recollect.core.context import Completion, Prompt
from recollect.core.errors import NoAnswer
from recollect.text.redact import redact

Key = Callable[[], str]
KEY_COMMAND_SECONDS = 10  # a password manager may ask its agent over the network


def key_from(environ: Mapping[str, str], variable: str, command: Sequence[str]) -> Key:
    def read() -> str:
        if not variable and not command:
            return "none"  # your own server may need no key, and must not be sent another provider's
        found = _printed(command) if command else environ.get(variable, "").strip()
        if not found:
            where = "the key command printed nothing" if command else f"{variable} is not set"
            raise NoAnswer(f"no API key: {where}")
        if not found.isascii() or not found.isprintable():
            raise NoAnswer("the key is not one line of printable ASCII characters")
        return found

    return read


def _printed(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=KEY_COMMAND_SECONDS,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise NoAnswer(f"the key command {command[0]} could not be run: {type(error).__name__}") from None
    if done.returncode:
        raise NoAnswer(f"the key command {command[0]} failed with exit code {done.returncode}")
    return done.stdout.decode("utf-8", "replace").strip()


T = TypeVar("T")
RETRIED_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})  # 529: Anthropic is overloaded
MAX_REASON_CHARS = 200  # of a server's message; enough for its first sentence


def call_sdk(sdk: str, client: str, *, key: Key, base_url: str, seconds: float, call: Callable[[Any], T]) -> T:
    """Make a call with a client of an SDK, named by its module and class."""
    try:
        made = getattr(import_module(sdk), client)
    except ImportError:
        raise NoAnswer(f"the {sdk} SDK is not installed; run: pip install 'recollect-memory[{sdk}]'") from None
    secret = key()
    open_client = made(api_key=secret, base_url=base_url or None, timeout=seconds, max_retries=0)
    try:
        return with_deadline(seconds, lambda: call(open_client), open_client.close)
    except NoAnswer:
        raise
    except Exception as error:  # noqa: BLE001 SDKs raise many classes, also for malformed responses
        raise failure_of(error, secret) from None
    finally:
        open_client.close()


def with_deadline(seconds: float, call: Callable[[], T], give_up: Callable[[], None]) -> T:
    """The result of a call, or NoAnswer when it takes too long: an SDK's own limit restarts with every byte."""
    made: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            made.append(call())
        except BaseException as error:  # noqa: BLE001 raised again in the waiting thread
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        give_up()
        raise NoAnswer(f"no answer within {seconds:g} seconds", again=True, billed=True)
    if failed:
        raise failed[0]
    return made[0]


def failure_of(error: Exception, key: str) -> NoAnswer:
    """An SDK's error as ours. A request that reached the server may have been billed although it failed."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        reason = f"HTTP {status}: {_safe(str(error), key)}"
        return NoAnswer(reason, again=status in RETRIED_STATUSES, after=_after(error))
    kind = type(error).__name__
    cause = error.__cause__
    reached = cause is None or not type(cause).__name__.startswith(("Connect", "UnsupportedProtocol", "InvalidURL"))
    said = kind if cause is None else f"{kind} ({type(cause).__name__})"
    return NoAnswer(f"no usable answer: {said}", again=True, billed=reached)


def _after(error: Exception) -> float | None:
    headers: Any = getattr(getattr(error, "response", None), "headers", {})
    try:
        seconds = float(headers.get("retry-after", "nan"))
    except ValueError:  # a date, which few servers send; our own pause is used
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _safe(text: str, key: str) -> str:
    """A server's message without secrets: it may repeat the key."""
    shown = " ".join(text.replace(key, "[key]").split())
    return redact(shown).text[:MAX_REASON_CHARS]


_STOPS = {"max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "refusal"}


class AnthropicProvider:
    """A model of Anthropic, or of a server that speaks the same format."""

    def __init__(self, *, model: str, base_url: str, key: Key):
        self.name = f"anthropic:{model}"
        self._model = model
        self._call = partial(call_sdk, "anthropic", "Anthropic", key=key, base_url=base_url)

    def complete(self, prompt: Prompt) -> Completion:
        return self._call(seconds=prompt.timeout, call=partial(self._ask, prompt))

    def _ask(self, prompt: Prompt, client: Any) -> Completion:
        message = client.messages.create(
            model=self._model,
            max_tokens=prompt.max_tokens,
            system=prompt.instructions,
            messages=[{"role": "user", "content": prompt.data}],
        )
        text = "".join(block.text for block in message.content if block.type == "text")
        return Completion(
            text=text,
            input_tokens=message.usage.input_tokens
            + (message.usage.cache_read_input_tokens or 0)
            + (message.usage.cache_creation_input_tokens or 0),
            output_tokens=message.usage.output_tokens,
            stop=_STOPS.get(message.stop_reason, "end"),  # type: ignore[arg-type]
        )


OPENAI_HOST = "api.openai.com"
EMBED_BATCH = 64  # texts of one request; endpoints allow between 96 and 2,048
EMBED_SECONDS = 30.0  # of one request; as long as an extraction may take
_OPENAI_STOPS = {"length": "length", "content_filter": "refusal"}


class OpenAIProvider:
    def __init__(self, *, model: str, base_url: str, key: Key):
        self.name = f"openai:{model}"
        self._model = model
        # OpenAI's newer models accept only the first name of the limit, most other servers only the second.
        self._limit = "max_completion_tokens" if _host(base_url) == OPENAI_HOST else "max_tokens"
        self._call = partial(call_sdk, "openai", "OpenAI", key=key, base_url=base_url)

    def complete(self, prompt: Prompt) -> Completion:
        return self._call(seconds=prompt.timeout, call=partial(self._ask, prompt))

    def _ask(self, prompt: Prompt, client: Any) -> Completion:
        made = client.chat.completions.create(
            model=self._model,
            messages=[{"role": "system", "content": prompt.instructions}, {"role": "user", "content": prompt.data}],
            **{self._limit: prompt.max_tokens},
        )
        choice = made.choices[0]
        refused = getattr(choice.message, "refusal", None)
        return Completion(
            text=refused or choice.message.content or "",
            input_tokens=made.usage.prompt_tokens if made.usage else None,
            output_tokens=made.usage.completion_tokens if made.usage else None,
            stop="refusal" if refused else _OPENAI_STOPS.get(choice.finish_reason, "end"),  # type: ignore[arg-type]
        )


class OpenAIEmbedder:
    billed = True
    loaded = False  # a capture never waits for an endpoint

    def __init__(self, *, model: str, base_url: str, key: Key):
        self.name = f"{model}@{_host(base_url)}"
        self._model = model
        self._call = partial(call_sdk, "openai", "OpenAI", key=key, base_url=base_url)

    def embed(self, texts: Sequence[str]) -> list[Any]:
        vectors: list[Any] = []
        for start in range(0, len(texts), EMBED_BATCH):
            batch = list(texts[start : start + EMBED_BATCH])
            vectors += self._call(seconds=EMBED_SECONDS, call=partial(self._embed_batch, batch))
        return vectors

    def _embed_batch(self, texts: list[str], client: Any) -> list[Any]:
        import numpy as np

        data = client.embeddings.create(model=self._model, input=texts, encoding_format="float").data
        found = [np.array(each.embedding, dtype=np.float32) for each in sorted(data, key=lambda each: each.index)]
        shapes = {vector.shape for vector in found}
        if len(found) != len(texts) or len(shapes) != 1 or not all(np.isfinite(vector).all() for vector in found):
            raise NoAnswer("the endpoint did not return one vector of numbers per text", billed=True)
        return [vector / max(float(np.linalg.norm(vector)), 1e-9) for vector in found]


def _host(base_url: str) -> str:
    return urlsplit(base_url).netloc or OPENAI_HOST


MAX_OUTPUT_BYTES = 1_000_000  # far more than any answer; guards against a program that never stops printing
# With these set, `claude -p` takes itself for a nested session and refuses.
_HOST_VARIABLES = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT")


class CommandProvider:
    """A program that reads a prompt on standard input and prints an answer: `claude -p`, `llm -m …`. No shell. It runs
    in an empty folder, so that an agent program finds no project and no hooks."""

    def __init__(self, *, command: Sequence[str], model: str, environ: Mapping[str, str]):
        self.name = f"command:{model or PurePath(command[0]).name}"
        self._command = list(command)
        self._environ = {name: value for name, value in environ.items() if name not in _HOST_VARIABLES}

    def complete(self, prompt: Prompt) -> Completion:
        text = f"{prompt.instructions}\n{prompt.data}\n"
        with tempfile.TemporaryDirectory(prefix="recollect-ask-") as folder:
            return Completion(text=self._run(text, folder, prompt.timeout))

    def _run(self, text: str, folder: str, seconds: float) -> str:
        program = self._command[0]
        try:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env=self._environ,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise NoAnswer(f"{program} could not be started: {getattr(error, 'strerror', None) or error}") from None
        said = bytearray()
        assert process.stdin is not None
        assert process.stdout is not None
        writer = threading.Thread(target=_write, args=(process.stdin, text), daemon=True)
        reader = threading.Thread(target=_read, args=(process.stdout, said), daemon=True)
        writer.start()
        reader.start()
        try:
            reader.join(seconds)
            if reader.is_alive():
                raise NoAnswer(f"{program} did not answer within {seconds:g} seconds", again=True, billed=True)
            if len(said) > MAX_OUTPUT_BYTES:
                raise NoAnswer(f"{program} printed more than {MAX_OUTPUT_BYTES} bytes", billed=True)
            code = _exit_code(process, program)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # the program and every process it started
            process.wait()
            writer.join(1)
            reader.join(1)
            process.stdout.close()
        if code:
            raise NoAnswer(f"{program} failed with exit code {code}", again=True, billed=True)
        return said.decode("utf-8", "replace").strip()


def _exit_code(process: subprocess.Popen[bytes], program: str) -> int:
    """The exit code of a program that closed its output and so is about to exit."""
    try:
        return process.wait(5)
    except subprocess.TimeoutExpired:
        raise NoAnswer(f"{program} closed its output but did not exit", again=True, billed=True) from None


def _write(stream: IO[bytes], text: str) -> None:
    with suppress(OSError):  # the program may exit before it read everything
        stream.write(text.encode("utf-8", "replace"))
    with suppress(OSError):
        stream.close()


def _read(stream: IO[bytes], said: bytearray) -> None:
    while len(said) <= MAX_OUTPUT_BYTES:
        part = stream.read1(65_536)  # type: ignore[attr-defined]
        if not part:
            return
        said += part
