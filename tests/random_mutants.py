"""Random small bugs, one at a time in a copy of the source: how many do the unit and contract tests notice?

    python tests/random_mutants.py COUNT [SEED] [FOLDER]

A comparison turned round, a condition negated, a number off by one, `and` for `or`, a returned value lost, a call left
out. A first run of the tests notes which functions each test calls; a mutant is then held against the tests that call
its function, those of few functions first, for about 25 seconds of tests. All is on the embedded engine.

`FOLDER` (tmp/mutants) keeps that map, what became of each mutant, and the summary page, so that a stopped run goes on.
A survivor is a hint, not a proof: some mutants change nothing that matters.
"""

from __future__ import annotations

import ast
import json
import os
import random
import shutil
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import hypothesis  # noqa: F401 — loaded once, and each mutant is tried in a fork
import pytest

ROOT = Path(__file__).parents[1]
TESTS = ("tests/unit",) if "UNIT" in os.environ else ("tests/unit", "tests/contract")
TURNED = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is"}  # fmt: skip # noqa: E501
SECONDS, MOST = 25, 60  # of tests for one mutant, and how many tests
QUIETLY = (
    "-q",
    "--tb=no",
    "-p",
    "no:cacheprovider",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
    "-k",
    "not postgres",
)
FATES = {0: "survived", 1: "caught", 2: "caught", 3: "caught", 4: "caught"}


class Calls:
    """A plugin of pytest that notes for each test how long it took and which functions of the source it called."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tests: dict[str, tuple[float, list[str]]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        seen = set()

        def note(frame: FrameType, _event: str, _argument: Any) -> None:
            if frame.f_code.co_filename.startswith(self.source):
                seen.add(frame.f_code)

        began = time.process_time()
        sys.settrace(note)
        threading.settrace(note)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
            cut = len(self.source) + 1
            names = {f"{code.co_filename[cut:]}:{code.co_qualname.split('.<')[0]}" for code in seen}
            self.tests[item.nodeid] = (round(time.process_time() - began, 3), sorted(names))


def places(tree: ast.AST, owner: str = "") -> Iterator[tuple[str, ast.expr, str]]:
    """Each expression that can be broken: the function it is in, the expression, and what replaces it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from places(node, f"{owner}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            found = ((owner + node.name, *broken) for broken in _within(node))
            yield from (one for one in found if one[1].lineno == one[1].end_lineno)


def _within(function: ast.FunctionDef) -> Iterator[tuple[ast.expr, str]]:
    for node in (inner for statement in function.body for inner in ast.walk(statement)):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in TURNED:
            left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
            yield node, f"({left} {TURNED[type(node.ops[0])]} {right})"
        elif isinstance(node, ast.BoolOp):
            other = " or " if isinstance(node.op, ast.And) else " and "
            yield node, f"({other.join(f'({ast.unparse(each)})' for each in node.values)})"
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            other = "-" if isinstance(node.op, ast.Add) else "+"
            yield node, f"({ast.unparse(node.left)} {other} ({ast.unparse(node.right)}))"
        elif isinstance(node, ast.Constant) and type(node.value) in (int, bool):
            yield node, str(not node.value if isinstance(node.value, bool) else node.value + 1)
        elif isinstance(node, ast.If | ast.While | ast.IfExp):
            yield node.test, f"(not ({ast.unparse(node.test)}))"
        elif isinstance(node, ast.Return | ast.Expr) and isinstance(node.value, ast.Call | ast.Tuple | ast.Name):
            yield node.value, "None"


def forked(arguments: list[str], source: Path, seconds: float, plugin: Calls | None = None) -> int | None:
    """The exit status of pytest on a copy of the source, in a process of its own; None when its time was up."""
    child = os.fork()
    if not child:
        os.setsid()
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        sys.path[:0] = [str(source), str(ROOT / "tests")]
        sys.dont_write_bytecode = plugin is None
        os.environ.update(PYTHONPATH=f"{source}:{ROOT / 'tests'}", PYTHONDONTWRITEBYTECODE="1", CI="true")
        code = 3
        try:
            code = pytest.main([*QUIETLY, *arguments], plugins=[plugin] if plugin else [])
            if plugin:
                (source.parent / "calls.json").write_text(json.dumps(plugin.tests))
        finally:
            os._exit(code)
    until, done = time.monotonic() + seconds, 0
    try:
        while time.monotonic() < until:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.05)
        return None
    finally:
        if not done:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)


