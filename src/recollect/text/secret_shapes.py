"""The shapes of secrets: tokens known by a vendor's prefix, and values known by the name, URL or header beside them.

The table is `data/secrets.txt`, with the parts that patterns share; here are the guards that tell a secret from what
people write in its place: most values beside a secret's name in code are names, types, lookups and labels. Patterns are
RE2 over the bytes of a text and see ASCII. The part to hide is the first group that took part in the match, or the
whole match. A class that takes in non-ASCII bytes has no upper length, else a match could end inside a character; nor
has a token that its vendor says may grow.
"""

import base64
import binascii
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from recollect.core.records import record
from recollect.text.markdown import lazy
from recollect.text.secret_context import HEX, PLACEHOLDER, STAND_IN, bits, not_a_placeholder, not_a_stand_in


@record
class Shape:
    kind: str
    pattern: str
    hints: tuple[bytes, ...]
    """In any case; a text without any of them is not searched for this shape."""

    guard: Callable[[str], bool]
    """Rejects a match that is not a secret."""

    named: bool
    """Known by the name before it. What looks like its value may be the next name: `password = token = …`."""


def _quoted(least: int) -> str:
    """A value in quotes, which a string inside a string escapes."""
    return (
        rf"[bruf]{{0,2}}(?:\\{{0,7}}\"((?:[^\"\\\r\n]|\\[^\"\\nrtu]){{{least},}})"
        rf"|\\{{0,7}}'((?:[^'\\\r\n]|\\[^'\\nrtu]){{{least},}})"
        rf"|`([^`\\\r\n]{{{least},}}))"
    )


def _bare(least: int) -> str:
    return rf"(?:&quot;|&#3[49];|%2[27])?([^\s\"'`,;&<>\\]{{{least},}})"


_WORDS = lazy(r"[A-Za-z][-_./: A-Za-z]*")
_CALL = lazy(r"^[A-Za-z_][\w.]*[(\[].*[)\]]$|->|=>|^[A-Za-z_]+\d*(?:\.[A-Za-z_]+\d*)+$")
_STORED_NAME = lazy(r"[a-z/_-]+-[A-Za-z0-9]{6}")  # of a secret at AWS, with its random ending
_CODE = lazy(r"[(){}\[\]]|->|=>|==.|^[A-Za-z_]+\d*(?:\.[A-Za-z_]+\d*)+$")


