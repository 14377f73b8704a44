# ruff: noqa: E501
"""Random small bugs, one at a time in a copy of the source: how many do the tests of their module notice?

    python tests/random_mutants.py COUNT [SEED]

A comparison turned round, a condition negated, a number off by one, `and` for `or`, a returned value lost. For each the
tests run that name its module, at most three files, on the embedded engine; with `UNIT=1` only modules that unit tests
name are broken, and only unit tests run. `tmp/mutants.json` remembers each mutant, so a stopped run goes on. A survivor
is a hint, not a proof: some mutants change nothing that matters. One that ran out of time says nothing on a busy machine.
"""

from __future__ import annotations

import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE, STATE = ROOT / "src" / "recollect", ROOT / "tmp" / "mutants.json"
ROOMS = ("core", "text", "store", "capture", "search", "distil", "inject", "feedback", "tend")
TURNED = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is"}  # fmt: skip
SECONDS = 120


def places(tree: ast.Module) -> list[tuple[ast.expr, str]]:
    """Every expression that can be broken, with what replaces it."""
    found: list[tuple[ast.expr, str]] = []
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in TURNED:
                left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
                found.append((node, f"({left} {TURNED[type(node.ops[0])]} {right})"))
            elif isinstance(node, ast.BoolOp):
                other = " or " if isinstance(node.op, ast.And) else " and "
                found.append((node, f"({other.join(f'({ast.unparse(each)})' for each in node.values)})"))
            elif isinstance(node, ast.Constant) and type(node.value) is int:
                found.append((node, str(node.value + 1)))
            elif isinstance(node, ast.If | ast.While | ast.IfExp):
                found.append((node.test, f"(not ({ast.unparse(node.test)}))"))
            elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
                found.append((node.value, "None"))
    return [(node, text) for node, text in found if node.lineno == node.end_lineno]


@cache
def tests_of(module: str, room: str) -> tuple[str, ...]:
    """The tests that say most about a module: its own, then those that import it."""
    scored = []
    wide = [] if "UNIT" in os.environ else sorted((ROOT / "tests" / "contract").glob("test_*.py"))
    for path in [*sorted((ROOT / "tests").glob("unit/**/test_*.py")), *wide]:
        text = path.read_text()
        score = (
            20 * (path.stem == f"test_{module}")
            + text.count(f"{room}.{module}") * 5
            + text.count(f"{module}.")
            + text.count(f"import {module}")
        )
        if score:
            scored.append((score, str(path.relative_to(ROOT))))
    return tuple(path for _, path in sorted(scored, reverse=True)[:3])


def tried(file: Path, line: int, column: int, end: int, text: str, tests: tuple[str, ...]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "src"
        shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
        target = copy / "recollect" / file
        lines = target.read_text("utf-8").split("\n")
        raw = lines[line - 1].encode()
        lines[line - 1] = (raw[:column] + text.encode() + raw[end:]).decode()
        target.write_text("\n".join(lines), "utf-8")
        environ = {**os.environ, "PYTHONPATH": f"{copy}:{ROOT / 'tests'}", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "--tb=no",
            "-k",
            "not postgres",
            "-p",
            "no:cacheprovider",
            *tests,
        ]
        try:
            code = subprocess.run(
                command, cwd=ROOT, env=environ, capture_output=True, timeout=SECONDS, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            return "out of time"
    return {0: "survived", 1: "caught", 2: "caught", 3: "caught", 4: "caught"}.get(code, "no test")


def main(count: int, seed: int) -> int:
    chance = random.Random(seed)
    files = sorted(path for room in ROOMS for path in (SOURCE / room).rglob("*.py"))
    files = [path for path in files if tests_of(path.stem, path.parent.name)]
    broken = [(path, node, text) for path in files for node, text in places(ast.parse(path.read_text()))]
    chosen = chance.sample(broken, min(count, len(broken)))
    STATE.parent.mkdir(exist_ok=True)
    known: dict[str, str] = json.loads(STATE.read_text()) if STATE.exists() else {}
    for path, node, text in chosen:
        file = path.relative_to(SOURCE)
        key = f"{file}:{node.lineno}:{node.col_offset} {text}"
        tests = tests_of(path.stem, path.parent.name)
        if key not in known:
            end = node.end_col_offset or 0
            known[key] = tried(file, node.lineno, node.col_offset, end, text, tests) if tests else "no test"
            STATE.write_text(json.dumps(known, indent=1))
    of_ours = Counter(known.values())
    print(f"{len(known)} random mutants of {len(broken):,} possible: {dict(of_ours)}")
    for key, fate in known.items():
        if fate == "survived":
            print(f"  survived: {key}"[:160])
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else 28))
