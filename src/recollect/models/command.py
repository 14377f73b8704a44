"""A program that answers: the prompt on its standard input, the answer on its standard output. No shell.

It runs in an empty folder, so that an agent program started this way finds no project and no hooks, in a process group
of its own that is ended with all it started.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import PurePath
from typing import IO

from recollect.core.errors import NoAnswer
from recollect.core.prompt import Completion, Prompt

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
