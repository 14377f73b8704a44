"""Secrets known by what stands around them: PEM marks, URLs, headers, command lines, names of settings."""

from recollect.text.redact.guards import (
    encodes_a_login,
    holds_a_key,
    like_bare_password,
    like_key,
    like_password,
    like_token,
)
from recollect.text.redact.shape import BASE64, EDGE, Shape, shape

_PEM_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PEM_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PEM_BREAK = r"(?:\s|\\{1,8}[nrt]|[\"'+,|>]){1,16}"
_PEM_HEADER = r"[A-Za-z-]{3,20}: [A-Za-z0-9,. -]{1,100}"

_BREAK = r"(?:[\s+>|]|\\{1,4}[nrt]){1,16}"
_SPACE = r"(?:[ \t]|%20|\+){1,4}"
_QUOTE = r"(?:\\{0,7}[\"'`]|&quot;|&#3[49];|%2[27])"
_OPTIONAL_QUOTE = _QUOTE + "?"

# What stands between a name and its value, in JSON, YAML, TOML, shell, URLs and (typed) code.
_ASSIGN = _OPTIONAL_QUOTE + r"\]?[ \t]{0,8}(?::=|=>|[=:]|%3[Dd]|:[ \t]?[A-Za-z_][\w.\[\] |]{0,30}=)[ \t]{0,8}"


def _quoted(least: int) -> str:
    """A value in quotes, which a string inside a string escapes."""
    return (
        rf"[bruf]{{0,2}}(?:\\{{0,7}}\"((?:[^\"\\\r\n]|\\[^\"\\nrtu]){{{least},}})"
        rf"|\\{{0,7}}'((?:[^'\\\r\n]|\\[^'\\nrtu]){{{least},}})"
        rf"|`([^`\\\r\n]{{{least},}}))"
    )


def _bare(least: int) -> str:
    return rf"(?:&quot;|&#3[49];|%2[27])?([^\s\"'`,;&<>\\]{{{least},}})"


def _element(names: str, least: int) -> str:
    return rf"(?i)<[\w.:-]{{0,40}}(?:{names})>([^<\s]{{{least},}})</"


_STAGE = r"(?:[_.-]?(?:value|prod|dev|test|live|[0-9]{1,2}))?"
_PASSWORD_NAME = r"(?i)(?:password|passwd|passphrase|passwort|[_-]pwd|\bpwd|[_-]pass|\bpass)" + _STAGE
_KEY_NAME = (
    r"(?i)(?:(?:api|access|private|auth|signing|encryption|account|shared|master|service|app)[_. -]?key"
    r"|license[_. -]?key|token|secret(?:[_.-]?(?:key|base|string)){0,2}|credentials?|(?-i:\b_auth))" + _STAGE
)
_IS = r"[ \t]{1,4}(?:is|was)[ \t:]{1,4}"
_PASSWORD_HINTS = "pass pwd"
_KEY_HINTS = "key secret token credential _auth"

