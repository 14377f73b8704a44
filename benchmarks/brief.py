"""What a session starts with after a long history: how much of it the brief names, and what that costs.

    python -m benchmarks.brief git REPOSITORY [--since 2024-06-01] [--out DIR] [--page docs/brief.md]
    python -m benchmarks.brief questions DIR [--limit 300]

`git` turns the commits of one year into entries as the Stop hook writes them (the subject asked, the message answered,
the files touched), a cycle a day, and reads the brief after a week, a month, six months and a year:

- entries named: one line of the brief holds half of the weight of the words of the subject;
- sessions named: one line holds two rare words of the subject or the message (in at most 2 % of the entries, or in 3);
- repeated: four-word runs of the brief that stood in it before, references left out.

`questions` takes a folder as `benchmarks.retrieval` does, whose questions say in `should_recall` what an answer needs.
It counts how often the session to remember is named (one of its entries is referred to) or hinted at (one line holds a
third of the weight of `should_recall`) in the brief, in the brief and what the prompt hook adds, and in the brief and
one search. A word weighs log(entries / entries that have it). Tokens are ours. Vectors play no part.
"""

from __future__ import annotations

import argparse
import math
import re
import statistics
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from benchmarks.retrieval import in_order, stores
from recollect import Memory, ScriptedClock
from recollect.core.journal import NewEntry
from recollect.core.settings import EmbedSettings, ModelSettings
from recollect.models.configured import ConfiguredModels
from recollect.text.tokens import ContextBudget, terms, tokens

SNAPSHOTS = {"week": 7, "month": 30, "six months": 182, "year": 365}
ROOM = ContextBudget(characters=10_000)  # that of Claude Code
FILES = 20  # of a commit; a vendored tree says no more
_REF = re.compile(r"(?:log/)?(\d{4}-\d{2}-\d{2})#([\d,-]+)")
_TRAILER = re.compile(r"(?mi)^(?:signed-off-by|co-authored-by|reviewed-by):.*\n?")


@dataclass
class Turn:
    """One turn of a session."""

    session: str
    day: date
    request: str
    answer: str
    files: tuple[str, ...] = ()
    id: str = ""


