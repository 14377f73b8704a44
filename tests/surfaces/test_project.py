"""Where a project is, which settings hold in it, who is at the keyboard, and what time it is."""

from __future__ import annotations

import shutil
import tomllib
from datetime import date
from pathlib import Path

import pytest

from recollect import Memory
from recollect.store import db
from recollect.tend.cycle import LEASE_SECONDS
from repos import Repo
from shell import Shell

FILE = "memory/learnings.md"
URL = '[store]\nurl = "postgresql://db.example.org/memory"\n'


def test_init_says_what_it_made_and_makes_it_once(bare: Shell) -> None:
    made = bare.json("init")["made"]
    space = tomllib.loads(_toml(bare).read_text())["space"]
    assert [line.partition(" (")[0] for line in made] == [
        "recollect.toml",
        f"~/.local/share/recollect/spaces/{space}/",
        "the store",
        "the launcher that hooks and server go through",
    ]
    before = {path: path.read_bytes() for path in bare.folder.iterdir()}
    assert list(before) == [_toml(bare)]
    assert bare.json("init") == {"made": [], "notes": []}
    assert {path: path.read_bytes() for path in bare.folder.iterdir()} == before


def test_init_pins_space_and_time_zone(bare: Shell) -> None:
    bare.said("init", "--space", "shop", "--timezone", "Pacific/Kiritimati")
    assert tomllib.loads(_toml(bare).read_text()) == {"space": "shop", "timezone": "Pacific/Kiritimati"}


def test_init_names_the_space_after_the_folder(bare: Shell) -> None:
    bare.said("init")
    assert tomllib.loads(_toml(bare).read_text())["space"].startswith("shop-")


@pytest.mark.parametrize("first", ["init", "store restore ../other.db"])
def test_others_cannot_look_into_the_store_of_a_space(shell: Shell, first: str) -> None:
    shell.said("store", "backup", "../other.db")
    shutil.rmtree(shell.data)
    assert shell.run(*first.split()).returncode == 0
    for folder in (shell.data, shell.data.parent, shell.data.parents[1]):
        assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("command", ["learn list", "inject --task a --outcome b --title c", "log add hello", "status"])
def test_a_memory_whose_folder_is_gone_is_not_begun_again_in_silence(shell: Shell, command: str) -> None:
    shell.learn()
    backup = Path(shell.json("store", "backup")["path"])
    shutil.rmtree(shell.data)
    done = shell.run(*command.split())
    assert done.returncode == 3
    assert f"the folder of this memory is gone: {shell.data}".encode() in done.stderr
    assert str(backup.parent).encode() in done.stderr
    assert not shell.data.exists()
    shell.said("store", "restore", str(backup))
    assert shell.json("learn", "list")["total"] == 1


def test_others_cannot_look_into_the_backups(shell: Shell) -> None:
    saved = Path(shell.json("store", "backup")["path"])
    for folder in (saved.parent, saved.parents[1]):
        assert folder.stat().st_mode & 0o777 == 0o700, folder


def test_init_leaves_every_byte_of_a_file_it_adds_to(bare: Shell) -> None:
    _toml(bare).write_bytes(b"[inject]\r\nbudget = 900\r\n")
    bare.said("init")
    assert _toml(bare).read_bytes().endswith(b"[inject]\r\nbudget = 900\r\n")


def test_init_never_copies_into_the_project_what_a_link_leads_to(bare: Shell) -> None:
    (bare.home / "outside").write_text("# hunter2")
    _toml(bare).symlink_to(bare.home / "outside")
    done = bare.run("init")
    assert (done.returncode, b"is a symbolic link" in done.stderr) == (2, True)
    assert _toml(bare).is_symlink()
    assert (bare.home / "outside").read_text() == "# hunter2"


def test_the_time_zone_is_that_of_the_environment_if_it_is_one(bare: Shell) -> None:
    bare.said("init", "--space", "shop", TZ="Pacific/Kiritimati")
    assert tomllib.loads(_toml(bare).read_text())["timezone"] == "Pacific/Kiritimati"


def test_an_unknown_time_zone_of_the_environment_is_left_out(bare: Shell) -> None:
    bare.said("init", "--space", "shop", TZ="Mars/Phobos")
    assert tomllib.loads(_toml(bare).read_text())["timezone"] != "Mars/Phobos"


