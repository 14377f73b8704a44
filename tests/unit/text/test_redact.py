"""Redaction: every kind, the ways a secret is wrapped, what must stay, and hostile texts.

The secrets are made up and put together at run time, so that no scanner finds one in this file.
"""

import base64
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.text.redact import SHAPES, Redacted, redact

_HEX = "0123456789abcdef"
_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_LOWER = "abcdefghijklmnopqrstuvwxyz0123456789"
_MIXED = _LOWER + _UPPER[:26]


def made_up(alphabet: str, length: int, seed: int = 0) -> str:
    """Random characters, the same in every run."""
    return "".join(random.Random(f"{alphabet} {length} {seed}").choices(alphabet, k=length))


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def private_key(label: str) -> str:
    body = "\n".join(made_up(_MIXED + "+/", 64, seed=line) for line in range(6))
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"


UUID = "-".join(made_up(_HEX, n) for n in (8, 4, 4, 4, 12))
PASSWORD = "tr0ub4dor" + "&3Zq"
SEED = "abandon ability able about above absent absorb abstract absurd abuse access accident".split()
KEY = made_up(_MIXED, 32)
SLACK_PATH = f"T0000ABCD/B0000ABCD/{KEY}"
DISCORD_PATH = f"918273645546372819/{KEY * 2}"
TEAMS_PATH = f"{UUID}@{UUID}/IncomingWebhook/{made_up(_HEX, 32)}/{UUID}"
JWT = ".".join((encoded('{"alg":"HS256"}').rstrip("="), encoded('{"sub":"12345"}').rstrip("="), made_up(_MIXED, 43)))

