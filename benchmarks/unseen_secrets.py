# ruff: noqa: E501
"""Secrets of kinds that neither the rules nor the tests were written from, and harmless look-alikes, seeded.

    python -m benchmarks.unseen_secrets [dev|fresh|last|FILE]

Published formats and everyday ways to write a secret down, one line a kind, written in one sitting before any of them
was run. A hash of its name puts a kind into `dev` (looked at, and mended) or `fresh` (run once after that, then mended
too). `last` was written after both and run once. A FILE has `{kind, text, secret}` a line; without a secret it is a
look-alike. A secret counts as hidden when neither half of it survives; a look-alike counts as touched when it changed at all.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.redaction import survives
from benchmarks.secret_samples import BASE32, BASE62, BASE64, BASE64URL, DIGITS, HEX, LOWER, UPPER, Sample, chars, uuid
from recollect.text.storable import storable

Fill = Callable[[random.Random], str]
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
WORDS = "amber basin cedar delta ember fjord grove heron inlet jetty knoll lemon maple north ocean pearl quilt".split()
SECRETS_A_KIND, LINES_A_KIND = 2, 10


def of(alphabet: str, length: int) -> Fill:
    return lambda rng: chars(rng, alphabet, length)


def password(rng: random.Random) -> str:
    """As a manager or a person under a policy makes it."""
    style = rng.choice(("manager", "words", "person"))
    if style == "words":
        return "-".join(word.title() for word in rng.sample(WORDS, 3)) + chars(rng, DIGITS, 2)
    if style == "person":
        return rng.choice(WORDS).title() + chars(rng, DIGITS, 4) + rng.choice("!?#$") + chars(rng, LOWER, 3)
    return chars(rng, UPPER, 2) + chars(rng, BASE62 + "!%*+-_.~^", 13) + chars(rng, DIGITS, 1) + chars(rng, LOWER, 1)


def encoded_password(rng: random.Random) -> str:
    return base64.b64encode(password(rng).encode()).decode()


HEX32, HEX40, HEX64, KEY = of(HEX, 32), of(HEX, 40), of(HEX, 64), of(BASE62, 40)

SECRETS: dict[str, tuple[str, Fill]] = {
    # published formats, bare or in the place where they are usually seen
    "adafruit": ("aio_{}", of(BASE62, 28)),
    "asana": ("ASANA 1/{}", lambda rng: f"{chars(rng, DIGITS, 16)}:{chars(rng, HEX, 32)}"),
    "beamer": ("beamer: b_{}", of(LOWER + DIGITS, 44)),
    "clickup": ("pk_4412_{}", of(UPPER + DIGITS, 32)),
    "defined networking": ("dnkey-{}", lambda rng: f"{chars(rng, BASE64URL, 26)}-{chars(rng, BASE64URL, 52)}"),
    "frame.io": ("fio-u-{}", of(BASE64URL, 64)),
    "gocardless": ("live_{}", of(BASE64URL, 40)),
    "harness": ("pat.{}", lambda rng: ".".join((chars(rng, BASE62, 22), chars(rng, HEX, 24), chars(rng, BASE62, 20)))),
    "infracost": ("ico-{}", of(BASE62, 32)),
    "openshift": ("oc login --token=sha256~{}", of(BASE64URL, 43)),
    "okta": ("Authorization: SSWS 00{}", of(BASE64URL, 40)),
    "scalingo": ("tk-us-{}", of(BASE64URL, 48)),
    "settlemint": ("sm_pat_{}", of(BASE62, 16)),
    "elevenlabs": ("sk_{}", of(HEX, 48)),
    "voyage": ("pa-{}", of(BASE64URL, 43)),
    "paddle": ("pdl_live_apikey_{}", lambda rng: f"01{chars(rng, LOWER + DIGITS, 24)}_{chars(rng, BASE62, 22)}_{chars(rng, BASE62, 3)}"),
    "polar": ("polar_oat_{}", of(BASE62, 43)),
    "tinybird": ("p.eyJ1IjogI{}", lambda rng: f"{chars(rng, BASE64URL, 60)}.{chars(rng, BASE64URL, 43)}"),
    "checkly": ("cu_{}", of(HEX, 32)),
    "ably": ("ABLY_ROOT=xVLyHw.DQrNxQ:{}", of(BASE64URL, 43)),
    "google chat webhook": ("https://chat.googleapis.com/v1/spaces/AAAAbbbb/messages?key=AIza-public&token={}", of(BASE64URL, 43)),
    "zapier webhook": ("https://hooks.zapier.com/hooks/catch/1234567/{}/", of(LOWER + DIGITS, 7)),
    "azure devops": ("az devops login with {}", lambda rng: f"{chars(rng, BASE62, 76)}AZDO{chars(rng, BASE62, 4)}"),
    "azure service bus": ("Endpoint=sb://bus.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}=", of(BASE64, 43)),
    "azure function url": ("https://fn.azurewebsites.net/api/run?code={}==", of(BASE64URL, 54)),
    "logic app": ("https://prod-01.logic.azure.com/workflows/abc/triggers/manual/run?api-version=1&sv=1.0&sig={}", of(BASE64URL, 43)),
    "amazon mws": ("amzn.mws.{}", uuid),
    "firebase server": ("AAAA{}", lambda rng: f"{chars(rng, BASE64URL, 7)}:APA91b{chars(rng, BASE64URL, 134)}"),
    "tencent": ("SecretId AKID{}", of(BASE62, 32)),
    "yandex": ("Api-Key AQVN{}", of(BASE64URL, 35)),
    "yandex iam": ("t1.9eu{}", lambda rng: f"{chars(rng, BASE64URL, 60)}.{chars(rng, BASE64URL, 86)}"),
    "scaleway": ("SCW_SECRET_KEY={}", uuid),
    "linode": ("LINODE_CLI_TOKEN: {}", HEX64),
    "cloudinary": ("CLOUDINARY_URL=cloudinary://874837483274837:{}@demo", of(BASE64URL, 27)),
    "ethereum key": ("deployer key 0x{}", HEX64),
    "bitcoin wif": ("wif: L{}", of(BASE58, 51)),
    "extended key": ("xprv9{}", of(BASE58, 106)),
    "nostr": ("nsec1{}", of("qpzry9x8gf2tvdw0s3jn54khce6mua7l", 58)),
    "wireguard": ("[Interface]\nPrivateKey = {}=\nAddress = 10.0.0.2/32", of(BASE64, 43)),
    "openvpn": ("-----BEGIN OpenVPN Static key V1-----\n{}\n-----END OpenVPN Static key V1-----", lambda rng: "\n".join(chars(rng, HEX, 32) for _ in range(16))),
    "totp": ("otpauth://totp/Shop:ada?secret={}&issuer=Shop", of(BASE32, 32)),
    "mysql hash": ("IDENTIFIED WITH mysql_native_password AS '*{}'", of("0123456789ABCDEF", 40)),
    "cisco": ("enable secret 5 $1${}", lambda rng: f"{chars(rng, BASE62, 4)}${chars(rng, BASE62, 22)}"),
    "cisco 7": ("username ada password 7 {}", of("0123456789ABCDEF", 22)),
    "junos": ('encrypted-password "$9${}";', of(BASE62 + "./", 40)),
    "shadow": ("ada:$y$j9T${}", lambda rng: f"{chars(rng, BASE62, 22)}${chars(rng, BASE62, 43)}:19700:0:99999:7:::"),
    "django hash": ("pbkdf2_sha256$600000${}", lambda rng: f"{chars(rng, BASE62, 22)}${chars(rng, BASE64, 43)}="),
    "jenkins": ("<apiToken>{{AQAAABAAAAAw{}}}</apiToken>", of(BASE64, 64)),
    "laravel": ("APP_KEY=base64:{}=", of(BASE64, 43)),
    "wordpress": ("define('LOGGED_IN_SALT',   '{}');", of(BASE62 + "!@#%^&*()-_[]{}~+=,.;:/?|", 64)),
    "rails master key": ("config/master.key:\n{}\n", HEX32),
    "github deploy": ("gh auth login --with-token <<< {}", HEX40),
    "vault unseal": ("Unseal Key 1: {}=", of(BASE64, 43)),
    "etherscan": ("ETHERSCAN_API={}", of(UPPER + DIGITS, 34)),
    "algolia": ('algoliasearch("APPID", "{}")', HEX32),
    "pagerduty": ("Authorization: Token token=u+{}", of(BASE64URL, 18)),
    "grafana basic": ("http://admin:{}@grafana:3000/api", password),
    "aws session": ("aws_session_token = IQoJb3JpZ2luX2Vj{}", of(BASE64, 300)),
    "oauth code": ("redirected to /cb?code=4/0A{}&scope=email", of(BASE64URL, 60)),
    "pgpass": ("db.example.org:5432:memory:recollect:{}", password),
    "mongo shell": ('db.auth("admin", "{}")', password),
    "requirepass": ("requirepass {}", password),
    "wpa": ('network={{\n  ssid="lab"\n  psk="{}"\n}}', password),
    "smbclient": ("smbclient //nas/share -U ada%{}", password),
    "openssl": ("openssl rsa -in k.pem -passin pass:{}", password),
    "zip": ("zip -e -P {} out.zip data", password),
    "7z": ("7z a -p{} out.7z data", password),
    "net use": (r"net use Z: \\nas\data /user:lab\ada {}", password),
    "helm": ("helm upgrade shop ./chart --set db.password={}", password),
    "kubectl literal": ("kubectl create secret generic db --from-literal=DB_PASS={}", password),
    "kubernetes data": ("kind: Secret\ndata:\n  password: {}", encoded_password),
    "docker run": ("docker run -e POSTGRES_PASSWORD={} postgres:18", password),
    "requests auth": ('requests.get(url, auth=("ada", "{}"))', password),
    "psql env": ("PGPASSWORD={} psql -h db", password),
    "jdbc": ("jdbc:mysql://db/shop?user=ada&password={}", password),
    "ado.net": ("Server=db;Database=shop;User Id=ada;Password={};Encrypt=true", password),
    "odbc": ("Driver={{PG}};Uid=ada;Pwd={};", password),
    "create user": ("CREATE USER ada WITH PASSWORD '{}';", password),
    "ldap": ("olcRootPW: {}", password),
    "bind password": ("bindpw {}", password),
    "xml attribute": ('<add name="db" user="ada" password="{}" />', password),
    "maven": ("<server><id>r</id><username>ada</username><password>{}</password></server>", password),
    "ansible": ("ansible_become_pass: {}", password),
    "terraform": ('variable "db_password" {{\n  default = "{}"\n}}', password),
    "tfvars": ('master_user_secret = "{}"', KEY),
    "html": ('<input type="password" name="pw" value="{}">', password),
    "markdown table": ("| user | password |\n|---|---|\n| ada | {} |", password),
    "slash pair": ("Log in to the demo shop with ada / {} and look at the cart.", password),
    "prose use": ("Use {} as the password for the jump host.", password),
    "prose set": ("I set the root password to {} this morning.", password),
    "prose changed": ("The wifi password changed from last week, it's now {}", password),
    "prose arrow": ("staging pw -> {}", password),
    "prose creds": ("Creds for the FTP: ada:{}", password),
    "german": ("Das Passwort für den Drucker lautet {}", password),
    "german key": ("Der API-Schlüssel ist {}", KEY),
    "french": ("le mot de passe du serveur est {}", password),
    "spanish": ("La contraseña de la base es {}", password),
    "italian": ("la password del router è {}", password),
    "chat": ("[10:03] bob: can u send the token?\n[10:04] ada: sure {}", of(BASE62, 40)),
    "prose token": ("You need the deploy token ({}) for that.", KEY),
    "prose key for": ("the key we use for Mapquest is {}", of(BASE62, 32)),
    "prose secret quoted": ("its client secret, “{}”, expires in May", KEY),
    "bullet": ("- Username: ada\n- Password: {}", password),
    "yaml list": ("users:\n  - {{name: ada, pass: {}}}", password),
    "toml nested": ('[auth]\nlogin = "ada"\npasswd = "{}"', password),
    "env export": ("export TWITTER_BEARER={}", of(BASE64URL, 90)),
    "env dotted": ("spring.mail.password={}", password),
    "header custom": ('curl -H "X-Vault-Token: {}" http://vault', of(BASE62, 26)),
    "header ocp": ("Ocp-Apim-Subscription-Key: {}", HEX32),
    "header gitlab": ("PRIVATE-TOKEN: {}", of(BASE64URL, 20)),
    "query key": ("https://api.openweathermap.org/data?q=Bonn&appid={}", HEX32),
    "query access": ("https://maps.example.org/tiles?access_token={}", KEY),
    "query apikey": ("https://newsapi.org/v2/top?apiKey={}", HEX32),
    "heroku": ("heroku config:set STRIPE_SK={}", KEY),
    "gh secret": ('gh secret set NPM_PUBLISH --body "{}"', KEY),
    "aws configure": ("aws configure set aws_secret_access_key {}", of(BASE64, 40)),
    "go const": ('const signingKey = "{}"', KEY),
    "java": ('private static final String CLIENT_SECRET = "{}";', KEY),
    "csharp": ('var credential = new NetworkCredential("ada", "{}");', password),
    "python dict": ('cfg["token"] = "{}"', KEY),
    "js option": ('new Client({{ user: "ada", pass: "{}" }})', password),
    "kotlin": ('val apiToken: String = "{}"', KEY),
    "graphql": ('mutation {{ login(email: "ada@example.org", password: "{}") {{ id }} }}', password),
    "form body": ("username=ada&password={}&remember=1", password),
    "json login": ('{{"user":"ada","pwd":"{}"}}', password),
    "session cookie": ("Set-Cookie: sessionid={}; Path=/; HttpOnly", of(BASE62, 40)),
    "csrf free": ("Cookie: theme=dark; connect.sid=s%3A{}", lambda rng: f"{chars(rng, BASE62, 32)}.{chars(rng, BASE62, 43)}"),
    "backup code": ("2FA backup codes: {}", lambda rng: " ".join(f"{chars(rng, DIGITS, 4)}-{chars(rng, DIGITS, 4)}" for _ in range(4))),
    "license": ("License key: {}", lambda rng: "-".join(chars(rng, UPPER + DIGITS, 5) for _ in range(5))),
    "snmp": ("snmp-server community {} RO", of(BASE62, 16)),
    "sip": ("register => ada:{}@sip.example.org", password),
    "imap": ("imapfilter: login('ada@example.org', '{}')", password),
    "rclone": ("[remote]\ntype = sftp\nuser = ada\npass = {}", of(BASE64URL, 40)),
    "lines": ("User\n  ada\nPassword\n  {}\n", password),
}  # fmt: skip


def _word(rng: random.Random) -> str:
    return rng.choice(WORDS)


INNOCENT: dict[str, Callable[[random.Random], str]] = {
    "git log": lambda rng: f"{chars(rng, HEX, 40)} Fix the {_word(rng)} of the token parser",
    "merge": lambda rng: f"Merge branch 'fix/{_word(rng)}-password-reset' into main ({chars(rng, HEX, 9)})",
    "request id": lambda rng: f"x-request-id: {uuid(rng)} status=200",
    "trace": lambda rng: f"traceparent: 00-{chars(rng, HEX, 32)}-{chars(rng, HEX, 16)}-01",
    "etag": lambda rng: f'ETag: W/"{chars(rng, HEX, 32)}"',
    "sri": lambda rng: f'integrity="sha384-{chars(rng, BASE64, 64)}"',
    "public key": lambda rng: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{chars(rng, BASE64, 43)} ada@host",
    "fingerprint": lambda rng: f"SHA256:{chars(rng, BASE64, 43)} (ED25519)",
    "wireguard public": lambda rng: f"[Peer]\nPublicKey = {chars(rng, BASE64, 43)}=\nAllowedIPs = 10.0.0.0/24",
    "address": lambda rng: f"sent 0.2 ETH to 0x{chars(rng, HEX, 40)}",
    "transaction": lambda rng: f"tx 0x{chars(rng, HEX, 64)} confirmed",
    "docker image": lambda rng: f"ghcr.io/acme/{_word(rng)}@sha256:{chars(rng, HEX, 64)}",
    "s3 path": lambda rng: f"s3://bucket/{_word(rng)}/{chars(rng, HEX, 32)}/part-0001.parquet",
    "arn": lambda rng: f"arn:aws:secretsmanager:eu-west-1:{chars(rng, DIGITS, 12)}:secret:{_word(rng)}-{chars(rng, BASE62, 6)}",
    "account": lambda rng: f"project {_word(rng)}-{chars(rng, DIGITS, 6)}, client id {chars(rng, DIGITS, 12)}",
    "oauth client id": lambda rng: f"client_id={chars(rng, DIGITS, 12)}-{chars(rng, LOWER + DIGITS, 32)}.apps.googleusercontent.com",
    "stripe ids": lambda rng: f"charge ch_{chars(rng, BASE62, 24)} of customer cus_{chars(rng, BASE62, 14)}",
    "publishable": lambda rng: f"pk_live_{chars(rng, BASE62, 24)} is the publishable one",
    "slack ids": lambda rng: f"channel C{chars(rng, UPPER + DIGITS, 10)} user U{chars(rng, UPPER + DIGITS, 10)}",
    "prose password": lambda rng: f"The password for the {_word(rng)} page is asked for twice, which confuses people.",
    "prose token": lambda rng: f"The token is refreshed every {rng.randint(2, 90)} minutes by the {_word(rng)} worker.",
    "prose key": lambda rng: f"The primary key is (space, id) since the {_word(rng)} migration.",
    "prose reset": lambda rng: f"Password reset mails go through {_word(rng)}-mailer-{rng.randint(1, 9)} now.",
    "prose secret": lambda rng: f"The secret to a fast {_word(rng)} is less work; see chapter {rng.randint(1, 20)}.",
    "policy": lambda rng: f"Passwords need {rng.randint(8, 16)} characters, password history is {rng.randint(3, 9)}.",
    "german prose": lambda rng: f"Das Passwort ist länger als {rng.randint(8, 20)} Zeichen und läuft nie ab.",
    "type": lambda rng: f"def {_word(rng)}(password: str, token: SecretStr | None = None) -> Session:",
    "lookup": lambda rng: f'password = secrets["{_word(rng)}_password"]',
    "lookup env": lambda rng: f"API_KEY=${{{_word(rng).upper()}_API_KEY}}",
    "helm value": lambda rng: f"existingSecret: {_word(rng)}-db-credentials",
    "secret name": lambda rng: f"secretKeyRef: {{name: {_word(rng)}-tokens, key: github-token}}",
    "test double": lambda rng: f'token = "fake-token-for-{_word(rng)}"',
    "placeholder": lambda rng: f"--password <{_word(rng)}-password>",
    "column": lambda rng: f"ALTER TABLE users ADD COLUMN password_hash varchar({rng.randint(60, 255)})",
    "css": lambda rng: f".token-{_word(rng)} {{ color: #{chars(rng, HEX, 6)}; }}",
    "enum": lambda rng: f'TOKEN_TYPE = "{_word(rng)}_refresh_token"',
    "url": lambda rng: f"https://docs.example.org/{_word(rng)}/api-keys#rotate-a-key-{rng.randint(1, 9)}",
    "url id": lambda rng: f"https://docs.google.com/document/d/1{chars(rng, BASE64URL, 43)}/edit",
    "youtube": lambda rng: f"https://www.youtube.com/watch?v={chars(rng, BASE64URL, 11)}",
    "query": lambda rng: f"https://shop.example.org/?page={rng.randint(1, 99)}&sort=price&key=name",
    "cursor": lambda rng: f"next_page: {base64.b64encode(f'id:{rng.randint(10**9, 10**10)}'.encode()).decode()}",
    "page token": lambda rng: f"nextPageToken: {_word(rng)}",
    "llm tokens": lambda rng: f"max_tokens={rng.choice((512, 4096, 128000))}, token_budget: {rng.randint(10**3, 10**6)}",
    "token count": lambda rng: f"tokens: {rng.randint(10**6, 10**9)} in, {rng.randint(10**3, 10**5)} out",
    "keyboard": lambda rng: f"key: ctrl+shift+{rng.choice(LOWER)}; key={rng.choice(('ArrowLeft', 'PageDown', 'F12'))}",
    "cache key": lambda rng: f"cache-key: {_word(rng)}-{chars(rng, HEX, 8)}-v{rng.randint(1, 9)}",
    "sort key": lambda rng: f"sort_key={_word(rng)}_created_at_desc_{rng.randint(1, 9)}",
    "foreign key": lambda rng: f"foreign_key: fk_{_word(rng)}_orders_customer_id_{rng.randint(1, 9)}",
    "i18n": lambda rng: f'"login.password.label": "{_word(rng).title()} password", "login.token.hint": "6 digits"',
    "log": lambda rng: f"INFO auth: token {_word(rng)} expired for user {rng.randint(1, 10**6)} after {rng.randint(1, 60)}s",
    "commit trailer": lambda rng: f"Change-Id: I{chars(rng, HEX, 40)}",
    "build": lambda rng: f"app.{chars(rng, HEX, 20)}.js 12 kB, vendor-{chars(rng, BASE62, 8)}.css",
    "lock": lambda rng: f'resolved "https://registry.example.org/{_word(rng)}/-/{_word(rng)}-1.2.3.tgz#{chars(rng, HEX, 40)}"',
    "migration": lambda rng: f"20261118{chars(rng, DIGITS, 6)}_add_secret_to_{_word(rng)}.rb",
    "phone": lambda rng: f"Call +49 228 {chars(rng, DIGITS, 7)}, PIN is on the card",
    "iban": lambda rng: f"IBAN DE{chars(rng, DIGITS, 20)}",
    "isbn": lambda rng: f"ISBN 978-3-{chars(rng, DIGITS, 3)}-{chars(rng, DIGITS, 5)}-{rng.randint(0, 9)}",
    "slash": lambda rng: f"Compare ada / bob and before / after in build {rng.randint(100, 999)}/{rng.randint(1000, 9999)}.",
    "flag": lambda rng: f"docker run -p {rng.randint(1024, 65535)}:8080 -P --name {_word(rng)} shop:1.2",
    "table": lambda rng: f"| field | password |\n|---|---|\n| {_word(rng)} | required, 12 characters |",
}  # fmt: skip


LAST: dict[str, tuple[str, Fill]] = {
    "deepl": ("DEEPL_AUTH={}:fx", uuid),
    "mistral": ("MISTRAL_API_KEY={}", of(BASE62, 32)),
    "cohere": ("co = cohere.Client('{}')", of(BASE62, 40)),
    "assembly": ("aai.settings.api_key = '{}'", HEX32),
    "pinecone": ("pc = Pinecone(api_key=\"{}\")", uuid),
    "weights": ("wandb.login(key='{}')", HEX40),
    "sentry auth": ("sentry-cli --auth-token {} releases new", HEX64),
    "coveralls": ("COVERALLS_REPO_TOKEN: {}", of(BASE62, 33)),
    "codecov": ("bash <(curl -s https://codecov.io/bash) -t {}", uuid),
    "circle": ("Circle-Token: {}", HEX40),
    "bitrise": ("BITRISE_WEBHOOK=https://hooks.bitrise.io/h/github/{}", lambda rng: f"{chars(rng, HEX, 16)}/{chars(rng, BASE64URL, 22)}"),
    "jira basic": ("curl -u ada@example.org:{} https://acme.atlassian.net/rest", of(BASE62, 24)),
    "confluence cookie": ("seraph.confluence=884737%3A{}", HEX40),
    "mailjet": ("MJ_APIKEY_PRIVATE={}", HEX32),
    "postmark": ("X-Postmark-Server-Token: {}", uuid),
    "vonage": ("VONAGE_SIGNATURE_SECRET={}", of(BASE62, 32)),
    "plivo": ("plivo.RestClient('MAXXXXXXXXXXXXXXXXXX', '{}')", of(BASE64URL, 40)),
    "pusher": ("Pusher(app_id='12', key='abc', secret='{}', cluster='eu')", of(HEX, 20)),
    "twitch": ("oauth:{}", of(LOWER + DIGITS, 30)),
    "spotify": ("spotipy.SpotifyClientCredentials(client_id='x', client_secret='{}')", HEX32),
    "strava": ("refresh_token: {}", HEX40),
    "fitbit": ("Authorization: Basic {}", lambda rng: base64.b64encode(f"23XYZ:{chars(rng, HEX, 32)}".encode()).decode()),
    "tesla": ("qts-{}", of(HEX, 64)),
    "home assistant": ("ha_token: eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.{}", lambda rng: f"eyJpc3MiOiI{chars(rng, BASE64URL, 60)}.{chars(rng, BASE64URL, 43)}"),
    "mqtt": ("mosquitto_pub -h broker -u sensor -P {} -t a/b -m 1", password),
    "influx": ("influx config create -n a -u http://db -o acme -t {}==", of(BASE64URL, 86)),
    "grafana ini": ("[security]\nadmin_user = admin\nadmin_password = {}", password),
    "elastic": ("curl -u elastic:{} https://localhost:9200", password),
    "elastic api": ("Authorization: ApiKey {}", lambda rng: base64.b64encode(f"{chars(rng, BASE62, 20)}:{chars(rng, BASE62, 22)}".encode()).decode()),
    "kibana": ("xpack.encryptedSavedObjects.encryptionKey: {}", HEX32),
    "rabbit": ("RABBITMQ_DEFAULT_PASS={}", password),
    "rabbit cookie": ("RABBITMQ_ERLANG_COOKIE: {}", of(UPPER, 20)),
    "minio": ("MINIO_ROOT_PASSWORD={}", password),
    "mc alias": ("mc alias set lab https://minio.lab minioadmin {}", password),
    "s3cfg": ("access_key = AKLT\nsecret_key = {}", of(BASE64, 40)),
    "boto": ("boto3.client('s3', aws_access_key_id='x', aws_secret_access_key='{}')", of(BASE64, 40)),
    "gcloud": ("gcloud sql users set-password root --instance=db --password={}", password),
    "mongo url": ("mongodb+srv://svc:{}@cluster0.ab1cd.mongodb.net/shop", of(BASE62, 16)),
    "redis url": ("REDIS_URL=rediss://default:{}@eu1-cat.upstash.io:6379", HEX32),
    "sqlalchemy": ('create_engine("mssql+pyodbc://sa:{}@db/shop?driver=x")', of(BASE62, 18)),
    "postgres dsn": ("host=db user=app password={} dbname=shop sslmode=require", password),
    "alter role": ("ALTER ROLE app WITH LOGIN PASSWORD '{}';", password),
    "mysql user": ("GRANT ALL ON shop.* TO 'app'@'%' IDENTIFIED BY '{}';", password),
    "oracle": ("sqlplus system/{}@//db:1521/XE", password),
    "sftp": ("lftp -u ada,{} sftp://files.example.org", password),
    "wget": ("wget --user=ada --password={} https://files", password),
    "rdp": ("xfreerdp /v:host /u:ada /p:{}", password),
    "vnc": ("x11vnc -passwd {}", password),
    "luks": ("echo -n '{}' | cryptsetup open /dev/sda2 root -", password),
    "gpg": ("gpg --batch --passphrase {} -d backup.gpg", password),
    "keytool": ("keytool -genkey -keystore a.jks -storepass {} -keypass x", password),
    "gradle": ("signingConfigs {{ release {{ storePassword '{}' }} }}", password),
    "android": ("RELEASE_KEY_ALIAS_PASSWORD={}", password),
    "fastlane": ("FASTLANE_APPLE_APPLICATION_SPECIFIC_PASSWORD={}", lambda rng: "-".join(chars(rng, LOWER, 4) for _ in range(4))),
    "windows": ("net user ada {} /add", password),
    "autologon": ('"DefaultPassword"="{}"', password),
    "unattend": ("<AdministratorPassword><Value>{}</Value></AdministratorPassword>", password),
    "cloud-init": ("chpasswd:\n  list: |\n    ada:{}", password),
    "note": ("router admin pass is {} btw", password),
    "note user": ("user: ada, pw: {}", password),
    "mail": ("Hi Bob, your temporary password: {} Please change it.", password),
    "mail two": ("Username: ada\nTemporary Password:\n\n    {}\n", password),
    "meeting": ("Zoom passcode: {}", of(BASE62, 8)),
    "todo": ("TODO rotate {} (prod Stripe restricted key)", lambda rng: "rk_live_" + chars(rng, BASE62, 40)),
    "quoted prose": ("The shared secret is '{}'.", KEY),
    "parenthesis": ("I used our test key ({}) and it worked.", of(BASE62, 36)),
    "old and new": ("changed the passphrase from x to {}", password),
    "dutch": ("Het wachtwoord is {}", password),
    "portuguese": ("A senha do banco é {}", password),
    "polish": ("Hasło do serwera: {}", password),
}  # fmt: skip
LAST_INNOCENT: dict[str, Callable[[random.Random], str]] = {
    "version": lambda rng: f"recollect-memory {rng.randint(0, 9)}.{rng.randint(0, 99)}.{rng.randint(0, 9)}rc{rng.randint(1, 9)}+g{chars(rng, HEX, 7)}",
    "test name": lambda rng: f"tests/unit/test_{_word(rng)}_password_policy.py::test_a_token_of_{rng.randint(1, 99)}_days",
    "rfc": lambda rng: f"RFC {rng.randint(1000, 9999)} section {rng.randint(1, 9)}.{rng.randint(1, 9)} on bearer tokens",
    "css class": lambda rng: f'class="w-{rng.randint(1, 96)} Button_root__{chars(rng, BASE62, 5)} css-{chars(rng, LOWER + DIGITS, 6)}"',
    "k8s pod": lambda rng: f"pod/{_word(rng)}-{chars(rng, HEX, 10)}-{chars(rng, LOWER, 5)} restarted",
    "mail id": lambda rng: f"Message-ID: <CA{chars(rng, BASE64URL, 45)}@mail.gmail.com>",
    "image url": lambda rng: f"https://lh3.googleusercontent.com/a/{chars(rng, BASE64URL, 50)}=s96-c",
    "gist": lambda rng: f"https://gist.github.com/ada/{chars(rng, HEX, 32)}",
    "public pgp": lambda rng: f"gpg: key {chars(rng, '0123456789ABCDEF', 16)} imported, fingerprint {chars(rng, '0123456789ABCDEF', 40)}",
    "host key": lambda rng: f"github.com ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTY{chars(rng, BASE64, 100)}=",
    "question": lambda rng: f"Which password manager do you use, {_word(rng)} or {_word(rng)}{rng.randint(1, 9)}?",
    "docs": lambda rng: f"Set `token` to the value from step {rng.randint(1, 9)}; the key is shown once.",
    "changed to": lambda rng: f"We changed the password field to type=password in PR {rng.randint(100, 9999)}.",
    "policy": lambda rng: f"The token is valid to 2027-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}T10:00:00Z and is renewed.",
    "log in": lambda rng: f"Log in at https://{_word(rng)}.example.org:8443/admin/v{rng.randint(1, 9)} with SSO",
    "credentials": lambda rng: f"credentials: read from ~/.aws/{_word(rng)}.json, profile build-{rng.randint(1, 99)}",
    "regex": lambda rng: f"TOKEN = re.compile(r'[a-z]{{{rng.randint(2, 9)},}}_[0-9a-f]{{32}}')",
    "enum": lambda rng: f"KEY_{_word(rng).upper()} = {rng.randint(1, 999)}  # key code",
    "song": lambda rng: f"The song is in the key of {rng.choice('ABCDEFG')} minor, take {rng.randint(1, 40)}.",
    "yaml anchor": lambda rng: f"password_policy: &{_word(rng)}_policy_v{rng.randint(1, 9)}",
}  # fmt: skip


def fresh(name: str) -> bool:
    return hashlib.sha256(name.encode()).digest()[0] % 5 < 2


def _rows(part: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in Path(part).read_text("utf-8").splitlines()]


def secrets(part: str) -> list[tuple[str, Sample]]:
    if part.endswith(".jsonl"):
        rows = [row for row in _rows(part) if row["secret"]]
        return [(row["kind"], Sample(text=row["text"], hidden=(row["secret"],), bare_token=False)) for row in rows]
    found = []
    for name, (line, fill) in (LAST if part == "last" else SECRETS).items():
        if part == "last" or fresh(name) == (part == "fresh"):
            rng = random.Random(f"{part} {name}")
            for _ in range(SECRETS_A_KIND):
                secret = fill(rng)
                found.append((name, Sample(text=line.format(secret), hidden=(secret,), bare_token=False)))
    return found


def look_alikes(part: str) -> list[tuple[str, str]]:
    if part.endswith(".jsonl"):
        return [(row["kind"], row["text"]) for row in _rows(part) if not row["secret"]]
    chosen = [(name, make) for name, make in INNOCENT.items() if fresh(name) == (part == "fresh")]
    if part == "last":
        chosen = list(LAST_INNOCENT.items())
    return [
        (name, make(rng))
        for name, make in chosen
        for rng in [random.Random(f"{part} {name}")]
        for _ in range(LINES_A_KIND)
    ]


def main() -> None:
    for part in sys.argv[1:] or ("dev", "fresh", "last"):
        kept = [(name, each.text) for name, each in secrets(part) if survives(each, storable(each.text))]
        changed = [(name, line) for name, line in look_alikes(part) if storable(line) != line]
        total, lines = len(secrets(part)), len(look_alikes(part))
        print(f"{part}: hidden {total - len(kept)} of {total} ({1 - len(kept) / total:.1%})")
        print(f"{part}: look-alikes touched {len(changed)} of {lines} ({len(changed) / lines:.2%})")
        for name, text in (*kept, *changed):
            print(f"  {name}: {text!r}"[:200])


if __name__ == "__main__":
    main()
