"""JSON that we wrote ourselves, read without loading `json`, which compiles six patterns before it reads anything.

Its scanner is a library of its own in CPython; elsewhere `json` brings one.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Strict:
    """What the scanner wants to know: the defaults of `json.loads`."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


_scan: Callable[[str, int], tuple[Any, int]]
try:
    from _json import make_scanner
except ImportError:
    from json import JSONDecoder

    _scan = JSONDecoder().raw_decode
else:
    _scan = make_scanner(_Strict)  # type: ignore[arg-type]


def loads(text: str) -> Any:
    """What a JSON text says; anything before or after it is refused, and what nests too deeply to be ours."""
    try:
        value, end = _scan(text, 0)
    except (StopIteration, RecursionError):
        end = -1
    if end != len(text):
        raise ValueError("not JSON")
    return value