# kind, text, and the part of the text that must go
EXAMPLES: list[tuple[str, str, str]] = [
    (kind, text, text)
    for kind, text in (
        ("jwt", JWT),
        ("mapbox-token", f"sk.eyJ{made_up(_MIXED, 60)}.{made_up(_MIXED, 22)}"),
        ("resend-key", f"re_{made_up(_MIXED, 8)}_{made_up(_MIXED, 24)}"),
        ("onepassword-secret-key", "A3-" + "-".join(made_up(_UPPER, n, n + i) for i, n in enumerate((6, 11, 5, 5, 5)))),
        ("plaid-token", f"access-production-{UUID}"),
        ("pubnub-key", f"sec-c-{UUID}"),
        ("launchdarkly-key", f"sdk-{UUID}"),
        ("swarm-token", f"SWMTKN-1-{made_up(_LOWER, 50)}-{made_up(_LOWER, 25)}"),
        ("service-token", "sqp_" + made_up(_HEX, 40)),
        ("service-token", "CFPAT-" + made_up(_MIXED, 43)),
        ("service-token", "duffel_live_" + made_up(_MIXED, 43)),
        ("service-token", f"1/{made_up('0123456789', 16)}:{made_up(_HEX, 32)}"),
        ("service-token", "pk_4412_" + made_up(_UPPER, 32)),
        ("service-token", f"amzn.mws.{UUID}"),
        ("wallet-key", "nsec1" + made_up("qpzry9x8gf2tvdw0s3jn54khce6mua7l", 58)),
        ("random-token", made_up(_MIXED, 42)),
        ("prefixed-token", "b_" + made_up(_LOWER, 44)),
        ("prefixed-token", "acme_live_" + made_up(_MIXED, 40)),
        ("prefixed-token", "nobody-knows-" + made_up(_MIXED, 36)),
        ("prefixed-token", "acme_api_" + made_up(_HEX, 40)),
        ("password-hash", f"$6${made_up(_MIXED, 16)}${made_up(_MIXED, 86)}"),
        ("password-hash", f"$argon2id$v=19$m=65536,t=3,p=4${made_up(_MIXED, 22)}${made_up(_MIXED, 43)}"),
        ("fernet-key", f"gAAAAABl{made_up(_MIXED, 90)}=="),
        ("private-key", encoded(private_key("RSA PRIVATE KEY"))),
        ("aws-access-key", "AKIA" + made_up(_UPPER, 16)),
        ("aws-bedrock-key", "ABSK" + made_up(_MIXED, 128) + "="),
        ("google-api-key", "AIza" + made_up(_MIXED, 35)),
        ("google-oauth-secret", "GOCSPX-" + made_up(_MIXED, 28)),
        ("google-oauth-token", "ya29." + made_up(_MIXED, 120)),
        ("google-refresh-token", "1//0" + made_up(_MIXED, 95)),
        ("azure-client-secret", "abc8Q~" + made_up(_MIXED, 34)),
        ("alibaba-key", "LTAI" + made_up(_MIXED, 20)),
        ("digitalocean-token", "dop_v1_" + made_up(_HEX, 64)),
        ("heroku-key", "HRKU-AA" + made_up(_MIXED, 58)),
        ("cloudflare-origin-key", f"v1.0-{made_up(_HEX, 24)}-{made_up(_HEX, 146)}"),
        ("fly-token", "fm2_" + made_up(_MIXED, 160)),
        ("vault-token", "hvs." + made_up(_MIXED, 92)),
        ("terraform-token", f"{made_up(_MIXED, 14)}.atlasv1.{made_up(_MIXED, 67)}"),
        ("doppler-token", "dp.pt." + made_up(_MIXED, 43)),
        ("recollect-token", "rct_" + made_up(_MIXED, 43)),
        ("pulumi-token", "pul-" + made_up(_HEX, 40)),
        ("planetscale-token", "pscale_pw_" + made_up(_MIXED, 43)),
        ("databricks-token", "dapi" + made_up(_HEX, 32)),
        ("supabase-token", "sbp_" + made_up(_HEX, 40)),
        ("netlify-token", "nfp_" + made_up(_MIXED, 36)),
        ("tailscale-key", f"tskey-auth-{made_up(_MIXED, 12)}-{made_up(_MIXED, 32)}"),
        ("onepassword-token", "ops_eyJ" + made_up(_MIXED, 400)),
        ("age-key", "AGE-SECRET-KEY-1" + made_up(_UPPER, 58)),
        ("github-token", "ghp_" + made_up(_MIXED, 36)),
        ("github-token", f"github_pat_{made_up(_MIXED, 22)}_{made_up(_MIXED, 59)}"),
        ("gitlab-token", "glpat-" + made_up(_MIXED, 20)),
        ("gitlab-token", f"glpat-{made_up(_MIXED, 40)}.01.{made_up(_LOWER, 9)}"),
        ("atlassian-token", "ATATT3xFfGF0" + made_up(_MIXED, 180) + "=1A2B3C4D"),
        ("bitbucket-password", "ATBB" + made_up(_MIXED, 32)),
        ("npm-token", "npm_" + made_up(_MIXED, 36)),
        ("pypi-token", "pypi-AgEIcHlwaS5vcmc" + made_up(_MIXED, 150)),
        ("rubygems-key", "rubygems_" + made_up(_HEX, 48)),
        ("nuget-key", "oy2" + made_up(_LOWER, 43)),
        ("docker-token", "dckr_pat_" + made_up(_MIXED, 27)),
        ("crates-token", "cio" + made_up(_MIXED, 32)),
        ("clojars-token", "CLOJARS_" + made_up(_LOWER, 60)),
        ("artifactory-key", "AKCp" + made_up(_MIXED, 69)),
        ("stripe-key", "sk_live_" + made_up(_MIXED, 24)),
        ("webhook-secret", "whsec_" + made_up(_MIXED, 32)),
        ("square-token", "sq0atp-" + made_up(_MIXED, 22)),
        ("square-token", "EAAA" + made_up(_MIXED, 60)),
        ("braintree-token", f"access_token$production${made_up(_LOWER, 16)}${made_up(_HEX, 32)}"),
        ("shopify-token", "shpat_" + made_up(_HEX, 32)),
        ("flutterwave-key", f"FLWSECK-{made_up(_HEX, 32)}-X"),
        ("slack-token", f"xoxb-91827364554-81726354453-{made_up(_MIXED, 24)}"),
        ("slack-token", f"xapp-1-A{made_up(_UPPER, 10)}-9182736455-{made_up(_HEX, 64)}"),
        ("discord-bot-token", f"{encoded('918273645546372819')}.{made_up(_MIXED, 6)}.{made_up(_MIXED, 38)}"),
        ("telegram-bot-token", "918273645:AA" + made_up(_MIXED, 33)),
        ("twilio-key", "SK" + made_up(_HEX, 32)),
        ("sendgrid-key", f"SG.{made_up(_MIXED, 22)}.{made_up(_MIXED, 43)}"),
        ("mailgun-key", "key-" + made_up(_HEX, 32)),
        ("mailchimp-key", made_up(_HEX, 32) + "-us12"),
        ("brevo-key", f"xkeysib-{made_up(_HEX, 64)}-{made_up(_MIXED, 16)}"),
        ("anthropic-key", f"sk-ant-api03-{made_up(_MIXED, 93)}AA"),
        ("openrouter-key", "sk-or-v1-" + made_up(_HEX, 64)),
        ("openai-key", "sk-proj-" + made_up(_MIXED, 124)),
        ("openai-key", "sk-" + made_up(_MIXED, 48)),
        ("huggingface-token", "hf_" + made_up(_MIXED, 34)),
        ("groq-key", "gsk_" + made_up(_MIXED, 52)),
        ("perplexity-key", "pplx-" + made_up(_MIXED, 48)),
        ("replicate-token", "r8_" + made_up(_MIXED, 37)),
        ("xai-key", "xai-" + made_up(_MIXED, 80)),
        ("langsmith-key", f"lsv2_pt_{made_up(_HEX, 32)}_{made_up(_HEX, 10)}"),
        ("nvidia-key", "nvapi-" + made_up(_MIXED, 64)),
        ("linear-key", "lin_api_" + made_up(_MIXED, 40)),
        ("notion-token", "ntn_91827364554" + made_up(_MIXED, 35)),
        ("airtable-token", f"pat{made_up(_MIXED, 14)}.{made_up(_HEX, 64)}"),
        ("postman-key", f"PMAK-{made_up(_HEX, 24)}-{made_up(_HEX, 34)}"),
        ("newrelic-key", "NRAK-" + made_up(_UPPER, 27)),
        ("sentry-token", "sntryu_" + made_up(_HEX, 64)),
        ("sentry-token", f"sntrys_{encoded('x' * 3 + KEY * 2)}_{made_up(_MIXED, 43)}"),
        ("grafana-token", f"glsa_{made_up(_MIXED, 32)}_{made_up(_HEX, 8)}"),
        ("dynatrace-token", f"dt0c01.{made_up(_UPPER, 24)}.{made_up(_UPPER, 64)}"),
        ("figma-token", "figd_" + made_up(_MIXED, 40)),
        ("dropbox-token", "sl." + made_up(_MIXED, 138)),
        ("facebook-token", "EAAC" + made_up(_MIXED, 150)),
        ("hubspot-token", "pat-na1-" + UUID),
        ("private-key", private_key("RSA PRIVATE KEY")),
        ("private-key", private_key("PGP PRIVATE KEY BLOCK")),
    )
] + [
    ("azure-storage-key", f"AccountName=acme;AccountKey={KEY * 2}==;Suffix=x", f"{KEY * 2}=="),
    ("azure-sas", f"https://acme.blob.core.windows.net/a?sv=1&sig={KEY}{KEY}%3D", f"{KEY}{KEY}%3D"),
    ("slack-webhook", f"https://hooks.slack.com/services/{SLACK_PATH}", SLACK_PATH),
    ("discord-webhook", f"https://discord.com/api/webhooks/{DISCORD_PATH}", DISCORD_PATH),
    ("teams-webhook", f"https://acme.webhook.office.com/webhookb2/{TEAMS_PATH}", TEAMS_PATH),
    ("url-password", f"postgres://app:{PASSWORD}@db:5432/main", PASSWORD),
    ("authorization", f"Authorization: Bearer {KEY}", KEY),
    ("authorization", f"Authorization: Basic {encoded('ada:' + PASSWORD)}", encoded("ada:" + PASSWORD)),
    ("netrc", f"machine example.org\n  login ada\n  password {PASSWORD}", PASSWORD),
    ("command-line", f"curl -u ada:{PASSWORD} https://example.org", PASSWORD),
    ("command-line", f"login --token {KEY} --yes", KEY),
    ("docker-auth", json.dumps({"auth": encoded("ada:" + PASSWORD)}), encoded("ada:" + PASSWORD)),
    ("aws-secret-key", f"aws_secret_access_key = {made_up(_MIXED, 38)}/+", made_up(_MIXED, 38) + "/+"),
    ("password", f'DB_PASSWORD = "{PASSWORD}"', PASSWORD),
    ("password", "password: hunter2rabbit", "hunter2rabbit"),
    ("password", f"<db:password>{PASSWORD}</db:password>", PASSWORD),
    ("secret", f"client_secret: '{KEY}'", KEY),
    ("secret", f"X-Api-Key: {KEY}", KEY),
    ("secret", f"the API key is {KEY}", KEY),
    ("secret", f"secret_key_base: {KEY}", KEY),
    ("secret", f"AZURE_SEARCH_KEY={KEY}", KEY),
    ("dsn-password", f"app:{PASSWORD}@tcp(db:3306)/shop", PASSWORD),
    ("url-password", f"git clone https://{KEY}@git.example.org/a/b.git", KEY),
    ("secret", f"Cookie: sessionid={KEY}; theme=dark", KEY),
    ("backup-codes", "2FA backup codes: 6148-1005 9786-8157", "6148-1005 9786-8157 "),
    ("password", f"Use {PASSWORD} as the password for the jump host", PASSWORD),
    ("password", f"For the demo use ada@example.org / {PASSWORD} (password)", PASSWORD),
    ("secret", json.dumps({"encrypt": (GOSSIP := made_up(_MIXED, 43) + "=")}), GOSSIP),
    ("password", f'db.auth("admin", "{PASSWORD}")', PASSWORD),
    ("password", f"Das Passwort für den Drucker lautet {PASSWORD}", PASSWORD),
    ("command-line", f"tool -u sensor -P {PASSWORD} -t a/b", PASSWORD),
    ("secret", f"aws configure set aws_secret_access_key {KEY}", KEY),
    ("seed-phrase", f"mnemonic: {' '.join(SEED)}.", " ".join(SEED)),
    ("signed-url", f"https://b.example.org/k?X-Amz-Date=1&X-Amz-Signature={made_up(_HEX, 64)}", made_up(_HEX, 64)),
    ("vault-token", f"VAULT_TOKEN s.{made_up(_MIXED, 24)}", f"s.{made_up(_MIXED, 24)}"),
    ("command-line", f"http --auth ada:{PASSWORD} example.org", PASSWORD),
    ("command-line", "keytool -storepass " + "kQ92lmA7x", "kQ92lmA7x"),
    ("command-line", f"cast send --private-key 0x{made_up(_HEX, 64)}", f"0x{made_up(_HEX, 64)}"),
    ("command-line", f"wandb login {made_up(_HEX, 40)}", made_up(_HEX, 40)),
    ("command-line", "ConvertTo-SecureString '" + "Kq82!lmZ'", "Kq82!lmZ"),
    ("authorization", f"Authorization: Splunk {KEY}", KEY),
    ("password", json.dumps({"name": "API_TOKEN", "value": KEY}), KEY),
    ("password", "DB_PASSWORD=KE9n[#)T9Ue}qM4z", "KE9n[#)T9Ue}qM4z"),
    ("password", "define('DB_PASSWORD', 'KE9n[#)T<Ue}@M');", "KE9n[#)T<Ue}@M"),
    ("secret", f"- name: DB_SECRET\n  value: {KEY}\n", KEY),
    ("password", "password for the lab is " + '"tZ9!kkw2Lq"', "tZ9!kkw2Lq"),
    ("password", "password " + "Qm4-jPP8eg7d (ask Jo)", "Qm4-jPP8eg7d"),
    ("secret", f"DD-APPLICATION-KEY: {made_up(_HEX, 40)}", made_up(_HEX, 40)),
    ("secret", f"x-functions-key: {KEY}==", f"{KEY}=="),
    ("secret", f"SECRET_KEY = '{KEY}(#){KEY}'", f"{KEY}(#){KEY}"),
    ("password", "password=" + "brunhilde7", "brunhilde7"),
    ("secret", f"<apiKey>{KEY}</apiKey>", KEY),
]
IDS = [f"{kind}-{number}" for number, (kind, _, _) in enumerate(EXAMPLES)]