def entropy(value: str) -> float:
    """Shannon bits per character."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


def holds_a_key(block: str) -> bool:
    """A PEM block with a body, not one elided in documentation; the shortest real one (Ed25519) has 118."""
    return len(block) > 100


def like_token(value: str) -> bool:
    """For a prefix short enough to begin a plain word: the rest must look random."""
    return not_a_placeholder(value) and _has_digit_and_letter(value) and entropy(value) >= 3.0


_NAMED_HASH = lazy(
    r"(?:sha|md)\d|hash|digest|integrity|etag|checksum|h1$|^pk|^phc|pub|chunk|sri|rev|commit|nonce", re.IGNORECASE
)
_SECRET_PREFIX = lazy(r"live|prod|test|^sk|key|tok|secret|pat$|api|auth|access|priv|cred|pw", re.IGNORECASE)


def like_prefixed_token(value: str) -> bool:
    """A long random run after a name that no list knows; after a name of a secret it may be hex."""
    name, random = value[: (cut := max(value.rfind("_"), value.rfind("-")))], value[cut + 1 :]
    if not not_a_placeholder(random) or not _has_digit_and_letter(random) or _NAMED_HASH.search(name):
        return False
    named = _SECRET_PREFIX.search(name)
    return bits(random) >= 35 and (bool(named) or not {*random} <= HEX)


_PUBLIC_RUN = lazy(r"(?:pk_|pub|sha\d|md5|AAAA|ey[A-Z]|Qm[1-9A-Za-z]{44}$|ba[fg]|bc1|[13][1-9A-HJ-NP-Za-km-z]{25,34}$)")


def like_random_run(value: str) -> bool:
    """A run that nothing names, neither hex nor a text in base64 nor a line of a wrapped one."""
    if _PUBLIC_RUN.match(value) or not not_a_placeholder(value) or sum(map(str.isdigit, value)) < 2:
        return False
    said = base64.urlsafe_b64decode(value[: len(value) // 4 * 4])
    if len(value) in (60, 64, 76) or sum(32 <= byte < 127 for byte in said) > len(said) * 0.7:
        return False  # of random bytes 37 % are printable
    mixed = any(map(str.islower, value)) and any(map(str.isupper, value))
    return bits(value) >= 35 and (mixed or (value.isalnum() and not {*value.removeprefix("0x").lower()} <= HEX))


def holds_a_private_key(value: str) -> bool:
    """Base64 of a PEM block; a certificate's is public."""
    return b"PRIVATE KEY" in base64.b64decode(value[:80].rstrip("=")[: len(value[:80].rstrip("=")) // 4 * 4])


def encodes_a_login(value: str) -> bool:
    """Base64 of `name:password`, as HTTP Basic and Docker write it."""
    try:
        login = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    name, colon, password = login.partition(":")
    return bool(name and colon and password) and login.isprintable() and not STAND_IN.fullmatch(password)


def like_password(value: str) -> bool:
    """A quoted value beside a password's name: two classes of characters, and no name, label or lookup."""
    if not not_a_stand_in(value) or PLACEHOLDER.search(value) or len(set(value)) < 4 or any(map(str.isspace, value)):
        return False
    return not _WORDS.fullmatch(value) or _random_letters(value)


def like_bare_password(value: str) -> bool:
    """The same without quotes, where the value may also be an expression."""
    value = value.rstrip("})]")  # of the line around it
    return like_password(value) and not _like_code(value) and _has_digit_and_letter(value)


def like_codes(value: str) -> bool:
    """Codes for a second factor: digits in every one of them."""
    return all(any(c.isdigit() for c in code) for code in value.split()) and len(value) >= 8


def like_strong_password(value: str) -> bool:
    """A value that only follows the word `password`: at least three classes of characters, digits among them."""
    value = value.rstrip(".,:;!?)")
    classes = (str.isdigit, str.islower, str.isupper, lambda c: not c.isalnum() and c not in "_-./")
    seen = [any(test(c) for c in value) for test in classes]
    return seen[0] and sum(seen) >= 3 and len(value) >= 8 and like_bare_password(value)


def like_key(value: str) -> bool:
    """A value beside the name of a key, token or secret: long and random."""
    value = value.rstrip("})]")
    return not _like_code(value) and like_quoted_key(value) and not _STORED_NAME.fullmatch(value)


def like_quoted_key(value: str) -> bool:
    """The same in quotes, where brackets are characters like any other."""
    if len(value) < 12 or not like_password(value) or _CALL.search(value):
        return False
    return entropy(value) >= 3.0 and (_has_digit_and_letter(value) or _random_letters(value))


def _like_code(value: str) -> bool:
    """Brackets or arrows between words; a password may hold them too."""
    return bool(_CODE.search(value)) and bits(value) < 15


def _has_digit_and_letter(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _random_letters(value: str) -> bool:
    """Letters only, yet neither words nor camelCase."""
    return value.isalpha() and len(value) >= 16 and bits(value) >= 25


_LEAST = (4, 6, 8, 12)  # characters of a value that a pattern may ask for
_HINTS = {
    "<password>": "pass pwd pw kennwort contrase senha wachtwoord has\u0142o heslo senord "
    "\u043f\u0430\u0440 \u5bc6\u7801",
    "<key>": "key secret token credential _auth psk schl cookie",
}


_GUARDS: dict[str, Callable[[str], bool]] = {
    guard.__name__: guard
    for guard in (
        *(not_a_placeholder, holds_a_key, holds_a_private_key, encodes_a_login),
        *(like_token, like_prefixed_token, like_random_run, like_codes),
        *(like_password, like_bare_password, like_strong_password, like_key, like_quoted_key),
    )
}


def _shape(row: str, parts: dict[str, str]) -> Shape:
    kind, hints, pattern, *more = row.split("  ")
    guard, _, named = more[0].partition(" ") if more else ("not_a_placeholder", "", "")
    for name, part in parts.items():
        pattern = pattern.replace(name, part)
    return Shape(
        kind=kind,
        pattern=pattern,
        hints=tuple(_HINTS.get(hints, hints).encode().split()),
        guard=_GUARDS[guard],
        named=bool(named),
    )


def _rows() -> Iterator[str]:
    row = ""
    for line in (Path(__file__).parent / "data" / "secrets.txt").read_text("ascii").splitlines():
        if line.startswith("    "):
            row += ("  " if row.count("  ") == 1 else "") + line[4:]
        elif not line.startswith("#"):
            yield row
            row = line
    yield row


def _shapes() -> Iterator[Shape]:
    """A row that begins with a name in angle brackets is a part, which may hold parts that come after it."""
    parts = {
        f"<{name} {least}>": made(least) for name, made in (("quoted", _quoted), ("bare", _bare)) for least in _LEAST
    }
    for row in filter(None, _rows()):
        if row.startswith("<"):
            name, _, part = row.partition(">")
            parts[f"{name}>"] = part.removeprefix(" ")
        else:
            yield _shape(row, parts)


SHAPES: tuple[Shape, ...] = tuple(_shapes())
