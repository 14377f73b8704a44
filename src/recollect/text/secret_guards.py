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
_CODE = lazy(r"[(){}\[\]]|->|=>|==|^[A-Za-z_]+\d*(?:\.[A-Za-z_]+\d*)+$")


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
    return like_password(value) and not _CODE.search(value) and _has_digit_and_letter(value)


def like_key(value: str) -> bool:
    """A value beside the name of a key, token or secret: long and random."""
    if len(value) < 12 or not like_password(value) or _CODE.search(value):
        return False
    return entropy(value) >= 3.0 and (_has_digit_and_letter(value) or _random_letters(value))


def _has_digit_and_letter(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _random_letters(value: str) -> bool:
    """Letters only, yet neither words nor camelCase: the case changes too often for that."""
    if not value.isalpha() or len(value) < 16:
        return False
    changes = sum(a.isupper() != b.isupper() for a, b in pairwise(value))
    return changes >= len(value) * 0.35