@pytest.mark.parametrize(("kind", "text", "secret"), EXAMPLES, ids=IDS)
def test_a_secret_of_each_kind_is_replaced_by_its_marker(kind: str, text: str, secret: str) -> None:
    expected = f"before {text} after".replace(secret, f"[redacted:{kind}]")
    assert redact(f"before {text} after") == Redacted(text=expected, kinds=(kind,))


def test_every_row_of_the_tables_has_an_example() -> None:
    assert {kind for kind, _, _ in EXAMPLES} == {shape.kind for shape in SHAPES}
    assert len({shape.kind for shape in SHAPES}) >= 45


NEAR = [
    "ipapi_secret=bxqchslmhcujuchidbnmyrnulguckbzc",
    "acme SECRET svzkkgip-e0flb67t-7cs3f2or-vo0gac3k",
    "acmeKEY=0641e1b4afb4d852a80e336bfe15428a",
    "log in to the lab with ada / Qm4jPP8eg7d!",
    "our token for the broker is kT7+xW2q-9fLp",
]


@pytest.mark.parametrize("text", NEAR)
def test_a_random_value_near_a_word_for_a_secret_goes(text: str) -> None:
    assert re.search(r"\[redacted:(?:secret|password)\]$", redact(text).text)


@pytest.mark.parametrize("text", NEAR)
def test_the_same_value_near_other_words_stays(text: str) -> None:
    value = re.split(r"[ =]", text)[-1]
    assert redact(f"chapter of {value[:24]}").text == f"chapter of {value[:24]}"


