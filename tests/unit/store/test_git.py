"""Git's answers on real repositories of every shape, counted again with one `git show` per commit."""

from __future__ import annotations

import os
import re
import stat
from datetime import date, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.core.errors import NoHistory
from recollect.store.git import Repository
from recollect.text.markdown import lines_of
from recollect.text.staging import aged, read_staging
from repos import Repo

DAY = date(2026, 3, 2)
FILE = "memory/learnings.md"
ONE = "## Load the skill before editing it\n\nAn edit made blind breaks what the skill promises elsewhere.\n"
TWO = "## Pin the tool versions in CI\n\nA floating formatter turned the build red twice in one week.\n"
LIKINGS = """
color.ui=always diff.noprefix=true diff.mnemonicPrefix=true diff.context=0 diff.renames=false diff.wsErrorHighlight=all
diff.colorMoved=zebra format.pretty=oneline log.date=relative log.decorate=full log.showRoot=false log.abbrevCommit=true
blame.date=human blame.showEmail=true blame.blankBoundary=true core.quotePath=true core.abbrev=4
i18n.logOutputEncoding=UTF-16
"""
PREAMBLE = "# Learnings\n\nJotted between hand-offs.\n\n---\n\n"


def day(number: int) -> date:
    return DAY + timedelta(days=number)


def ages(repo: Repo, name: str = FILE, *, today: date = date(2027, 6, 1)) -> dict[str, tuple[date | None, int | None]]:
    path = repo.root / name
    text = path.read_text("utf-8")
    git = Repository(repo.root, ZoneInfo("UTC"))
    line_days, active, lines = git.line_days(name, text), git.active_days(), lines_of(text)
    found = aged(read_staging(text).entries, line_days, active, today, lines)
    return {one.entry.slug: (one.added, one.age) for one in found}


def brute_force_age(repo: Repo, added: date) -> int:
    return len({each for each in repo.days_in_log() if each > added})


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


SKILL, PIN = "load-the-skill-before-editing-it", "pin-the-tool-versions-in-ci"


def test_the_day_an_entry_is_added_is_not_counted(repo: Repo) -> None:
    repo.commit(DAY, {FILE: PREAMBLE + ONE})
    repo.commit(DAY, {"other": "x"})
    assert ages(repo) == {SKILL: (DAY, 0)}


def test_days_without_a_commit_and_second_commits_of_a_day_do_not_count(repo: Repo) -> None:
    repo.commit(DAY, {FILE: PREAMBLE + ONE})
    for number in (1, 1, 5, 30):
        repo.commit(day(number))
    repo.commit(day(31), {FILE: PREAMBLE + ONE + "\n" + TWO})
    assert ages(repo) == {SKILL: (DAY, 4), PIN: (day(31), 0)}
    assert brute_force_age(repo, DAY) == 4


def test_a_commit_dated_in_the_future_is_not_a_day_of_work_yet(repo: Repo) -> None:
    repo.commit(DAY, {FILE: PREAMBLE + ONE})
    repo.commit(day(90))
    assert ages(repo, today=day(10)) == {SKILL: (DAY, 0)}


@pytest.mark.parametrize("parents", [2, 8])
def test_an_entry_that_came_in_by_a_merge_is_as_old_as_its_branch_commit(repo: Repo, parents: int) -> None:
    repo.commit(DAY, {FILE: PREAMBLE + ONE})
    branches = [f"branch{number}" for number in range(1, parents)]
    for number, branch in enumerate(branches, start=1):
        repo.git("checkout", "-q", "-b", branch, "main")
        files = {FILE: PREAMBLE + ONE + "\n" + TWO} if number == 1 else {f"file{number}": "x"}
        repo.commit(day(number), files)
    repo.git("checkout", "-q", "main")
    repo.commit(day(20), {"trunk": "x"})
    repo.git("merge", "-q", "--no-ff", "-m", "merge", *branches, day=day(21))
    assert len(repo.git("show", "-s", "--format=%P", "HEAD").split()) == parents
    assert ages(repo) == {
        SKILL: (DAY, brute_force_age(repo, DAY)),
        PIN: (day(1), brute_force_age(repo, day(1))),
    }
    assert ages(repo)[SKILL][1] == parents - 1 + 2


def test_a_rename_keeps_the_age(repo: Repo) -> None:
    repo.commit(DAY, {"notes.md": PREAMBLE + ONE})
    (repo.root / "memory").mkdir()
    repo.git("mv", "notes.md", FILE)
    repo.commit(day(3))
    assert ages(repo) == {SKILL: (DAY, 1)}


def test_an_entry_copied_from_another_file_keeps_the_age(repo: Repo) -> None:
    repo.commit(DAY, {"old.md": PREAMBLE + ONE})
    repo.commit(day(4), {FILE: PREAMBLE + ONE, "old.md": PREAMBLE + ONE + "more\n"})
    assert ages(repo) == {SKILL: (DAY, 1)}


