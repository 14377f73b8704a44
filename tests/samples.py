"""Realistic learnings for tests."""

from __future__ import annotations

from itertools import count
from typing import Any

from recollect import NewLearning
from recollect.core.records import Ids

WEBHOOKS: dict[str, Any] = {
    "title": "Stripe webhooks arrive out of order",
    "context": "Integrating Stripe payments into the billing service",
    "observation": "Webhook deliveries can overtake each other, so an update may come before its creation",
    "implication": "Handlers must not assume that events come in the order they happened",
    "action": "Compare the event's created timestamp with the stored one before applying it",
    "tags": ("stripe", "webhooks"),
    "domain": "api-integration",
}
UV: dict[str, Any] = {
    "title": "Install Python packages with uv",
    "context": "Setting up a Python project",
    "observation": "The person installs packages with uv and never with pip",
    "implication": "Commands with pip are not wanted",
    "action": "Run uv add and uv sync instead of pip install",
}
MIGRATIONS: dict[str, Any] = {
    "title": "Long migrations lock the orders table",
    "context": "Adding a column with a default to a large PostgreSQL table",
    "observation": "ALTER TABLE with a volatile default rewrites every row under an exclusive lock",
    "implication": "Schema changes on big tables need a plan that keeps checkout working",
    "action": "Add the column as nullable, backfill in batches, then set the default",
    "tags": ("postgresql", "migrations"),
    "domain": "database",
}
FLAKY: dict[str, Any] = {
    "title": "Flaky browser tests wait for the network",
    "context": "Stabilising the Playwright suite",
    "observation": "Tests that sleep a fixed time fail on slow runners",
    "implication": "Waiting must follow what the page does",
    "action": "Wait for a locator or a response instead of sleeping",
    "tags": ("testing", "playwright"),
    "domain": "testing",
}


def learning(base: dict[str, Any] = WEBHOOKS, **changes: Any) -> NewLearning:
    return NewLearning(**{**base, **changes})


def counted_ids() -> Ids:
    """Ids in order: `learn_000001`, `learn_000002`, …"""
    numbers = count(1)
    return lambda prefix: f"{prefix}_{next(numbers):06d}"
