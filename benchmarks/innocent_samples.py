"""Lines that look like secrets to a careless eye and are none, seeded, for measuring false positives."""

import base64
import random
from collections.abc import Callable

from benchmarks.secret_samples import BASE62, BASE64, DIGITS, HEX, LOWER, UPPER, chars, uuid

Line = Callable[[random.Random], str]

_WORDS = """
    session user account token password secret key request access client server auth refresh cache index
    parser value handler provider manager config service public private login stream buffer worker
"""
_SECRET_NAMES = """
    password DB_PASSWORD api_key API_KEY token access_token SECRET_KEY client_secret auth_token passwd
    aws_secret_access_key GITHUB_TOKEN private_key
"""
_STAND_INS = """
    <your-key> <password> <API_KEY> xxxx xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx XXXXXXXXXXXXXXXX ${TOKEN} $TOKEN
    $(cat_token) {{token}} changeme change-me CHANGEME your-api-key-here YOUR_API_KEY your_password_here
    example-password placeholder ******** *** ... sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
    null None true false string REPLACE_ME insert-token-here dummy-token-1 TODO secret password %(password)s
    %PASSWORD% @password@ ENC[placeholder] vault:secret/data/app#key op://vault/item/field !vault
"""
_LOOKUPS = """
    os.environ["{}"]
    os.getenv("{}")
    process.env.{}
    ENV["{}"]
    settings.{}
    config.get("{}")
    self.{}
    get_secret("{}")
    getpass.getpass()
    secrets.{}
    ${{{{ secrets.{} }}}}
    System.getenv("{}")
    keyring.get_password('app', '{}')
    request.headers['{}']
    args.{}
"""
WORDS, SECRET_NAMES, STAND_INS = _WORDS.split(), _SECRET_NAMES.split(), _STAND_INS.split()
LOOKUPS = [line.strip() for line in _LOOKUPS.strip().splitlines()]


def identifier(rng: random.Random, count: int) -> str:
    words = rng.choices(WORDS, k=count)
    style = rng.choice(("snake", "camel", "pascal", "kebab", "upper", "dotted"))
    if style == "camel":
        return words[0] + "".join(word.title() for word in words[1:])
    if style == "pascal":
        return "".join(word.title() for word in words)
    joiner = {"snake": "_", "upper": "_", "kebab": "-", "dotted": "."}[style]
    name = joiner.join(words)
    return name.upper() if style == "upper" else name


def assigned(rng: random.Random, value: str) -> str:
    line = rng.choice(('{} = "{}"', "{}: '{}'", "{}={}", '"{}": "{}",', "{}: {}", "export {}={}"))
    return line.format(rng.choice(SECRET_NAMES), value)


def looked_up(rng: random.Random) -> str:
    name = rng.choice(SECRET_NAMES)
    return rng.choice(("{} = {}", "{}={}", "{}: {}")).format(name, rng.choice(LOOKUPS).format(name))


def base64_blob(rng: random.Random) -> str:
    blob = base64.b64encode(rng.randbytes(rng.randint(24, 3000))).decode()
    return rng.choice(("data:image/png;base64,{}", "{}", 'payload = "{}"', '{{"body": "{}"}}')).format(blob)