@pytest.mark.parametrize("before", ["", "[inject]\nbudget = 900\n", 'timezone = "Asia/Tokyo"\n'])
def test_init_fills_a_space_into_a_file_without_one_and_keeps_the_rest(bare: Shell, before: str) -> None:
    _toml(bare).write_text(before)
    bare.said("init", "--space", "shop")
    given = tomllib.loads(_toml(bare).read_text())
    assert given.pop("space") == "shop"
    assert given.items() >= tomllib.loads(before).items()


def test_a_zone_that_the_file_names_stays_and_another_is_refused(bare: Shell) -> None:
    _toml(bare).write_text('timezone = "Asia/Tokyo"\n')
    refused = bare.run("init", "--space", "shop", "--timezone", "UTC")
    assert (refused.returncode, b"already names time zone Asia/Tokyo" in refused.stderr) == (2, True)
    assert _toml(bare).read_text() == 'timezone = "Asia/Tokyo"\n'
    bare.said("init", "--space", "shop", "--timezone", "Asia/Tokyo")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--timezone", "Mars/Phobos"),
        ("--timezone", "../etc"),
        ("--space", 'a"b'),
        ("--space", "../x"),
        ("--space", "/x"),
    ],
)
def test_init_refuses_what_cannot_be_and_makes_nothing(bare: Shell, option: str, value: str) -> None:
    done = bare.run("init", option, value)
    assert done.returncode == 2
    assert list(bare.folder.iterdir()) == []


def test_a_space_in_a_repositorys_file_cannot_lead_out_of_the_spool(shell: Shell) -> None:
    _toml(shell).write_text('space = "../../../elsewhere"\n')
    done = shell.run("status")
    assert done.returncode == 2
    assert b"space" in done.stderr


def test_a_folder_below_belongs_to_the_project(shell: Shell) -> None:
    below = shell.folder / "src" / "deep"
    below.mkdir(parents=True)
    assert shell.json("status", folder=below)["store"] == shell.json("status")["store"]


def test_worktrees_share_one_memory_and_a_clone_joins_it_when_a_person_says_so(shell: Shell, tmp_path: Path) -> None:
    repo = Repo(shell.folder)
    repo.commit(date(2026, 3, 1))
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    repo.git("clone", "-q", str(shell.folder), str(tmp_path / "clone"))
    id = shell.learn()
    assert shell.json("learn", "show", id, folder=tmp_path / "linked")["id"] == id
    assert shell.run("status", folder=tmp_path / "clone").returncode == 2
    shell.said("init", "--join", folder=tmp_path / "clone")
    assert shell.json("learn", "show", id, folder=tmp_path / "clone")["id"] == id


def test_a_worktree_begun_before_the_settings_are_committed_is_the_same_memory(bare: Shell, tmp_path: Path) -> None:
    repo = Repo(bare.folder)
    repo.commit(date(2026, 3, 1))
    bare.said("init", "--timezone", "Asia/Tokyo")
    id = bare.learn()
    linked = tmp_path / "linked"
    repo.git("worktree", "add", "-q", str(linked))
    bare.said("init", folder=linked)
    assert (linked / "recollect.toml").read_text() == (bare.folder / "recollect.toml").read_text()
    assert bare.json("learn", "show", id, folder=linked)["id"] == id


def test_a_killed_cycle_is_waited_for_and_that_is_said(shell: Shell) -> None:
    with Memory.open(shell.folder, environ=shell.environ) as memory:
        db.take_lease(memory.context, "cycle", seconds=LEASE_SECONDS)
    assert "its lease ends after ten minutes" in shell.said("cycle")
    assert "backup: wrote" in shell.said("cycle", RECOLLECT_NOW="2026-03-02T09:10:01Z")


def test_each_source_of_settings_overrules_the_one_before(shell: Shell) -> None:
    for title in ("Webhook alpha retries", "Webhook beta signs", "Webhook gamma batches", "Webhook delta expires"):
        word = title.split()[1]
        shell.learn(title=title, observation=f"{word} {word}", action=word, context=word, implication=word)

    def found(*flags: str, **environ: str) -> int:
        total = shell.json("search", "webhook", *flags, **environ)["total"]
        assert isinstance(total, int)
        return total

    assert found() == 4
    user = shell.home / ".config" / "recollect" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text("[search]\nlimit = 3\n")
    assert found() == 3
    _toml(shell).write_text(_toml(shell).read_text() + "[search]\nlimit = 2\n")
    assert found() == 2
    assert found(RECOLLECT_SEARCH_LIMIT="1") == 1
    assert found("--limit", "4", RECOLLECT_SEARCH_LIMIT="1") == 4


