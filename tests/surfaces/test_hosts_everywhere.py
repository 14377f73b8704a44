"""A host set up once for all projects, files that hold for everybody, and lines that the user sees."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from hooks import shown, transcript
from recollect.hosts.hook import time_limit
from recollect.store import sessions
from repos import Repo
from samples import WEBHOOKS
from shell import Shell

HOSTS = ("claude-code", "codex", "gemini")
START = json.dumps({"session_id": "s-1", "source": "startup"})
LAUNCHER = ".local/state/recollect/bin/recollect"


def repository(shell: Shell) -> Shell:
    subprocess.run(["git", "init", "-q", shell.folder], check=True)
    return shell


def told(*hosts: str) -> list[str]:
    return [part for host in hosts for part in ("--host", host)]


def answer(shell: Shell, event: str = "SessionStart", given: str = START, **more: Any) -> dict[str, Any]:
    said = shell.said("hook", event, "--host", "claude-code", stdin=given, **more)
    return dict(json.loads(said)) if said else {}


def written(folder: Path) -> dict[str, tuple[float, bytes]]:
    found = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-shm", "-wal")))
    return {str(path): (path.stat().st_mtime, path.read_bytes()) for path in found}


def test_no_file_of_a_project_names_a_path_of_this_machine(bare: Shell) -> None:
    bare.said("init", *told(*HOSTS))
    for path in bare.folder.rglob("*"):
        if path.is_file():
            assert str(bare.folder.parent) not in path.read_text("utf-8"), path
            assert os.path.dirname(sys.executable) not in path.read_text("utf-8"), path


def test_git_passes_over_the_files_that_init_made_and_knows_them_once_the_memory_is_shared(bare: Shell) -> None:
    repository(bare)
    (bare.folder / "deep").mkdir()

    def seen() -> str:
        command = ["git", "status", "--short", "-uall"]
        return subprocess.run(command, cwd=bare.folder, check=True, capture_output=True, text=True).stdout

    assert "git ignores" in bare.said("init", *told(*HOSTS))
    assert seen() == "?? recollect.toml\n"
    bare.said("init", "--share")
    assert ".mcp.json" in seen()
    bare.said("host", "uninstall")
    assert "recollect" not in (bare.folder / ".git/info/exclude").read_text()


def test_a_hook_of_a_colleague_without_recollect_is_silent(bare: Shell, tmp_path: Path) -> None:
    bare.said("init", "--host", "codex")
    hook = json.loads((bare.folder / ".codex/hooks.json").read_text())["hooks"]["Stop"][0]["hooks"][0]
    for launcher in (None, "#!/bin/sh\nexec /no/such/python\n"):
        if launcher:
            (tmp_path / LAUNCHER).parent.mkdir(parents=True)
            (tmp_path / LAUNCHER).write_text(launcher)
            (tmp_path / LAUNCHER).chmod(0o700)
        done = subprocess.run(["/bin/sh", "-c", hook["command"]], env={"HOME": str(tmp_path)}, capture_output=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_in_ci_a_tool_that_writes_is_refused_and_one_that_reads_answers(shell: Shell) -> None:
    id = shell.learn()
    before = written(shell.home)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("remember", {"text": "The runner has no network. Mirror the packages first."}),
        ("log", {"text": "Something happened"}),
        ("rate", {"learning": id, "verdict": "helpful"}),
        ("inject", {"task": "T-1", "title": "Stripe webhooks"}),
        ("forget", {"id": id, "reason": "wrong"}),
        ("search", {"query": "stripe webhooks"}),
    ]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": name, "arguments": given}})
        for n, (name, given) in enumerate(calls)
    ]
    said = shell.said("mcp", stdin="\n".join(lines) + "\n", CI="true").splitlines()
    *refused, found = (json.loads(line)["result"] for line in said)
    assert all(each["isError"] and "CI is set" in each["content"][0]["text"] for each in refused)
    assert id in found["content"][0]["text"]
    assert written(shell.home) == before


@pytest.mark.parametrize("more", [(), ("--all-projects",), ("--host", "codex", "--share")])
def test_in_ci_init_writes_nothing_and_says_how_it_would(bare: Shell, more: tuple[str, ...]) -> None:
    before = written(bare.home), written(bare.folder)
    refused = bare.run("init", *more, CI="true")
    assert (refused.returncode, refused.stderr.decode()) == (
        1,
        "recollect: CI is set, so nothing was written. To begin a memory in this job, run: CI= recollect init\n",
    )
    assert (written(bare.home), written(bare.folder)) == before
    assert "recollect.toml" in bare.said("init", CI="")


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "Stop", "Cycle", "SessionEnd"])
def test_in_ci_no_event_writes_anything(shell: Shell, event: str) -> None:
    shell.learn()
    before = written(shell.home)
    said = json.dumps({"session_id": "s-1", "prompt": "Stripe webhooks", "last_assistant_message": "word"})
    shell.said("hook", event, "--host", "claude-code", stdin=said, CI="true")
    assert written(shell.home) == before


def test_the_commands_of_a_brief_can_be_run_where_recollect_is_not_on_the_path(shell: Shell, tmp_path: Path) -> None:
    brief = shown(json.dumps(answer(shell, PATH="/usr/bin:/bin")))
    assert f"`~/{LAUNCHER} " in brief
    assert "`recollect " not in brief
    bare = {"PATH": "/usr/bin:/bin"}
    for number, (host, given) in enumerate({"claude-code": {"CLAUDE_ENV_FILE": os.devnull}, "gemini": {}}.items()):
        start = json.dumps({"session_id": f"new-{number}", "source": "startup"})
        began = shown(shell.said("hook", "SessionStart", "--host", host, stdin=start, **bare, **given))
        assert shell.said("brief", "--host", host, **bare) == began, "what a session starts with, byte for byte"
    taken = tmp_path / "environment.sh"
    brief = shown(json.dumps(answer(shell, PATH="/usr/bin:/bin", CLAUDE_ENV_FILE=str(taken))))
    assert "`recollect " in brief
    found = subprocess.run(
        ["/bin/sh", "-c", f". {taken}; recollect --version"], env={"PATH": "/usr/bin:/bin"}, capture_output=True
    )
    assert found.stdout.startswith(b"recollect")


def test_a_pipe_in_place_of_the_environment_file_holds_no_session_up(shell: Shell, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with time_limit(20):
        brief = shown(json.dumps(answer(shell, PATH="/usr/bin:/bin", CLAUDE_ENV_FILE=str(tmp_path / "pipe"))))
    assert f"`~/{LAUNCHER} " in brief


def test_a_user_sees_what_is_remembered_and_what_a_prompt_was_given(shell: Shell) -> None:
    shell.learn()
    assert answer(shell)["systemMessage"] == "Recollect: 1 learning"
    asked = json.dumps({"session_id": "s-1", "prompt": "Handle Stripe refund webhooks"})
    line = answer(shell, "UserPromptSubmit", asked)["systemMessage"]
    assert line == "Recollect: gave 1: Stripe webhooks arrive out of order"
    assert "systemMessage" not in answer(shell, RECOLLECT_HOSTS_MESSAGES="false")


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_is_set_up_once_for_all_projects(bare: Shell, host: str) -> None:
    theirs = bare.home / {"claude-code": ".claude", "codex": ".codex", "gemini": ".gemini"}[host]
    theirs.mkdir()
    before = written(bare.home)
    said = bare.said("init", "--all-projects", "--host", host)
    assert 'begin = "always"' in said
    assert list(bare.folder.iterdir()) == [], "no memory is begun"
    bare.said("init", "--all-projects", "--host", host)
    assert f"{host} is set up for all your projects" in bare.said("init", "--host", host)
    assert {path.name for path in bare.folder.iterdir()} == {"recollect.toml"}
    assert bare.json("doctor", "--host", host)["good"]
    assert "to remove them, add --all-projects" in bare.said("host", "uninstall")
    bare.said("host", "uninstall", "--all-projects")
    left = {path: found for path, found in written(bare.home).items() if "/recollect/" not in path}
    assert left.keys() == before.keys()


def test_a_set_up_for_all_projects_that_finds_no_host_says_so(bare: Shell) -> None:
    assert "no agent program was found here" in bare.said("init", "--all-projects")


def test_where_there_is_no_memory_one_line_tells_how_to_begin(bare: Shell) -> None:
    assert answer(bare) == {}, "a folder that is no repository"
    repository(bare)
    assert answer(bare) == {
        "systemMessage": "Recollect: shop has no memory yet. Run `recollect init` there, or set `hosts.begin` in your "
        "settings"
    }
    assert answer(bare, CI="true") == {}
    assert answer(bare, RECOLLECT_HOSTS_BEGIN="never") == {}
    assert answer(bare, "UserPromptSubmit", START) == {}
    (bare.folder / "recollect.toml").write_text('space = "shop"\n')
    assert "not on this machine" in answer(bare, RECOLLECT_HOSTS_BEGIN="always")["systemMessage"]


def test_a_session_begins_a_memory_where_the_user_said_so(bare: Shell) -> None:
    repository(bare)
    (bare.folder / "deep").mkdir()
    config = bare.home / ".config/recollect/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[hosts]\nbegin = "always"\n')
    first = answer(bare, folder=bare.folder / "deep")
    assert "Nothing is logged yet" in shown(json.dumps(first))
    assert {path.name for path in bare.folder.iterdir()} == {".git", "deep"}, "nothing in the repository"
    said = '{"session_id": "s-1", "last_assistant_message": "a word to keep"}'
    shell_said = bare.said("hook", "Stop", "--host", "claude-code", stdin=said)
    assert shell_said == ""
    assert "a word to keep" in bare.said("log", "show", "2026-03-02")


def submodule(shell: Shell) -> Path:
    """A real submodule of the project's repository."""
    library, around = Repo(shell.folder.parent / "library"), Repo(shell.folder)
    library.commit(date(2026, 3, 1), {"lib.py": "pass\n"})
    around.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library.root), "vendor/lib")
    return shell.folder / "vendor/lib"


