"""Git: what its history says about the project, and the merge driver of the staging file.

A repository is untrusted input: its hooks, monitors, filters, pagers, signature checks and diff programs never run, and
a question takes at most `LIMIT_SECONDS`. The caller reads the working copy: reading it through git runs filters.

The merge driver's attribute is committed with the project. Its config entry belongs to one clone, because git lets no
repository choose programs for its users; it names the interpreter, since git often runs where `recollect` is not on the
PATH. If the driver fails, git's own merge by lines takes over, so that a conflict is always marked. Knows nothing about
learnings.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import date, datetime, tzinfo
from pathlib import Path

from recollect.core.errors import NoHistory
from recollect.store.files import add_lines, open_file, write_path
from recollect.text.markdown import lines_of
from recollect.text.staging import merge_staging

LIMIT_SECONDS = 5.0  # one question; blame of a long file in a large repository takes about one

# What a repository's own config could have git execute while it answers.
_DISARMED = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.sshCommand=false",
    "core.askPass=false",
    "core.pager=cat",
    "credential.helper=",
    "diff.external=",
    "gpg.program=false",
    "i18n.logOutputEncoding=UTF-8",
    "log.showSignature=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
)
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "LC_ALL": "C",
}
MOVES = 500  # commits in which moved sections are looked for; enough for years of consolidations
_ADDED_HEADING = re.compile(r"\+#{2,4} +(.*\S)")
_SHORT_LINE = 20  # letters; shorter lines occur twice in a file by chance


class Repository:
    """The repository around a folder; paths are below the folder."""

    def __init__(self, folder: Path, zone: tzinfo, *, limit: float = LIMIT_SECONDS) -> None:
        self._folder = folder
        self._zone = zone
        self._limit = limit
        self._usable: set[Path] = set()

    def active_days(self) -> tuple[date, ...]:
        self._refuse_unusable(self._folder)
        stamps = self._git(self._folder, "log", "--format=%at", "HEAD", "--").split()
        return tuple(sorted({self._day(stamp) for stamp in stamps}))

    def root_commits(self) -> tuple[str, ...]:
        """The commits without a parent in any branch, which tell repositories apart."""
        self._refuse_unusable(self._folder)
        return tuple(sorted(self._git(self._folder, "rev-list", "--max-parents=0", "--all").split()))

    def line_days(self, path: str, text: str) -> tuple[date | None, ...]:
        committed = self.committed(path)
        if committed is None:
            raise NoHistory(f"{path} is not in git yet; commit it, and its entries get an age")
        folder, name = self._place(path)
        told = self._git(
            folder,
            *("blame", "-w", "-M", "-C", "-C", "--no-ignore-revs-file", "--no-textconv", "--line-porcelain"),
            *("HEAD", "--", name),
        )
        days = [self._day(stamp) for stamp in re.findall(r"^author-time (\d+)$", told, re.MULTILINE)]
        return _carried_over(lines_of(committed), days, lines_of(text))

    def committed(self, path: str) -> str | None:
        folder, name = self._place(path)
        listed = self._git(folder, "ls-tree", "-z", "HEAD", "--", name)
        if not listed:
            return None
        blob = listed.partition("\t")[0].split()[2]
        return self._git(folder, "cat-file", "blob", blob).replace("\r\n", "\n")

    def day_removed(self, path: str, line: re.Pattern[str], *, least: int) -> date | None:
        folder, name = self._place(path)
        log = self._git(
            folder,
            *("log", "--follow", "--format=%x00%at", "-p", "-U0", "-w", "--no-ext-diff", "--no-textconv"),
            *("--no-color", "HEAD", "--", name),
        )
        for commit in log.split("\0")[1:]:
            stamp, _, diff = commit.partition("\n")
            _, _, hunks = diff.partition("\n@@")
            changed = hunks.split("\n")
            removed = sum(each[:1] == "-" and bool(line.match(each[1:])) for each in changed)
            added = sum(each[:1] == "+" and bool(line.match(each[1:])) for each in changed)
            if removed - added >= least:
                return self._day(stamp)
        return None

    def moved(self, path: str, others: Sequence[str]) -> list[tuple[str, str, str]]:
        self._refuse_unusable(self._folder)
        log = self._git(
            self._folder,
            *("log", f"-{MOVES}", "--format=%x00", "-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv"),
            *("--no-color", "--relative", "--src-prefix=", "--dst-prefix=", "HEAD", "--", path, *others),
        )
        found = []
        for commit in log.split("\0")[1:]:
            homes: dict[str, str] = {}
            left: dict[str, list[str]] = {}
            for diff in commit.split("\ndiff --git ")[1:]:
                head, _, hunks = diff.partition("\n@@")
                file = head.rpartition("\n+++ ")[2].rstrip("\t")
                title = ""
                for line in hunks.split("\n"):
                    if file != path and (heading := _ADDED_HEADING.match(line)):
                        homes[heading[1].casefold()] = file
                    elif file == path and line.startswith("-"):
                        title = line[4:].strip() if line.startswith("-## ") else title
                        left.setdefault(title, []).append(line[1:])
            found += [
                (homes[title.casefold()], title, "\n".join(lines[1:]).strip())
                for title, lines in left.items()
                if title.casefold() in homes
            ]
        return found

    def _place(self, path: str) -> tuple[Path, str]:
        place = self._folder / path
        self._refuse_unusable(place.parent)
        return place.parent, place.name

    def _refuse_unusable(self, folder: Path) -> None:
        if folder in self._usable:
            return
        if not folder.is_dir():
            raise NoHistory(f"{folder} is not a folder")
        if self._git(folder, "rev-parse", "--is-shallow-repository", "HEAD^{commit}").startswith("true"):
            raise NoHistory("this clone is shallow, so ages cannot be known; run: git fetch --unshallow")
        self._usable.add(folder)

    def _day(self, stamp: str) -> date:
        return datetime.fromtimestamp(int(stamp), self._zone).date()

    def _git(self, folder: Path, *arguments: str) -> str:
        settings = [part for setting in _DISARMED for part in ("-c", setting)]
        # A hook that calls us has set GIT_ variables for its own repository.
        ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        asked = ("--no-pager", "--literal-pathspecs", *settings, *arguments)
        try:
            done = _run(folder, *asked, env=ours | _ENVIRONMENT, timeout=self._limit)
        except subprocess.TimeoutExpired:
            raise NoHistory(f"git took longer than {self._limit:g} seconds; nothing was decided") from None
        if done.returncode:
            raise NoHistory(_explained(done.stderr.decode("utf-8", "replace")))
        return done.stdout.decode("utf-8", "replace")


def _run(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None, timeout: float = LIMIT_SECONDS
) -> subprocess.CompletedProcess[bytes]:
    binary = shutil.which("git")
    if binary is None:
        raise NoHistory("git is not installed, and this needs it. Install git")
    return subprocess.run(
        [binary, *arguments],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout,
        check=False,
    )


def _explained(complaint: str) -> str:
    if "not a git repository" in complaint:
        return "this folder is not in a git repository, and ages come from its history"
    if "unknown revision" in complaint:
        return "There is no commit yet. Entries get an age with the first commit"
    first = complaint.strip().partition("\n")[0]
    return f"git says: {first}" if first else "git failed without a word"


def _carried_over(old: Sequence[str], days: Sequence[date], new: Sequence[str]) -> tuple[date | None, ...]:
    """The days of the working copy's lines: those in place first, then those that moved."""
    if len(old) != len(days):
        raise NoHistory("git's answer does not fit the file; nothing was decided")
    before, after = [_squeezed(line) for line in old], [_squeezed(line) for line in new]
    found: list[date | None] = [None] * len(new)
    stayed: set[int] = set()
    from difflib import SequenceMatcher

    for block in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
        found[block.b : block.b + block.size] = days[block.a : block.a + block.size]
        stayed |= set(range(block.a, block.a + block.size))
    moved: dict[str, date] = {}
    for at, (line, day) in enumerate(zip(before, days, strict=True)):
        if len(line) >= _SHORT_LINE and at not in stayed:
            moved[line] = min(day, moved.get(line, day))
    return tuple(day or moved.get(line) for day, line in zip(found, after, strict=True))