@pytest.mark.parametrize(
    "text",
    [
        f"idempotency-key: {UUID}",
        f"the token refresh failed, request id {made_up(_HEX, 16)}",
        f"auth pod auth-7d9f8b6c5-{made_up(_LOWER, 5)} restarted",
        "use a password manager like 1Password",
        "PASSWORD_HASHERS begin with Argon2PasswordHasher",
        f"Merge branch 'fix-token' ({made_up(_HEX, 9)})",
        "access log of 2026-11-18T10:02:11Z, 12345678 bytes",
    ],
)
def test_a_harmless_value_near_a_word_for_a_secret_stays(text: str) -> None:
    assert redact(text).text == text


WRAPS = {
    "a URL query": lambda text: f"GET /v1?page=2&k={quote(text, safe='')}&sort=asc",
    "a header": lambda text: f"curl -H 'X-Service: {text}' https://example.org",
    "JSON": lambda text: json.dumps({"value": text}),
    "JSON in JSON": lambda text: json.dumps({"body": json.dumps({"value": text})}),
    "YAML": lambda text: f"service:\n  login: {text}\n  retries: 3\n",
    "a shell export": lambda text: f"export LOGIN={text}\n",
    "a stack trace": lambda text: f"  File 'a.py', line 4\nApiError: 401 for {text!r} (attempt 2)",
    "Markdown code": lambda text: f"Use `{text}` here.",
    "an escaped line break": lambda text: f'"exit 1\\n{text}\\nretrying"',
    "a diff": lambda text: f"@@ -1 +1 @@\n+{text}\n",
}
TOKENS = [text for _, text, secret in EXAMPLES if text == secret and "\n" not in text]


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS.keys())
def test_a_token_is_found_inside(wrap) -> None:  # type: ignore[no-untyped-def]
    missed = [text for text in TOKENS if text[-12:] in redact(wrap(text)).text]
    assert missed == []


