"""Our texts inside files of others: inserted without touching a byte around them, and removed again.

Removing the same pieces restores the file byte for byte, whatever its owner changed elsewhere meanwhile. Where the
owner edited a piece, our values are found in the parsed JSON instead. Knows nothing about hosts.
"""

from __future__ import annotations

import json
from typing import Any

from recollect.core.errors import BadInput

EMPTY_JSON = "{}\n"
_SPACE = " \t\r\n"


def into_json(text: str, path: tuple[str, ...], value: Any, *, item: bool) -> tuple[str, list[str]]:
    """A JSON text with a value more, and the pieces that were put in, in order.

    `path` names members of objects; those that are missing are made. The value becomes the last member, or with `item`
    the first item of the list that the last member is.
    """
    pieces: list[str] = []
    at = _skip(text, 0)
    for depth, name in enumerate(path):
        if text[at : at + 1] != "{":
            raise BadInput(f"{'.'.join(path[:depth]) or 'the file'} is not a JSON object")
        found = _member(text, at, name)
        last = depth == len(path) - 1
        if found is None:
            made = _shown(value, depth + 1) if last and not item else "[]" if last else "{}"
            text, piece = _put_first(text, at, f"{json.dumps(name)}: {made}", depth)
            pieces.append(piece)
            found = _member(text, at, name)
            assert found is not None
        elif last and not item:
            raise BadInput(
                f"{'.'.join(path)} exists already and is not Recollect's. Remove it, or choose other hosts with --host"
            )
        at = found
    if item:
        if text[at : at + 1] != "[":
            raise BadInput(f"{'.'.join(path)} is not a JSON list")
        text, piece = _put_first(text, at, _shown(value, len(path) + 1), len(path))
        pieces.append(piece)
    return text, pieces


def as_block(text: str, begin: str, body: str, end: str) -> tuple[str, str]:
    """A text with a block between two marks at its end, and the piece that was put in.

    A block that another clone inserted and committed is not inserted again.
    """
    block = f"{begin}\n{body.strip()}\n{end}\n"
    if block in text:
        return text, block
    text = block_without(text, begin, end)
    gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + block, gap + block


def without(text: str, pieces: list[str]) -> str | None:
    """A text without some pieces, the last one first; None when one of them was changed."""
    for piece in reversed(pieces):
        if text.count(piece) != 1:
            return None
        text = text.replace(piece, "")
    return text


def holds(text: str, path: tuple[str, ...], value: Any, *, item: bool) -> bool:
    found = json.loads(text)
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return isinstance(found, list) and value in found if item else bool(found == value)


def json_without(text: str, path: tuple[str, ...], value: Any, *, item: bool) -> str:
    """A JSON text, rewritten without a value; objects and lists left empty by that are removed too."""
    document = json.loads(text)
    way = [document]
    for name in path if item else path[:-1]:
        if not isinstance(way[-1], dict) or name not in way[-1]:
            return text
        way.append(way[-1][name])
    if item and isinstance(way[-1], list) and value in way[-1]:
        way[-1].remove(value)
    elif not item and isinstance(way[-1], dict) and way[-1].get(path[-1]) == value:
        del way[-1][path[-1]]
    for name, outer, inner in zip(reversed(path), reversed(way[:-1]), reversed(way[1:]), strict=False):
        if not inner:
            del outer[name if item else next(key for key, found in outer.items() if found is inner)]
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def block_without(text: str, begin: str, end: str) -> str:
    """A text without the block between two marks, marks included."""
    first, found, rest = text.partition(f"{begin}\n")
    return first + rest.partition(f"{end}\n")[2] if found else text


def is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _member(text: str, at: int, name: str) -> int | None:
    """Where the value of a member begins, in the object that begins at `at`."""
    decoder = json.JSONDecoder()
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = decoder.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if key == name:
            return at
        _, at = decoder.raw_decode(text, at)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return None


def _put_first(text: str, at: int, item: str, depth: int) -> tuple[str, str]:
    """An item in front of all others of the object or list that begins at `at`."""
    empty = text[_skip(text, at + 1)] in "]}"
    piece = "\n" + "  " * (depth + 1) + item + ("\n" + "  " * depth if empty else ",")
    return text[: at + 1] + piece + text[at + 1 :], piece


def _shown(value: Any, depth: int) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + "  " * depth)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
