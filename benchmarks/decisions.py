"""What ageing decisions saves and what it costs: python -m benchmarks.decisions [--size N] [--speed N] [--json]

- size: N reviewed decisions over two years (default 1,000); tokens and bytes of the compacted page against all of them
  in full, and whether every decision's id is still on the page
- speed: getCompacted over N decisions (default 100,000), CPU p50 and p95, as a ratio to the bare SQL that reads the
  same rows; the first page after a change, when wisdom has to be made again, is reported apart
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from statistics import quantiles
from typing import Any

from recollect import Actor, Memory, ScriptedClock
from recollect.core.clock import DAY
from recollect.core.decision import Bridge, Decision, Reason
from recollect.distil.decision_levels import full_text, render_page
from recollect.store import decisions as rows
from recollect.store.sqlite import SqliteDb
from recollect.text.tokens import tokens

NOW = "2026-11-01T12:00:00Z"
CHOICES = (
    ("PostgreSQL", "MySQL", "the orders store"), ("a message queue", "direct calls", "invoice creation"),
    ("server-side rendering", "a single-page app", "the settings page"), ("trunk work", "long branches", "releases"),
    ("feature flags", "release branches", "the checkout rewrite"), ("Redis streams", "Kafka", "job hand-over"),
    ("integer thousandths", "floating point", "stored confidence"), ("a monorepo", "six repositories", "the SDKs"),
    ("contract tests", "mocks", "the payment provider"), ("OpenTelemetry", "the vendor's agent", "tracing"),
)  # fmt: skip
PATTERNS = {
    "architecture": (
        "Measure before choosing a library", "Boundaries follow the data, not the team", "One writer beats many locks",
        "Keep the raw record and derive the rest",
    ),
    "process": ("Small changes are reviewed faster", "Search first prevents duplicate work"),
    "tooling": ("Pin versions by hash", "The boring tool is the fast one", "A tool nobody runs locally does not exist"),
    "security": ("Deny by default and list the exceptions", "Secrets never reach a file that is committed"),
    "integration": ("Retry only what is idempotent", "Assume that events arrive twice and out of order"),
}  # fmt: skip
CONTEXT = (
    "The team had to settle this before the next milestone, because two services already depended on it and a third "
    "one was about to. We compared the candidates for two days on data from production, with the same load and "
    "the same hardware, and wrote down what each would cost us to run, to change and to leave again. "
)
REASONS = (
    "In our own measurement it handled the peak load of last spring with a third of the memory",
    "The people who will be on call know it well and have run it for two years",
    "It can be taken out again within a week, because only one module talks to it",
    "The alternative needs a licence that legal has not cleared",
    "Its failure modes are documented and we could reproduce the two that matter",
)
RESULTS = (
    "After three months in production there was one incident, found by the alert we had set up beforehand",
    "The migration took two days longer than planned, and nobody has asked to go back since",
    "Load doubled in the autumn and nothing had to be changed",
)


def made(chance: random.Random, number: int, now: int, span_days: int) -> Decision:
    """One decision as an agent would record it, with its review."""
    category = chance.choice(sorted(PATTERNS))
    chosen, other, subject = chance.choice(CHOICES)
    confidence = chance.randrange(400, 1000, 50) / 1000
    outcome = "success" if chance.random() < confidence else chance.choice(["partial", "failure", "abandoned"])
    decided_at = now - chance.randrange(span_days * DAY)
    pattern = chance.choice(PATTERNS[category])
    return Decision(
        id=f"dec_{number:013x}",
        decision=f"Use {chosen} over {other} for {subject} in area {number % 97}, and revisit when load doubles",
        confidence=confidence,
        category=category,
        stakes=chance.choice(["low", "medium", "medium", "high"]),
        context=CONTEXT,
        reasons=tuple(Reason(text=text) for text in chance.sample(REASONS, 3)),
        pattern=pattern,
        tags=(category, subject.split()[-1]),
        bridge=Bridge(structure=f"{chosen} behind one module", function=f"swap {other} back in")
        if number % 4 == 0
        else None,
        components={"evidence": confidence},
        agent=("planner", "builder", "")[number % 3],
        status="active",
        superseded_by=None,
        closed_at=None,
        preserve=False,
        outcome=outcome,  # type: ignore[arg-type]
        result=chance.choice(RESULTS),
        lesson=pattern if chance.random() < 0.5 else "",
        reviewed_at=min(now, decided_at + 5 * DAY),
        review_at=None,
        trust="agent",
        version=1,
        decided_at=decided_at,
        created_at=decided_at,
        updated_at=decided_at,
    )


def filled(folder: str, count: int) -> tuple[Memory, list[Decision]]:
    """A memory with so many decisions, written through the store's own row code."""
    clock = ScriptedClock(NOW)
    memory = Memory.open(
        folder,
        create=True,
        clock=clock,
        actor=Actor(name="bench", channel="cli", trust="human"),
        environ={"HOME": folder},
    )
    chance = random.Random(11)
    decisions = [made(chance, number, clock.now(), 730) for number in range(count)]
    for start in range(0, count, 5000):
        with memory.context.db.write(memory.context.space) as tx:
            for decision in decisions[start : start + 5000]:
                rows.insert(tx, decision)
    return memory, decisions