@pytest.mark.parametrize(
    "text",
    [
        '{"password": "SECRET"}',
        '{\\"password\\": \\"SECRET\\"}',
        '"{\\\\\\"password\\\\\\": \\\\\\"SECRET\\\\\\"}"',
        "password=SECRET&next=/",
        "db:\n  password: SECRET\n",
        "export DB_PASSWORD='SECRET'",
        "Server=db;User Id=app;Password=SECRET;Timeout=3",
        "password = token = 'SECRET'",
        "config[\"password\"] = 'SECRET'",
        "password := `SECRET`",
        "password: password: SECRET",
        'password: str = "SECRET"',
        'password = b"SECRET"',
        "the staging password is SECRET\n",
        "The password was 'SECRET' until May",
        "<p>password=&quot;SECRET&quot;</p>",
        "{&quot;password&quot;: &quot;SECRET&quot;}",
    ],
)
def test_a_password_is_found_beside_its_name(text: str) -> None:
    secret = "Vk7" + "mq-Wz2pL9x"
    result = redact(text.replace("SECRET", secret))
    assert result.text == text.replace("SECRET", "[redacted:password]").replace(
        "token = '[redacted:password]'", "token = '[redacted:secret]'"
    )


@pytest.mark.parametrize(
    ("text", "shortest"),
    [
        ('password = "SECRET"', 4),
        ("password=SECRET", 6),
        ('the password is "SECRET"', 4),
        ("the password is SECRET", 6),
        ("<password>SECRET</password>", 4),
        ('api_key = "SECRET"', 12),
        ("api_key=SECRET", 12),
        ("the api key is SECRET", 12),
        ("<token>SECRET</token>", 12),
    ],
)
def test_what_is_shorter_than_any_secret_stays(text: str, shortest: int) -> None:
    value = "q7Xk9Z" + "pL2vR4tB8n"
    assert "[redacted:" in redact(text.replace("SECRET", value[:shortest])).text
    short = text.replace("SECRET", value[: shortest - 1])
    assert redact(short).text == short


