"""Made-up secrets in publicly known formats, seeded, for measuring redaction.

The formats are those vendors publish or, where a vendor is silent, those public scanners' rule sets record. The
samples share no code with the patterns in `recollect.text.redact`. A sample is a text and the random parts of it that
must not survive.
"""

import base64
import json
import random
import string
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
BASE62 = string.ascii_letters + DIGITS
BASE64URL = BASE62 + "-_"
BASE64 = BASE62 + "+/"
HEX = DIGITS + "abcdef"
BASE32 = UPPER + "234567"
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"


@dataclass(frozen=True, kw_only=True)
class Sample:
    text: str
    hidden: tuple[str, ...]
    """Each must vanish from the text, its first and its last half too."""

    bare_token: bool
    """The text is one token, so it may also stand in a URL query, a header or an environment variable."""


Make = Callable[[random.Random], Sample]


def chars(rng: random.Random, alphabet: str, length: int) -> str:
    return "".join(rng.choices(alphabet, k=length))


def uuid(rng: random.Random) -> str:
    return "-".join(chars(rng, HEX, n) for n in (8, 4, 4, 4, 12))


def base64_json(rng: random.Random, claims: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(claims, separators=(",", ":")).encode()).decode().rstrip("=")


def token(prefixes: str, alphabet: str, shortest: int, longest: int | None = None, suffix: str = "") -> Make:
    """One of the space-separated prefixes, then random characters."""

    def make(rng: random.Random) -> Sample:
        body = chars(rng, alphabet, rng.randint(shortest, longest or shortest))
        return Sample(text=rng.choice(prefixes.split()) + body + suffix, hidden=(body,), bare_token=True)

    return make


def parts(template: str, *alphabets_and_lengths: tuple[str, int], bare_token: bool = True) -> Make:
    """A template whose `{}` are filled with random parts; every part of 12 characters or more is hidden."""

    def make(rng: random.Random) -> Sample:
        bodies = [chars(rng, alphabet, length) for alphabet, length in alphabets_and_lengths]
        hidden = tuple(body for body in bodies if len(body) >= 12)
        return Sample(text=template.format(*bodies), hidden=hidden, bare_token=bare_token)

    return make


def openai(rng: random.Random) -> Sample:
    # Legacy and early project keys: 48 letters and digits. Later keys are longer, with "-" and "_".
    style = rng.choice(("legacy", "project", "long"))
    if style == "legacy":
        body = chars(rng, BASE62, 20) + "T3BlbkFJ" + chars(rng, BASE62, 20)
        return Sample(text="sk-" + body, hidden=(body,), bare_token=True)
    if style == "project":
        body = chars(rng, BASE62, 48)
        return Sample(text="sk-proj-" + body, hidden=(body,), bare_token=True)
    side = rng.choice((58, 74))
    body = chars(rng, BASE64URL, side) + "T3BlbkFJ" + chars(rng, BASE64URL, side)
    return Sample(text=rng.choice(("sk-proj-", "sk-svcacct-", "sk-admin-")) + body, hidden=(body,), bare_token=True)


def slack(rng: random.Random) -> Sample:
    ids = [chars(rng, DIGITS, rng.randint(11, 13)) for _ in range(3)]
    body = chars(rng, BASE62, 24)
    text = rng.choice(
        (
            f"xoxb-{ids[0]}-{ids[1]}-{body}",
            f"xoxp-{ids[0]}-{ids[1]}-{ids[2]}-{body.lower()}",
            f"xapp-1-A{chars(rng, UPPER + DIGITS, 10)}-{ids[0]}-{body}",
            f"xoxe.xoxp-1-{chars(rng, BASE62, 140)}{body}",
        )
    )
    return Sample(text=text, hidden=(text.rsplit("-", 1)[1],), bare_token=True)


def discord_bot(rng: random.Random) -> Sample:
    user = base64.b64encode(chars(rng, "123456789", 18).encode()).decode()
    body = chars(rng, BASE64URL, 38)
    return Sample(text=f"{user}.{chars(rng, BASE64URL, 6)}.{body}", hidden=(body,), bare_token=True)