def test_a_submodule_uses_the_memory_of_the_project_around_it(bare: Shell) -> None:
    inner = submodule(bare)
    said = bare.said("init", "--host", "claude-code")
    assert "started inside a submodule does not read these files" in said
    given = json.dumps({"session_id": "s-1", "source": "startup", "cwd": str(inner)})
    found = answer(bare, given=given, folder=inner, CLAUDE_PROJECT_DIR=str(inner))
    assert "## Memory of this project" in shown(json.dumps(found))


def test_what_a_person_taught_is_in_the_first_brief_and_in_the_line_for_the_user(shell: Shell) -> None:
    assert answer(shell)["systemMessage"] == "Recollect: nothing is remembered yet"
    id = shell.learn()
    brief = shell.said("brief")
    assert "Nothing is remembered" not in brief
    assert f"{WEBHOOKS['title']}: {WEBHOOKS['action']} {id}" in brief
    shell.said("log", "add", "Moved the refund webhook to the queue.")
    assert id in shell.said("brief")
    shell.said("learn", "archive", id)
    assert answer(shell, given=START.replace("s-1", "s-2"))["systemMessage"] == "Recollect: 1 log entry"


def test_a_memory_of_learnings_by_agents_alone_is_not_called_empty(shell: Shell) -> None:
    shell.environ["CLAUDECODE"] = "1"
    shell.learn()
    assert "What was learned is given with the prompts that it fits." in shell.said("brief")


