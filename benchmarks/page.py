"""The page on a large memory: CPU and size of every kind of page.

    python -m benchmarks.page [--learnings 100000] [--years 10] [--decisions 2000] [--injections 2000]
                              [--findings 300] [--rounds 5] [--keep FOLDER]

A server in this process, asked by a client that is signed in; CPU is that of both, so the server's is less. The median
and the slowest of the rounds after a first one that fills caches, and the bytes of the answer. The memory holds so many
learnings, years with a log of five entries a day and its tree, decisions a third of which are reviewed,
injections, half of them with a verdict, findings in themes, and a fixed number of contradictions for the inbox, staged
learnings and sessions. `--keep` leaves the memory in a folder, or takes the one that is there.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import tempfile
import time
from datetime import date, timedelta
from itertools import islice
from pathlib import Path

from tests.serving import serving

from benchmarks.corpus import learnings, queries
from benchmarks.tree import WORDS
from recollect import Actor, Memory, NewDecision, NewFinding, NewLearning, Review, ScriptedClock
from recollect.capture.learn import _made  # the row a capture makes, without comparing it to others
from recollect.core.learning import SessionTurn, Write
from recollect.store import learnings as rows

LAST = date(2026, 3, 1)
MILLISECONDS, KILOBYTES = 300, 150  # what a page may take
WAITING = 60  # contradictions in the inbox, and staged learnings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learnings", type=int, default=100_000)
    parser.add_argument("--years", type=int, default=10)
    parser.add_argument("--decisions", type=int, default=2_000)
    parser.add_argument("--injections", type=int, default=2_000)
    parser.add_argument("--findings", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or Path(scratch)
        os.environ |= {"HOME": str(folder), "RECOLLECT_HOME": str(folder / "home")}
        person = Actor(name="bench", channel="python", trust="human")
        clock = ScriptedClock("2026-03-02T12:00:00Z")
        fresh = not (folder / "filled").exists()
        folder.mkdir(exist_ok=True)
        with Memory.open(folder, create=True, actor=person, clock=clock) as memory:
            if fresh:
                _questions(memory)
                _commit(folder, memory)
                _findings(memory, given.findings)
                _sessions(memory)
                _logs(memory, given.years * 365)  # before the learnings: an entry looks for its topic with a search
                _learnings(memory, given.learnings)
                _decisions(memory, clock, given.decisions)
                _injections(memory, given.injections)
                (folder / "filled").touch()
            report(memory, given.rounds)


def _learnings(memory: Memory, count: int) -> None:
    made = (
        _made(memory.context, NewLearning(**fields), origin="bench", now=memory.context.clock.now())  # type: ignore[arg-type]
        for fields in learnings(count)
    )
    while batch := list(islice(made, 1_000)):
        with memory.context.db.write(memory.context.space) as tx:
            rows.insert_all(tx, batch)


def _logs(memory: Memory, days: int) -> None:
    """Five entries a day in the words of the corpus, and their tree."""
    made = learnings(5 * days, seed=11)
    for back in range(days, 0, -1):
        entries = [
            f"## {str(each['title']).rsplit(' ', 2)[0]} [project]\n\n{each['observation']} {each['action']}\n"
            for each in islice(made, 5)
        ]
        memory.context.vault.replace(f"{LAST - timedelta(days=back)}.md", "\n".join(entries))
    memory.journal.compact(everything=True)
    memory.journal.days()


def _questions(memory: Memory) -> None:
    """Pairs that contradict each other, and staged learnings."""
    luck = random.Random(14)
    for number in range(WAITING):
        words = " ".join(luck.sample(WORDS, 4))
        for verb in ("Always run", "Never run"):
            said = f"{verb} the job {words} before step {number}"
            memory.learn(
                title=said, context=f"At step {number} of a release", action=f"{said}.",
                observation=f"Step {number} failed when the job was left out", implication="Releases depend on it",
            )  # fmt: skip
        memory.staging.stage(f"When step {number} runs, check {words}", f"Step {number} was seen without {words}.")


def _commit(folder: Path, memory: Memory) -> None:
    """The age of a staged learning is that of its line in git."""
    git = ("git", "-C", str(folder), "-c", "user.name=bench", "-c", "user.email=bench@example.org")
    for done in (("init", "-q"), ("add", memory.context.settings.staging.file), ("commit", "-qm", "Staged")):
        subprocess.run([*git, *done], check=True)


def _findings(memory: Memory, count: int) -> None:
    """Findings in themes, and a few that wait for the next gathering."""
    made = learnings(count + 10, seed=15)
    for number, each in enumerate(made):
        area = str(each["domain"])
        new = NewFinding(description=str(each["observation"]), category=area, proposed_rule=str(each["action"]))
        memory.themes.add(f"work-{number}", new)
        if number == count:
            memory.themes.run(always=True)


def _sessions(memory: Memory) -> None:
    for number in range(200):
        turn = SessionTurn(
            session=f"s-{number}", host="codex", request=f"Mend step {number}", answer=f"Step {number} holds now."
        )
        memory.sessions.deliver(Write(id=f"change_s{number}", what=turn))


def _decisions(memory: Memory, clock: ScriptedClock, count: int) -> None:
    luck = random.Random(12)
    for number in range(count):
        words = " ".join(luck.sample(WORDS, 6))
        new = NewDecision(decision=f"Use {words} for part {number}", confidence=0.8, category=luck.choice(WORDS[:8]))
        made = memory.decisions.record(new, anyway=True).decision
        if number % 3 == 0:
            memory.decisions.review(made.id, Review(outcome=luck.choice(("success", "failure"))))


def _injections(memory: Memory, count: int) -> None:
    luck = random.Random(13)
    some = memory.learnings.page(limit=500)[0]
    for number in range(count):
        one, task = luck.choice(some), f"task-{number}"
        memory.inject(task=task, outcome=task, title="Work", learnings=(one.id,))
        if number % 2:
            memory.rate(one.id, luck.choice(("helpful", "not_helpful")), task=task)


def report(memory: Memory, rounds: int) -> None:
    words = queries(rounds + 1, 4)
    one, other = (each.id for each in memory.learnings.page(sort="injected", limit=2)[0])
    decided, earlier = (each.id for each in memory.decisions.page(limit=2)[0])
    topic = max(memory.topics.page(limit=50)[0], key=lambda one: one.entries).id
    theme = max(memory.themes.list(), key=lambda one: len(one.findings)).name
    last = LAST - timedelta(days=1)
    week = f"{last.isocalendar().year}-W{last.isocalendar().week:02}"
    paths = {
        "home": "/", "feed": "/feed", "inbox": "/inbox", "agent": "/agent?prompt={}", "sessions": "/sessions",
        "search": "/search?q={}", "learnings": "/learnings", "learnings, words": "/learnings?q={}",
        "learnings, last page": "/learnings?offset=99975", "a learning": f"/learnings/{one}",
        "edit a learning": f"/learnings/{one}/edit", "merge picker": f"/learnings/{one}/pick?q={{}}",
        "compare learnings": f"/learnings/{one}/compare?other={other}",
        "decisions": "/decisions", "decisions, words": "/decisions?q={}", "decisions due": "/decisions?show=due",
        "a decision": f"/decisions/{decided}", "edit a decision": f"/decisions/{decided}/edit",
        "replacing picker": f"/decisions/{decided}/pick?q={{}}",
        "compare decisions": f"/decisions/{decided}/compare?other={earlier}",
        "what they taught": "/decisions/insight", "journal": "/journal",
        "journal, an earlier year": "/journal?year=2025", "a month": "/journal/monthly/2025-11",
        "a week": f"/journal/weekly/{week}", "a day": f"/journal/daily/{last}", "a log": f"/journal/log/{last}",
        "an entry": f"/text/log/{last}%231", "the root": "/journal/root", "topics": "/topics",
        "a topic": f"/topics/{topic}", "themes": "/themes", "a theme": f"/themes/{theme}",
        "what a gathering would do": "/themes/plan", "staging": "/staging", "health": "/health", "tokens": "/tokens",
        "settings": "/settings",
    }  # fmt: skip
    for token in memory.tokens.list():  # of an earlier run on the same memory
        memory.tokens.revoke(token.id)
    over: list[str] = []
    print("| page | CPU ms, median | slowest | kB |\n|---|---|---|---|")
    with serving(memory) as served:
        browser = served.browser()
        for name, path in paths.items():
            spent, size = [], 0
            for turn in range(rounds + 1):
                before = time.process_time()
                answer = browser.get(f"/s/{served.space}" + path.format(words[turn].replace(" ", "+")))
                spent.append(1000 * (time.process_time() - before))
                assert answer.status_code == 200, (name, answer.status_code)
                size = max(size, len(answer.content))
            median, slowest = statistics.median(spent[1:]), max(spent[1:])
            print(f"| {name} | {median:.0f} | {slowest:.0f} | {size / 1000:.0f} |", flush=True)
            if median > MILLISECONDS or size > 1000 * KILOBYTES:
                over.append(name)
    print(f"over {MILLISECONDS} ms or {KILOBYTES} kB: {', '.join(over) or 'none'}")


if __name__ == "__main__":
    main()
