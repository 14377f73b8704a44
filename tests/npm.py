"""Programs from npm that the host tests drive, installed by npm in tests/host/npm with the versions locked."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "host" / "npm"


def path() -> str:
    """A PATH on which the locked programs come first, their Node included; missing ones fail the test that asks."""
    programs = FOLDER / "node_modules" / ".bin"
    assert (programs / "node").exists(), (
        "the npm packages are not installed; run: npm install --no-save --prefix tests/host/npm"
    )
    return f"{programs}:{os.environ['PATH']}"