@pytest.mark.parametrize(
    "wrong",
    [
        "colour = 1\n",
        "[search]\nlimti = 1\n",
        "[search]\nlimit = 'x'\n",
        "[inject]\nrelevance = 2\n",
        "search = 1\n",
        "= 1\n",
        f"a = {'[' * 5_000}{']' * 5_000}\n",
        f"a = {'{a=' * 5_000}1{'}' * 5_000}\n",
        f"{'a.' * 100_000}a = 1\n",
        f"['a'{' . a' * 100_000}]\n",
        f"a{'.a' * 90} = {'[' * 200}{']' * 200}\n",
    ],
    ids=lambda wrong: wrong[:20].strip(),
)
def test_a_wrong_file_is_refused_by_name(shell: Shell, wrong: str) -> None:
    _toml(shell).write_text('space = "shop"\n' + wrong)
    done = shell.run("status")
    assert done.returncode == 2
    assert b"recollect.toml" in done.stderr or b"inject.relevance" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_repositorys_file_chooses_the_store_only_once_a_person_trusts_it(shell: Shell) -> None:
    _toml(shell).write_text(_toml(shell).read_text() + URL)
    assert b"recollect host trust" in shell.run("status").stderr
    assert shell.run("host", "trust", CLAUDECODE="1").returncode == 1
    assert b"recollect host trust" in shell.run("status").stderr
    below = shell.folder / "src"
    below.mkdir()
    shell.said("host", "trust", folder=below)
    assert b"recollect host trust" not in shell.run("status").stderr
    _toml(shell).write_text(_toml(shell).read_text() + "# changed\n")
    assert b"recollect host trust" in shell.run("status").stderr


def test_the_users_own_file_and_environment_may_choose_the_store(shell: Shell) -> None:
    assert b"recollect host trust" not in shell.run("status", RECOLLECT_STORE="odd://x").stderr
    user = shell.home / ".config" / "recollect" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text(URL.replace("postgresql", "odd"))
    assert b"store.url must be" in shell.run("status").stderr


def test_recollect_now_is_the_clock_of_the_process(shell: Shell) -> None:
    id = shell.learn()
    assert shell.json("learn", "show", id)["created_at"] == "2026-03-02T09:00:00Z"
    shell.said("learn", "pin", id, RECOLLECT_NOW="2026-03-05T10:00:00+01:00")
    assert shell.json("learn", "show", id)["updated_at"] == "2026-03-05T09:00:00Z"
    for time in ("soon", "0001-01-01", "9999-12-31"):
        refused = shell.run("cycle", RECOLLECT_NOW=time)
        assert (refused.returncode, refused.stderr.count(b"\n")) == (2, 1), refused.stderr


@pytest.mark.parametrize(
    ("environ", "name", "trust"),
    [
        ({}, "ada", "human"),
        ({"USER": "", "LOGNAME": "grace"}, "grace", "human"),
        ({"CLAUDECODE": "1"}, "claude-code", "agent"),
        ({"CODEX_SANDBOX": "seatbelt"}, "codex", "agent"),
        ({"GEMINI_CLI": "1"}, "gemini", "agent"),
        ({"AI_AGENT": "other"}, "agent", "agent"),
        ({"CLAUDECODE": ""}, "ada", "human"),
    ],
)
def test_the_environment_says_who_types(shell: Shell, environ: dict[str, str], name: str, trust: str) -> None:
    actor = shell.json("status", **environ)["actor"]
    assert (actor["name"], actor["trust"], actor["channel"]) == (name, trust, "cli")


def test_what_an_agent_adds_starts_lower_and_is_marked(shell: Shell) -> None:
    texts = [
        part for name in ("title", "context", "observation", "implication", "action") for part in (f"--{name}", name)
    ]
    added = shell.json("learn", "add", *texts, "--anyway", CLAUDECODE="1")
    assert (added["confidence"], added["trust"]) == (0.5, "agent")
    refused = shell.run("learn", "add", *texts, "--anyway", "--confidence", "1.0", CLAUDECODE="1")
    assert (refused.returncode, b"only a person sets a confidence" in refused.stderr) == (1, True)


