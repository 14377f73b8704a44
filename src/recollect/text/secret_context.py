"""Values near a word for a secret that are as random as one: `ada / kT7#…` after "log in with", `keypass …`.

Owns what no list of formats can name. Two things were learnt (`training/secrets.py`): how surprising the letters of a
value are for words and identifiers, and which words, links and values go together in secrets. A value is judged by the
text before it alone.
"""

import functools
import json
import math
import re
from collections.abc import Iterable, Iterator
from itertools import takewhile
from pathlib import Path

from recollect.core.records import record
from recollect.text.markdown import lazy

# A random token holds one of these about once in a million; documentation is full of them.
PLACEHOLDER = lazy(
    r"example|(?-i:xxxx|XXXX)|change.?(?:me|this)|placeholder|redacted|dummy|insert|replace[-_]|sample[-_]|[-_]here\b"
    r"|your[-_.]|[-_.]your|yourpass|yourkey|yourtoken|\*\*\*|\.\.\.|1234567890|abcdefgh|<[^<>]*>",
    re.IGNORECASE,
)
STAND_IN = lazy(
    r"password|passwd|passphrase|pwd|pass|secret|token|api[-_]?key|key|credentials|string|str|text|bytes|none|null"
    r"|nil|undefined|true|false|bool|boolean|int|integer|number|object|optional|required|default|empty|unset|hidden"
    r"|masked|prompt|bearer|basic|oauth2?|todo|tbd|fixme|test|testing|demo|admin|root|user|guest|foo|bar|baz|foobar"
    r"|qwerty|letmein|changeit|p[@a]ssw[0o]rd|s3cret|(?:password|pass|test|secret|admin)123|password1|123456(?:789?)?",
    re.IGNORECASE,
)
# A variable, a template, a call, a path or an address where the secret is kept.
LOOKUP = lazy(
    r"^[$%@&]?[({\[]|^\$|^%[A-Za-z_(]|^@|\$\{|\{\{|^<|::|^[./~]+/|^/[A-Za-z]|environ|getenv|process\.env"
    r"|^!(?:vault|Ref|Sub|GetAtt|ENV|secret)|^env[.:\[(]|^ENV\["
    r"|^(?:self|this|config|settings|secrets|vars?|args|options|params|req|request)\."
    r"|^(?:vault|op|ssm|arn|secretsmanager|keyring|file|https?|s3|gs|ref)(?::|\+)"
)
# The bytes of a text are read as Latin-1, so that places in both agree.
_WORDS = {
    "password": "pass(?:word|wd|phrase|code|wort)?|pwd|pw|pswd|kennwort|senha|contrase\xc3\xb1a|wachtwoord|has\xc5\x82o"
    "|heslo|l\xc3\xb6senord|\xd0\xbf\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c|\xe5\xaf\x86\xe7\xa0\x81"
    "|mot de passe|psk|pin",
    "secret": "secret|salt|seed|passcode|geheimnis",
    "token": "token|jwt|bearer|pat|oauth",
    "key": "key|schl\xc3\xbcssel|cl\xc3\xa9|clave|chiave|chave|sleutel",
    "private": "private|access|auth|authorization|cookie|session|signature|sig|webhook|license|api",
    "login": "login|log[ -]?in|logged in|sign[ -]?in|creds?|credential|user(?:name)?|account|admin|root|ssid|wifi|wi-fi"
    "|connect",
}
_WORD = lazy("(?:" + "|".join(f"(?P<{name}>(?i:{words}))" for name, words in _WORDS.items()) + r")[sS]?(?![a-z])")
# What makes a random value harmless: an identifier, a digest, something public, a trace, a key of a table, a number.
_HARMLESS = {
    "id": lazy(r"(?i:[^a-z]id\b|uuid|guid|arn\b|name|number)|I[dD]\b"),
    "hash": lazy(r"(?i)hash|digest|sha\d|md5|sum|commit|rev|merge|finger|etag|integrity|pin"),
    "public": lazy(r"(?i)pub|cert|client|host"),
    "trace": lazy(r"(?i)request|trace|event|deliver|attempt|test|exampl|fixture|build|version|deploy|service"),
    "store": lazy(
        r"(?i)cache|foreign|primary|sort|partition|idempot|row|rout|object|index|path|file|s3|duplicate|missing|policy|store"
    ),
    "count": lazy(r"(?i)count|size|length|max|used|expire|ttl|type|port|channel|random"),
}
_ASSIGNED = lazy(r"[\"'\]\s`]*(?::=|=>|->|[:=(,])[\s\"'`(\[{]*(?:[bruf][\"'])?")
_SAID = lazy(r"(?i)\b(?:is|was|to|now|ist|est|es|lautet|it'?s|use|with)\b|:")
_UUID = lazy(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_LOOKS = lazy(  # a date, version, path, address or placeholder
    r"(?i)\d{4}-\d\d-\d\d|^v?\d+(?:\.\d+)+|^[./~]|\.(?:py|js|go|md|json|ya?ml|txt|html|ts|css|com|org|io|net|rst|xml|sh"
    r"|toml|lock|png|svg)(?:$|[/:#?])|^https?|//|\d+(?:px|ms|em|kb|mb|gb)$|^[A-Z]{2,6}-\d+$|^[\d.]+$|@|\*|\$|%[sd({]|\.\.\.|<"
    r"|#$|->"
)
_AROUND = lazy(r"[A-Za-z0-9+/]+")
_DIGEST = lazy(r"(?i)(?:sha\d{1,3}|md5|blake\w{1,3})[:=-]\Z")
_FLAG = lazy(r"(?:^|\s)--?[\w-]*$")
# A run that may be random: a digit, or five consonants. Most words have neither.
_MARK = r"(?:[0-9]|[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ]{5})"
_PART = r"[^\s\"'`,;<>=:&|()\[\]{}\\\x80-\xff]*"
RUN = lazy(f"{_PART}{_MARK}{_PART}={{0,2}}")
_REACH = 60  # bytes between the word and the value
_BEFORE = 20  # bytes before the word that speak for or against it
_SHORTEST = 6  # bytes; a shorter value is a placeholder more often than a secret. Chosen
# In RE2: a word with such a run behind it, so that most texts cost one pass.
NEAR = "(?:" + "|".join(f"(?i:{words})" for words in _WORDS.values()) + rf")[sS]?[^a-z](?s:.){{0,{_REACH}}}?{_MARK}"


def values_in_context(data: bytes, near: Iterable[int]) -> Iterator[tuple[int, int, str]]:
    """Where secrets begin and end behind the places where `NEAR` matches, and of which kind they are."""
    for start, end in _stretches(near):
        at = max(0, start - _BEFORE)
        text = data[at : end + 256].decode("latin-1")
        for run in RUN.finditer(text, start - at):
            if run.start() > end - at:
                break
            found = None if _plain(run[0]) else candidate(text, *run.span())
            if found and is_secret(text, *found):
                first, last, word = found
                yield at + first, at + last, _KINDS.get(str(word.lastgroup), "secret")


def _stretches(near: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Words that are close to each other share a stretch, so that no part of a text is read twice."""
    first = last = -1
    for place in near:
        if place > last:
            if first >= 0:
                yield first, last
            first = place
        last = place + _REACH + _BEFORE
    if first >= 0:
        yield first, last


_KINDS = {"password": "password", "login": "password"}


def candidate(text: str, start: int, end: int) -> tuple[int, int, re.Match[str]] | None:
    """The value in a run and the word nearest before it, which may be glued to it: `acme-token-3f9…`."""
    before = inside = None
    for word in _WORD.finditer(text, max(0, start - _REACH), end):
        if word.end() <= start:
            before = word
        elif word.start() >= start and end - word.end() >= 8 and text[word.end()] in "-_.":
            inside = word
    if inside:
        word, start = inside, inside.end()
    elif before and (lines := text.count("\n", before.end(), start)) < 2:
        if lines and text[end : end + 1] not in ("", "\n", "\r"):
            return None  # `pass` and the statement on the next line
        word = before
    else:
        return None
    if _by_chance(text, word) or _DIGEST.search(text, max(0, start - 9), start):
        return None
    start += sum(1 for _ in takewhile("*_/-.".__contains__, text[start:end]))
    end -= sum(1 for _ in takewhile("*_/.?".__contains__, reversed(text[start:end])))
    return (start, end, word) if end - start >= _SHORTEST else None


def _by_chance(text: str, word: re.Match[str]) -> bool:
    """Whether the word is a part of a random run, as lines of base64 spell them."""
    for run in _AROUND.finditer(text, max(0, word.start() - _REACH)):
        if run.end() >= word.end():
            return run.start() < word.end() and bits(run[0]) > 20
    return False


def _plain(value: str) -> bool:
    return bits(value) < 0 and not _strong(value)


def is_secret(text: str, start: int, end: int, word: re.Match[str]) -> bool:
    value = text[start:end]
    names_one = bits(value) < 10 and _WORD.search(value)  # as `1Password` and `Argon2PasswordHasher` do
    if _plain(value) or names_one or not not_a_placeholder(value) or not not_a_stand_in(value):
        return False
    weights = learnt().weights
    return sum(weights.get(name, 0.0) * size for name, size in features(text, start, end, word).items()) > _BAR


def features(text: str, start: int, end: int, word: re.Match[str]) -> dict[str, float]:
    """What speaks for and against a secret, by name; `training/secrets.py` learnt a weight for each."""
    value, gap, name = text[start:end], text[word.end() : start], str(word.lastgroup)
    before = text[max(0, word.start() - _BEFORE) : word.start()].rsplit("\n", 1)[-1]
    link, shape = _link(gap), _shape(value)
    random = bits(value)
    found = {
        "always": 1.0,
        name: 1.0,
        link: 1.0,
        shape: 1.0,
        f"{name} {link}": 1.0,
        f"{name} {shape}": 1.0,
        "far": min(len(gap), _REACH) / 20,
        "random": max(-40.0, min(random, 80.0)) / 20,
        "rather random": min(max(random, 0.0), 20.0) / 10,
        "random a letter": random / len(value),
        "digits": sum(map(str.isdigit, value)) / len(value),
        "marks": min(sum(not each.isalnum() for each in value), 6) / 3,
    }
    said = {
        "flag": bool(_FLAG.search(before)),
        "joined": text[word.start() - 1 : word.start()].islower() and text[word.start()].islower(),
        "after a slash": link in ("gap", "said") and gap.rstrip(" ").endswith(("/", ":")),
        "in quotes": gap.endswith(("'", '"', "`")),
        "has a slash": "/" in value,
        "has a dash": "-" in value or "_" in value,
        "looks": bool(_LOOKS.search(value)),
        "called": text[end : end + 1] in ("(", "=", "["),
        "closed": text[end : end + 1] in (")", "]", "}"),
    }
    said |= {f"{size} long": len(value) >= size for size in (8, 12, 16, 20, 24, 32)}
    said |= {f"{kind} between": bool(words.search(gap)) for kind, words in _HARMLESS.items()}
    said |= {f"{kind} before": bool(words.search(before)) for kind, words in _HARMLESS.items()}
    if _strong(value):
        said["strong password" if name in _KINDS else "strong key"] = True
    return found | {name: 1.0 for name, true in said.items() if true}


def _link(gap: str) -> str:
    if gap and not gap.strip("-_."):
        return "glued"
    if "\n" in gap:
        return "line"
    if _ASSIGNED.fullmatch(gap):
        return "assigned"
    return "space" if gap.isspace() else "said" if _SAID.search(gap) else "gap"


def _shape(value: str) -> str:
    if _UUID.fullmatch(value):
        return "uuid"
    used = {each for each in value if each.isalnum()}
    if used <= DIGITS:
        return "number"
    if used <= HEX or used <= UPPER_HEX:
        return "hex"
    if any(each in "!@#$%^&*?~+" for each in value):
        return "symbols"
    lower, upper, digits = (any(map(test, used)) for test in (str.islower, str.isupper, str.isdigit))
    return "letters" if not digits else "mixed" if lower and upper else "small" if lower else "capitals"


def _strong(value: str) -> bool:
    """Three classes of characters, as policies for passwords demand."""
    other = not value.isalnum()
    return sum(any(map(test, value)) for test in (str.islower, str.isupper, str.isdigit)) + other >= 3


_BAR = 0.5  # on the unseen half of the rules 85 % of the values that a word goes before, on code 1 in 60


def not_a_stand_in(value: str) -> bool:
    return not STAND_IN.fullmatch(value) and not LOOKUP.search(value)


def not_a_placeholder(value: str) -> bool:
    return len(set(value[:200])) >= 6 and not PLACEHOLDER.search(value[:200])


DIGITS, HEX, UPPER_HEX = (frozenset(each) for each in ("0123456789", "0123456789abcdef", "0123456789ABCDEF"))


@functools.lru_cache(2048)
def bits(value: str) -> float:
    """How many bits a value costs more as words and identifiers than as random characters of its alphabet."""
    used = {each for each in value if each.isascii() and each.isalnum()}
    if used <= DIGITS:
        size = 10.0
    elif used <= HEX or used <= UPPER_HEX:
        size = 16.0
    else:
        size = sum(n * any(map(test, used)) for n, test in ((26, str.islower), (26, str.isupper), (10, str.isdigit)))
    total, last, kind = 0.0, "", 3
    turns, pairs = learnt().turns, learnt().pairs
    for each in value:
        if not (each.isascii() and each.isalnum()):
            last, kind = "", 3
            continue
        now = 2 if each.isdigit() else int(each.isupper())
        total += turns[kind][now]
        if now == 2:
            total += _DIGIT
            last = ""
        else:
            if now == 1 and kind == 0:
                last = ""
            total += pairs[last, each.lower()]
            last = each.lower()
        kind = now
    return total - len([each for each in value if each in used]) * math.log2(size) if used else 0.0


@record
class Learnt:
    """What `training/secrets.py` learnt: bits from kind to kind of character and from letter to letter, and weights."""

    turns: list[list[float]]
    pairs: dict[tuple[str, str], float]
    weights: dict[str, float]


@functools.cache
def learnt() -> Learnt:
    found = json.loads((Path(__file__).parent / "data" / "secrets.json").read_bytes())
    pairs = {(a, b): cost for a, costs in found["pairs"].items() for b, cost in zip(_LETTERS, costs, strict=True)}
    return Learnt(turns=found["turns"], pairs=pairs, weights=found["weights"])


_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGIT = math.log2(10)