def chosen_tests(calls: dict[str, Any], function: str) -> tuple[list[str], float]:
    """The tests that call a function, those of few functions first, and how long they take."""
    seconds: Counter[str] = Counter()
    width: dict[str, int] = {}
    for test, (took, called) in calls.items():
        name = test.partition("[")[0]  # with all its parameters: some ids are no argument of a command line
        seconds[name] += took
        if function in called:
            width[name] = min(width.get(name, len(called)), len(called))
    chosen: list[str] = []
    for name in sorted(width, key=lambda name: (width[name], name))[:MOST]:
        if not chosen or sum(seconds[each] for each in (*chosen, name)) <= SECONDS:
            chosen.append(name)
    return chosen, sum(seconds[name] for name in chosen)


def summary(fates: dict[str, str], possible: int) -> str:
    """A table of rooms, then the survivors."""
    rooms: dict[str, Counter[str]] = defaultdict(Counter)
    for key, fate in fates.items():
        rooms[key.partition(":")[0].partition("/")[0]][fate] += 1
        rooms["all"][fate] += 1
    kinds = ("caught", "survived", "out of time", "no test")
    lines = [f"# Random mutants: {len(fates):,} tried of {possible:,} possible", ""]
    lines += [f"| room | {' | '.join(kinds)} | caught, of those that ended |", "|---|---|---|---|---|---|"]
    for room, found in sorted(rooms.items()):
        ended = found["caught"] + found["survived"]
        share = f"{100 * found['caught'] / ended:.0f} %" if ended else "–"
        lines.append(f"| {room} | {' | '.join(str(found[kind]) for kind in kinds)} | {share} |")
    for kind in ("survived", "out of time"):
        lines += ["", f"## {kind}", "", *sorted(f"- `{key}`" for key, fate in fates.items() if fate == kind)]
    return "\n".join(lines) + "\n"


def main(count: int, seed: int, folder: Path) -> int:
    source, state = folder / "src", folder / "fates.json"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the mutant on trial is put back
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "calls.json").exists():
        shutil.rmtree(source, ignore_errors=True)
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        forked(list(TESTS), source, 7200, Calls(str(source / "recollect")))
    calls = json.loads((folder / "calls.json").read_text())
    possible = [
        (path, function, node, text)
        for path in sorted((source / "recollect").rglob("*.py"))
        for function, node, text in places(ast.parse(path.read_text("utf-8")))
    ]
    fates: dict[str, str] = json.loads(state.read_text()) if state.exists() else {}
    for path, function, node, text in random.Random(seed).sample(possible, min(count, len(possible))):
        file = path.relative_to(source / "recollect").as_posix()
        key = f"{file}:{node.lineno}:{node.col_offset} {function}: {ast.unparse(node)} -> {text}".replace("\n", " ")
        if key in fates:
            continue
        tests, seconds = chosen_tests(calls, f"{file}:{function}")
        fates[key] = _tried(source, path, node, text, tests, seconds) if tests else "no test"
        state.write_text(json.dumps(fates, indent=1))
        (folder / "README.md").write_text(summary(fates, len(possible)))
    print((folder / "README.md").read_text())
    return 0


def _tried(source: Path, path: Path, node: ast.expr, text: str, tests: list[str], seconds: float) -> str:
    before, was = path.read_bytes(), path.stat()
    lines = before.split(b"\n")
    line = lines[node.lineno - 1]
    lines[node.lineno - 1] = line[: node.col_offset] + text.encode() + line[node.end_col_offset :]
    try:
        path.write_bytes(b"\n".join(lines))
        code = forked(["-x", *tests], source, 60 + 6 * seconds)
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))  # its compiled form counts again
    return "out of time" if code is None else FATES.get(code, "no test")


if __name__ == "__main__":
    given = dict(enumerate(sys.argv[1:]))
    sys.exit(main(int(given[0]), int(given.get(1, "28")), Path(given.get(2, ROOT / "tmp" / "mutants")).resolve()))
