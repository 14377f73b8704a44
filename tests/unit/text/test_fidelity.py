"""A retelling keeps negations, numbers, dates and names."""

from __future__ import annotations

import pytest

from recollect.text.summarise import altered

CHANGED = [
    ("rule: never deploy on Friday", "rule: always deploy on Friday"),
    ("rule: never deploy on Friday", "rule: deploy on Friday"),
    ("Ada lives in Berlin", "Ada lives in Paris"),
    ("Ada dislikes emoji in commits", "Ada likes emoji in commits"),
    ("The importer does not retry failed jobs", "The importer retries failed jobs"),
    ("The importer retries failed jobs", "The importer never retries failed jobs"),
    ("Exports must not leave the cluster", "Exports must leave the cluster"),
    ("We can't drop the index before the migration", "We can drop the index before the migration"),
    ("Ship without the feature flag", "Ship with the feature flag"),
    ("No backup runs on the replica", "A backup runs on the replica"),
    ("The sandbox answers 429 after 25 requests", "The sandbox answers 429 after 250 requests"),
    ("Retry three times, then give up", "Retry five times, then give up"),
    ("The token expires after 90 days", "The token expires after 30 days"),
    ("The pool holds 1,000 connections", "The pool holds 10,000 connections"),
    ("Latency fell to 12.5 ms after the change", "Latency fell to 1.25 ms after the change"),
    ("The cut-over is on 2026-03-14", "The cut-over is on 2026-04-14"),
    ("The release is planned for Tuesday", "The release is planned for Thursday"),
    ("The audit starts in March", "The audit starts in May"),
    ("The queue moved to Kafka last week", "The queue moved to Redis last week"),
    ("Payments are reviewed by Grace", "Payments are reviewed by Linus"),
    ("The store runs on PostgreSQL in production", "The store runs on MySQL in production"),
    ("The flag is enabled for Europe only", "The flag is enabled for Asia only"),
    ("The cache is unsafe for concurrent writers", "The cache is safe for concurrent writers"),
    ("Retry 3 times. The timeout is 30 seconds.", "Retry 30 times. The timeout is 30 seconds."),
]
KEPT = [
    ("rule: never deploy on Friday", "never deploy on Friday"),
    ("The importer does not retry on 429, so add a backoff", "Add a backoff to the importer for 429"),
    ("Decided on Tuesday to move the queue to Kafka because Redis lost jobs", "The queue moves to Kafka"),
    ("Retry three times, then give up", "Give up after 3 retries"),
    ("Ada and Grace reviewed the export on 2026-03-14", "- export: reviewed by Ada and Grace (2026-03-14#2)"),
    ("The pool holds 1,000 connections", "1. The pool holds 1000 connections"),
    ("We must not drop the index. The index is large.", "The index is large and must not be dropped"),
    ("Warm the build cache on release", "## Topics\n- build cache: warmed on release (2026-03-01#3)"),
    ("The tests failed because no fixture was loaded", "Tests failed: no fixture was loaded"),
    ("Use a cursor to page lists; offsets skip rows", "Page Lists With A Cursor"),
]


@pytest.mark.parametrize(("source", "said"), CHANGED)
def test_a_changed_fact_is_found(source: str, said: str) -> None:
    assert altered(said, [source])
    assert altered(f"## Topics\n- work: {said} (2026-03-01#1)", [f"# Log\n\n{source}\n\nOther words follow."])


@pytest.mark.parametrize(("source", "said"), KEPT)
def test_an_honest_retelling_passes(source: str, said: str) -> None:
    assert altered(said, [source]) == ""


@pytest.mark.parametrize("source", [source for source, _ in CHANGED + KEPT])
def test_the_source_itself_passes(source: str) -> None:
    assert altered(source, [source]) == ""
