"""No two files of the source share a block of six lines: what is written twice is changed once."""

from __future__ import annotations

import ast
import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "recollect"
SIX = 6
# A field, a parameter or an argument on its own line: signatures may be alike, and what they share is not code.
NAMED = re.compile(r"\*{0,2}\w+(: [^=]+( = [^=]+)?|=[^=].*),?$")
KNOWN: set[tuple[str, str]] = set()  # this list may only become shorter


def test_no_two_files_share_a_block_of_six_lines() -> None:
    seen: dict[tuple[str, ...], str] = {}
    repeated: dict[tuple[str, str], str] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        file = str(path.relative_to(SOURCE))
        lines = _lines(path.read_text("utf-8"))
        for first in range(len(lines) - SIX + 1):
            block = tuple(line for _, line in lines[first : first + SIX])
            if sum(bool(NAMED.match(line)) for line in block) > SIX / 2:
                continue
            other = seen.setdefault(block, f"{file}:{lines[first][0]}")
            if not other.startswith(f"{file}:"):
                repeated.setdefault((other.partition(":")[0], file), f"{other} and {file}:{lines[first][0]}")
    assert sorted(where for pair, where in repeated.items() if pair not in KNOWN) == []
    assert repeated.keys() >= KNOWN, "take the pair that is mended off the list"


def _lines(source: str) -> list[tuple[int, str]]:
    """The lines that say something, with their numbers: no imports, docstrings, comments, blanks or lone brackets."""
    silent: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        if text or isinstance(node, ast.Import | ast.ImportFrom):
            assert isinstance(node, ast.stmt)
            silent.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    stripped = ((number, line.strip()) for number, line in enumerate(source.splitlines(), 1) if number not in silent)
    return [(number, line) for number, line in stripped if line.strip("()[]{},:") and not line.startswith("#")]