def test_only_a_person_settles_the_inbox(shell: Shell) -> None:
    for number in range(3):
        line = "DISCOVERY[blocker]: The sandbox answers 429 after 25 requests a second, so the importer must back off\n"
        shell.said("task", "observe", "--task", f"TASK-{number}", stdin=line)
    done = shell.run("inbox", "resolve", "1", "accept", CLAUDECODE="1")
    assert (done.returncode, b"only a person" in done.stderr) == (1, True)
    assert len(shell.json("inbox")["items"]) == 1
    unsaid = shell.run("inbox", "resolve", "1")
    assert (unsaid.returncode, b"choose one of accept, dismiss" in unsaid.stderr) == (2, True)
    assert shell.json("inbox", "resolve", "1", "accept")["resolution"] == "accept"
    assert shell.json("learn", "list")["learnings"][0]["pattern_type"] == "best-practice"
    assert shell.json("inbox")["items"] == []
    refused = shell.run("inbox", "reopen", "1", CLAUDECODE="1")
    assert (refused.returncode, b"only a person" in refused.stderr) == (1, True)
    assert shell.said("inbox", "reopen", "1").startswith("item 1 is open again: the same insight")
    assert shell.json("learn", "list")["learnings"][0]["pattern_type"] != "best-practice"
    assert shell.said("inbox", "resolve", "1", "dismiss").endswith("take it back: recollect inbox reopen 1\n")


def test_both_claims_of_two_staged_entries_are_shown_and_one_of_them_replaces_the_other(shell: Shell) -> None:
    bundle = "- Sign every release tag.\n- Use polling for build status.\n- Tell support an hour before.\n"
    older = f"# Learnings\n\n## Release rules\n\n{bundle}"
    newer = f"{older}\n## Build status\n\nUse webhooks instead of polling for build status.\n"
    begun = [(date(2025, 11, 3), {FILE: older}), (date(2025, 11, 4), {FILE: newer})]
    Repo(shell.folder).import_history([*begun, *((date(2025, 12, day), {}) for day in range(1, 20))])
    shell.said("init", "--space", "shop", "--timezone", "UTC")
    with _toml(shell).open("a") as config:
        config.write("[staging]\nkeep_newest = 0\nbatch = 1\n")
    shell.said("staged", "consolidate")
    shown = shell.said("inbox", "show", "1")
    assert "known: Use polling for build status.\nnew: Use webhooks instead of polling for build status.\n" in shown
    shell.said("inbox", "resolve", "1", "keep-new")
    assert bundle.replace("- Use polling for build status.\n", "") in (shell.folder / FILE).read_text()
    shell.said("inbox", "reopen", "1")
    assert bundle in (shell.folder / FILE).read_text()


def _toml(shell: Shell) -> Path:
    return shell.folder / "recollect.toml"


def test_a_folder_of_a_project_gets_a_memory_of_its_own_only_when_asked(shell: Shell) -> None:
    part = shell.folder / "part"
    part.mkdir()
    refused = shell.run("init", folder=part)
    assert refused.returncode == 1
    assert f"is part of the project in {shell.folder}" in refused.stderr.decode()
    assert list(part.iterdir()) == []
    assert shell.json("init", "--nested", folder=part)["made"]
    assert shell.json("init", folder=part) == {"made": [], "notes": []}


def test_purge_without_a_terminal_wants_a_clear_word(shell: Shell) -> None:
    id = shell.learn()
    refused = shell.run("store", "purge", id)
    assert refused.returncode == 1
    assert "--yes" in refused.stderr.decode()
    assert shell.json("learn", "show", id)["id"] == id
    assert shell.run("store", "purge", "--text", "zebra crossing", "--yes").returncode == 1
    assert shell.run("store", "purge", id, "--dry-run").returncode == 0
    assert shell.run("store", "purge", id, "--yes").returncode == 0
    assert shell.run("learn", "show", id).returncode == 1


def test_the_inbox_lists_both_claims_and_undo_says_how_to_bring_a_learning_back(shell: Shell) -> None:
    shell.said("learn", "add", "Always retry failed stripe webhooks")
    shell.said("learn", "add", "Never retry failed stripe webhooks")
    listed = shell.said("inbox")
    assert "old: Always retry failed stripe webhooks" in listed
    assert "new: Never retry failed stripe webhooks" in listed
    said = shell.said("undo")
    id = said.split(" is ")[0].rpartition(" ")[2]
    assert f"to bring it back: recollect learn restore {id}" in said
    assert shell.said("learn", "restore", id) == f"{id} is active\n"


def test_one_secret_in_several_fields_is_told_once(shell: Shell) -> None:
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    assert shell.said("learn", "add", f"Pull the images with the token {token}").endswith("(redacted: github-token)\n")
