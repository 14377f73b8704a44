# ruff: noqa: E501
"""The long campaign in parts, one process after the other; what is done is not done again.

    python tests/torture.py [WORD…]          all parts, or those whose kind or name holds a word; `make torture` runs all

`tmp/torture.json` remembers each part with its source's state, so a run that was stopped goes on where it stopped, and a
part is run again when the source changed (`KEEP=1` keeps it). `tmp/torture.md` is the summary: counts by kind, what failed.
`EXAMPLES`, `TIMES`, `MUTANTS`, `MINUTES` and `ROUNDS` set how much is tried.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
STATE, PAGE = ROOT / "tmp" / "torture.json", ROOT / "tmp" / "torture.md"
EXAMPLES, TIMES = int(os.environ.get("EXAMPLES") or "5000"), int(os.environ.get("TIMES") or "34")
MUTANTS, MINUTES, ROUNDS = (
    os.environ.get(name) or most for name, most in (("MUTANTS", "2000"), ("MINUTES", "120"), ("ROUNDS", "5"))
)
PROCESSES = "tests/faults/test_processes.py::test_"
VERBS, ERRORS = ("log", "stage", "finding", "learn", "decide"), ("EIO", "ENOSPC", "EINTR")


@dataclass(frozen=True)
class Part:
    """`count` is what it tries, in the words of its kind; `tests` are pytest's arguments, or a script and its own."""

    kind: str
    name: str
    count: int
    tests: tuple[str, ...]
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def command(self) -> list[str]:
        script = self.tests[0].endswith(".py") and "/test_" not in self.tests[0]
        return [
            sys.executable,
            *(() if script else ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=0")),
            *self.tests,
        ]


def parts() -> Iterator[Part]:
    many = {"RECOLLECT_TORTURE": str(max(2, TIMES))}
    said = "tests/faults/test_said.py::test_whatever_call_fails_what_is_said_is_true"
    for error in ERRORS:
        for verb in VERBS:
            yield Part("system calls that fail (verbs)", f"{verb} {error}", 1, (f"{said}[{verb}-{error}]",), many)
    yield Part(
        "killed before each system call (steps)",
        "vault, init, upgrade",
        5,
        ("tests/faults/test_crash_points.py",),
        many,
    )
    for seed in range(TIMES):
        kills = f"{PROCESSES}three_hundred_kills_lose_nothing_that_was_acknowledged[{seed}]"
        yield Part("kills, embedded", f"seed {seed}", 300, (kills,), many)
        clients = f"{PROCESSES}killed_clients_of_a_server_lose_nothing_that_was_acknowledged[{seed}]"
        yield Part("kills, clients of PostgreSQL", f"seed {seed}", 300, (clients,), many)
        cuts = f"tests/faults/test_power.py::test_no_power_cut_loses_what_was_acknowledged[{seed}]"
        yield Part("power cuts", f"seed {seed}", 300, (cuts,), many)
    for seed in range(TIMES):
        crashes = "tests/faults/test_team.py::test_a_server_that_crashes_under_load_costs_nothing_that_was_acknowledged"
        yield Part("server crashes, PostgreSQL", f"run {seed}", 3, (crashes,))
    for file in sorted(
        {
            path
            for path in (ROOT / "tests").rglob("test_*.py")
            if "\n    @given(" in (text := path.read_text()) or "\n@given(" in text
        }
    ):
        if "node_modules" not in file.parts:
            name = str(file.relative_to(ROOT))
            many_examples = {"HYPOTHESIS_PROFILE": "torture", "RECOLLECT_EXAMPLES": str(EXAMPLES)}
            yield Part("examples of each property", name, EXAMPLES, (name, "-m", "hypothesis"), many_examples)
    yield Part("flipped bits and torn files", "any damage", 50 * TIMES, ("tests/faults/test_any_damage.py",), many)
    yield Part("flipped bits and torn files", "backups", 50 * TIMES, ("tests/faults/test_damage.py",), many)
    for file in sorted((ROOT / "tests").glob("*/test_hostile*.py")):
        yield Part("hostile inputs (files of tests)", file.stem, 1, (str(file.relative_to(ROOT)),), many)
    yield Part(
        "hostile inputs (files of tests)",
        "openapi",
        1,
        ("tests/surfaces/test_openapi.py",),
        {"RECOLLECT_TORTURE": str(min(TIMES, 8))},
    )
    yield Part("git operations", "every state", 1, ("tests/host/test_git_operations.py",), many)
    yield Part("listed mutants", "all", 1, ("tests/mutants.py",))
    yield Part("random mutants", f"{MUTANTS} of them", int(MUTANTS), ("tests/random_mutants.py", MUTANTS))
    yield Part("soak (minutes)", "serve, hooks, cycles", int(MINUTES), ("tests/soak.py", MINUTES))
    yield Part("failover (rounds of five faults)", "three nodes", int(ROUNDS), ("tests/failover.py", ROUNDS))  # fmt: skip


def _source() -> str:
    files = sorted((ROOT / "src").rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]


def summary(done: dict[str, dict[str, object]]) -> str:
    """The page: one line a kind."""
    kinds: dict[str, list[dict[str, object]]] = {}
    for each in done.values():
        kinds.setdefault(str(each["kind"]), []).append(each)
    lines = ["# The campaign", "", "| kind | parts run | tried | failed parts | minutes |", "|---|---|---|---|---|"]
    for kind, found in kinds.items():
        tried, minutes = (
            sum(int(str(each["count"])) for each in found),
            sum(float(str(each["seconds"])) for each in found) / 60,
        )
        lines.append(
            f"| {kind} | {len(found)} | {tried:,} | {sum(each['rc'] != 0 for each in found)} | {minutes:.1f} |"
        )
    for name, each in done.items():
        if each["rc"] != 0 or each.get("said"):
            lines += ["", f"## {name}{': failed' if each['rc'] else ''}", "", "```", str(each["said"]), "```"]
    return "\n".join(lines) + "\n"


def main() -> int:
    wanted = sys.argv[1:]
    STATE.parent.mkdir(exist_ok=True)
    done = json.loads(STATE.read_text()) if STATE.exists() else {}
    source = _source()
    for part in parts():
        key = f"{part.kind}: {part.name}"
        known = done.get(key, {})
        same = known.get("source") == source or "KEEP" in os.environ
        if (wanted and not any(word in key for word in wanted)) or (known.get("rc") == 0 and same):
            continue
        began = time.monotonic()
        environ = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT / "tests"), str(ROOT))),
            **part.environ,
        }
        ran = subprocess.run(part.command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
        script = part.command[1:2] != ["-m"]
        said = (ran.stdout + ran.stderr)[-3000:] if ran.returncode or script else ""
        seconds = round(time.monotonic() - began, 1)
        done[key] = {"kind": part.kind, "count": part.count, "rc": ran.returncode, "seconds": seconds, "source": source, "said": said}  # fmt: skip
        STATE.write_text(json.dumps(done, indent=1))
        PAGE.write_text(summary(done))
        print(f"{'ok' if not ran.returncode else 'FAILED':6} {seconds:7.1f} s  {key}", flush=True)
    print(PAGE.read_text() if PAGE.exists() else "nothing was run")
    return int(any(each["rc"] for each in done.values()))


if __name__ == "__main__":
    sys.exit(main())
