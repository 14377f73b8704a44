"""Learnings that look real, as many as wanted, the same for the same seed.

Sentences come from templates over technologies, parts and problems; each learning also names an identifier of its own,
as engineers do. Word frequencies are therefore like real notes: a few words everywhere, many words once.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

TECHNOLOGIES = (
    "PostgreSQL SQLite Redis Kafka Stripe OAuth Kubernetes Docker Terraform GraphQL gRPC React Vue Svelte TypeScript "
    "Python Rust Go Java Kotlin Swift Django FastAPI Flask Rails Spring Node Deno Webpack Vite Playwright Cypress Jest "
    "pytest Celery RabbitMQ Elasticsearch Prometheus Grafana Sentry Datadog nginx Envoy Istio Vault Consul S3 DynamoDB "
    "BigQuery Snowflake Airflow Spark Flink dbt Pandas NumPy PyTorch ONNX CUDA WebSocket HTTP TLS DNS JWT SAML LDAP"
).split()
PARTS = (
    "connection pool;retry queue;session cookie;migration script;access token;refresh token;build cache;lock file;"
    "health check;rate limiter;feature flag;circuit breaker;webhook handler;background worker;request timeout;"
    "log shipper;schema registry;container image;load balancer;service account;index scan;foreign key;event stream;"
    "dead letter queue;configuration file;environment variable;error boundary;state machine;type checker;test fixture"
).split(";")
PROBLEMS = (
    "leaks under load;times out after thirty seconds;returns stale data;fails silently;is not idempotent;"
    "loses messages during a restart;breaks when the clock jumps;holds the lock too long;ignores the proxy setting;"
    "rounds money wrongly;needs two round trips;cannot be rolled back;is cached by the browser;depends on ordering;"
    "is much slower with large payloads;swallows the original error;runs twice on retry;blocks the event loop"
).split(";")
ACTIONS = (
    "Set an explicit limit on;Add a regression test around;Pin the version of;Wrap every call to;Move the work out of;"
    "Validate the input before;Log the identifier from;Close and reopen;Measure before changing;Document the limits of"
).split(";")
DOMAINS = ("database", "api-integration", "authentication", "testing", "ui", "infrastructure", "performance")
SYLLABLES = "ba co di fu ga he ji ko lu ma ne po qua ri so ta vu wex yo zi".split()


def learnings(count: int, seed: int = 7) -> Iterator[dict[str, object]]:
    """Fields of NewLearning."""
    chance = random.Random(seed)
    for _ in range(count):
        tool, other = chance.sample(TECHNOLOGIES, 2)
        part, problem = chance.choice(PARTS), chance.choice(PROBLEMS)
        name = identifier(chance)
        yield {
            "title": f"{tool} {part} {problem}"[:100],
            "context": f"Working on {name} where {tool} talks to {other} through the {part}.",
            "observation": f"The {part} of {tool} {problem} as soon as {name} is called with more than "
            f"{chance.randint(2, 9000)} items, and {other} hides the cause.",
            "implication": f"Anything built on the {chance.choice(PARTS)} has to expect that {tool} {problem}.",
            "action": f"{chance.choice(ACTIONS)} {name} and check the {part} in {other} {chance.choice(PARTS)} code.",
            "tags": (tool.lower(), chance.choice(DOMAINS)),
            "domain": chance.choice(DOMAINS),
        }


def queries(count: int, words: int, seed: int = 11) -> list[str]:
    """Three-word questions or forty-word task descriptions."""
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        if words <= 5:
            made.append(f"{chance.choice(TECHNOLOGIES)} {chance.choice(PARTS)}")
            continue
        text: list[str] = []
        while len(text) < words:
            text += (
                f"Fix the {chance.choice(PARTS)} of {chance.choice(TECHNOLOGIES)} that {chance.choice(PROBLEMS)} in "
                f"{identifier(chance)} before the release"
            ).split()
        made.append(" ".join(text[:words]))
    return made


def identifier(chance: random.Random) -> str:
    """A name such as an engineer gives: camelCase of made-up syllables."""
    parts = ["".join(chance.choices(SYLLABLES, k=chance.randint(1, 2))) for _ in range(2)]
    return parts[0] + parts[1].capitalize()