def test_a_retitled_entry_keeps_the_age_of_its_oldest_line(repo: Repo) -> None:
    repo.commit(DAY, {FILE: PREAMBLE + ONE})
    repo.commit(day(2), {FILE: PREAMBLE + ONE.replace("Load the skill before editing it", "Read skills first")})
    assert ages(repo) == {"read-skills-first": (DAY, 1)}


def test_a_reformatted_file_keeps_the_ages(repo: Repo) -> None:
    repo.commit(DAY, {FILE: PREAMBLE + ONE})
    repo.commit(day(2), {FILE: (PREAMBLE + ONE).replace("An edit", "  An  edit").replace("\n", "\r\n")})
    assert ages(repo) == {SKILL: (DAY, 1)}


def test_a_rebase_keeps_the_day_of_writing(repo: Repo) -> None:
    repo.commit(DAY, {"base": "x"})
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit(day(1), {FILE: PREAMBLE + ONE})
    repo.git("checkout", "-q", "main")
    repo.commit(day(5), {"trunk": "x"})
    repo.git("checkout", "-q", "topic")
    repo.git("-c", "rebase.backend=merge", "rebase", "-q", "main")
    assert ages(repo) == {SKILL: (day(1), 1)}


def test_a_squash_makes_the_entry_as_old_as_the_squashed_commit(repo: Repo) -> None:
    repo.commit(DAY, {"base": "x"})
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit(day(1), {FILE: PREAMBLE + ONE})
    repo.commit(day(2), {FILE: PREAMBLE + ONE + "\n" + TWO})
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--squash", "topic")
    repo.commit(day(6))
    repo.commit(day(7))
    assert ages(repo) == {SKILL: (day(6), 1), PIN: (day(6), 1)}


def test_what_is_not_committed_has_no_age_and_takes_none_away(repo: Repo) -> None:
    repo.commit(DAY, {FILE: PREAMBLE + ONE})
    repo.commit(day(1))
    repo.write(FILE, PREAMBLE + TWO + "\n" + ONE)
    assert ages(repo) == {PIN: (None, None), SKILL: (DAY, 1)}


def test_an_entry_moved_within_the_working_copy_keeps_its_age(repo: Repo) -> None:
    repo.commit(DAY, {FILE: PREAMBLE + ONE})
    repo.commit(day(1), {FILE: PREAMBLE + ONE + "\n" + TWO})
    repo.write(FILE, PREAMBLE + TWO + "\n" + ONE)
    assert ages(repo) == {PIN: (day(1), 0), SKILL: (DAY, 1)}


EVIDENCE = "\n**Evidence:** seen while running the release pipeline\n"


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("first", [True, False])
def test_a_line_repeated_from_an_old_entry_does_not_age_a_new_one(repo: Repo, committed: bool, first: bool) -> None:
    repo.commit(DAY, {FILE: PREAMBLE + ONE + EVIDENCE})
    repo.commit(day(1))
    both = [TWO + EVIDENCE, ONE + EVIDENCE] if first else [ONE + EVIDENCE, TWO + EVIDENCE]
    repo.write(FILE, PREAMBLE + "\n".join(both))
    if committed:
        repo.commit(day(2))
    new, old = ((day(2), 0), (DAY, 2)) if committed else ((None, None), (DAY, 1))
    assert ages(repo) == {PIN: new, SKILL: old}


def test_a_line_taken_over_from_an_entry_that_left_does_not_age_a_new_one(repo: Repo) -> None:
    repo.commit(DAY, {FILE: PREAMBLE + ONE + EVIDENCE})
    repo.commit(day(1))
    repo.write(FILE, PREAMBLE + TWO + EVIDENCE)
    assert ages(repo) == {PIN: (None, None)}


def test_a_title_changed_in_the_working_copy_keeps_the_age(repo: Repo) -> None:
    repo.commit(DAY, {FILE: PREAMBLE + ONE})
    repo.commit(day(1))
    repo.write(FILE, PREAMBLE + ONE.replace("Load the skill before editing it", "Read skills first"))
    assert ages(repo) == {"read-skills-first": (DAY, 1)}


def test_two_entries_that_share_every_line_are_as_old_as_their_titles(repo: Repo) -> None:
    repo.commit(DAY, {FILE: PREAMBLE + ONE})
    repo.commit(day(1), {FILE: PREAMBLE + ONE + "\n" + ONE})
    assert {added for added, _ in ages(repo).values()} <= {DAY, day(1)}


def test_days_are_told_in_the_projects_time_zone(repo: Repo) -> None:
    repo.commit(DAY, {FILE: PREAMBLE + ONE})  # noon UTC is the next day in Kiritimati
    assert Repository(repo.root, ZoneInfo("Pacific/Kiritimati")).active_days() == (day(1),)