def jwt(rng: random.Random) -> Sample:
    header = base64_json(rng, {"alg": rng.choice(("HS256", "RS256")), "typ": "JWT"})
    claims = base64_json(rng, {"sub": chars(rng, DIGITS, 10), "name": "Ada", "iat": rng.randint(10**9, 2 * 10**9)})
    signature = chars(rng, BASE64URL, 43)
    return Sample(text=f"{header}.{claims}.{signature}", hidden=(claims, signature), bare_token=True)


def sentry_org(rng: random.Random) -> Sample:
    claims = {
        "iat": 1700000000.1 + rng.random(),
        "url": "https://sentry.io",
        "region_url": "https://us.sentry.io",
        "org": "acme",
    }
    body, signature = base64.b64encode(json.dumps(claims).encode()).decode(), chars(rng, BASE62, 43)
    return Sample(text=f"sntrys_{body}_{signature}", hidden=(signature,), bare_token=True)


def private_key(rng: random.Random) -> Sample:
    label = rng.choice(
        ("RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY")
    )
    lines = [chars(rng, BASE64, 64) for _ in range(rng.randint(3, 25))] + [chars(rng, BASE64, 38) + "=="]
    body = "\n".join(lines)
    return Sample(text=f"-----BEGIN {label}-----\n{body}\n-----END {label}-----", hidden=tuple(lines), bare_token=False)


def pgp_key(rng: random.Random) -> Sample:
    lines = [chars(rng, BASE64, 64) for _ in range(rng.randint(5, 30))]
    body = "\n".join(lines)
    label = "PGP PRIVATE KEY BLOCK"
    text = f"-----BEGIN {label}-----\nVersion: GnuPG v2\n\n{body}\n=aB3d\n-----END {label}-----"
    return Sample(text=text, hidden=tuple(lines), bare_token=False)


def password(rng: random.Random) -> str:
    """What a generator or a person following a policy makes: 10 to 24 characters of three classes or more."""
    body = chars(rng, BASE62 + "!#%*+-_.~^", rng.randint(7, 21))
    return chars(rng, LOWER, 1) + body + chars(rng, DIGITS, 1) + chars(rng, UPPER, 1)


def url_password(rng: random.Random) -> Sample:
    scheme = rng.choice(("postgres", "postgresql", "mysql", "mongodb+srv", "redis", "amqp", "https", "ftp"))
    secret = password(rng).replace("#", "-").replace("%", "_")
    return Sample(text=f"{scheme}://app:{secret}@db.example.org:5432/main", hidden=(secret,), bare_token=False)


def authorization(rng: random.Random) -> Sample:
    credentials = base64.b64encode(f"user:{password(rng)}".encode()).decode()
    scheme, secret = rng.choice(
        (("Basic", credentials), ("Bearer", chars(rng, BASE64URL, 40)), ("token", chars(rng, HEX, 40)))
    )
    return Sample(text=f"Authorization: {scheme} {secret}", hidden=(secret,), bare_token=False)


def password_assignment(rng: random.Random) -> Sample:
    secret = password(rng)
    key = rng.choice(("password", "DB_PASSWORD", "passwd", "spring.datasource.password", "adminPassword"))
    line = rng.choice(('{} = "{}"', "{}: '{}'", "{}={}", '"{}": "{}"', "{}: {}"))
    return Sample(text=line.format(key, secret), hidden=(secret,), bare_token=False)


def secret_assignment(rng: random.Random) -> Sample:
    secret = chars(rng, rng.choice((HEX, BASE62, BASE64URL)), rng.choice((24, 32, 40, 64)))
    key = rng.choice(("api_key", "API-KEY", "clientSecret", "SECRET_KEY", "auth_token", "DATADOG_API_KEY", "x-api-key"))
    line = rng.choice(('{} = "{}"', "{}: '{}'", "{}={}", '"{}": "{}"', "{}: {}"))
    return Sample(text=line.format(key, secret), hidden=(secret,), bare_token=False)