@dataclass
class Words:
    """How telling each word is among the turns so far."""

    turns: int = 0
    found: Counter[str] = field(default_factory=Counter)

    def add(self, text: str) -> None:
        self.turns += 1
        self.found.update(set(terms(text)))

    def weight(self, words: Iterable[str]) -> float:
        return sum(math.log((self.turns + 1) / (self.found[word] + 0.5)) for word in words)

    def rare(self, text: str) -> set[str]:
        most = max(3, self.turns // 50)
        return {word for word in terms(text) if 0 < self.found[word] <= most}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("git", "questions"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--since", type=date.fromisoformat, default=date(2024, 6, 1))
    parser.add_argument("--limit", type=int, default=300, help="how many questions")
    parser.add_argument("--out", type=Path, help="write the briefs into this folder")
    parser.add_argument("--page", type=Path, help="a page whose blocks below `<!-- brief: week -->` are written anew")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clock = ScriptedClock(f"{given.since}T09:00:00Z")
        models = ConfiguredModels(ModelSettings(), EmbedSettings(use="off"), {})
        with Memory.open(folder, create=True, clock=clock, models=models, environ={"HOME": folder}) as memory:
            if given.what == "git":
                git(memory, clock, commits(given.folder, given.since), given.since, given.out, given.page)
            else:
                questions(memory, clock, given.folder, given.limit, given.out)


def git(
    memory: Memory, clock: ScriptedClock, turns: Sequence[Turn], since: date, out: Path | None, page: Path | None
) -> None:
    for name, days in SNAPSHOTS.items():
        until = since + timedelta(days)
        so_far = [turn for turn in turns if turn.day < until]
        if not so_far:
            continue
        told(memory, clock, [turn for turn in so_far if not turn.id])
        words = Words()
        for turn in so_far:
            words.add(f"{turn.request} {turn.answer}")
        _turn_to(clock, until, 8)
        memory.cycle()
        text = brief(memory)
        if out:
            out.mkdir(parents=True, exist_ok=True)
            (out / f"{name.replace(' ', '-')}.md").write_text(text, "utf-8")
        if page:
            block = re.compile(rf"(<!-- brief: {name} -->\n+```text\n).*?(?=```\n)", re.DOTALL)
            page.write_text(block.sub(lambda found: found[1] + text, page.read_text("utf-8")), "utf-8")  # noqa: B023
        lines = [set(terms(line)) for line in text.splitlines()]
        named = sum(_holds(lines, words, turn.request, 0.5) for turn in so_far)
        by_two = sum(_by_two(lines, words.rare(f"{turn.request} {turn.answer}")) for turn in so_far)
        print(
            f"{name:<10} {len(so_far):>5} entries: named {100 * named / len(so_far):.1f} %, "
            f"by two rare words {100 * by_two / len(so_far):.1f} %, repeated {repeated(text):.1f} %, "
            f"{len(text)} characters, {tokens(text)} tokens"
        )


def questions(memory: Memory, clock: ScriptedClock, folder: Path, limit: int, out: Path | None) -> None:
    ((texts, asked),) = stores(folder)
    turns = []
    for moment, one in in_order(texts):
        said = re.fullmatch(r"User: (.*?)\nAssistant: (.*)", one["text"], re.DOTALL)
        request, answer = (said[1], said[2]) if said else ("", one["text"])
        day = datetime.fromtimestamp(moment / 1000, UTC).date()
        turns.append(Turn(session=one["session"], day=day, request=request, answer=answer))
    told(memory, clock, turns)
    words = Words()
    entries = defaultdict(set)
    for turn in turns:
        words.add(f"{turn.request} {turn.answer}")
        entries[turn.session].add(turn.id)
    _turn_to(clock, turns[-1].day + timedelta(1), 8)
    memory.cycle()
    text = brief(memory)
    if out:
        out.mkdir(parents=True, exist_ok=True)
        (out / "questions.md").write_text(text, "utf-8")
    reached: Counter[str] = Counter()
    cost: dict[str, list[int]] = {"brief": [tokens(text)], "prompt hook": [], "search": []}
    for question in asked[:limit]:
        gold = set().union(*(entries[session] for session in question["gold_sessions"]))
        query = question["query"]
        hook = memory.sessions.prompted(query, session="s", task="t", room=ROOM).text
        hits = memory.search(query, limit=10)
        found = "\n".join(f"{hit.id} {hit.title}\n{hit.snippet}" for hit in hits)
        cost["prompt hook"].append(tokens(hook))
        cost["search"].append(tokens(found))
        for name, shown in (("brief", text), ("prompt hook", hook), ("search", found)):
            more = _seen(shown, gold, words, question["should_recall"])
            first = name == "brief" or _seen(text, gold, words, question["should_recall"])
            reached[name] += bool(more or (name != "brief" and first))
    print(f"{len(turns)} entries, {min(limit, len(asked))} questions; brief of {len(text)} characters")
    print(f"repeated {repeated(text):.1f} %")
    for name, taken in cost.items():
        share = 100 * reached[name] / min(limit, len(asked))
        print(
            f"{name if name == 'brief' else f'brief + {name}':<20} {share:.1f} %, {statistics.mean(taken):.0f} tokens"
        )


def _seen(text: str, gold: set[str], words: Words, should: str) -> bool:
    if gold & references(text):
        return True
    return _holds([set(terms(line)) for line in text.splitlines()], words, should, 1 / 3)


def brief(memory: Memory) -> str:
    return memory.sessions.brief(ROOM).text


def told(memory: Memory, clock: ScriptedClock, turns: Sequence[Turn]) -> None:
    """Log some turns, a cycle after each day."""
    before = None
    for turn in turns:
        if before and turn.day != before:
            memory.cycle()
        before = turn.day
        _turn_to(clock, turn.day, 12)
        title = next(iter((turn.request or turn.answer).strip().splitlines()), "notes").rstrip(".!")
        new = NewEntry(
            title=title,
            session=turn.session,
            request=turn.request or None,
            outcome=turn.answer or None,
            references=turn.files,
        )
        turn.id = memory.journal.add(new).id


def commits(repository: Path, since: date) -> list[Turn]:
    """A year of commits, oldest first, each a session."""
    until = since + timedelta(max(SNAPSHOTS.values()))
    form = "%x1e%h%x1f%cs%x1f%s%x1f%b%x1f"
    command = ["git", "-C", str(repository), "log", "--no-merges", "--reverse", f"--format={form}", "--name-only"]
    output = subprocess.run(
        [*command, f"--since={since}T00:00:00Z", f"--until={until}T00:00:00Z"], check=True, capture_output=True
    ).stdout.decode(errors="replace")
    made = []
    for part in output.split("\x1e")[1:]:
        commit, day, subject, body, files = part.split("\x1f")
        when = date.fromisoformat(day)
        if since <= when < until:
            answer = _TRAILER.sub("", body).strip()
            touched = tuple(line for line in files.split("\n") if line.strip())[:FILES]
            made.append(Turn(session=commit, day=when, request=subject, answer=answer, files=touched))
    return sorted(made, key=lambda turn: turn.day)


def references(text: str) -> set[str]:
    """The entries that a text refers to."""
    found = set()
    for day, numbers in _REF.findall(text):
        for span in numbers.strip(",-").split(","):
            first, _, last = span.partition("-")
            found |= {f"log/{day}#{n}" for n in range(int(first or 0), int(last or first or 0) + 1)}
    return found


def repeated(text: str) -> float:
    """The share of four-word runs that stood in the text before."""
    seen: set[tuple[str, ...]] = set()
    runs = again = 0
    for line in _REF.sub("", text).splitlines():
        said = re.findall(r"\w+", line.casefold())
        for place in range(len(said) - 3):
            run = tuple(said[place : place + 4])
            runs += 1
            again += run in seen
            seen.add(run)
    return 100 * again / max(runs, 1)


def _turn_to(clock: ScriptedClock, day: date, hour: int) -> None:
    moment = datetime(day.year, day.month, day.day, hour, tzinfo=UTC)
    clock.advance(ms=round(moment.timestamp() * 1000) - clock.now())


def _holds(lines: Sequence[set[str]], words: Words, text: str, share: float) -> bool:
    wanted = set(terms(text))
    least = share * words.weight(wanted)
    return bool(wanted) and any(words.weight(wanted & line) >= least for line in lines if wanted & line)


def _by_two(lines: Sequence[set[str]], rare: set[str]) -> bool:
    return any(len(rare & line) >= 2 for line in lines)


if __name__ == "__main__":
    main()