def test_last_says_why_a_session_was_given_each_part_of_the_brief(shell: Shell) -> None:
    shell.said("log", "add", "Moved the refund webhook to the queue.", "--topic", "refunds")
    answer(shell)
    assert "    Where things stand: the last entry, or where a session broke off\n" in shell.said("last") + "\n"


def test_a_topic_of_today_is_said_to_be_of_today(shell: Shell) -> None:
    for text in ("Moved the refund webhook to the queue.", "Wrote the refund report for the tax office."):
        shell.said("log", "add", text, "--topic", "refunds")
    shell.said("log", "add", "Upgraded the parser of addresses to the new grammar.", "--topic", "addresses")
    brief = shell.said("brief")
    assert ", today)" in brief
    assert "0d" not in brief


def test_an_entry_that_was_taken_back_is_neither_shown_nor_counted(shell: Shell) -> None:
    for text in ("Moved the refund webhook to the queue.", "A slip of the pen.", "Upgraded the parser."):
        shell.said("log", "add", text)
        if "slip" in text:
            shell.said("undo")
    shown_log = shell.said("log", "show")
    assert "purged" not in shown_log
    assert [line for line in shown_log.splitlines() if line.startswith("## ")] == [
        "## Moved the refund webhook to the queue [project]",
        "## Upgraded the parser [project]",
    ]
    assert shell.json("log", "list")["days"][0]["entries"] == 2