def aws_secret(rng: random.Random) -> Sample:
    secret = chars(rng, BASE64, 40)
    key = rng.choice(("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey"))
    line = rng.choice(("{} = {}", "{}={}", '"{}": "{}"'))
    return Sample(text=line.format(key, secret), hidden=(secret,), bare_token=False)


def said(rng: random.Random) -> Sample:
    """As people write it in a note."""
    secret, key = password(rng), chars(rng, BASE62, 32)
    line, hidden = rng.choice(
        (
            (f"the staging password is {secret}", secret),
            (f"Password: {secret} (changed in May)", secret),
            (f"their API key is {key}, valid until June", key),
            (f'def connect(password: str = "{secret}") -> None:', secret),
        )
    )
    return Sample(text=line, hidden=(hidden,), bare_token=False)


def netrc(rng: random.Random) -> Sample:
    secret, gap = password(rng), rng.choice((" ", "\n  "))
    return Sample(
        text=f"machine api.example.org{gap}login ada{gap}password {secret}",
        hidden=(secret,),
        bare_token=False,
    )


def command_line(rng: random.Random) -> Sample:
    secret = password(rng)
    line = rng.choice(
        (
            "curl -u ada:{} https://example.org",
            "mysqldump --password={} main",
            "login --password {} --yes",
            "mysql -h db -u ada -p{} main",
            "sshpass -p {} ssh ada@example.org",
            "redis-cli -h cache -a {} ping",
            "docker login -u ada -p {} registry.example.org",
        )
    )
    return Sample(text=line.format(secret), hidden=(secret,), bare_token=False)


def docker_auth(rng: random.Random) -> Sample:
    secret = base64.b64encode(f"ada:{password(rng)}".encode()).decode()
    text = json.dumps({"auths": {"registry.example.org": {"auth": secret}}})
    return Sample(text=text, hidden=(secret,), bare_token=False)


def teams_webhook(rng: random.Random) -> Sample:
    body = chars(rng, HEX, 32)
    text = f"https://acme.webhook.office.com/webhookb2/{uuid(rng)}@{uuid(rng)}/IncomingWebhook/{body}/{uuid(rng)}"
    return Sample(text=text, hidden=(body,), bare_token=True)


def hubspot(rng: random.Random) -> Sample:
    body = uuid(rng)
    return Sample(text=f"pat-{rng.choice(('na1', 'eu1'))}-{body}", hidden=(body,), bare_token=True)


