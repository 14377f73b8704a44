"""The shapes of secrets: tokens known by a vendor's prefix, and values known by the name, URL or header beside them.

The table is `data/secrets.txt`; here are the parts that its patterns share, and the guards that tell a secret from what
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


# What patterns of the table share. A part may hold parts that come after it.
_PARTS = {
    "<quoted 4>": _quoted(4),
    "<quoted 6>": _quoted(6),
    "<quoted 12>": _quoted(12),
    "<bare 6>": _bare(6),
    "<bare 8>": _bare(8),
    "<bare 12>": _bare(12),
    "<pem begin>": r"-----BEGIN (?:<secret block>)-----",
    "<pem end>": r"-----END (?:<secret block>)-----",
    "<secret block>": r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1",
    "<pem break>": r"(?:\s|\\{1,8}[nrt]|[\"'+,|>]){1,16}",
    "<pem header>": r"[A-Za-z-]{3,20}: [A-Za-z0-9,. -]{1,100}",
    "<password>": r"(?i)(?:password|passwd|passphrase|passcode|passwort|kennwort|mot de passe|contrase\xc3\xb1a|senha|"
    r"wachtwoord|has\xc5\x82o|heslo|l\xc3\xb6senord|\xd0\xbf\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c|"
    r"\xe5\xaf\x86\xe7\xa0\x81"
    r"|[_-]pwd|\bpwd|\bpw|[_-]pass|\bpass|(?:store|key)pass)<stage>",
    "<key>": r"(?i)(?:(?:api|access|private|auth|signing|encryption|account|shared|master|service|app|application"
    r"|functions?|subscription|consumer|client|admin|integration|ingest(?:ion)?|write|storage|hmac|jwt|webhook|"
    r"deploy|bot|server|sdk"
    r"|rest|preshared|pre-shared|license|partner|merchant|instrumentation)[_. -]?key(?:[_-]data)?"
    r"|token|secret(?:[_.-]?(?:key|base|string)){0,2}|credentials?|\bpsk|schl\xc3\xbcssel|(?-i:\b_auth|"
    r"[A-Z]_AUTH|KEY_PRIVATE|_COOKIE))<stage>",
    "<stage>": r"(?:[_.-]?(?:value|prod|dev|test|live|[0-9]{1,2}))?",
    # The characters between a name and its value, in JSON, YAML, TOML, shell, URLs and (typed) code.
    "<assign>": r"<quote>?\]?[ \t]{0,8}(?::=|=>|[=:]|%3[Dd]|:[ \t]?[A-Za-z_][\w.\[\] |]{0,30}=)[ \t]{0,8}"
    r"(?:[|>]-?\n\s{1,12})?",
    # "the password for the lab is …", and so in the languages of its neighbours; "I set the password to …"
    "<is>": r"(?:[ \t]{1,4}(?:for|of|to|on|at|in|from|do|de|du|des|del|della|der|do|da|f\xc3\xbcr|vom|zum|we|you|"
    r"i)[ \t][^\r\n\"'`:=]{1,60}?)?"
    r"[ \t]{1,4}(?:is|was|to|now|=|:|->|\xe2\x86\x92|ist|lautet|est|es|\xc3\xa8|\xc3\xa9)[ \t:]{1,4}(?:now[ \t])?",
    # Where a token without a telling prefix may begin: at a word's edge, after an escaped line break, after %3D.
    "<edge>": r"(?:\b|\\[nrt]|%[0-9A-Fa-f]{2})",
    # The same for tokens that a long base64 text may hold by chance.
    "<apart>": r"(?:(?m:^)[+-]?|[^A-Za-z0-9+/_-]|\\[nrt]|%[0-9A-Fa-f]{2})",
    "<uuid>": r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    # Characters as they are, as JSON escapes them and as a URL does.
    "<base64>": r"(?:[A-Za-z0-9+/]|\\{1,4}/|%2[BbFf])",
    "<pad>": r"(?:=|%3[Dd]){0,2}",
    "<slash>": r"(?:\\{0,4}/|%2[Ff])",
    "<colon>": r"(?::|%3[Aa])",
    "<dollar>": r"(?:\$|%24)",
    "<tilde>": r"(?:~|%7[Ee])",
    "<at>": r"(?:@|%40)",
    "<break>": r"(?:[\s+>|]|\\{1,4}[nrt]){1,16}",
    "<space>": r"(?:[ \t]|%20|\+){1,4}",
    "<quote>": r"(?:\\{0,7}[\"'`]|&quot;|&#3[49];|%2[27])",
    "<word>": r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|[_-]key|[_-]auth|credentials?|private)",
}
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


def _shape(row: str) -> Shape:
    kind, hints, pattern, *more = row.split("  ")
    guard, _, named = more[0].partition(" ") if more else ("not_a_placeholder", "", "")
    for name, part in _PARTS.items():
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
            continue
        if row:
            yield row
        row = line
    yield row


SHAPES: tuple[Shape, ...] = tuple(map(_shape, _rows()))
