"""Taking known secrets and `<private>` spans out of a text before anything else sees it.

Owns the replacing; what a secret looks like is in `text/secret_shapes`, and what no shape names in
`text/secret_context`.

Time is linear in the text: RE2 never backtracks, and the number of rounds is bounded. The work is done on UTF-8 bytes
with lone surrogates let through, so every str can be redacted and stays as it is elsewhere.
"""

import functools
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from recollect.core.records import record
from recollect.text.secret_context import NEAR, values_in_context
from recollect.text.secret_shapes import SHAPES, Shape

__all__ = ["SHAPES", "Redacted", "redact", "secrets_in"]

_PRIVATE = "private"
_UNNAMED = ("random-token", "prefixed-token")  # a name beside the value says more

# Replacing a secret gives its neighbours a new edge and may so uncover another, so rounds go on until nothing
# is found. A text that needs more than three was made to; the bound keeps its cost linear.
_MOST_ROUNDS = 8

# A refused value of up to this length is searched again for a name in it; any length would be quadratic.
_LONGEST_NAME = 128

# The first bytes of a value are enough to tell whether it is one.
_JUDGED = 4096


@record
class Redacted:
    text: str
    kinds: tuple[str, ...]
    """One per marker this call put in, in order of appearance; `private` for a dropped span."""


@dataclass(frozen=True)
class _Span:
    start: int
    end: int
    kind: str


def redact(text: str) -> Redacted:
    """Known secrets become `[redacted:KIND]`, private spans `[private]`; doing it twice is doing it once."""
    data = text.encode("utf-8", "surrogatepass")
    marks: list[_Span] = []
    for _ in range(_MOST_ROUNDS):
        found = _found(data)
        if not found:
            break
        data, marks = _replaced(data, _joined([*marks, *found]))
    if not marks:
        return Redacted(text=text, kinds=())
    return Redacted(text=data.decode("utf-8", "surrogatepass"), kinds=tuple(mark.kind for mark in marks))


def secrets_in(text: str) -> dict[str, str]:
    data = text.encode("utf-8", "surrogatepass")
    spans = _joined([span for span in _found(data) if span.kind != _PRIVATE])
    return {data[span.start : span.end].decode("utf-8", "surrogatepass"): span.kind for span in spans}


def _found(data: bytes) -> list[_Span]:
    """What to replace. Markers already in the text are no part of any secret."""
    markers = _markers(data)
    secrets = [span for shape in _possible(data) for span in _secrets(shape, data)]
    near = (match.start() for match in _regexp(NEAR).finditer(data))
    secrets += (_Span(*found) for found in values_in_context(data, near))
    return [*_private_spans(data), *(span for span in secrets if not _touches(span, markers))]


def _possible(data: bytes) -> Iterable[Shape]:
    """The shapes one of whose hints occurs: one pass over the text for all of them."""
    hits = _hints().Match(data)
    # One hint always occurs. If not even that was seen, RE2 ran out of memory and nothing may be ruled out.
    return [SHAPES[number] for number in sorted(hits) if number < len(SHAPES)] if hits else SHAPES


def _private_spans(data: bytes) -> Iterator[_Span]:
    """From an opening tag to the closing tag that balances it, or to the end if that was forgotten."""
    depth = start = 0
    if b"<" not in data:  # most texts have none, and this is a hundred times as fast
        return
    for tag in _regexp(r"(?i)<(/?)private\s*>").finditer(data):
        if not tag.group(1):
            start = start if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield _Span(start, tag.end(), _PRIVATE)
    # `Local<Private>` in a piece of code opens no span, else all after it would be lost.
    if depth and not _regexp(r"\w<Private>").match(data, max(start - 1, 0), start + 9):
        yield _Span(start, len(data), _PRIVATE)


def _secrets(shape: Shape, data: bytes) -> Iterator[_Span]:
    regexp = _regexp(shape.pattern)
    position = 0
    while match := regexp.search(data, position):
        group = next((g for g in range(1, regexp.groups + 1) if match.start(g) >= 0), 0)
        start, end = match.span(group)
        position = end
        if shape.guard(data[start : min(end, start + _JUDGED)].decode("utf-8", "replace")):
            yield _Span(start, _with_tail(data, end) if shape.named else end, shape.kind)
        elif shape.named and end - start <= _LONGEST_NAME:
            position = start


def _with_tail(data: bytes, end: int) -> int:
    """Where a value really ends: what follows an `&` is the next parameter, or more of the value if it has no name."""
    while tail := _regexp(r"&[^\s\"'`,;&<>\\=\[\]]+").match(data, end):
        if data[tail.end() : tail.end() + 1] in (b"=", b";"):  # a parameter, or &quot;
            break
        end = tail.end()
    return end


def _markers(data: bytes) -> list[_Span]:
    if b"[redacted:" not in data and b"[private]" not in data:
        return []
    found = _regexp(r"\[redacted:[a-z0-9-]{1,40}\]|\[private\]").finditer(data)
    return [_Span(marker.start(), marker.end(), "") for marker in found]


def _touches(span: _Span, markers: list[_Span]) -> bool:
    at = bisect_right(markers, span.start, key=lambda marker: marker.start)
    before = at > 0 and markers[at - 1].end > span.start
    return before or (at < len(markers) and markers[at].start < span.end)


def _joined(spans: list[_Span]) -> list[_Span]:
    """Overlapping spans become one, named after the first to begin; rows earlier in the table win a tie."""
    joined: list[_Span] = []
    for span in sorted(spans, key=lambda span: (span.start, span.kind in _UNNAMED)):
        if joined and span.start < joined[-1].end:
            last = joined.pop()
            span = _Span(last.start, max(last.end, span.end), last.kind)
        joined.append(span)
    return joined


def _replaced(data: bytes, spans: list[_Span]) -> tuple[bytes, list[_Span]]:
    """The new bytes, and where in them the markers are now."""
    pieces: list[bytes] = []
    marks: list[_Span] = []
    position = length = 0
    for span in spans:
        marker = b"[private]" if span.kind == _PRIVATE else b"[redacted:%s]" % span.kind.encode()
        start = length + span.start - position
        pieces += data[position : span.start], marker
        position, length = span.end, start + len(marker)
        marks.append(_Span(start, length, span.kind))
    pieces.append(data[position:])
    return b"".join(pieces), marks


@functools.cache
def _hints() -> Any:
    import re2

    options = _options()
    options.case_sensitive = False
    hints = re2.Set.SearchSet(options)
    for shape in SHAPES:
        hints.Add(b"|".join(re2.escape(hint) for hint in shape.hints))
    hints.Add(b"")
    hints.Compile()
    return hints


@functools.cache
def _regexp(pattern: str) -> Any:
    import re2

    return re2.compile(pattern.encode("latin-1"), _options())


def _options() -> Any:
    # Imported in functions: the process of a hook that redacts nothing must not pay for it.
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    return options
