"""Do topics group what belongs together? python -m benchmarks.topics GIT_FOLDER… [--until DATE] [--commits N]

Plays the history of a repository into a memory, a commit an entry: the subject is its title, the body its text, the
touched files its references. Numbers of issues ("#1234", "gh-1234") are taken out of the text before; those of a commit
that names one are what its first topic is held against, by the adjusted Rand index. Beside it: each entry joins its
nearest by BM25, with a threshold chosen as ours was, and with the best one for this very history, which no product
could know.

`--fit` prints the weights of `text/topics.py` from the given histories; `--names FILE` writes 200 names for a reader as
JSON lines, each with up to three titles of its entries.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from recollect import Actor, Memory, ScriptedClock
from recollect.capture.log import Dated, add_all
from recollect.core.clock import day_of, iso, zone_named
from recollect.core.journal import NewEntry
from recollect.core.records import record
from recollect.store import lookup, passages, topics
from recollect.store.passages import Narrow
from recollect.text import topics as text
from recollect.text.tokens import terms

_ISSUE = re.compile(
    r"(?:\b(?:fix(?:e[sd])?|refs?|see|close[sd]?|references|issue|ticket|bug)\b[:\s-]*)?(?:\bgh-|#)(\d{2,6})\b", re.I
)
_TRAILER = re.compile(r"^\s*(?:signed-off-by|co-authored-by|change-id|reviewed|\(cherry)", re.I)
THRESHOLDS = tuple(step / 20 for step in range(1, 20))
BM25_JOINS = 0.45  # the best threshold in the mean of the histories that the weights were fitted to
PERSON = Actor(name="ada", channel="cli", trust="human")


@record
class Commit:
    at: int
    title: str
    body: str
    files: tuple[str, ...]
    issue: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--until", default="2026-08-01")
    parser.add_argument("--commits", type=int, default=1_000)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--names", type=Path)
    options = parser.parse_args()
    pairs: list[tuple[tuple[float, ...], bool]] = []
    named: list[tuple[str, list[str]]] = []
    for folder in options.folders:
        commits = list(_history(folder, options.until, options.commits))
        with tempfile.TemporaryDirectory() as home:
            memory, seconds = _played(commits, Path(home))
            with memory:
                if options.fit:
                    pairs += _pairs(memory, commits)
                print(f"{folder.parent.name or folder.name}: {_measured(memory, commits)}; {seconds:.1f} ms an entry")
                named += _named(memory)
    if options.fit:
        _fit(pairs)
    if options.names:
        chosen = random.Random(7).sample(named, min(200, len(named)))
        rows = (json.dumps({"titles": titles, "name": name}, ensure_ascii=False) for name, titles in chosen)
        options.names.write_text("".join(f"{row}\n" for row in rows), "utf-8")


def _history(folder: Path, until: str, count: int) -> Iterator[Commit]:
    """The last commits before a day, oldest first; a commit is at least a second after the one before it."""
    shown = ["log", "--no-merges", f"--until={until}", f"-n{count}", "--name-only", "--format=%x01%ct%x02%s%x02%b%x03"]
    said = subprocess.run(["git", "-C", str(folder), *shown], capture_output=True, check=True).stdout
    last = 0
    for part in reversed(said.decode("utf-8", "replace").split("\x01")[1:]):
        head, _, files = part.partition("\x03")
        at, subject, body = head.split("\x02", 2)
        issues = _ISSUE.findall(f"{subject}\n{body}")
        last = max(int(at) * 1000, last + 1000)
        lines = [line for line in body.split("\n") if not _TRAILER.match(line)]
        yield Commit(
            at=last,
            title=_without_issues(subject),
            body=_without_issues("\n".join(lines)),
            files=tuple(line for line in files.split("\n") if line.strip())[:50],
            issue=issues[0] if issues else "",
        )


def _without_issues(said: str) -> str:
    return re.sub(r"[ \t]+", " ", _ISSUE.sub(" ", said).replace(" -- ", " ")).strip(" -:.,()\n")


def _played(commits: Sequence[Commit], home: Path) -> tuple[Memory, float]:
    clock = ScriptedClock(iso(commits[0].at))
    memory = Memory.open(home, create=True, clock=clock, actor=PERSON, environ={"HOME": str(home)})
    zone = zone_named("UTC")
    began = time.process_time()
    for day, found in groupby(enumerate(commits), key=lambda each: day_of(each[1].at, zone)):
        dated = [Dated(new=_entry(each), key=f"commit{number}", at=each.at) for number, each in found]
        clock.advance(ms=max(0, dated[-1].at - clock.now()))
        add_all(memory.context, day, dated)
    return memory, (time.process_time() - began) * 1000 / len(commits)


def _entry(commit: Commit) -> NewEntry:
    return NewEntry(
        title=commit.title or "commit",
        request=commit.title or "commit",
        outcome=commit.body or None,
        references=commit.files,
    )


def _measured(memory: Memory, commits: Sequence[Commit]) -> str:
    of = _topic_of(memory)
    labelled = [number for number, commit in enumerate(commits) if commit.issue]
    issues = [commits[number].issue for number in labelled]
    ours = _rand(issues, [of.get(number, f"none{number}") for number in labelled])
    groups = dict(zip(THRESHOLDS, _by_bm25(commits), strict=True))
    rival = {least: _rand(issues, [group[number] for number in labelled]) for least, group in groups.items()}
    best = max(rival, key=lambda least: rival[least])
    several = sum(count for count in Counter(of.values()).values() if count > 1)
    return (
        f"{len(commits)} entries, {len(labelled)} with one of {len(set(issues))} issues; "
        f"{len(set(of.values()))} topics, {several / len(commits):.0%} of entries share theirs; "
        f"adjusted Rand index {ours:.3f}, BM25 {rival[BM25_JOINS]:.3f}, at its best ({best:.2f}) {rival[best]:.3f}"
    )


def _topic_of(memory: Memory) -> dict[int, str]:
    """The first topic of each commit, by number."""
    with memory.context.db.read(memory.context.space) as tx:
        keys: dict[str, str] = dict(tx.rows("SELECT day || '#' || number, key FROM log_entries WHERE space = :space"))
        first = topics.first_of(tx, [f"log/{place}" for place in keys])
    return {int(keys[id.removeprefix("log/")].removeprefix("commit")): topic for id, topic in first.items()}


def _named(memory: Memory) -> list[tuple[str, list[str]]]:
    """The names of topics, each with the titles of up to three of its entries: the first, the middle, the last."""
    named = []
    with memory.context.db.read(memory.context.space) as tx:
        for topic in topics.listed(tx, now=memory.context.clock.now(), limit=100_000)[0]:
            entries = [entry for entry, _ in reversed(topics.entries_of(tx, topic.id))]
            some = dict.fromkeys((entries[0], entries[len(entries) // 2], entries[-1]))
            named.append((topic.name, [stored.title for entry in some if (stored := passages.by_id(tx, entry))]))
    return named


def _rand(one: Sequence[str], other: Sequence[str]) -> float:
    """The adjusted Rand index of two groupings."""

    def pairs(counts: Counter[object]) -> float:
        return sum(count * (count - 1) / 2 for count in counts.values())

    both, first, second = pairs(Counter(zip(one, other, strict=True))), pairs(Counter(one)), pairs(Counter(other))
    expected = first * second / (len(one) * (len(one) - 1) / 2)
    most = (first + second) / 2
    return (both - expected) / (most - expected) if most != expected else 1.0


def _by_bm25(commits: Sequence[Commit]) -> Iterator[list[str]]:
    """Groups by the nearest earlier entry, one grouping for each threshold: a share of the entry's own score."""
    said = [Counter(terms(f"{each.title}\n{each.body}\n{' '.join(each.files)}")) for each in commits]
    held: dict[str, list[int]] = defaultdict(list)
    nearest: list[tuple[float, int]] = []
    length = sum(sum(each.values()) for each in said) / len(said)

    def score(term: str, number: int) -> float:
        rare = math.log(1 + (len(nearest) + 1) / (len(held[term]) + 0.5))
        often, size = said[number][term], sum(said[number].values())
        return rare * often * 2.2 / (often + 1.2 * (0.4 + 0.6 * size / length))

    for number, own in enumerate(said):
        sums: dict[int, float] = defaultdict(float)
        for term in own:
            for other in held[term][-400:]:
                sums[other] += score(term, other)
        whole = sum(score(term, number) for term in own) or 1.0
        best = max(sums, key=lambda other: (sums[other], -other), default=-1)
        nearest.append((sums[best] / whole if best >= 0 else 0.0, best))
        for term in own:
            held[term].append(number)
    for least in THRESHOLDS:
        groups: list[str] = []
        for number, (likeness, other) in enumerate(nearest):
            groups.append(groups[other] if likeness >= least else str(number))
        yield groups