def size(count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        memory, decisions = filled(folder, count)
        with memory:
            page = render_page(memory.decisions.compacted())
    full = "\n\n".join(full_text(decision) for decision in decisions)
    return {
        "decisions": count,
        "full_tokens": tokens(full),
        "page_tokens": tokens(page),
        "token_share": tokens(page) / tokens(full),
        "byte_share": len(page.encode()) / len(full.encode()),
        "ids_missing": sum(decision.id not in page for decision in decisions),
    }


def speed(count: int, rounds: int = 40) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        memory, _ = filled(folder, count)
        with memory:
            written = time.process_time() - started
            first = _timed(lambda: memory.decisions.compacted(), 1)[0]
            page = _timed(lambda: memory.decisions.compacted(), rounds)
            bare = _timed(_bare(memory), rounds)
    return {
        "decisions": count,
        "insert_seconds": written,
        "first_page_ms": first,
        "page_ms": _spread(page),
        "bare_sql_ms": _spread(bare),
        "ratio_p50": _spread(page)["p50"] / _spread(bare)["p50"],
        "ratio_p95": _spread(page)["p95"] / _spread(bare)["p95"],
    }


def _bare(memory: Memory) -> Callable[[], object]:
    """The same rows by hand: the newest 500 with their tags, the count, the old ones that stay whole, the wisdom."""
    db = memory.context.db
    assert isinstance(db, SqliteDb)
    connection, space, now = db.connection(), memory.context.space, memory.context.clock.now()

    def read() -> object:
        connection.execute("BEGIN")
        found = connection.execute(
            "SELECT * FROM decisions WHERE space = ? AND decided_at <= ? ORDER BY decided_at DESC, id DESC LIMIT 500",
            (space, now),
        ).fetchall()
        marks = ", ".join("?" * len(found))
        tags = connection.execute(
            f"SELECT decision_id, tag FROM decision_tags WHERE space = ? AND decision_id IN ({marks})",
            (space, *(row[1] for row in found)),
        ).fetchall()
        total = connection.execute(
            "SELECT count(*) FROM decisions WHERE space = ? AND decided_at <= ?", (space, now)
        ).fetchall()
        wisdom = connection.execute("SELECT wisdom FROM decision_wisdom WHERE space = ?", (space,)).fetchall()
        connection.execute("COMMIT")
        return found, tags, total, wisdom

    return read


def _timed(call: Callable[[], object], rounds: int) -> list[float]:
    """CPU milliseconds, one per call: other processes of the machine do not count."""
    spent = []
    for _ in range(rounds):
        started = time.process_time()
        call()
        spent.append((time.process_time() - started) * 1000)
    return spent


def _spread(values: list[float]) -> dict[str, float]:
    cuts = quantiles(values, n=20, method="inclusive")
    return {"p50": cuts[9], "p95": cuts[18]}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--speed", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    found = {"size": size(given.size), "speed": speed(given.speed)}
    if given.json:
        print(json.dumps(found, indent=2))
        return 0
    small, fast = found["size"], found["speed"]
    print(
        f"size: {small['decisions']} decisions, {small['full_tokens']:,} tokens in full, {small['page_tokens']:,} "
        f"compacted: {small['token_share']:.1%} of the tokens, {small['byte_share']:.1%} of the bytes, "
        f"{small['ids_missing']} ids missing"
    )
    print(
        f"speed: {fast['decisions']:,} decisions; page p50 {fast['page_ms']['p50']:.1f} ms, p95 "
        f"{fast['page_ms']['p95']:.1f} ms; bare SQL p50 {fast['bare_sql_ms']['p50']:.1f}, p95 "
        f"{fast['bare_sql_ms']['p95']:.1f}: ratio {fast['ratio_p50']:.1f} / {fast['ratio_p95']:.1f}; "
        f"first page after a change {fast['first_page_ms'] / 1000:.1f} s; inserted in {fast['insert_seconds']:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