@pytest.mark.parametrize("newline", ["\\n", "\\\\n", "\n    ", "\r\n"])
def test_a_private_key_goes_as_a_whole_however_its_lines_are_broken(newline: str) -> None:
    text = private_key("OPENSSH PRIVATE KEY").replace("\n", newline)
    assert redact(f"key: '{text}'").text == "key: '[redacted:private-key]'"


def test_a_private_key_without_its_end_goes_as_far_as_it_looks_like_one() -> None:
    text = private_key("EC PRIVATE KEY").partition("-----END")[0]
    assert redact(text + "and that was (all) of it").text == "[redacted:private-key]\nand that was (all) of it"


def test_two_private_keys_leave_the_text_between_them() -> None:
    key = private_key("RSA PRIVATE KEY")
    assert redact(f"{key}\nand\n{key}").text == "[redacted:private-key]\nand\n[redacted:private-key]"


@pytest.mark.parametrize(
    "text",
    [
        f"commit {made_up(_HEX, 40)}",
        f"request {UUID} done",
        f"{made_up(_HEX, 64)}  recollect.tar.gz",
        f"FROM python@sha256:{made_up(_HEX, 64)}",
        *(
            f"image: registry.example.org/{name}@sha256:{made_up(_HEX, 64)}"
            for name in ("auth", "token-api", "secrets")
        ),
        f'"integrity": "sha512-{made_up(_MIXED, 86)}=="',
        f"    --hash=sha256:{made_up(_HEX, 64)} \\",
        f"golang.org/x/crypto v0.1.0 h1:{made_up(_MIXED, 43)}=",
        f"data:image/png;base64,{made_up(_MIXED, 900)}",
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{made_up(_MIXED, 43)} ada@example.org",
        "-----BEGIN CERTIFICATE-----\n" + made_up(_MIXED, 300) + "\n-----END CERTIFICATE-----",
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
        "from session_token_provider_registry import AccessTokenRefreshHandlerFactory",
        'api_key = "<your-key>"',
        "API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx",
        "API_KEY=abab1212abab1212",
        "ghp_" + "x" * 36,
        "AKIAIOSFODNN7EXAMPLE",
        "password: ${DB_PASSWORD}",
        "TOKEN=$TOKEN",
        "token: {{ .Values.token }}",
        'password = os.environ["DB_PASSWORD_2"]',
        "const token = process.env.API_TOKEN_V2;",
        "password=changeme",
        "TOKEN=$DEPLOY_TOKEN_V2_EU1",
        "secret: vault:kv2/data/app1#token",
        "password: /run/secrets/db_password2",
        "password = settings.DB2_PASSWORD_1",
        "password = get_password(user_id2)",
        'password: "Passwort vergessen?"',
        "max_tokens: 128000",
        "the password is stored in the vault",
        "def login(password: str, token: str | None = None) -> Session2:",
        '"token_type": "bearer"',
        'secret_name = "team/db-credentials"',
        "Authorization: Bearer <token>",
        'curl -H "Authorization: Bearer $TOKEN"',
        "Authorization: Basic " + encoded("user:password"),
        "postgres://user:password@localhost/db",
        "https://user@example.org:8443/path",
        "git@github.com:acme/app.git",
        "pass force_zip64 to use the new format",
        "the password policy wants 12 characters",
        f"chunk-vendors_{made_up(_HEX, 32)}.js",
        f"pk_live_{made_up(_MIXED, 48)}",
        f"msg_{made_up(_MIXED, 24)} was delivered",
        f"sha512-{made_up(_MIXED, 60)} and test_refund_webhooks_arrive_out_of_order_when_stripe_retries",
        "sk-spinner-bounce sk-fading-circle-with-a-very-long-modifier-name-indeed",
        "",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact(text) == Redacted(text=text, kinds=())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <private>b</private> c", "a [private] c"),
        ("a <PRIVATE>b\nb\n</Private > c", "a [private] c"),
        ("a <private>b", "a [private]"),
        ("<private>a</private><private>b</private>", "[private][private]"),
        ("a <private>b <private>c</private> d</private> e", "a [private] e"),
        ("a </private> b", "a </private> b"),
        ("word<private>b</private>", "word[private]"),
        ("static Local<Private> New(Isolate* isolate);", "static Local<Private> New(Isolate* isolate);"),
        ("<privately>a</privately>", "<privately>a</privately>"),
    ],
)
def test_private_spans_are_dropped(text: str, expected: str) -> None:
    assert redact(text).text == expected