def code_about_secrets(rng: random.Random) -> str:
    return rng.choice(
        (
            "def check_password(password: str, hashed: bytes) -> bool:",
            f"max_tokens: {rng.randint(100, 200000)}",
            f"token_count = {rng.randint(1000, 10**9)}",
            f'tokenizer = "{rng.choice(("gpt2-large-v1", "cl100k_base", "bert-base-uncased"))}"',
            '"token_type": "bearer", "expires_in": 3600',
            "password: Optional[str] = None",
            'password_field = driver.find_element(By.ID, "password-input-2")',
            "if (token === undefined) throw new Error('token missing');",
            "secretKeyRef: {name: db-credentials, key: password}",
            "The password must have 12 characters; the token lasts 30 days.",
            'curl -H "Authorization: Bearer $TOKEN" https://api.example.org',
            "Authorization: Bearer <token>",
            "docker login registry.example.org && docker run -p 127.0.0.1:8080:80tcp web",
            "mysql -h db1 -u ada -p main2026",
            'headers = {"Authorization": f"Bearer {token}"}',
            "git clone git@github.com:acme/app.git && cd app",
            "https://user@example.org:8443/path?next=/login",
            "postgres://user:password@localhost:5432/db",
            "postgres://app:${DB_PASSWORD}@db/main",
            "redis://:<password>@cache:6379/0",
            '<input type="password" name="password" placeholder="Password">',
            "kubectl create secret generic db --from-file=password=./password.txt",
            "token = next(tokens)",
            "secret = derive(key, salt, rounds=100_000)",
            "password_hash = hashlib.sha256(password.encode()).hexdigest()",
            'i18n: {"password": "Passwort vergessen?", "token": "Sicherheitsschlüssel"}',
            "--password-file /run/secrets/db --token-ttl 3600",
            "sk-spinner-bounce sk-fading-circle sk-cube-grid-delay-animation-duration",
            'primary_key="customer_id", sort_key="created_at_2024"',
            "access_token_url=https://login.example.org/oauth2/v2.0/token",
        )
    )


INNOCENT: dict[str, Line] = {
    "git hash": lambda rng: f"commit {chars(rng, HEX, 40)}\nindex {chars(rng, HEX, 7)}..{chars(rng, HEX, 7)} 100644",
    "uuid": lambda rng: rng.choice(("id={}", '"request_id": "{}"', "trace {} done", "{}")).format(uuid(rng)),
    "sha256 sum": lambda rng: f"{chars(rng, HEX, 64)}  recollect-{rng.randint(0, 9)}.tar.gz",
    "image digest": lambda rng: f"FROM python@sha256:{chars(rng, HEX, 64)} AS base",
    "npm integrity": lambda rng: f'"integrity": "sha512-{chars(rng, BASE64, 86)}=="',
    "pip hash": lambda rng: f"    --hash=sha256:{chars(rng, HEX, 64)} \\",
    "go sum": lambda rng: f"golang.org/x/crypto v0.{rng.randint(1, 40)}.0 h1:{chars(rng, BASE64, 43)}=",
    "cargo checksum": lambda rng: f'checksum = "{chars(rng, HEX, 64)}"',
    "base64 blob": base64_blob,
    "md5": lambda rng: rng.choice(("{}", "etag: {}", 'W/"{}"', "md5={}")).format(chars(rng, HEX, 32)),
    "long identifier": lambda rng: f"from {identifier(rng, 4)} import {identifier(rng, rng.randint(3, 8))}",
    "identifier under a secret's name": lambda rng: assigned(rng, identifier(rng, rng.randint(2, 5))),
    "placeholder": lambda rng: assigned(rng, rng.choice(STAND_INS)),
    "lookup": looked_up,
    "code about secrets": code_about_secrets,
    "ssh public key": lambda rng: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{chars(rng, BASE64, 43)} ada@example.org",
    "certificate": lambda rng: (
        "-----BEGIN CERTIFICATE-----\n"
        + "\n".join(chars(rng, BASE64, 64) for _ in range(12))
        + "\n-----END CERTIFICATE-----"
    ),
    "ulid": lambda rng: f"01{chars(rng, UPPER + DIGITS, 24)} event stored",
    "nanoid": lambda rng: f"session/{chars(rng, BASE62 + '_-', 21)}/replay",
    "pod name": lambda rng: f"pod/importer-{chars(rng, HEX, 10)}-{chars(rng, LOWER + DIGITS, 5)} Running 0",
    "versioned asset": lambda rng: f"/static/js/main.{chars(rng, HEX, 20)}.chunk.js?v={chars(rng, DIGITS, 10)}",
    "minified code": lambda rng: "".join(
        f"{chars(rng, LOWER, 1)}.{chars(rng, BASE62, 3)}({chars(rng, UPPER, 1)},{rng.randint(0, 999)});"
        for _ in range(40)
    ),
    "time and number": lambda rng: (
        f"2026-11-15T10:{rng.randint(10, 59)}:00Z took={rng.random()} n={rng.randint(0, 10**15)}"
    ),
    "elided key": lambda rng: "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
}
