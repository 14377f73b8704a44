"""Calling a provider's SDK: a real time limit, and every way to fail as one error whose words are safe to show.

Both SDKs, extras that are imported at the call, make clients alike and have the same shape of errors: a status with a
response, or a connection that was not.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from recollect.core.errors import NoAnswer
from recollect.models.keys import Key
from recollect.text.redact import redact

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
