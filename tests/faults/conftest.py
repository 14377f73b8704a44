"""Faults of the embedded store: what is shared with the other tests runs on SQLite only here."""

from __future__ import annotations

import pytest


@pytest.fixture
def engine() -> str:
    return "sqlite"
