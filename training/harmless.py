"""Harmless values beside words for secrets, as notes, logs and configurations hold them; to learn from.

Each line is a template, filled with identifiers, digests and names.
"""

import random
from collections.abc import Iterator

from benchmarks.secret_samples import BASE62, DIGITS, HEX, LOWER, chars, uuid

WORDS = "cache build order invoice shard cursor worker parser route widget ledger batch region tenant topic".split()
LINES = """
idempotency-key: {}
Idempotency-Key: {}
cache key {}
cache_key={}
partition key: {}
sort key {}
public key: {}
public_key = "{}"
key id: {}
key_id={}
"keyId": "{}"
kid: {}
key fingerprint {}
key hash {}
token hash: {}
token id {}
token_id="{}"
access log {}
request id for the token refresh: {}
api request {}
auth request id {}
login attempt {}
user id {}
user {}
user_id: {}
account {}
account_id = {}
account number {}
session {} closed
session id {}
api version {}
api build {}
primary key {}
foreign key to {}
row key {}
routing key {}
routing_key={}
object key: {}
s3 key: uploads/{}
key: {}.json
the key of the row is {}
access from {}
connect to {}
connected to host {}
connection {}
license id {}
sig file sha256:{}
signature of the build {}
commit "rotate the token" {}
Merge token fix {}
deploy of the auth service {}
auth-service:{}
auth-{}
auth pod auth-{} restarted
api-{} is ready
key-value store {}
secret name: {}
secret version {}
secret arn arn:aws:secretsmanager:eu-west-1:1234:secret:db-{}
password changed in {}
password reset request {}
password hash algorithm {}
password policy {}
the token expires after {} ms
max tokens {}
tokens used: {}
token count {}
webhook delivery {}
webhook id {}
webhook event evt_{}
cookie consent {}
cookie id {}
oauth client id {}
client_id={}
oauth state {}
nonce {}
csrf failed for {}
admin page revision {}
root commit {}
user agent build {}
wifi channel {}
api key was rotated in commit {}
token test data: fixtures/{}
see the key in docs at {}
keyboard layout {}
issue about login {}
login from device {}
signed in at {}
access point {}
private registry image {}
private network {}
private ip {}
public certificate pin sha256/{}
author {}
pat of row {}
seed {}
random seed = {}
seed: {}
pin {} of the chip
pinned to {}
salt lake {}
ci user build-{}
admin-ui-{}
user-service-{}
key {} not found
missing key {}
duplicate key {}
key {} has expired and was removed from the index
trace of the login: {}
username {}
username: {}
ssid {}
authored {}
author date {}
token bucket {}
tokenizer {}
tokenizer-{}
""".strip().split("\n")
FILLED = 12


def value(rng: random.Random) -> str:
    word = rng.choice(WORDS)
    makes = (
        lambda: uuid(rng),
        lambda: chars(rng, HEX, rng.choice((7, 8, 12, 16, 20, 24, 32, 40, 64))),
        lambda: chars(rng, BASE62, rng.choice((10, 12, 16, 20, 24, 32))),
        lambda: chars(rng, DIGITS, rng.choice((6, 8, 10, 12, 16))),
        lambda: f"{word}-{chars(rng, HEX, rng.choice((6, 8, 10)))}",
        lambda: chars(rng, LOWER + DIGITS, rng.choice((8, 10, 12, 16, 26))),
        lambda: f"{word}{chars(rng, DIGITS, 3)}-{rng.choice(WORDS)}",
    )
    return rng.choice(makes)()


def lines() -> Iterator[str]:
    for line in LINES:
        for number in range(FILLED):
            yield line.format(value(random.Random(f"{number} {line}")))