def test_a_linked_worktree_counts_its_own_history(repo: Repo, tmp_path: Path) -> None:
    repo.commit(DAY, {FILE: PREAMBLE + ONE})
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = Repo(tmp_path / "side", init=False)
    repo.commit(day(1))
    side.commit(day(2))
    side.commit(day(3))
    assert (ages(repo), ages(side)) == ({SKILL: (DAY, 1)}, {SKILL: (DAY, 2)})


def test_a_file_in_a_submodule_counts_the_submodules_history(repo: Repo, tmp_path: Path) -> None:
    inner = Repo(tmp_path / "inner")
    inner.commit(DAY, {"learnings.md": PREAMBLE + ONE})
    inner.commit(day(1))
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "lib")
    repo.commit(day(5))
    repo.commit(day(6))
    lib = Repo(repo.root / "lib", init=False)
    assert ages(lib, "learnings.md") == {SKILL: (DAY, 1)}


def test_a_detached_head_is_a_history_like_any_other(repo: Repo) -> None:
    repo.commit(DAY, {FILE: PREAMBLE + ONE})
    repo.commit(day(1))
    repo.git("checkout", "-q", "--detach", "HEAD~1")
    assert ages(repo) == {SKILL: (DAY, 0)}


def _shallow(repo: Repo) -> Repo:
    repo.commit(DAY, {FILE: PREAMBLE + ONE})
    repo.commit(day(1))
    target = repo.root.parent / "shallow"
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.root}", str(target))
    return Repo(target, init=False)


def _unborn(repo: Repo) -> Repo:
    repo.write(FILE, PREAMBLE + ONE)
    return repo


def _orphan(repo: Repo) -> Repo:
    repo.commit(DAY, {FILE: PREAMBLE + ONE})
    repo.git("checkout", "-q", "--orphan", "empty")
    return repo


def _untracked(repo: Repo) -> Repo:
    repo.commit(DAY, {"other": "x"})
    repo.write(FILE, PREAMBLE + ONE)
    return repo


def _no_git(repo: Repo) -> Repo:
    plain = Repo(repo.root.parent / "plain", init=False)
    plain.write(FILE, PREAMBLE + ONE)
    return plain


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (_shallow, "shallow"),
        (_unborn, "no commit yet"),
        (_orphan, "no commit yet"),
        (_untracked, "not in git yet"),
        (_no_git, "not in a git repository"),
    ],
)
def test_where_no_age_can_be_trusted_it_says_why(repo: Repo, shape: object, said: str) -> None:
    assert callable(shape)
    with pytest.raises(NoHistory, match=said):
        ages(shape(repo))


