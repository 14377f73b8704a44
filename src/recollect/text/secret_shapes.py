"""The shapes of secrets: tokens known by a vendor's prefix, and values known by the name, URL or header beside them.

Nothing here is a secret; prefixes, lengths and alphabets are publicly known. Patterns are RE2 over the bytes of a text
and see ASCII. The part to hide is the first group that took part in the match, or the whole match. A class that takes
in non-ASCII bytes has no upper length, else a match could end inside a character; nor has a token that its vendor says
may grow. Whether a value is only a placeholder is decided in `text/secret_guards`.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from recollect.core.records import record
from recollect.text import secret_guards


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


_SECRET_BLOCK = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1"
_PEM_BEGIN = rf"-----BEGIN (?:{_SECRET_BLOCK})-----"
_PEM_END = rf"-----END (?:{_SECRET_BLOCK})-----"
_PEM_BREAK = r"(?:\s|\\{1,8}[nrt]|[\"'+,|>]){1,16}"
_PEM_HEADER = r"[A-Za-z-]{3,20}: [A-Za-z0-9,. -]{1,100}"

_BREAK = r"(?:[\s+>|]|\\{1,4}[nrt]){1,16}"
_SPACE = r"(?:[ \t]|%20|\+){1,4}"
_QUOTE = r"(?:\\{0,7}[\"'`]|&quot;|&#3[49];|%2[27])"
_OPTIONAL_QUOTE = _QUOTE + "?"

# The characters between a name and its value, in JSON, YAML, TOML, shell, URLs and (typed) code.
_ASSIGN = (
    _OPTIONAL_QUOTE
    + r"\]?[ \t]{0,8}(?::=|=>|[=:]|%3[Dd]|:[ \t]?[A-Za-z_][\w.\[\] |]{0,30}=)[ \t]{0,8}(?:[|>]-?\n\s{1,12})?"
)


def _quoted(least: int) -> str:
    """A value in quotes, which a string inside a string escapes."""
    return (
        rf"[bruf]{{0,2}}(?:\\{{0,7}}\"((?:[^\"\\\r\n]|\\[^\"\\nrtu]){{{least},}})"
        rf"|\\{{0,7}}'((?:[^'\\\r\n]|\\[^'\\nrtu]){{{least},}})"
        rf"|`([^`\\\r\n]{{{least},}}))"
    )


def _bare(least: int) -> str:
    return rf"(?:&quot;|&#3[49];|%2[27])?([^\s\"'`,;&<>\\]{{{least},}})"


_STAGE = r"(?:[_.-]?(?:value|prod|dev|test|live|[0-9]{1,2}))?"
_PASSWORD_NAME = (
    r"(?i)(?:password|passwd|passphrase|passcode|passwort|kennwort|mot de passe|contrase\xc3\xb1a|senha|"
    r"wachtwoord|has\xc5\x82o|heslo|l\xc3\xb6senord|\xd0\xbf\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c|"
    r"\xe5\xaf\x86\xe7\xa0\x81"
    r"|[_-]pwd|\bpwd|\bpw|[_-]pass|\bpass|(?:store|key)pass)" + _STAGE
)
_KEY_NAME = (
    r"(?i)(?:(?:api|access|private|auth|signing|encryption|account|shared|master|service|app|application|functions?"
    r"|subscription|consumer|client|admin|integration|ingest(?:ion)?|write|storage|hmac|jwt|webhook|"
    r"deploy|bot|server|sdk"
    r"|rest|preshared|pre-shared|license|partner|merchant|instrumentation)[_. -]?key(?:[_-]data)?"
    r"|token|secret(?:[_.-]?(?:key|base|string)){0,2}|credentials?|\bpsk|schl\xc3\xbcssel|(?-i:\b_auth|"
    r"[A-Z]_AUTH|KEY_PRIVATE|_COOKIE))" + _STAGE
)
# "the password for the lab is …", and so in the languages of its neighbours; "I set the password to …"
_IS = (
    r"(?:[ \t]{1,4}(?:for|of|to|on|at|in|from|do|de|du|des|del|della|der|do|da|f\xc3\xbcr|vom|zum|we|you|"
    r"i)[ \t][^\r\n\"'`:=]{1,60}?)?"
    r"[ \t]{1,4}(?:is|was|to|now|=|:|->|\xe2\x86\x92|ist|lautet|est|es|\xc3\xa8|\xc3\xa9)[ \t:]{1,4}(?:now[ \t])?"
)
_SECRET_WORD = r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|[_-]key|credentials?|private)"
_PASSWORD_HINTS = (
    "pass pwd pw kennwort contrase senha wachtwoord has\u0142o heslo senord \u043f\u0430\u0440 \u5bc6\u7801"
)
_KEY_HINTS = "key secret token credential _auth psk schl cookie"

# Each shape: kind, hints, pattern, and its guard where that is not `not_a_placeholder`, two spaces between them. An
# indented line goes on with the line before. `data/tokens.txt` has vendors' tokens in the same form. Of two shapes that
# begin at the same place the earlier names the marker.
_BESIDE = r"""
private-key  private openvpn  <pem begin>[^-]*(?:-{1,4}[^-]+)*<pem end>  holds_a_key
private-key  private openvpn
    <pem begin>(?:<pem break><pem header>)*(?:<pem break>[A-Za-z0-9+/]{16,}={0,2})+(?:<pem break>
    [A-Za-z0-9+/]{1,15}={1,2})?  holds_a_key
