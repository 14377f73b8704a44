"""What a row in the tables of secret shapes is, and the pieces their patterns share.

Patterns are RE2 over the bytes of a text and see ASCII. The part to hide is the first group that took part in
the match, or the whole match. A class that takes in non-ASCII bytes has no upper length, else a match could
end inside a character.
"""

from collections.abc import Callable
from dataclasses import dataclass

from recollect.text.redact.guards import not_a_placeholder


@dataclass(frozen=True, kw_only=True)
class Shape:
    kind: str
    pattern: str
    hints: tuple[bytes, ...]
    """In any case; a text without any of them is not searched for this shape."""

    guard: Callable[[str], bool]
    """Says no to what has the shape and yet is no secret."""

    named: bool
    """Known by the name before it. What looks like its value may be the next name: `password = token = …`."""


def shape(
    kind: str,
    hints: str,
    pattern: str,
    guard: Callable[[str], bool] = not_a_placeholder,
    named: bool = False,
) -> Shape:
    """A row; `hints` are separated by spaces."""
    return Shape(kind=kind, pattern=pattern, hints=tuple(hints.encode().split()), guard=guard, named=named)


# Where a token without a telling prefix may begin: at a word's edge, after an escaped line break, after %3D.
EDGE = r"(?:\b|\\[nrt]|%[0-9A-Fa-f]{2})"
# The same for tokens that a long base64 text may hold by chance.
APART = r"(?:(?m:^)[+-]?|[^A-Za-z0-9+/_-]|\\[nrt]|%[0-9A-Fa-f]{2})"

# Characters as they are, as JSON escapes them and as a URL does.
SLASH = r"(?:\\{0,4}/|%2[Ff])"
COLON = r"(?::|%3[Aa])"
DOLLAR = r"(?:\$|%24)"
TILDE = r"(?:~|%7[Ee])"
AT = r"(?:@|%40)"
BASE64 = r"(?:[A-Za-z0-9+/]|\\{1,4}/|%2[BbFf])"
PADDING = r"(?:=|%3[Dd]){0,2}"

UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