CONTEXTS: tuple[Shape, ...] = (
    shape(
        "private-key",
        "private",
        rf"{_PEM_BEGIN}[^-]*(?:-{{1,4}}[^-]+)*{_PEM_END}",
        holds_a_key,
    ),
    shape(
        # cut off before its end mark: whatever still looks like header lines and base64
        "private-key",
        "private",
        rf"{_PEM_BEGIN}(?:{_PEM_BREAK}{_PEM_HEADER})*(?:{_PEM_BREAK}[A-Za-z0-9+/]{{16,}}={{0,2}})+"
        rf"(?:{_PEM_BREAK}[A-Za-z0-9+/]{{1,15}}={{1,2}})?",
        holds_a_key,
    ),
    shape(
        "url-password",
        "://  :\\/\\/  :\\\\/\\\\/",
        r"(?i)\b[a-z][a-z0-9+.-]{1,30}:(?:\\{0,4}/){2}[^\s:/@\"'`<>\\]*:([^\s/@\"'`<>\\]{3,})@[a-z0-9\[$]",
        like_password,
    ),
    shape(
        "authorization",
        "authorization",
        rf"(?i)authorization{_OPTIONAL_QUOTE}\s{{0,4}}[:=,]\s{{0,4}}{_OPTIONAL_QUOTE}"
        rf"(?:(?:bearer|token|api-?key|ssws|key|bot|digest|negotiate){_SPACE})?([A-Za-z0-9_.~+/=|:%-]{{12,}})",
        like_key,
    ),
    shape("authorization", "bearer", rf"(?i)\bbearer{_SPACE}([A-Za-z0-9_.~+/=-]{{20,}})", like_key),
    shape("authorization", "basic", rf"(?i)\bbasic{_SPACE}([A-Za-z0-9+/]{{8,}}={{0,2}})", encodes_a_login),
    shape(
        "netrc",
        "machine",
        rf"(?i){EDGE}machine{_BREAK}\S+?{_BREAK}login{_BREAK}\S+?{_BREAK}password{_BREAK}([^\s\"'\\`]{{3,}})",
        like_password,
    ),
    shape(
        "command-line",
        "--",
        r"(?i)--(?:[a-z]{1,20}-)?(?:password|passwd|passphrase|token|secret|api-?key|auth-token)"
        r"(?:[ \t]{1,4}|=)\\{0,4}[\"']?([^\s\"'`\\<>;|&]{6,})",
        like_bare_password,
    ),
    shape(
        "command-line",
        "curl wget",
        EDGE + r"(?:curl|wget)\b[^\r\n]*?[ \t](?:-u|--user)[ =]?[ \t]{0,4}\\{0,4}[\"']?"
        r"[^\s:\"'\\]+:([^\s\"'`\\]{3,})",
        like_password,
    ),
    shape(
        "command-line",
        "mysql mariadb sshpass redis-cli docker podman",
        EDGE + r"(?:(?:mysql(?:dump|admin|sh)?|mariadb(?:-dump|-admin)?)\b[^\r\n;|&]*?[ \t]-p"
        r"|(?:sshpass[ \t]+-p|redis-cli\b[^\r\n;|&]*?[ \t]-a|(?:docker|podman)[ \t]+login\b[^\r\n;|&]*?[ \t]-p)[ \t]*)"
        r"\\{0,4}[\"']?([^\s\"'`\\<>;|&]{6,})",
        like_bare_password,
    ),
    shape(
        "docker-auth",
        "auth",
        r"\\{0,7}\"auth\\{0,7}\"\s{0,4}:\s{0,4}\\{0,7}\"([A-Za-z0-9+/]{8,}={0,2})",
        encodes_a_login,
    ),
    shape(
        "aws-secret-key",
        "secret",
        rf"(?i)secret[_-]?(?:access)?[_-]?key{_ASSIGN}{_OPTIONAL_QUOTE}({BASE64}{{40}})(?:[^A-Za-z0-9+/=]|\z)",
        like_token,
    ),
    shape("password", _PASSWORD_HINTS, _PASSWORD_NAME + _ASSIGN + _quoted(4), like_password, named=True),
    shape("password", _PASSWORD_HINTS, _PASSWORD_NAME + _ASSIGN + _bare(6), like_bare_password, named=True),
    shape("password", _PASSWORD_HINTS, _PASSWORD_NAME + _IS + _quoted(4), like_password, named=True),
    shape("password", _PASSWORD_HINTS, _PASSWORD_NAME + _IS + _bare(6), like_bare_password, named=True),
    shape("password", _PASSWORD_HINTS, _element("password|passwd|passphrase", 4), like_password),
    shape("secret", _KEY_HINTS, _KEY_NAME + _ASSIGN + _quoted(12), like_key, named=True),
    shape("secret", _KEY_HINTS, _KEY_NAME + _ASSIGN + _bare(12), like_key, named=True),
    shape("secret", _KEY_HINTS, _KEY_NAME + _IS + _OPTIONAL_QUOTE + _bare(12), like_key, named=True),
    shape("secret", _KEY_HINTS, _element("secret|token|key", 12), like_key),
    # an environment variable such as SEARCH_KEY may hold anything, so only an unbroken random run counts
    shape("secret", "_key", rf"[A-Z0-9]_KEY{_ASSIGN}{_OPTIONAL_QUOTE}([A-Za-z0-9]{{24,}})", like_token),
)
