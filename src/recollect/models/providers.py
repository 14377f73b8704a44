"""Calling a provider's SDK: a real time limit, and every way to fail as one error whose words are safe to show.

Both SDKs, extras that are imported at the call, make clients alike and have the same shape of errors: a status with a
response, or a connection that was not.

Keys: read from the environment or printed by a command when a call needs one, and kept nowhere.

A repository's file can name neither before the user trusted it. No message here holds what was read.

Anthropic's models through its own SDK.

Endpoints that speak OpenAI's format (OpenAI, Ollama, vLLM, llama.cpp), through OpenAI's SDK: words and vectors.

A program that answers: the prompt on its standard input, the answer on its standard output. No shell.

It runs in an empty folder, so that an agent program started this way finds no project and no hooks, in a process group
of its own that is ended with all it started.

The agent as a provider that answers later: asks are left open for `recollect model pending` and
`recollect model apply`.
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
SECONDS = 10
NO_KEY = "none"


def key_from(environ: Mapping[str, str], variable: str, command: Sequence[str]) -> Key:
    """A function that gives the key. Without a variable or a command it gives a word that is none: a server of one's
    own may need no key, and must not be sent the key of another."""

    def read() -> str:
        if not variable and not command:
            return NO_KEY
        found = _printed(command) if command else environ.get(variable, "").strip()
        if not found:
            where = "the key command printed nothing" if command else f"{variable} is not set"
            raise NoAnswer(f"there is no key: {where}")
        if not found.isascii() or not found.isprintable():
            raise NoAnswer("what stands for the key is not one line of plain characters")
        return found

    return read


def _printed(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            list(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=SECONDS
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise NoAnswer(f"the key command {command[0]} did not run: {type(error).__name__}") from None
    if done.returncode:
        raise NoAnswer(f"the key command {command[0]} failed with exit code {done.returncode}")
    return done.stdout.decode("utf-8", "replace").strip()


T = TypeVar("T")
AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
SHOWN = 200


def called(sdk: str, client: str, *, key: Key, base_url: str, seconds: float, call: Callable[[Any], T]) -> T:
    """What a call gives that is made with a client of an SDK, named by its module and class. Raises NoAnswer."""
    try:
        made = getattr(import_module(sdk), client)
    except ImportError:
        raise NoAnswer(f"this needs the SDK; run: pip install 'recollect-memory[{sdk}]'") from None
    secret = key()
    open_client = made(api_key=secret, base_url=base_url or None, timeout=seconds, max_retries=0)
    try:
        return within(seconds, lambda: call(open_client), open_client.close)
    except NoAnswer:
        raise
    except Exception as error:  # noqa: BLE001 an SDK raises what it likes on what a server likes to send
        raise failure_of(error, secret) from None
    finally:
        open_client.close()


def within(seconds: float, call: Callable[[], T], give_up: Callable[[], None]) -> T:
    """What a call gives, or NoAnswer when it takes too long: an SDK's own limit starts anew with every byte."""
    made: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            made.append(call())
        except BaseException as error:  # noqa: BLE001 it is raised again in the thread that waits
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
    """An SDK's error as ours. Not every status is worth another try; what was cut off may have been billed."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        reason = f"HTTP {status}: {_safe(str(error), key)}"
        return NoAnswer(reason, again=status in AGAIN, after=_after(error))
    kind = type(error).__name__
    cause = error.__cause__
    reached = cause is None or not type(cause).__name__.startswith(("Connect", "UnsupportedProtocol", "InvalidURL"))
    said = kind if cause is None else f"{kind} ({type(cause).__name__})"
    return NoAnswer(f"no usable answer: {said}", again=True, billed=reached)


def _after(error: Exception) -> float | None:
    headers: Any = getattr(getattr(error, "response", None), "headers", {})
    try:
        seconds = float(headers.get("retry-after", "nan"))
    except ValueError:  # a date, which few servers send: our own pause will do
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _safe(text: str, key: str) -> str:
    """What a server says about a failure, without the key it may repeat and whatever else looks like a secret."""
    shown = " ".join(text.replace(key, "[key]").split())
    return redact(shown).text[:SHOWN]


_STOPS = {"max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "refusal"}


class AnthropicProvider:
    """One model of Anthropic's, or of a server that speaks the same format."""

    def __init__(self, *, model: str, base_url: str, key: Key):
        self.name = f"anthropic:{model}"
        self._model = model
        self._base_url = base_url
        self._key = key

    def complete(self, prompt: Prompt) -> Completion:
        return called(
            "anthropic",
            "Anthropic",
            key=self._key,
            base_url=self._base_url,
            seconds=prompt.timeout,
            call=lambda client: self._said(client, prompt),
        )

    def _said(self, client: Any, prompt: Prompt) -> Completion:
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


