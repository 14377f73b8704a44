"""Plays a week of a small project through the hooks and tells it: on one screen, or as the page docs/a-week.md.

`python scripts/week.py [FOLDER]` prints the screen; `make demo` runs it. `python scripts/week.py --page` writes the
page, with ids renamed, and a test plays it again. Every session goes the way a host's would: SessionStart and the cycle
beside it, UserPromptSubmit, Stop, sometimes a compaction, SessionEnd. Only the clock is scripted.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from week_sessions import WEEK, Session

from recollect import Memory
from recollect.hosts.hook import respond
from recollect.store.project import home_folder
from recollect.text.sentences import counted

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
SOURCE = Path(__file__).parents[1] / "src"
PAGE = Path(__file__).parents[1] / "docs" / "a-week.md"
_ID = re.compile(r"\b(learn|disc|dec)_[0-9a-hjkmnp-tv-z]{13}\b")
_SHOWN = re.compile(r"^### .*?\[confidence: ([0-9.]+),.*?^_ID: (learn_[0-9a-z]{13})", re.MULTILINE | re.DOTALL)
"""Confidence and id of a learning in what a hook puts in front of the agent."""
_STAGED = (
    ("Wait for a condition in tests", "A fixed sleep fails on slow runners."),
    ("Backfill large tables in batches during migrations", "One statement locks the table for minutes."),
    ("Log the request id in every line of a service", "It joins what several services say about one request."),
    ("Pin the version of every build tool", "A floating formatter turned the build red twice."),
    ("Name a feature flag after what it switches on", "A flag named after a ticket says nothing a month later."),
    ("Page long lists with a cursor", "Offsets skip rows while others are inserted."),
)


class Project:
    """A scratch repository with a scripted clock."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.now = MONDAY + timedelta(hours=8, minutes=30)
        home = folder.parent / "home"
        home.mkdir(exist_ok=True)
        self._environ = {"PATH": os.environ["PATH"], "HOME": str(home), "USER": "ada", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
        self._environ |= {"PYTHONPATH": str(SOURCE), "RECOLLECT_EMBED_USE": "off"}

    @property
    def environ(self) -> dict[str, str]:
        return {**self._environ, "RECOLLECT_NOW": self.now.isoformat()}

    def run(self, *arguments: str) -> str:
        """What `recollect …` prints."""
        command = [sys.executable, "-P", "-m", "recollect", *arguments]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        return done.stdout + done.stderr

    def git(self, *arguments: str) -> None:
        dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), self.now.isoformat())
        who = {
            f"GIT_{role}_{what}": "ada@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        subprocess.run(["git", *arguments], cwd=self.folder, env={**self.environ, **dates, **who}, check=True)

    def fire(self, event: str, session: str, **given: Any) -> str:
        """What a hook puts in front of the agent."""
        self.now += timedelta(seconds=20)
        printed: list[str] = []
        payload = {"session_id": session, "cwd": str(self.folder), **given}
        respond("claude-code", event, payload, self.environ, printed.append)
        return str(json.loads(printed[0])["hookSpecificOutput"]["additionalContext"]) if printed else ""


class Week:
    """Plays the sessions and tells them."""

    def __init__(self, project: Project):
        self.project = project
        self.lines: list[str] = []
        self.ids: dict[str, str] = {}
        self.brief = ""
        self.given: dict[str, str] = {}
        """What memory gave to each session."""

    def tell(self) -> str:
        """The whole week."""
        self._begin()
        for number, (day, sessions) in enumerate(WEEK.items()):
            self.project.now = MONDAY + timedelta(days=number)
            self._day(day, sessions)
        self._monday_again()
        return "\n".join(self.lines) + "\n"

    def _begin(self) -> None:
        self._say(
            "# A week with Recollect",
            "Ada's shop takes payments. She works with Claude Code, five sessions a day, and ran `recollect init` "
            "once. The program printed everything below: `python scripts/week.py --page` plays the week through the "
            "hooks, as Claude Code would, with a scripted clock and no model. A test plays it again.",
            "## Before",
        )
        self._show("init", "--space", "shop", "--timezone", "UTC", "--host", "claude-code")
        project, monday = self.project, self.project.now
        project.now = MONDAY - timedelta(days=28, hours=-9)
        for title, body in _STAGED:
            project.run("staged", "add", title, "--body", body)
        (project.folder / "docs").mkdir()
        page = "# {}\n\n## {}\n\n{}\n"
        for name, words in {
            "testing": ("Testing", "Tests that wait", "A test fails for one reason."),
            "database": ("Database", "Migrations", "Migrations are reversible."),
            "services": ("Services", "Logs of a service", "Services log in JSON lines."),
        }.items():
            (project.folder / "docs" / f"{name}.md").write_text(page.format(*words))
        project.git("init", "--quiet", "--initial-branch", "main")
        project.git("add", "--all")
        project.git("commit", "--quiet", "--message", "Documents and staged learnings")
        for back in (27, 26, 25, 24, 21, 20, 19, 18, 17, 14, 13, 12, 11, 10):
            project.now = MONDAY - timedelta(days=back, hours=-12)
            project.git("commit", "--quiet", "--allow-empty", "--message", "Work")
        project.now = monday
        self._say("Ada wrote down two learnings before. The second is wrong.")
        self.ids["helps"] = self._learn(
            title="Stripe webhooks arrive out of order",
            context="Handling Stripe webhooks in the billing service",
            observation="Webhook events can overtake each other, an update may come before its creation",
            implication="A handler must not rely on the order of arrival",
            action="Compare the created time of the event with the stored one before applying it",
        )
        self.ids["misleads"] = self._learn(
            title="Every test card number works in the Stripe sandbox",
            context="Writing payment tests against the Stripe sandbox",
            observation="The sandbox accepted each test card number that was tried",
            implication="Tests need no list of card numbers",
            action="Make up a test card number for each payment test",
        )

    def _day(self, day: str, sessions: tuple[Session, ...]) -> None:
        self._say(f"## {day}")
        rows = ["| | asked | given | left |", "|---|---|---|---|"]
        told: list[str] = []
        for number, session in enumerate(sessions, 1):
            self.project.now = self.project.now.replace(hour=session.hour, minute=0, second=0)
            rows.append(self._session(f"{day.lower()}-{number}", session))
            if (day, number) in _AFTER:
                lines, self.lines = self.lines, [""]
                getattr(self, _AFTER[day, number])()
                told += self.lines[1:]
                self.lines = lines
        self._say("\n".join(rows))
        self.lines += told
        self.project.now = self.project.now.replace(hour=18)
        self.project.git("add", "--all")
        self.project.git("commit", "--quiet", "--allow-empty", "--message", day)

    def _session(self, id: str, session: Session) -> str:
        """Play a session; gives its line in the day's table."""
        fire = self.project.fire
        path = self.project.folder.parent / f"{id}.jsonl"
        path.touch()
        self.brief = fire("SessionStart", id, source="startup", transcript_path=str(path))
        fire("Cycle", id)
        given = fire("UserPromptSubmit", id, prompt=session.asked, transcript_path=str(path))
        answered = session.answered.format(**self.ids)
        self.project.now += timedelta(minutes=25)
        _write_transcript(path, self.project.folder, session, answered)
        fire("Stop", id, transcript_path=str(path), last_assistant_message=answered)
        if session.compacted:
            fire("PreCompact", id, trigger="auto", transcript_path=str(path))
            fire("SessionStart", id, source="compact", transcript_path=str(path))
            fire("PostCompact", id, trigger="auto", compact_summary=f"<summary>{session.compacted}</summary>")
        fire("SessionEnd", id, reason="other")
        brought = [f"{learning} ({confidence})" for confidence, learning in _SHOWN.findall(given)]
        brought += re.findall(r"^- (log/\S+)", given, re.MULTILINE)
        self.given[id] = ", ".join(brought) or "–"
        left = [
            line.partition(":")[0].replace("LEARNING_", "").lower().replace("_", " ")
            for line in answered.splitlines()
            if line.startswith(("LEARNING_", "DISCOVERY["))
        ]
        left += ["the host's summary"] if session.compacted else []
        cells = [f"{session.hour:02d}:00", session.asked, self.given[id], ", ".join(["an entry", *left])]
        return f"| {' | '.join(cells)} |"

    # What is looked at between sessions

    def _decided(self) -> None:
        self._say("The agent records the choice, with a review on Friday:")
        said = self._show(
            "decide", "Process Stripe webhooks from a queue over handling them in the request", "--confidence", "0.8",
            "--category", "architecture", "--reason", "empirical:Bursts of 400 events time out the handler",
            "--pattern", "Take slow work out of the request", "--review-in", "3d",
        )  # fmt: skip
        self.ids["decision"] = _found(said)

    def _sunk(self) -> None:
        self._say("Three sessions in a row said that the note on test cards misled them:")
        self._show("learn", "list")
        self._say("The note stays and can be found and edited, but no session is shown it any more.")

    def _not_shown(self) -> None:
        self._say("On Thursday a session asked about test cards again and was not shown the note. Why it sank:")
        self._show("why", self.ids["misleads"])

    def _reviewed(self) -> None:
        waiting = self.brief.partition("### Waiting\n")[2].partition("\n### ")[0].strip()
        self._say("Friday's brief names what is due:", f"```text\n{waiting}\n```")
        self._show(
            "decision", "review", self.ids["decision"], "--outcome", "success", "--result", "No timeouts since Tuesday",
            "--lesson", "A queue turns a burst into a delay",
        )  # fmt: skip

    def _consolidated(self) -> None:
        self._say("At the hand-off some staged learnings are old enough to move:")
        self._show("staged", "list", "--summary")
        self._show("staged", "consolidate")
        self.project.git("add", "--all")
        self._say("The rules are in the documents now, under the nearest heading:")
        text = (self.project.folder / "docs/database.md").read_text("utf-8")
        self._say(f"```text\n$ cat docs/database.md\n{text}```")

    def _monday_again(self) -> None:
        self.project.now = MONDAY + timedelta(days=7, hours=9)
        self._say("## Monday again", "A new session starts with this brief:")
        brief = self.project.fire("SessionStart", "monday-again", source="startup")
        self.project.fire("Cycle", "monday-again")
        self._say(f"```text\n{brief}```", "The learning that helped has risen, each step with its reason:")
        self._show("why", self.ids["helps"])
        self._show("search", "why were refund webhooks stuck?", "--kind", "log")
        self._show("log", "tree")
        self._show("status")

    # Telling

    def _learn(self, **fields: str) -> str:
        options = [part for name, value in fields.items() for part in (f"--{name}", value)]
        return _found(self._show("learn", "add", *options))

    def _show(self, *arguments: str) -> str:
        self.project.now += timedelta(minutes=1)
        said = self.project.run(*arguments).replace(str(self.project.folder), "/home/ada/shop")
        said = said.replace(self.project.environ["HOME"], "/home/ada")
        shown = shlex.join(["recollect", *arguments])
        self._say(f"```text\n$ {shown}\n{said}```")
        return said

    def _say(self, *paragraphs: str) -> None:
        for paragraph in paragraphs:
            self.lines += ["", paragraph] if self.lines else [paragraph]


_AFTER = {
    ("Monday", 4): "_decided",
    ("Wednesday", 3): "_sunk",
    ("Thursday", 3): "_not_shown",
    ("Friday", 1): "_reviewed",
    ("Friday", 5): "_consolidated",
}
"""What is looked at after which session."""


def _write_transcript(path: Path, folder: Path, session: Session, answered: str) -> None:
    """What the host writes of a turn."""
    edits = [{"type": "tool_use", "name": "Edit", "input": {"file_path": f"{folder}/{file}"}} for file in session.files]
    lines = [
        {"type": "user", "message": {"role": "user", "content": session.asked}},
        *({"type": "assistant", "message": {"role": "assistant", "content": [edit]}} for edit in edits),
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": answered}]}},
    ]
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def _found(said: str) -> str:
    found = _ID.search(said)
    assert found, said
    return found[0]


def renamed(text: str) -> str:
    """Ids by number in order of appearance: they are random, and a page is not."""
    names: dict[str, str] = {}
    for found in _ID.finditer(text):
        count = sum(name.startswith(found[1]) for name in names) + 1
        names.setdefault(found[0], f"{found[1]}_{count:013d}")
    return _ID.sub(lambda found: names[found[0]], text)


def screen(week: Week) -> str:
    """The story of the played week on one screen of a terminal: 24 lines of at most 100 columns."""
    folder, program = week.project.folder, Path(sys.executable).with_name("recollect")
    with Memory.open(folder, environ=week.project.environ) as memory:
        learnings = sorted(memory.learnings.page(limit=50)[0], key=lambda learning: -learning.confidence)
        helps = memory.learnings.get(week.ids["helps"])
        starts = {learning.id: memory.learnings.history(learning.id)[0].new["confidence"] for learning in learnings}
        decision = memory.decisions.get(week.ids["decision"])
        entries = sum(day.entries for day in memory.journal.days())
    moved = sorted(f"docs/{path.name}" for path in (folder / "docs").glob("*.md") if "###" in path.read_text("utf-8"))
    fates = {week.ids["helps"]: "rose from", week.ids["misleads"]: "sank from"}
    learned = [
        f"          {one.confidence:.2f}  {fates.get(one.id, 'new at'):9} {starts[one.id]:.2f}  {one.title}"
        for one in learnings
    ]
    lines = [
        "A week of a small shop: 25 sessions with Claude Code, played through the hooks, without a model.",
        "",
        f"Asked     Wednesday 10:00: {WEEK['Wednesday'][1].asked}",
        f'Brought   the learning "{helps.title}"',
        f"          and {counted(week.given['wednesday-2'].count('log/'), 'log entry')} of earlier sessions",
        "",
        "Learned" + learned[0].removeprefix(" " * len("Learned")),
        *(line if len(line) <= 100 else f"{line[:99]}…" for line in learned[1:]),
        f"          The first helped in {helps.times_helpful} of {helps.times_injected} sessions. "
        "The last misled three and is no longer shown.",
        f"Decided   {decision.decision} → {decision.outcome}",
        f"Moved     3 staged rules into {', '.join(moved)}",
        f"Kept      {entries} log entries, shrunk into 5 days, a week, a month and one page for the next session",
        "",
        f"Look      export RECOLLECT_HOME={home_folder(week.project.environ)}",
        f"          cd {folder}",
        f"          {program} search 'why were refund webhooks stuck?'",
        f"          {program} why {week.ids['misleads']}",
        f"          {program} serve",
        "",
        "The whole week, with everything the program printed: docs/a-week.md",
    ]
    return "\n".join(lines) + "\n"


def begun(folder: Path) -> Week:
    """A week that is about to be played in an empty folder."""
    project = folder / "shop"
    project.mkdir(parents=True)
    return Week(Project(project))


def main() -> None:
    if "--page" in sys.argv:
        with tempfile.TemporaryDirectory() as scratch:
            PAGE.write_text(renamed(begun(Path(scratch)).tell()), "utf-8")
        return
    week = begun(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="recollect-week-")))
    week.tell()
    print(screen(week), end="")


if __name__ == "__main__":
    main()