FORMATS: dict[str, Make] = {
    # clouds and infrastructure
    "aws-access-key": token("AKIA ASIA", BASE32, 16),
    "aws-secret-key": aws_secret,
    "aws-bedrock-key": token("ABSK", BASE64, 128, suffix="="),
    "google-api-key": token("AIza", BASE64URL, 35),
    "google-oauth-secret": token("GOCSPX-", BASE64URL, 28),
    "google-oauth-token": token("ya29.", BASE64URL, 120, 200),
    "google-refresh-token": token("1//0", BASE64URL, 90, 100),
    "azure-client-secret": parts("{}8Q~{}", (BASE62, 3), (BASE62 + "_.-~", 34)),
    "azure-storage-key": parts(
        "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={}==;EndpointSuffix=core.windows.net",
        (BASE64, 86),
        bare_token=False,
    ),
    "azure-sas": parts(
        "https://acme.blob.core.windows.net/logs?sv=2024-11-04&ss=b&sp=rl&se=2027-01-01T00:00:00Z&sig={}%3D",
        (BASE62, 43),
        bare_token=False,
    ),
    "alibaba-key": token("LTAI", BASE62, 20),
    "digitalocean-token": token("dop_v1_ doo_v1_ dor_v1_", HEX, 64),
    "heroku-key": token("HRKU-AA", BASE64URL, 58),
    "cloudflare-origin-key": parts("v1.0-{}-{}", (HEX, 24), (HEX, 146)),
    "fly-token": token("fm2_", BASE64, 140, 300),
    "vault-token": token("hvs. hvb.", BASE64URL, 92, 160),
    "terraform-token": parts("{}.atlasv1.{}", (BASE62, 14), (BASE62, 67)),
    "doppler-token": token("dp.pt. dp.st.dev.", BASE62, 43),
    "recollect-token": token("rct_", BASE64URL, 43),
    "pulumi-token": token("pul-", HEX, 40),
    "planetscale-token": token("pscale_tkn_ pscale_pw_ pscale_oauth_", BASE64URL, 43),
    "databricks-token": token("dapi", HEX, 32),
    "supabase-token": token("sbp_", HEX, 40),
    "netlify-token": token("nfp_", BASE62, 36),
    "tailscale-key": parts("tskey-auth-k{}CNTRL-{}", (BASE62, 10), (BASE62, 32)),
    "onepassword-token": token("ops_eyJ", BASE62, 300, 700),
    "age-key": token("AGE-SECRET-KEY-1", BECH32, 58),
    # version control
    "github-token": token("ghp_ gho_ ghu_ ghs_ ghr_", BASE62, 36),
    "github-fine-grained": parts("github_pat_{}_{}", (BASE62, 22), (BASE62, 59)),
    "gitlab-token": token("glpat- gldt- glrt- glft- glsoat-", BASE64URL, 20),
    "gitlab-routable-token": parts("glpat-{}.01.{}", (BASE64URL, 40), (LOWER + DIGITS, 9)),
    "atlassian-token": token("ATATT3xFfGF0", BASE64URL, 180, suffix="=1A2B3C4D"),
    "bitbucket-password": token("ATBB", BASE62, 32),
    # package registries
    "npm-token": token("npm_", BASE62, 36),
    "pypi-token": token("pypi-AgEIcHlwaS5vcmc", BASE64URL, 120, 180),
    "rubygems-key": token("rubygems_", HEX, 48),
    "nuget-key": token("oy2", LOWER + DIGITS, 43),
    "docker-token": token("dckr_pat_", BASE64URL, 27),
    "crates-token": token("cio", BASE62, 32),
    "clojars-token": token("CLOJARS_", LOWER + DIGITS, 60),
    "artifactory-key": token("AKCp", BASE62, 69),
    # payment and shops
    "stripe-key": token("sk_live_ sk_test_ rk_live_", BASE62, 24, 99),
    "stripe-webhook-secret": token("whsec_", BASE62, 32),
    "square-token": token("sq0atp- sq0csp-", BASE64URL, 22, 43),
    "square-access-token": token("EAAA", BASE64URL, 60),
    "braintree-token": parts("access_token$production${}${}", (LOWER + DIGITS, 16), (HEX, 32)),
    "shopify-token": token("shpat_ shpca_ shppa_ shpss_", HEX, 32),
    "flutterwave-key": token("FLWSECK_TEST- FLWSECK-", HEX, 32, suffix="-X"),
    # chat and mail
    "slack-token": slack,
    "slack-webhook": parts(
        "https://hooks.slack.com/services/T{}/B{}/{}",
        (UPPER + DIGITS, 10),
        (UPPER + DIGITS, 10),
        (BASE62, 24),
    ),
    "discord-bot-token": discord_bot,
    "discord-webhook": parts("https://discord.com/api/webhooks/{}/{}", (DIGITS, 18), (BASE64URL, 68)),
    "telegram-bot-token": parts("{}:AA{}", ("123456789", 10), (BASE64URL, 33)),
    "teams-webhook": teams_webhook,
    "twilio-key": token("SK", HEX, 32),
    "sendgrid-key": parts("SG.{}.{}", (BASE64URL, 22), (BASE64URL, 43)),
    "mailgun-key": token("key-", HEX, 32),
    "mailchimp-key": parts("{}-us12", (HEX, 32)),
    "brevo-key": parts("xkeysib-{}-{}", (HEX, 64), (BASE62, 16)),
    # models
    "anthropic-key": token("sk-ant-api03- sk-ant-admin01-", BASE64URL, 93, suffix="AA"),
    "openai-key": openai,
    "openrouter-key": token("sk-or-v1-", HEX, 64),
    "deepseek-key": token("sk-", HEX, 32),
    "huggingface-token": token("hf_", string.ascii_letters, 34),
    "groq-key": token("gsk_", BASE62, 52),
    "perplexity-key": token("pplx-", BASE62, 48),
    "replicate-token": token("r8_", BASE62, 37),
    "xai-key": token("xai-", BASE62, 80),
    "langsmith-key": parts("lsv2_pt_{}_{}", (HEX, 32), (HEX, 10)),
    "nvidia-key": token("nvapi-", BASE64URL, 64),
    # other services
    "linear-key": token("lin_api_", BASE62, 40),
    "notion-token": parts("ntn_{}{}", (DIGITS, 11), (BASE62, 35)),
    "airtable-token": parts("pat{}.{}", (BASE62, 14), (HEX, 64)),
    "postman-key": parts("PMAK-{}-{}", (HEX, 24), (HEX, 34)),
    "newrelic-key": token("NRAK-", UPPER + DIGITS, 27),
    "sentry-token": token("sntryu_", HEX, 64),
    "sentry-org-token": sentry_org,
    "grafana-token": parts("glsa_{}_{}", (BASE62, 32), (HEX, 8)),
    "grafana-cloud-token": token("glc_eyJ", BASE62, 100, 200),
    "dynatrace-token": parts("dt0c01.{}.{}", (BASE32, 24), (BASE32, 64)),
    "figma-token": token("figd_", BASE64URL, 40),
    "dropbox-token": token("sl.", BASE64URL, 138),
    "facebook-token": token("EAAC EAAM", BASE62, 120, 200),
    "hubspot-token": hubspot,
    # structures
    "jwt": jwt,
    "private-key": private_key,
    "pgp-private-key": pgp_key,
    "url-password": url_password,
    "authorization": authorization,
    "password": password_assignment,
    "secret": secret_assignment,
    "said in a note": said,
    "netrc": netrc,
    "command-line": command_line,
    "docker-auth": docker_auth,
}


