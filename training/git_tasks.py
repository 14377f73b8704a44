"""Questions from git histories: which earlier commit does a new task touch?

A later commit that names an earlier one by its hash ("Oversight in commit 1a2b3c4d") was labelled by its author. The
memory is one year of commits; a question is the title of such a later commit, alone (`subject`) or with its first
paragraphs (`task`), without the sentences that name a hash. Reverts and re-landed commits repeat the title of what they
name, so they are left out. Output: `corpus.jsonl.gz` and `queries.jsonl`, as `benchmarks/retrieval.py` reads them.

    python -m training.git_tasks OUT NAME=/path/to/repository.git [NAME=…]
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

WINDOWS = 6  # per project, so that no large one outweighs the others
QUESTIONS = 150  # per window
LEAST = 10  # questions that make a window worth keeping
TEXT, TASK = 1_800, 700  # characters, as in the set this follows
FILES = 12
LEAST_WORDS = 4  # of a question; fewer hardly say anything

HASH = re.compile(r"\b[0-9a-f]{7,40}\b")
TRAILER = re.compile(
    r"^\s*([A-Z][A-Za-z-]+(-[Bb]y|-URL|-Id)|Fixes|Closes|Refs?|Bug|Cc|CC|PR|Issue|Backport\w*|Change-Id|git-svn-id)\s*:.*$"
)
PICKED = re.compile(r"^\(cherry picked from commit .*$")


@dataclass(frozen=True, kw_only=True)
class Commit:
    id: str
    day: str
    title: str
    body: str
    files: tuple[str, ...]


def commits(repository: Path, since: str, until: str) -> Iterator[Commit]:
    """The commits of a span of days, without merges, oldest first."""
    command = [
        "git",
        "-C",
        str(repository),
        "log",
        "--no-merges",
        "--no-renames",
        "--reverse",
        f"--since={since}",
        f"--until={until}",
    ]
    done = subprocess.run(
        [*command, "--name-only", "--format=%x01%H%x02%cs%x02%s%x02%b%x03"], capture_output=True, check=True
    )
    for block in done.stdout.decode("utf-8", "replace").split("\x01")[1:]:
        head, _, names = block.partition("\x03")
        if head.count("\x02") < 3:  # a message that holds the mark itself
            continue
        id, day, title, body = head.split("\x02", 3)
        yield Commit(id=id, day=day, title=title.strip(), body=body, files=tuple(names.split("\n"))[:100])


def prose(body: str) -> str:
    lines = [line for line in body.splitlines() if not TRAILER.match(line) and not PICKED.match(line)]
    return "\n".join(lines).strip()


def without_hashes(text: str) -> str:
    """The sentences that name no commit."""
    sentences = re.split(r"(?<=[.!?:;])\s+|\n\s*\n|\n(?=\s*[-*])", text)
    return " ".join(" ".join(one.split()) for one in sentences if one and not HASH.search(one))


def corpus_line(store: str, commit: Commit) -> dict[str, object]:
    files = " ".join(name for name in commit.files if name)
    text = " ".join(f"{commit.title} {prose(commit.body)}".split())[:TEXT]
    shown = " ".join(files.split()[:FILES])
    return {
        "store": store, "id": commit.id[:12], "session": commit.id[:12], "who": commit.title, "date": commit.day,
        "text": f"{text}\nFiles: {shown}" if shown else text,
    }  # fmt: skip


def questions(store: str, memory: dict[str, Commit], later: list[Commit]) -> list[dict[str, object]]:
    by_prefix = {commit.id[:7]: commit for commit in memory.values()}
    asked: list[dict[str, object]] = []
    for commit in later:
        if (
            commit.title.lower().startswith(("revert", "reland", "reapply", "backport"))
            or "This reverts" in commit.body
        ):
            continue
        named = {by_prefix[found[:7]] for found in HASH.findall(commit.body) if found[:7] in by_prefix}
        gold = [one for one in named if one.id.startswith(tuple(HASH.findall(commit.body)))]
        if not gold or len(gold) > 3 or any(one.title == commit.title for one in gold):
            continue
        ids = sorted(one.id[:12] for one in gold)
        title = " ".join(HASH.sub("", commit.title).split())
        more = without_hashes(prose(commit.body))
        pairs = [("subject", title)]
        if len(more.split()) >= 8:
            pairs.append(("task", f"{title} {more}"[:TASK]))
        for category, query in pairs:
            if len(query.split()) >= LEAST_WORDS:
                asked.append({"store": store, "query": query, "gold": ids, "gold_sessions": ids, "category": category})
    return asked[:QUESTIONS]


def windows(repository: Path) -> Iterator[tuple[str, str, str]]:
    """Years of memory with the year of questions that follows each, newest first, not overlapping."""
    newest = subprocess.run(
        ["git", "-C", str(repository), "log", "-1", "--format=%cs"], capture_output=True, check=True, text=True
    ).stdout.strip()
    for year in range(date.fromisoformat(newest).year - 1, 2009, -1):
        yield f"{year - 1}-07-01", f"{year}-07-01", f"{year + 1}-07-01"


def made(name: str, repository: Path) -> Iterator[tuple[str, list[dict[str, object]], list[dict[str, object]]]]:
    kept = 0
    for since, until, end in windows(repository):
        memory = {commit.id: commit for commit in commits(repository, since, until)}
        if not 300 <= len(memory) <= 9_000:
            continue
        store = f"{name}-{until}"
        asked = questions(store, memory, list(commits(repository, until, end)))
        if len(asked) >= LEAST:
            yield store, [corpus_line(store, commit) for commit in memory.values()], asked
            kept += 1
        if kept == WINDOWS:
            return


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    with gzip.open(out / "corpus.jsonl.gz", "wt") as corpus, open(out / "queries.jsonl", "w") as queries:
        for given in sys.argv[2:]:
            name, _, path = given.partition("=")
            for store, texts, asked in made(name, Path(path)):
                corpus.writelines(json.dumps(line) + "\n" for line in texts)
                queries.writelines(json.dumps(line) + "\n" for line in asked)
                print(store, len(texts), "texts", len(asked), "questions", flush=True)


if __name__ == "__main__":
    main()