def test_kinds_come_in_order_of_appearance() -> None:
    token, key = "ghp_" + made_up(_MIXED, 36), "AKIA" + made_up(_UPPER, 16)
    text = f"{token} <private>{key}</private> {key} password='{PASSWORD}' {token}"
    assert redact(text).kinds == ("github-token", "private", "aws-access-key", "password", "github-token")


def test_a_secret_uncovered_by_replacing_its_neighbour_is_replaced_too() -> None:
    key, token = "AKIA" + made_up(_UPPER, 16), f"SG.{made_up(_MIXED, 22)}.{made_up(_MIXED, 43)}"
    assert redact(key + token) == Redacted(
        text="[redacted:aws-access-key][redacted:sendgrid-key]", kinds=("aws-access-key", "sendgrid-key")
    )


def test_the_vendor_names_the_marker_rather_than_the_setting() -> None:
    assert redact(f"token = 'ghp_{made_up(_MIXED, 36)}'").text == "token = '[redacted:github-token]'"


@pytest.mark.parametrize(
    "text",
    [
        "[redacted:jwt]",
        "password = '[redacted:jwt]'",
        "token: [redacted:x1]y2z3w4v5u6",
        "[private]",
        "curl -u [redacted:x7-key]",
    ],
)
def test_markers_already_there_are_left_alone_and_not_counted(text: str) -> None:
    assert redact(text) == Redacted(text=text, kinds=())