def test_the_inbox_is_listed_by_its_name_and_by_list(shell: Shell) -> None:
    assert shell.said("inbox", "list") == shell.said("inbox") == "nothing waits\n"
    assert shell.json("inbox", "list") == shell.json("inbox")


def gone() -> str:
    """The number of a process that ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return str(process.pid)


def killed(
    shell: Shell, pid: str, asked: str = "Refactor the invoice renderer", *, keeps: bool = True, session: str = "s-0"
) -> None:
    """A session that is killed after a prompt, of a host that keeps a transcript or none."""
    path = transcript(shell.home / f"{session}.jsonl") if keeps else str(shell.home / "none.jsonl")
    given = {"session_id": session, "transcript_path": path}
    start = ("hook", "SessionStart", "--host", "claude-code", "--pid", pid)
    shell.said(*start, stdin=json.dumps({**given, "source": "startup"}), RECOLLECT_NOW="2026-03-02T08:00:00Z")
    later = {"RECOLLECT_NOW": "2026-03-02T08:01:00Z"}
    shell.said(
        "hook", "UserPromptSubmit", "--host", "claude-code", stdin=json.dumps({**given, "prompt": asked}), **later
    )
    if keeps:
        transcript(Path(path), (asked, ""))


@pytest.mark.parametrize("keeps", [True, False])
def test_a_killed_session_is_told_and_logged_at_the_next_start(shell: Shell, keeps: bool) -> None:
    killed(shell, gone(), keeps=keeps)
    first = answer(shell)
    assert "last session broke off at: Refactor the invoice renderer" in first["systemMessage"]
    assert "The last session broke off after: Refactor the invoice renderer" in shown(json.dumps(first))
    assert "- request: Refactor the invoice renderer" in shell.said("log", "show", "2026-03-02")
    answer(shell, given=START.replace("s-1", "s-2"))
    assert shell.said("log", "show", "2026-03-02").count("- request:") == 1


def test_a_killed_session_is_told_once_where_others_began_before_it_was_killed(shell: Shell) -> None:
    with subprocess.Popen(["sleep", "600"]) as host:
        killed(shell, str(host.pid))
        beside = START.replace("s-1", "s-beside")
        assert "broke off" not in answer(shell, given=beside, RECOLLECT_NOW="2026-03-02T08:30:00Z")["systemMessage"]
        said = '{"session_id": "s-beside", "last_assistant_message": "The tests pass."}'
        shell.said("hook", "Stop", "--host", "claude-code", stdin=said, RECOLLECT_NOW="2026-03-02T08:31:00Z")
        host.kill()
    first = answer(shell)
    assert "last session broke off at: Refactor the invoice renderer" in first["systemMessage"]
    assert "The last session broke off after: Refactor the invoice renderer" in shown(json.dumps(first))
    later = answer(shell, given=START.replace("s-1", "s-2"), RECOLLECT_NOW="2026-03-02T09:05:00Z")
    assert "broke off" not in json.dumps(later)


def test_sessions_that_were_killed_together_are_told_together(shell: Shell) -> None:
    with subprocess.Popen(["sleep", "600"]) as host:
        killed(shell, str(host.pid))
        killed(shell, str(host.pid), "Translate the price list", session="s-other")
        host.kill()
    first = answer(shell)
    assert "2 sessions broke off at: " in first["systemMessage"]
    for asked in ("Refactor the invoice renderer", "Translate the price list"):
        assert asked in first["systemMessage"]
        assert f"session broke off after: {asked}" in shown(json.dumps(first))


def test_a_session_that_runs_beside_this_one_is_not_taken_for_killed(shell: Shell) -> None:
    killed(shell, str(os.getpid()))
    assert "broke off" not in answer(shell)["systemMessage"]
    assert not (shell.data / "memory").exists()


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize(
    ("machine", "told"),
    [
        ("colleague 1-2", False),
        ("a colleague's mac 1-2", False),
        (" 1-2", False),
        ("colleague {boot}", True),
        ("{name} 1-2", True),
        ("", True),
    ],
)
def test_a_session_of_a_colleagues_machine_is_left_alone(shell: Shell, keeps: bool, machine: str, told: bool) -> None:
    """The number of its process means nothing here. A container shares our boot; a restart ended what ran before."""
    killed(shell, gone() if machine != "{name} 1-2" else str(os.getpid()), keeps=keeps)
    name, _, boot = sessions.machine().rpartition(" ")
    with closing(sqlite3.connect(shell.data / "memory.db")) as store, store:
        store.execute("UPDATE host_sessions SET machine = ?", [machine.format(name=name, boot=boot)])
    shell.said("cycle")
    assert ("broke off" in json.dumps(answer(shell))) == told
    assert not (shell.data / "hook-failure.txt").exists()
    logged = shell.said("log", "show", "2026-03-02") if (shell.data / "memory").exists() else ""
    assert logged.count("- request: Refactor the invoice renderer") == told


def test_a_turn_that_the_user_interrupted_is_an_entry_of_its_own(shell: Shell) -> None:
    killed(shell, gone(), session="s-1")
    path = shell.home / "s-1.jsonl"
    transcript(path, ("", "Half of the templates are moved."), ("[Request interrupted by user]", ""))
    transcript(path, ("Write docs for the coupon API", "The docs are written."))
    given = {"session_id": "s-1", "transcript_path": str(path), "last_assistant_message": "The docs are written."}
    shell.said("hook", "Stop", "--host", "claude-code", stdin=json.dumps(given))
    assert _log(shell) == [
        "## Refactor the invoice renderer [project]",
        "- request: Refactor the invoice renderer",
        "- outcome: (broke off) Half of the templates are moved.",
        "## Write docs for the coupon API [project]",
        "- request: Write docs for the coupon API",
        "- outcome: The docs are written.",
    ]


@pytest.mark.parametrize("keeps", [True, False])
def test_so_it_is_of_gemini_whose_transcript_does_not_say_so_and_without_a_transcript(
    shell: Shell, keeps: bool
) -> None:
    path = shell.home / "g-1.jsonl"
    given = {"session_id": "g-1", "transcript_path": str(path) if keeps else ""}
    later = iter(f"2026-03-02T08:0{minute}:00Z" for minute in range(10))

    def fire(event: str, **said: str) -> None:
        stdin = json.dumps({**given, **said})
        shell.said("hook", event, "--host", "gemini", stdin=stdin, RECOLLECT_NOW=next(later))

    def wrote(*messages: dict[str, Any]) -> None:
        if keeps:
            with path.open("a") as file:
                file.writelines(json.dumps(each) + "\n" for each in messages)

    asked = ("Refactor the invoice renderer", "Rename the shop logo", "Write docs for the coupon API")
    wrote({"sessionId": "g-1"})
    for prompt in asked:
        fire("BeforeAgent", prompt=prompt)
        wrote({"type": "user", "content": [{"text": prompt}]}, {"$set": {"lastUpdated": "x"}})
    wrote({"type": "gemini", "content": "The docs are written."})
    fire("AfterAgent", prompt=asked[-1], prompt_response="The docs are written.")
    told = _log(shell)
    assert told == [
        line
        for prompt in asked
        for line in (
            f"## {prompt} [project]",
            f"- request: {prompt}",
            "- outcome: The docs are written." if prompt == asked[-1] else "- outcome: (broke off)",
        )
    ]
    fire("BeforeAgent", prompt="Translate the price list")
    wrote({"type": "user", "content": [{"text": "Translate the price list"}]})
    wrote({"type": "gemini", "content": "It is translated."})
    fire("AfterAgent", prompt="Translate the price list", prompt_response="It is translated.")
    fire("SessionEnd")
    assert _log(shell) == [
        *told,
        "## Translate the price list [project]",
        "- request: Translate the price list",
        "- outcome: It is translated.",
    ]


@pytest.mark.parametrize("keeps", [True, False])
def test_a_session_that_is_resumed_after_a_kill_says_where_it_broke_off(shell: Shell, keeps: bool) -> None:
    killed(shell, gone(), session="s-1", keeps=keeps)
    path = shell.home / ("s-1.jsonl" if keeps else "none.jsonl")
    given = {"session_id": "s-1", "transcript_path": str(path)}
    resumed = {"RECOLLECT_NOW": "2026-03-02T08:02:00Z"}
    start = ("hook", "SessionStart", "--host", "claude-code", "--pid", str(os.getpid()))
    first = shell.said(*start, stdin=json.dumps({**given, "source": "resume"}), **resumed)
    assert json.loads(first)["systemMessage"] == "Recollect: this session broke off at: Refactor the invoice renderer"
    assert shown(first).endswith("It was asked: Refactor the invoice renderer")
    asked = json.dumps({**given, "prompt": "Write docs for the coupon API"})
    shell.said("hook", "UserPromptSubmit", "--host", "claude-code", stdin=asked, RECOLLECT_NOW="2026-03-02T08:03:00Z")
    if keeps:
        transcript(path, ("Write docs for the coupon API", "The docs are written."))
    end = json.dumps({**given, "last_assistant_message": "The docs are written."})
    shell.said("hook", "Stop", "--host", "claude-code", stdin=end, RECOLLECT_NOW="2026-03-02T08:04:00Z")
    assert _log(shell) == [
        "## Refactor the invoice renderer [project]",
        "- request: Refactor the invoice renderer",
        "- outcome: (broke off)",
        "## Write docs for the coupon API [project]",
        "- request: Write docs for the coupon API",
        "- outcome: The docs are written.",
    ]
    assert "broke off" not in shell.said(*start, stdin=json.dumps({**given, "source": "resume"}))


def _log(shell: Shell) -> list[str]:
    return [line for line in shell.said("log", "show", "2026-03-02").splitlines() if line.startswith(("- ", "## "))]


def test_requests_of_other_killed_sessions_join_no_topic_of_the_work_before(shell: Shell) -> None:
    for number, asked in enumerate(("Migrate the invoices to UTC", "Rename the shop logo", "Compress the images")):
        killed(shell, gone(), asked, session=f"s-{number}-")
    answer(shell)
    assert [topic["entries"] for topic in shell.json("topic", "list")["topics"]] == [1, 1, 1]


def test_a_prompt_before_the_sessions_end_is_logged_without_a_transcript(shell: Shell) -> None:
    killed(shell, str(os.getpid()), keeps=False)
    shell.said("hook", "SessionEnd", "--host", "claude-code", stdin='{"session_id": "s-0"}')
    answer(shell)
    assert _log(shell)[1:] == ["- request: Refactor the invoice renderer", "- outcome: (broke off)"]
    answer(shell, given=START.replace("s-1", "s-2"))
    assert len(_log(shell)) == 3


def test_the_line_for_the_user_counts_what_the_brief_gives_from_rings(shell: Shell) -> None:
    shell.said("learn", "move", shell.learn(), "--to", "me")
    assert answer(shell)["systemMessage"] == "Recollect: 1 learning of your rings"
    assert "\n    From ring me: what people asked for, then what helped or a person wrote\n" in shell.said("last")


def test_the_line_for_the_user_is_one_line(shell: Shell) -> None:
    killed(shell, gone(), "Refactor the renderer\n\n- of invoices")
    assert answer(shell)["systemMessage"].endswith("broke off at: Refactor the renderer - of invoices")


def test_a_session_that_ended_well_did_not_break_off(shell: Shell) -> None:
    killed(shell, gone())
    shell.said("hook", "SessionEnd", "--host", "claude-code", stdin='{"session_id": "s-0"}')
    later = answer(shell, RECOLLECT_NOW="2026-03-02T09:05:00Z")
    assert "broke off" not in json.dumps(later)
    assert "- Last entry: Refactor the invoice renderer" in shown(json.dumps(later))
    assert "- request: Refactor" in shell.said("log", "show", "2026-03-02"), (
        "but its turn, which had no answer, is kept"
    )


def test_last_claims_no_want_of_room_where_nothing_was_shown(shell: Shell) -> None:
    id = shell.learn()
    shell.said("learn", "edit", id, "--confidence", "0.1")
    asked = json.dumps({"session_id": "s-1", "prompt": "Stripe webhooks arrive out of order"})
    answer(shell, "UserPromptSubmit", asked, RECOLLECT_NOW="2026-03-02T09:01:00Z")
    assert f"left out: {id}" in shell.said("last")
    shell.said("learn", "edit", id, "--confidence", "0.9")
    assert shell.said("last").rstrip().endswith("would be shown by now")


def test_last_tells_what_each_prompt_was_given_and_why(shell: Shell) -> None:
    assert shell.run("last").returncode == 1
    id = shell.learn()
    other = shell.learn(title="Alpine images lack locale data", observation="Sorting names in the image is by bytes")
    path = transcript(shell.home / "talk.jsonl")
    begin = json.dumps({"session_id": "s-1", "source": "startup", "transcript_path": path})
    answer(shell, given=begin)
    prompts = (
        "Stripe webhooks arrive out of order: deliveries overtake, key sk-live-51Hb9GkLmNoPqRsTuVwXyZ0123456789abcd",
        "Paint the shed",
    )
    for minute, prompt in enumerate(prompts, start=1):
        now = {"RECOLLECT_NOW": f"2026-03-02T09:0{minute}:00Z"}
        asked = {"session_id": "s-1", "prompt": prompt, "transcript_path": path}
        answer(shell, "UserPromptSubmit", json.dumps(asked), **now)
        transcript(Path(path), (prompt, "Done."))
        shell.said("hook", "Stop", "--host", "claude-code", stdin=json.dumps({**asked, "prompt": ""}), **now)
    found = shell.json("last")
    begun, first, second = found["events"]
    assert (found["id"], found["host"], begun["event"]) == ("s-1", "claude-code", "SessionStart")
    assert first["given"] == [id]
    reason = next(one for one in first["considered"] if one["id"] == id)
    assert (reason["title"], reason["confidence"]) == ("Stripe webhooks arrive out of order", 0.7)
    assert any(word.startswith("webhook") for word in reason["words"])
    assert first["prompt"].startswith("Stripe webhooks arrive out of order: deliveries overtake, key ")
    assert "51Hb9" not in first["prompt"], "without its secret"
    assert second["given"] == []
    assert second["considered"] == [], "its own session's words were no candidates"
    assert other not in json.dumps(first["given"])
    said = shell.said("last", "--host", "claude-code")
    do = next(line for line in said.splitlines() if line.strip().startswith("do: recollect learn edit"))
    assert do.endswith(f"learn archive {id}, learn rate {id} --verdict not_helpful"), "each runs as it is printed"
    shell.said(*do.rpartition(", ")[2].split())
    shell.said("store", "purge", "--text", "Paint the shed", "--yes")
    assert "Paint the shed" not in shell.said("last")