Found = TypeVar("Found")
OWN_HOST = "api.openai.com"
BATCH = 64
EMBED_SECONDS = 30.0
_OPENAI_STOPS = {"length": "length", "content_filter": "refusal"}


class OpenAIProvider:
    """One model of an endpoint."""

    def __init__(self, *, model: str, base_url: str, key: Key):
        self.name = f"openai:{model}"
        self._model = model
        self._base_url = base_url
        self._key = key

    def complete(self, prompt: Prompt) -> Completion:
        return _called(self._base_url, self._key, prompt.timeout, lambda client: self._said(client, prompt))

    def _said(self, client: Any, prompt: Prompt) -> Completion:
        # OpenAI's newer models know only the one name of the limit, most other servers only the other.
        limit = "max_completion_tokens" if _host(self._base_url) == OWN_HOST else "max_tokens"
        made = client.chat.completions.create(
            model=self._model,
            messages=[{"role": "system", "content": prompt.instructions}, {"role": "user", "content": prompt.data}],
            **{limit: prompt.max_tokens},
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
    """Vectors of an endpoint's model; its name tells them from every other model's."""

    def __init__(self, *, model: str, base_url: str, key: Key):
        self.name = f"{model}@{_host(base_url)}"
        self._model = model
        self._base_url = base_url
        self._key = key

    @property
    def loaded(self) -> bool:
        """Never at once: nobody who captures a text waits for an endpoint."""
        return False

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """One unit vector per text, in order. Raises NoAnswer."""
        vectors: list[Any] = []
        for start in range(0, len(texts), BATCH):
            batch = list(texts[start : start + BATCH])
            vectors += _called(self._base_url, self._key, EMBED_SECONDS, partial(self._made, batch))
        return vectors

    def _made(self, texts: list[str], client: Any) -> list[Any]:
        import numpy as np

        data = client.embeddings.create(model=self._model, input=texts, encoding_format="float").data
        found = [np.array(each.embedding, dtype=np.float32) for each in sorted(data, key=lambda each: each.index)]
        shapes = {vector.shape for vector in found}
        if len(found) != len(texts) or len(shapes) != 1 or not all(np.isfinite(vector).all() for vector in found):
            raise NoAnswer("the endpoint did not give one vector of numbers per text", billed=True)
        return [vector / max(float(np.linalg.norm(vector)), 1e-9) for vector in found]


def _called(base_url: str, key: Key, seconds: float, call: Callable[[Any], Found]) -> Found:
    return called("openai", "OpenAI", key=key, base_url=base_url, seconds=seconds, call=call)


def _host(base_url: str) -> str:
    return urlsplit(base_url).netloc or OWN_HOST


MOST_BYTES = 1_000_000
# An agent program that finds these believes that it was started by itself, and refuses.
_HOSTS_OWN = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT")


class CommandProvider:
    """`claude -p`, `llm -m …`, or anything else that reads a prompt and prints an answer."""

    def __init__(self, *, command: Sequence[str], model: str, environ: Mapping[str, str]):
        self.name = f"command:{model or PurePath(command[0]).name}"
        self._command = list(command)
        self._environ = {name: value for name, value in environ.items() if name not in _HOSTS_OWN}

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
            raise NoAnswer(f"{program} did not start: {getattr(error, 'strerror', None) or error}") from None
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
                raise NoAnswer(f"{program} gave no answer within {seconds:g} seconds", again=True, billed=True)
            if len(said) > MOST_BYTES:
                raise NoAnswer(f"{program} printed more than {MOST_BYTES} bytes", billed=True)
            code = _ended(process, program)
        finally:
            _end_group(process)
            writer.join(1)
            reader.join(1)
            process.stdout.close()
        if code:
            raise NoAnswer(f"{program} failed with exit code {code}", again=True, billed=True)
        return said.decode("utf-8", "replace").strip()


def _ended(process: subprocess.Popen[bytes], program: str) -> int:
    """It closed its output, so it is about to end."""
    try:
        return process.wait(5)
    except subprocess.TimeoutExpired:
        raise NoAnswer(f"{program} closed its output and did not end", again=True, billed=True) from None


def _write(stream: IO[bytes], text: str) -> None:
    with suppress(OSError):  # it may not want to read all of it
        stream.write(text.encode("utf-8", "replace"))
    with suppress(OSError):
        stream.close()


def _read(stream: IO[bytes], said: bytearray) -> None:
    while len(said) <= MOST_BYTES:
        part = stream.read1(65_536)  # type: ignore[attr-defined]
        if not part:
            return
        said += part


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End the program and whatever it left behind."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class AgentProvider:
    """Never answers at once. Until somebody applied an answer, the offline twin's stands."""

    name = "agent"

    def complete(self, prompt: Prompt) -> Completion:
        raise NoAnswer("an agent answers later; see: recollect model pending")