def _pairs(memory: Memory, commits: Sequence[Commit]) -> list[tuple[tuple[float, ...], bool]]:
    """What is compared of entries with an issue and their candidates, and whether both have the same."""
    found = []
    with memory.context.db.read(memory.context.space) as tx:
        keys: dict[str, str] = dict(
            tx.rows("SELECT key, 'log/' || day || '#' || number FROM log_entries WHERE space = :space")
        )
        issue = {
            keys[f"commit{number}"]: each.issue for number, each in enumerate(commits) if f"commit{number}" in keys
        }
        for id, own in issue.items():
            stored = passages.by_id(tx, id)
            if not own or stored is None:
                continue
            one = text.said(stored.terms, stored.text, stored.at)
            docs = lookup.candidates(tx, lookup.understand(tx, sorted(one.terms)), most=60)
            others = [each for each in passages.ranked(tx, docs, Narrow(kinds=("log",))) if each.at < stored.at]
            texts = passages.texts_of(tx, [each.doc for each in others])
            total, counts = passages.document_counts(
                tx, {*one.terms, *(term for each in others for term in each.terms.split("\n")[0].split())}
            )
            rarity = {term: lookup.rarity(max(total, lookup.SMALLEST), count) for term, count in counts.items()}
            for each in others:
                if issue.get(each.id):
                    other = text.said(each.terms, texts[each.doc], each.at)
                    found.append((text.features(one, other, rarity), issue[each.id] == own))
    return found


def _fit(pairs: Sequence[tuple[tuple[float, ...], bool]]) -> None:
    import numpy as np

    given = np.array([values for values, _ in pairs])
    same = np.array([float(alike) for _, alike in pairs])
    mean, spread = given.mean(0), given.std(0) + 1e-9
    scaled = np.c_[(given - mean) / spread, np.ones(len(given))]
    weights = np.zeros(scaled.shape[1])
    for _ in range(3_000):
        weights -= scaled.T @ (1 / (1 + np.exp(-scaled @ weights)) - same) / len(same)
    plain = weights[:-1] / spread
    bias = weights[-1] - (weights[:-1] * mean / spread).sum()
    print(f"{len(pairs)} pairs, {int(same.sum())} alike")
    print(f"WEIGHTS = ({', '.join(f'{weight:.2f}' for weight in plain)})\nBIAS = {bias:.2f}")


if __name__ == "__main__":
    main()