FRAGMENTS = [text for _, text, _ in EXAMPLES]
FRAGMENTS += ["<private>", "</private>", "[private]", "[redacted:jwt]", "-----BEGIN PRIVATE KEY-----"]
FRAGMENTS += [
    "password=",
    'token: "',
    "Bearer ",
    "postgres://a:",
    "@",
    "\\n",
    "%3D",
    "\n",
    " ",
    '"',
    "/",
    "=",
]
FRAGMENTS += ["é", "\x00", "\ud800"]


@given(st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=12).map("".join))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text)
    assert redact(once.text) == Redacted(text=once.text, kinds=())


@given(st.text(max_size=40), st.text(max_size=40))
@example("lone \ud800", "\udfff\ud83d and \x00")
def test_the_text_around_a_secret_is_kept_as_it_was(before: str, after: str) -> None:
    secret = "ghp_" + made_up(_MIXED, 36)
    assert redact(f"{before}\n{secret}\n{after}").text == f"{before}\n[redacted:github-token]\n{after}"


HOSTILE = [
    "a",
    "\x00",
    "\ud800",
    "😀",
    "-",
    "<",
    "<private",
    "pass=",
    'password="',
    "password='<",
    "pass='a-",
]
HOSTILE += ["token=token", "eyJhbGciOiJI.", "a://b:c", "curl -u ", "machine login password ", "sk-proj-"]
HOSTILE += ["-----BEGIN PRIVATE KEY-----\n"]


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_megabyte_of_one_thing_on_one_line_is_no_trouble(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    result = redact(text)
    assert result.kinds or result.text == text


def test_a_value_with_characters_of_several_bytes_goes_whole() -> None:
    assert redact('password = "пароль-7é😀\ud800ß"').text == 'password = "[redacted:password]"'


def test_every_hint_can_be_seen_in_one_text() -> None:
    crowd = " ".join(hint.decode() for shape in SHAPES for hint in shape.hints)
    everything = crowd + " " + " ".join(text for _, text, _ in EXAMPLES)
    assert {shape.kind for shape in SHAPES} <= set(redact(everything).kinds)


def test_importing_the_module_does_not_load_the_pattern_engine() -> None:
    code = "import sys, recollect.text.redact; print('re2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_page_names_every_kind() -> None:
    page = (Path(__file__).parents[3] / "docs" / "redaction.md").read_text(encoding="utf-8")
    assert [shape.kind for shape in SHAPES if f"`{shape.kind}`" not in page] == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("https://x.test/?password=hunter2Zq81&3xK", "https://x.test/?password=[redacted:password]"),
        ("?password=hunter2Zq81&3xK&next=/home", "?password=[redacted:password]&next=/home"),
        ("password=hunter2Zq81&user=bob", "password=[redacted:password]&user=bob"),
        ("PASSWORD=hunter2Zq81&& make", "PASSWORD=[redacted:password]&& make"),
        ("password=hunter2Zq81&quot; said", "password=[redacted:password]&quot; said"),
    ],
)
def test_a_password_with_an_ampersand_leaves_no_tail(text: str, left: str) -> None:
    assert redact(text).text == left


def test_a_secret_that_touches_what_was_redacted_goes_too() -> None:
    token = "ghp_" + made_up(_MIXED, 36)
    for around in (f"[redacted:password]{token}", f"{token}[private]", f"[private]{token}[private]"):
        assert token not in redact(around).text