url-password  :// :\/\/ :\\/\\/
    (?i)\b[a-z][a-z0-9+.-]{1,30}:(?:\\{0,4}/){2}[^\s:/@\"'`<>\\]*:([^\s/@\"'`<>\\]{3,})@[a-z0-9\[$]  like_password
authorization  authorization
    (?i)authorization<quote>?\s{0,4}[:=,]\s{0,4}<quote>?(?:(?:[ac-z]|b[b-z])[a-z0-9-]{2,24}<space>)?(
    [A-Za-z0-9_.~+/=|:%-]{12,})  like_key
authorization  bearer  (?i)\bbearer<space>([A-Za-z0-9_.~+/=-]{20,})  like_key
authorization  basic  (?i)\bbasic<space>([A-Za-z0-9+/]{8,}={0,2})  encodes_a_login
netrc  machine
    (?i)<edge>machine<break>\S+?<break>login<break>\S+?<break>password<break>([^\s\"'\\`]{3,})  like_password
command-line  -
    (?i)[ \t]--?(?:[a-z]{1,20}-){0,3}(?:password|passwd|passphrase|pass|pwd|token|secret|credentials?|(?:api|access
    |secret|private)-?key|storepass|keypass)(?:[ \t]{1,4}|=)\\{0,4}[\"']?([^\s\"'`\\<>;|&]{6,})  like_bare_password
command-line  --auth --user --basic --login --creds
    (?i)--(?:auth|user|basic|login|creds|proxy-user)(?:[ \t]{1,4}|=)\\{0,4}[\"']?[^\s:\"'\\]+:([^\s\"'`\\]{3,})
      like_password
command-line  login auth  (?i)\b(?:login|auth|authtoken)[ \t]{1,4}((?:[0-9a-f]{32,}|[A-Za-z0-9_-]{36,}))\b  like_token
command-line  convertto-securestring
    (?i)ConvertTo-SecureString[ \t]+(?:-String[ \t]+)?[\"']([^\"'\r\n]{4,})  like_password
command-line  curl wget
    <edge>(?:curl|wget)\b[^\r\n]*?[ \t](?:-u|--user)[ =]?[ \t]{0,4}\\{0,4}[\"']?[^\s:\"'\\]+:([^\s\"'`\\]{3,})
      like_password
command-line  mysql mariadb sshpass redis-cli docker podman
    <edge>(?:(?:mysql(?:dump|admin|sh)?|mariadb(?:-dump|-admin)?)\b[^\r\n;|&]*?[ \t]-p|(?:sshpass[ \t]+-p
    |redis-cli\b[^\r\n;|&]*?[ \t]-a|(?:docker|podman)[ \t]+login\b[^\r\n;|&]*?[ \t]-p)[ \t]*)\\{0,4}[\"']?(
    [^\s\"'`\\<>;|&]{6,})  like_bare_password
password  identified  (?i)identified[ \t]+(?:with[ \t]+\w+[ \t]+)?by[ \t]+<quoted 4>  like_password
dsn-password  @tcp( @unix(  [\w.-]{1,64}:([^\s@/:\"'`]{3,})@(?:tcp|unix)\(  like_password
url-password  ://  (?i)\b[a-z][a-z0-9+.-]{1,30}://([A-Za-z0-9_-]{20,})@[a-z0-9]  like_token
private-key  ls0tls1crudjti  (LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,}={0,2})  holds_a_private_key
private-key  private-lines  Private-Lines: [0-9]+\s{1,2}((?:[A-Za-z0-9+/=]{16,}\s{1,2}){1,})
seed-phrase  mnemonic phrase seed
    (?i)(?:mnemonic|(?:seed|recovery|secret|backup)[ _-](?:phrase|words))<quote>?\s{0,4}(?:[:=]|is)\s{0,4}<quote>?(
    (?:[a-z]{3,8}[ \t]){11,23}[a-z]{3,8})
docker-auth  auth  \\{0,7}\"auth\\{0,7}\"\s{0,4}:\s{0,4}\\{0,7}\"([A-Za-z0-9+/]{8,}={0,2})  encodes_a_login
aws-secret-key  secret
    (?i)secret[_-]?(?:access)?[_-]?key<assign><quote>?(<base64>{40})(?:[^A-Za-z0-9+/=]|\z)  like_token
password  <password>  <password><assign><quoted 4>  like_password named
password  <password>  <password><assign><bare 6>  like_bare_password named
password  <password>  <password><is><quoted 4>  like_password named
password  <password>  <password><is><bare 6>  like_bare_password named
password  <password>
    <password>\b[^\r\n\"'`:=]{1,60}?[ \t](?:it'?s|is|was)(?:[ \t]now)?[ \t:]{1,4}<bare 8>  like_strong_password
password  <password>
    (?i)\b(?:use|with|enter|type|try|is|be)[ \t]+<quote>?([^\s\"'`<>]{8,}?)<quote>?[ \t]+(?:as|for)[ \t]
    [^\r\n.;]{0,30}?(?:password|passphrase|passcode|\bpw\b)  like_strong_password
password  cred login log sign
    (?i)\b(?:creds?|credentials|log(?:in|ged)?(?:[ \t]in)?|sign[ \t]?in)\b[^\r\n]{0,40}?[ \t(`][\w.@-]{2,40}[ \t]?
    [:/][ \t]?([^\s\"'`/,<>]{8,})  like_strong_password
password  auth login cred connect sign
    (?i)(?:auth|login|credentials?|connect|signin|sign_in)\w{0,20}[ \t]?[(=][ \t]?\(?<quote>[^\s\"'`]{1,60}<quote>
    [ \t]?,[ \t]?<quoted 6>  like_password
password  pass pw community
    (?im)^[ \t]*[\w. -]{0,30}(?:pass|passwd|passphrase|password|pw|pwd|server community)(?:[ \t]*:)?\s{1,8}(
    [^\s\"'`,;<>]{8,})(?:[ \t]+R[OW])?[ \t]*$  like_bare_password
command-line  -u /u: user --user
    (?i)[ \t](?:-u|--user(?:name)?|/u:)[ =]?[\w.@\\\\-]+(?:[ \t]+(?:-p|-w|-pw|--?pass\w*|/p:)[ =]?|,)(
    [^\s\"'`,;|]{6,})  like_strong_password
command-line  sqlplus user alias chpasswd
    (?i)\b(?:(?:sqlplus|rman|expdp|impdp)[ \t]+(?:-\S+[ \t]+)*\w+/|net[ \t]+user[ \t]+\S+[ \t]+|mc[ \t]+alias
    [ \t]+set(?:[ \t]+\S+){3}[ \t]+|chpasswd:\s+list:[ \t]*[|>]?-?\s+\w+:)([^\s\"'`@;|&]{6,})  like_bare_password
password  cryptsetup passwd sudo
    (?i)echo[ \t]+(?:-[ne]+[ \t]+)?[\"']?([^\s\"']{6,})[\"']?[ \t]*\|[ \t]*(?:sudo|cryptsetup|passwd|chpasswd
    |openssl|gpg|docker login)  like_bare_password
password  smbclient mount.cifs net pgpass :5432:
    (?i)\b(?:smbclient\b[^\r\n]*?[ \t]-U[ \t]?[^\s%]+%|net[ \t]+use\b[^\r\n]*?/user:\S+[ \t]+|[\w.*-]+:(?:
    [0-9]{4,5}|\*):[\w*-]+:[\w*-]+:)([^\s\"'`;|&]{6,})  like_bare_password
backup-codes  code
    (?i)\b(?:backup|recovery|rescue|scratch)[ _-]codes?[^\r\n0-9]{0,20}\s*((?:[0-9a-z]{4,5}[ -]?[0-9a-z]{4,5}
    [\s,;]{0,4}){1,16})  like_codes
password  zip 7z rar openssl register
    (?i)\b(?:(?:zip|unzip|7za?|rar)\b[^\r\n;|&]*?[ \t]-P[ \t]?|-pass(?:in|out)[ \t]+pass:|register[ \t]*=>[ \t]*
    [^\s:]+:)([^\s\"'`;|&@]{6,})  like_bare_password
password  password secret token
    (?i)(?:variable|parameter|setting)[ \t]+<quote>[\w.-]*<word>[\w.-]*<quote>\s{0,4}\{
    [^{}]{0,300}?default\s{0,8}=\s{0,8}<quoted 6>  like_password
secret  define  (?i)define\(\s{0,4}[\"']\w*(?:KEY|SALT|SECRET)[\"']\s{0,4},\s{0,8}'([^'\r\n]{20,})'
secret  code= sig= appid= key= auth=
    (?i)[?&;](?:code|sig|app_?id|api_?key|key|auth)=((?:4/0)?[A-Za-z0-9_~.%-]{24,}={0,2})  like_token
password  <password>
    (?i)<[\w.:-]{0,40}(?:password|passwd|passphrase)>\s{0,40}(?:<Value>)?([^<\s]{4,})</  like_password
secret  <key>  <key><assign><quoted 12>  like_quoted_key named
secret  <key>  <key><assign><bare 12>  like_key named
secret  <key>  <key><is><quote>?<bare 12>  like_key named
secret  <key>  (?i)<[\w.:-]{0,40}(?:secret|token|key)>\s{0,40}(?:<Value>)?([^<\s]{12,})</  like_key
random-token  0 1 2 3 4 5 6 7 8 9
    (?:\A|(?m:^)[+-]|[^A-Za-z0-9+/_@.:%=\r\n-]|[^0-9A-Fa-f]:|[A-Za-z_]=)([A-Za-z0-9][A-Za-z0-9_-]{31,200})(?:
    [^A-Za-z0-9+/_@%=-]|\z)  like_random_run
"""
_PARTS = {
    "<quoted 4>": _quoted(4),
    "<quoted 6>": _quoted(6),
    "<quoted 12>": _quoted(12),
    "<bare 6>": _bare(6),
    "<bare 8>": _bare(8),
    "<bare 12>": _bare(12),
    "<pem begin>": _PEM_BEGIN,
    "<pem end>": _PEM_END,
    "<pem break>": _PEM_BREAK,
    "<pem header>": _PEM_HEADER,
    "<password>": _PASSWORD_NAME,
    "<key>": _KEY_NAME,
    "<assign>": _ASSIGN,
    "<is>": _IS,
    "<edge>": EDGE,
    "<apart>": APART,
    "<uuid>": UUID,
    "<base64>": BASE64,
    "<pad>": PADDING,
    "<slash>": SLASH,
    "<colon>": COLON,
    "<dollar>": DOLLAR,
    "<tilde>": TILDE,
    "<at>": AT,
    "<break>": _BREAK,
    "<space>": _SPACE,
    "<quote>": _QUOTE,
    "<word>": _SECRET_WORD,
}
_HINTS = {"<password>": _PASSWORD_HINTS, "<key>": _KEY_HINTS}


def _shape(row: str) -> Shape:
    kind, hints, pattern, *more = row.split("  ")
    guard, _, named = more[0].partition(" ") if more else ("not_a_placeholder", "", "")
    for name, part in _PARTS.items():
        pattern = pattern.replace(name, part)
    return Shape(
        kind=kind,
        pattern=pattern,
        hints=tuple(_HINTS.get(hints, hints).encode().split()),
        guard=getattr(secret_guards, guard),
        named=bool(named),
    )


def _rows(table: str) -> Iterator[str]:
    row = ""
    for line in table.strip().split("\n"):
        if line.startswith("    "):
            row += ("  " if row.count("  ") == 1 else "") + line[4:]
            continue
        if row:
            yield row
        row = line
    yield row


_VENDORS = (Path(__file__).parent / "data" / "tokens.txt").read_text("ascii")
SHAPES: tuple[Shape, ...] = tuple(map(_shape, _rows(_VENDORS + _BESIDE)))
