"""Golden files: every text an agent is shown is kept word for word and changes only on purpose.

`UPDATE_GOLDEN=1 pytest …` writes them anew; the diff is then read like any other change.
"""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "unit" / "golden"


def assert_golden(name: str, text: str) -> None:
    path = FOLDER / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{name} is not what agents were shown before"
