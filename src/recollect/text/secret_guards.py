"""Does a value look like a real secret, or like what people write in its place?

A vendor's prefix needs little more than `not_a_placeholder`. Values known by the name beside them (`password = …`) need
more, since most such values in code are names, types, lookups and labels. The expressions here run on the stdlib's
engine, so each is written to need no backtracking.
"""

import base64
import binascii
import math
import re
from collections import Counter
from itertools import pairwise

from recollect.text.patterns import lazy

# A random token holds one of these about once in a million; documentation is full of them.
_PLACEHOLDER = lazy(
    r"example|(?-i:xxxx|XXXX)|change.?(?:me|this)|placeholder|redacted|dummy|insert|replace[-_]|sample[-_]|[-_]here\b"
    r"|your[-_.]|[-_.]your|yourpass|yourkey|yourtoken|\*\*\*|\.\.\.|1234567890|abcdefgh|<[^<>]*>",
    re.IGNORECASE,
)
_STAND_IN = lazy(
    r"password|passwd|passphrase|pwd|pass|secret|token|api[-_]?key|key|credentials|string|str|text|bytes|none|null"
    r"|nil|undefined|true|false|bool|boolean|int|integer|number|object|optional|required|default|empty|unset|hidden"
    r"|masked|prompt|bearer|basic|oauth2?|todo|tbd|fixme|test|testing|demo|admin|root|user|guest|foo|bar|baz|foobar"
    r"|qwerty|letmein|changeit|p[@a]ssw[0o]rd|s3cret|(?:password|pass|test|secret|admin)123|password1|123456(?:789?)?",
    re.IGNORECASE,
)
# A variable, a template, a call, a path or an address where the secret is kept.
_LOOKUP = lazy(
    r"^[$%@&]?[({\[]|^\$|^%[A-Za-z_(]|^@|\$\{|\{\{|^<|::|^[./~]+/|^/[A-Za-z]|environ|getenv|process\.env"
    r"|^!(?:vault|Ref|Sub|GetAtt|ENV|secret)|^env[.:\[(]|^ENV\["
    r"|^(?:self|this|config|settings|secrets|vars?|args|options|params|req|request)\."
    r"|^(?:vault|op|ssm|arn|secretsmanager|keyring|file|https?|s3|gs|ref)(?::|\+)"
)
_WORDS = lazy(r"[A-Za-z][-_./: A-Za-z]*")
_CALL = lazy(r"^[A-Za-z_][\w.]*[(\[].*[)\]]$|->|=>|^[A-Za-z_]+\d*(?:\.[A-Za-z_]+\d*)+$")
_STORED_NAME = lazy(r"[a-z/_-]+-[A-Za-z0-9]{6}")  # of a secret at AWS, with its random ending
_UUID = lazy(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_CODE = lazy(r"[(){}\[\]]|->|=>|==.|^[A-Za-z_]+\d*(?:\.[A-Za-z_]+\d*)+$")


def entropy(value: str) -> float:
    """Shannon bits per character."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


def not_a_placeholder(value: str) -> bool:
    return len(set(value[:200])) >= 6 and not _PLACEHOLDER.search(value[:200])


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
    """A long random run after a name that no list knows: mixed case and digits, or a name that speaks of secrets."""
    name, random = value[: (cut := max(value.rfind("_"), value.rfind("-")))], value[cut + 1 :]
    if not not_a_placeholder(random) or not _has_digit_and_letter(random) or _NAMED_HASH.search(name):
        return False
    mixed = any(c.isupper() for c in random) and any(c.islower() for c in random)
    if mixed:
        changes = sum(a.isdigit() != b.isdigit() or a.isupper() != b.isupper() for a, b in pairwise(random))
        return entropy(random) >= 4.0 and changes >= len(random) * 0.3
    if entropy(random) >= 3.2 and _SECRET_PREFIX.search(name):
        return True
    turns = sum(a.isdigit() != b.isdigit() for a, b in pairwise(random))  # base 36 has 40 % of them
    return turns >= len(random) * 0.25 and any(c.lower() > "f" for c in random)


_PUBLIC_RUN = lazy(r"(?:pk_|pub|sha\d|md5|AAAA|ey[A-Z]|Qm[1-9A-Za-z]{44}$|ba[fg]|bc1|[13][1-9A-HJ-NP-Za-km-z]{25,34}$)")


def like_random_run(value: str) -> bool:
    """A run that nothing names: capitals, small letters and digits alternate as by chance (62 % of them)."""
    if _PUBLIC_RUN.match(value) or not not_a_placeholder(value) or sum(c.isdigit() for c in value) < 2:
        return False
    said = base64.urlsafe_b64decode(value[: len(value) // 4 * 4])
    if len(value) in (60, 64, 76) or sum(32 <= byte < 127 for byte in said) > len(said) * 0.7:
        return False  # a line of wrapped base64, or base64 of a text: of random bytes 37 % are printable
    kinds = ["digit" if c.isdigit() else "upper" if c.isupper() else "lower" for c in value if c.isalnum()]
    changes = sum(a != b for a, b in pairwise(kinds))
    return len(set(kinds)) == 3 and changes >= len(kinds) * 0.45 and entropy(value) >= 4.0


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
    is_login = bool(name and colon and password) and login.isprintable()
    return is_login and not _STAND_IN.fullmatch(password)


def like_password(value: str) -> bool:
    """A quoted value beside a password's name: two classes of characters, and no name, label or lookup."""
    if _STAND_IN.fullmatch(value) or _LOOKUP.search(value) or _PLACEHOLDER.search(value):
        return False
    if len(set(value)) < 4 or any(c.isspace() for c in value):
        return False
    return not _WORDS.fullmatch(value) or _random_letters(value)


def like_bare_password(value: str) -> bool:
    """The same without quotes, where the value may also be an expression."""
    value = value.rstrip("})]")  # of the line around it
    return like_password(value) and not _CODE.search(value) and _has_digit_and_letter(value)


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
    return not _CODE.search(value) and like_quoted_key(value) and not _STORED_NAME.fullmatch(value)


def like_quoted_key(value: str) -> bool:
    """The same in quotes, where brackets are characters like any other."""
    if len(value) < 12 or not like_password(value) or _CALL.search(value):
        return False
    return entropy(value) >= 3.0 and (_has_digit_and_letter(value) or _random_letters(value))


def like_long_key(value: str) -> bool:
    """A value that only follows the word for a key: hex, or capitals, small letters and digits."""
    if not like_token(value) or _UUID.fullmatch(value) or _PUBLIC_RUN.match(value):
        return False
    is_hex = not value.removeprefix("0x").strip("0123456789abcdefABCDEF")
    return is_hex or (any(c.isupper() for c in value) and any(c.islower() for c in value) and value.count("-") < 3)


def _has_digit_and_letter(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _random_letters(value: str) -> bool:
    """Letters only, yet neither words nor camelCase: the case changes too often for that."""
    if not value.isalpha() or len(value) < 16:
        return False
    changes = sum(a.isupper() != b.isupper() for a, b in pairwise(value))
    return changes >= len(value) * 0.35