def _squeezed(line: str) -> str:
    return "".join(line.split())


NAME = "recollect"
_BY_LINES = ("merge-file", "-L", "ours", "-L", "base", "-L", "theirs")


def install_merge_driver(root: Path, staging_file: str) -> list[str]:
    """Set the driver up in this clone; returns what was made."""
    settings = {f"merge.{NAME}.name": "Recollect staged learnings, entry by entry", f"merge.{NAME}.driver": _command()}
    made = [f"git config {name}" for name, value in settings.items() if _set(root, name, value)]
    line = f"{staging_file} merge={NAME}"
    if add_lines(root / ".gitattributes", line):
        made.append(f".gitattributes (line {line})")
    return made


def merge_files(base: Path, ours: Path, theirs: Path) -> tuple[str, ...]:
    """Merge into `ours`, which keeps its line ends; conflicts are marked there and returned."""
    texts = []
    for each in (base, ours, theirs):
        with open_file(each) as file:
            texts.append(file.read())
    try:
        merged = merge_staging(*(text.decode("utf-8") for text in texts))
    except UnicodeDecodeError:
        done = _run(ours.parent, *_BY_LINES, *(str(each.absolute()) for each in (ours, base, theirs)))
        return ("lines that are not UTF-8",) if done.returncode else ()
    windows = b"\r\n" in texts[1] and texts[1].count(b"\r\n") == texts[1].count(b"\n")
    write_path(ours, merged.text.replace("\n", "\r\n") if windows else merged.text)
    return merged.conflicts


def _command() -> str:
    python = shlex.quote(sys.executable).replace("%", "%%")
    by_lines = shlex.join(("git", *_BY_LINES))
    return (
        f"if {python} -P -c 'import recollect'; then {python} -P -m recollect staged merge-driver %O %A %B %P; "
        f"else {by_lines} %A %O %B; fi"
    )


def _set(root: Path, name: str, value: str) -> bool:
    if _run(root, "config", "--local", "--get", name).stdout.decode().strip() == value:
        return False
    done = _run(root, "config", "--local", name, value)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise NoHistory(f"git could not take the merge driver: {said or 'not a repository'}")
    return True