def in_trace(text: str) -> str:
    return (
        'Traceback (most recent call last):\n  File "client.py", line 42, in fetch\n'
        f"    raise ApiError({text!r})\nclient.ApiError: 401 for {text} (attempt 2)\n"
    )


def in_markdown(text: str) -> str:
    return f"Run it like this:\n\n```sh\n{text}\n```\n\nor inline `{text}` if you must.\n"


ANY_WRAP: dict[str, Callable[[str], str]] = {
    "json": lambda text: json.dumps({"note": f"see {text}", "n": 1}),
    "escaped line break": lambda text: json.dumps("exit 1\n" + text + "\nretrying")[1:-1],
    "diff": lambda text: "".join(f"+{line}\n" for line in text.split("\n")),
    "json in json": lambda text: json.dumps({"body": json.dumps({"value": text})}),
    "yaml block": lambda text: "data:\n  value: |\n" + "".join(f"    {line}\n" for line in text.split("\n")),
    "stack trace": in_trace,
    "markdown": in_markdown,
    "log line": lambda text: f"2026-11-15T10:00:00Z ERROR [worker-3] request failed: {text}; giving up\n",
}
TOKEN_WRAP: dict[str, Callable[[str], str]] = {
    "url query": lambda text: f"GET https://api.example.org/v1/items?page=2&k={url_quoted(text)}&sort=asc HTTP/1.1",
    "json in url": lambda text: "/login?state=" + url_quoted(json.dumps({"k": text, "n": 1})),
    "html": lambda text: f"<pre>login(&quot;{text}&quot;)</pre>",
    "header": lambda text: f"curl -H 'X-Service-Auth: {text}' https://api.example.org",
    "shell export": lambda text: f"export SERVICE_LOGIN={text}\nmake deploy\n",
    "yaml": lambda text: f"service:\n  login: {text}\n  retries: 3\n",
    "python": lambda text: f'client = Client("{text}", timeout=3)\n',
    "toml": lambda text: f"[service]\nlogin = '{text}'\n",
}


def url_quoted(text: str) -> str:
    return quote(text, safe="")


def wrapped(sample: Sample) -> dict[str, str]:
    wraps = ANY_WRAP | TOKEN_WRAP if sample.bare_token else ANY_WRAP
    return {name: wrap(sample.text) for name, wrap in wraps.items()}