def test_without_the_git_program_it_says_so(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(DAY, {FILE: PREAMBLE + ONE})
    monkeypatch.setenv("PATH", str(repo.root))
    with pytest.raises(NoHistory, match="git is not installed"):
        Repository(repo.root, ZoneInfo("UTC")).active_days()


def test_a_git_that_hangs_is_given_up_on(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(NoHistory, match=r"longer than 0\.2 seconds"):
        Repository(repo.root, ZoneInfo("UTC"), limit=0.2).active_days()


def test_a_hook_that_calls_us_does_not_send_us_to_its_repository(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(DAY, {FILE: PREAMBLE + ONE})
    other = Repo(tmp_path / "other")
    other.commit(day(9))
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    assert Repository(repo.root, ZoneInfo("UTC")).active_days() == (DAY,)


def _sign_head(repo: Repo) -> None:
    """Give HEAD a signature, so that showing it would have git call the verifier."""
    headers, _, message = repo.git("cat-file", "commit", "HEAD").partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n aaaa\n -----END PGP SIGNATURE-----"
    signed = repo.root / ".git" / "signed"
    signed.write_text(f"{headers}\n{signature}\n\n{message}")
    commit = repo.git("hash-object", "-t", "commit", "-w", "--no-filters", str(signed)).strip()
    repo.git("update-ref", "HEAD", commit)


def test_a_hostile_repository_runs_nothing(repo: Repo, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    evil = repo.write("evil.sh", f'#!/bin/sh\necho "$0 $@" >> {ran}\ncat\n')
    evil.chmod(evil.stat().st_mode | stat.S_IXUSR)
    repo.commit(DAY, {FILE: PREAMBLE + ONE, ".gitattributes": "*.md filter=evil diff=evil\n", ".mailmap": ""})
    _sign_head(repo)
    hooks = repo.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "fsmonitor-watchman", "post-checkout", "reference-transaction"):
        (hooks / name).write_bytes(evil.read_bytes())
        (hooks / name).chmod(0o755)
    for key in (
        *("core.fsmonitor", "core.pager", "pager.log", "pager.blame", "core.sshCommand", "core.askPass"),
        *(
            "diff.external",
            "diff.evil.textconv",
            "diff.evil.command",
            "filter.evil.clean",
            "filter.evil.smudge",
        ),
        *(
            "filter.evil.process",
            "gpg.program",
            "credential.helper",
            "core.editor",
            "core.alternateRefsCommand",
        ),
    ):
        repo.git("config", key, str(evil))
    repo.git("config", "log.showSignature", "true")
    repo.git("config", "core.hooksPath", str(hooks))
    repo.write(FILE, PREAMBLE + ONE + "\n" + TWO)
    git = Repository(repo.root, ZoneInfo("UTC"))
    assert ages(repo) == {SKILL: (DAY, 0), PIN: (None, None)}
    git.day_removed(FILE, re.compile("## "), least=1)
    assert not ran.exists()


def test_how_somebody_likes_their_git_changes_no_age(repo: Repo) -> None:
    repo.commit(DAY, {FILE: PREAMBLE + ONE + "\n" + TWO})
    repo.commit(DAY + timedelta(days=1), {FILE: PREAMBLE + TWO, "other.txt": "x"})
    plain, git = ages(repo), Repository(repo.root, ZoneInfo("UTC"))
    removed = git.day_removed(FILE, re.compile("## "), least=1)
    assert removed == day(1)
    repo.write(".git/all-revs", repo.git("log", "--format=%H"))
    ignored = f"blame.ignoreRevsFile={repo.root / '.git/all-revs'}"
    for key, _, value in (liking.partition("=") for liking in (*LIKINGS.split(), ignored)):
        repo.git("config", key, value)
        found = git.day_removed(FILE, re.compile("## "), least=1)
        assert (key, ages(repo), found) == (key, plain, removed)
    repo.git("config", "blame.ignoreRevsFile", ".there-is-none")
    assert ages(repo) == plain


def test_the_commit_that_removed_entries_is_found_through_a_rename(repo: Repo) -> None:
    three = "## A third thing worth knowing\n\nBecause three is more than two.\n"
    repo.commit(DAY, {"notes.md": PREAMBLE + ONE + "\n" + TWO + "\n" + three})
    repo.commit(day(1), {"notes.md": PREAMBLE + three})
    (repo.root / "memory").mkdir()
    repo.git("mv", "notes.md", FILE)
    repo.commit(day(2))
    repo.commit(day(3), {FILE: PREAMBLE + three.replace("A third", "Another")})
    git, heading = Repository(repo.root, ZoneInfo("UTC")), re.compile("## +")
    found = [git.day_removed(FILE, heading, least=least) for least in (1, 2, 3)]
    assert found == [day(1), day(1), None]


def test_the_entries_that_left_a_file_for_documents_are_found_with_their_text(repo: Repo) -> None:
    gone = "## A thing that nobody kept\n\nIt went away.\n"
    repo.commit(DAY, {FILE: PREAMBLE + ONE + "\n" + TWO + "\n" + gone, "docs/a.md": "# A\n", "docs/b.md": "# B\n"})
    title, _, body = ONE.removeprefix("## ").partition("\n")
    repo.commit(day(1), {FILE: PREAMBLE + TWO, "docs/b.md": f"# B\n\n### {title}\n\nIn other words.\n"})
    git = Repository(repo.root, ZoneInfo("UTC"))
    assert git.moved(FILE, ["docs/a.md", "docs/b.md"]) == [("docs/b.md", title, body.strip())]
    assert git.moved(FILE, ["docs/a.md"]) == []


@settings(max_examples=settings().max_examples // 4)  # each is a repository
@given(
    steps=st.lists(st.tuples(st.integers(0, 12), st.sampled_from(["work", "entry", "merge"])), min_size=1, max_size=9)
)
def test_any_history_counts_as_one_show_per_commit_does(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, str]]
) -> None:
    repo = Repo(tmp_path_factory.mktemp("random") / "repo")
    text, added = PREAMBLE, {}
    repo.commit(DAY, {FILE: text})
    today = 0
    for number, (gap, kind) in enumerate(steps):
        today += gap
        if kind == "merge":
            repo.git("checkout", "-q", "-b", f"side{number}")
            repo.commit(day(today), {f"side{number}": "x"})
            repo.git("checkout", "-q", "main")
            today += 1
            repo.git("merge", "-q", "--no-ff", "-m", "merge", f"side{number}", day=day(today))
        elif kind == "entry":
            text += f"## Entry number {number} of this history\n\nIt is there because of step {number} alone.\n\n"
            added[f"entry-number-{number}-of-this-history"] = day(today)
            repo.commit(day(today), {FILE: text})
        else:
            repo.commit(day(today))
    assert ages(repo) == {slug: (when, brute_force_age(repo, when)) for slug, when in added.items()}
