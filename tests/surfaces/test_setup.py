"""Telling hosts about a memory, taking it back, and being quiet where quiet was asked for."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hooks import shown
from shell import ROOT, Shell

PLUGIN = ROOT / "plugins" / "claude-code"
SETTINGS, CODEX = ".claude/settings.local.json", ".codex/config.toml"
START = json.dumps({"session_id": "s-1", "source": "startup"})
BRIEF = "## Memory of this project"
LAUNCHER = ".local/state/recollect/bin/recollect"
DATA = "~/.local/share/recollect/spaces/shop"


def files(shell: Shell) -> dict[str, bytes]:
    found = (path for path in shell.folder.rglob("*") if path.is_file())
    return {str(path.relative_to(shell.folder)): path.read_bytes() for path in found}


def start(shell: Shell, **more: Any) -> str:
    answer = shell.said("hook", "SessionStart", "--host", "claude-code", **{"stdin": START, **more})
    return shown(answer) if answer else ""


def test_gemini_calls_us_before_a_compression_that_was_asked_for_alone(shell: Shell) -> None:
    shell.said("init", "--host", "gemini")
    hooks = json.loads((shell.folder / ".gemini/settings.json").read_text())["hooks"]
    assert {event: group.get("matcher") for event, (group,) in hooks.items()} == {
        "SessionStart": None,
        "BeforeAgent": None,
        "AfterAgent": None,
        "PreCompress": "manual",
        "SessionEnd": None,
    }


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini"])
def test_init_twice_is_init_once_and_uninstall_leaves_only_data(shell: Shell, host: str) -> None:
    before = files(shell)
    shell.said("init", "--host", host)
    told = files(shell)
    assert told.keys() > before.keys()
    shell.said("init", "--host", host)
    assert files(shell) == told
    shell.said("host", "uninstall")
    assert files(shell) == before
    assert not any((shell.folder / name).exists() for name in (".claude", ".codex", ".gemini"))
    assert "nothing to do" in shell.said("host", "uninstall")


THEIRS = {
    SETTINGS: '{"permissions":{"allow":["Bash"]},\r\n\t"hooks": {"Stop": [ ]} }',
    ".mcp.json": '{ "mcpServers": {"other": {"command": "x"}} }\n\n',
    ".codex/config.toml": 'model = "o"  # no line end',
    ".gemini/settings.json": "{}",
}


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini"])
def test_what_another_clone_put_in_and_committed_is_ours(shell: Shell, host: str) -> None:
    shell.said("init", "--host", host)
    before = files(shell)
    shutil.rmtree(shell.data)
    shell.said("init", "--host", host)
    assert files(shell) == before
    shell.said("host", "uninstall")
    assert not [name for name, text in files(shell).items() if name.endswith(".json") and b"recollect" in text]


def test_files_that_were_there_are_restored_byte_for_byte(shell: Shell) -> None:
    for name, text in THEIRS.items():
        (shell.folder / name).parent.mkdir(exist_ok=True)
        (shell.folder / name).write_bytes(text.encode())
    hosts = [part for host in ("claude-code", "codex", "gemini") for part in ("--host", host)]
    shell.said("init", *hosts)
    changed = files(shell)
    assert all(changed[name] != text.encode() for name, text in THEIRS.items())
    shell.said("host", "uninstall")
    assert {name: files(shell)[name] for name in THEIRS} == {name: text.encode() for name, text in THEIRS.items()}


def test_a_hook_of_the_users_beside_ours_survives_uninstall(shell: Shell) -> None:
    shell.said("init", "--host", "claude-code")
    file = shell.folder / SETTINGS
    settings = json.loads(file.read_text())
    theirs = {"hooks": [{"type": "command", "command": "say done"}]}
    settings["hooks"]["Stop"].append(theirs)
    file.write_text(json.dumps(settings))
    shell.said("host", "uninstall")
    assert json.loads(file.read_text()) == {"hooks": {"Stop": [theirs]}}


def test_a_hosts_sandbox_may_write_the_folder_of_the_space_and_no_more(shell: Shell) -> None:
    theirs = '{"sandbox": {"enabled": true, "filesystem": {"allowWrite": [ "~/.cache" ]}}}'
    (shell.folder / ".claude").mkdir()
    (shell.folder / SETTINGS).write_text(theirs)
    shell.said("init", "--host", "claude-code", "--host", "codex")
    assert json.loads((shell.folder / SETTINGS).read_text())["sandbox"] == {
        "enabled": True,
        "filesystem": {"allowWrite": [DATA, "~/.cache"]},
    }
    codex = tomllib.loads((shell.folder / CODEX).read_text())
    assert codex["sandbox_workspace_write"] == {"writable_roots": [DATA]}
    shell.said("host", "uninstall")
    assert (shell.folder / SETTINGS).read_text() == theirs
    assert not (shell.folder / CODEX).exists()


@pytest.mark.parametrize(
    ("folder", "text", "added"),
    [
        ("shop", "[sandbox_workspace_write]\nnetwork_access = true\n", 'writable_roots = ["{}"]\n'),
        ("shop", 'sandbox_workspace_write.writable_roots = ["/srv"', ', "{}"]\n'),
        ("home", '[sandbox_workspace_write]\nwritable_roots = ["/srv"', ', "{}"]\n'),
    ],
)
def test_codexs_own_list_of_folders_is_not_replaced_and_init_says_what_to_add(
    shell: Shell, folder: str, text: str, added: str
) -> None:
    place = shell.folder.parent / folder / CODEX
    place.parent.mkdir()
    place.write_text(text + added.format("/other"))
    for _ in range(2):
        said = shell.said("init", "--host", "codex")
        assert f"{place} already configures Codex's sandbox" in said
        assert f'"{DATA}"' in said
    document = tomllib.loads((shell.folder / CODEX).read_text())
    assert DATA not in document.get("sandbox_workspace_write", {}).get("writable_roots", [])
    assert "recollect" in document["mcp_servers"]
    place.write_text(place.read_text().replace("/other", DATA))
    assert "Codex's sandbox" not in shell.said("init", "--host", "codex")
    shell.said("host", "uninstall")
    assert DATA in place.read_text(), "the user's own line"


def test_codexs_other_sandbox_settings_at_home_stay_and_ours_are_beside_them(shell: Shell) -> None:
    (shell.home / ".codex").mkdir()
    (shell.home / ".codex/config.toml").write_text("[sandbox_workspace_write]\nnetwork_access = true\n")
    assert "Codex's sandbox" not in shell.said("init", "--host", "codex")
    assert DATA in (shell.folder / CODEX).read_text()


def test_no_file_of_the_project_names_a_memory_outside_the_home_and_init_says_what_to_add(bare: Shell) -> None:
    bare.environ["RECOLLECT_HOME"] = str(bare.folder.parent / "disk")
    init = ("init", "--host", "claude-code", "--host", "codex", "--space", "shop")
    said = bare.said(*init)
    folder = f"{bare.environ['RECOLLECT_HOME']}/spaces/shop"
    assert f'allowWrite in {bare.home}/.claude/settings.json: "{folder}"' in said
    assert f'writable_roots of [sandbox_workspace_write] in {bare.home}/{CODEX}: "{folder}"' in said
    written = [file.read_text() for file in bare.folder.rglob("*") if file.is_file()]
    assert len(written) > 4
    assert not [text for text in written if str(bare.folder.parent) in text]
    for file in (bare.home / ".claude/settings.json", bare.home / CODEX):
        file.parent.mkdir(exist_ok=True)
    (bare.home / ".claude/settings.json").write_text(json.dumps({"sandbox": {"filesystem": {"allowWrite": [folder]}}}))
    (bare.home / CODEX).write_text(f'[sandbox_workspace_write]\nwritable_roots = ["{folder}"]\n')
    assert "sandboxed" not in bare.said(*init)


def test_a_dry_run_names_the_folder_of_the_space(bare: Shell) -> None:
    assert DATA in bare.said("init", "--host", "codex", "--space", "shop", "--dry-run")
    assert DATA.replace("shop", "NEW-SPACE") in bare.said("init", "--host", "codex", "--dry-run")


def test_a_failure_is_not_written_through_a_link(shell: Shell) -> None:
    settings = shell.folder / "recollect.toml"
    settings.write_text(settings.read_text() + "[hosts\n")
    theirs = shell.home / ".bashrc"
    theirs.write_text("mine\n")
    (shell.data / "hook-failure.txt").symlink_to(theirs)
    start(shell)
    assert theirs.read_text() == "mine\n"
    assert "BadInput" in (shell.data / "hook-failure.txt").read_text()


def test_a_dry_run_shows_a_diff_and_changes_nothing(bare: Shell) -> None:
    diff = bare.said("init", "--host", "claude-code", "--dry-run")
    assert f"+++ b/{SETTINGS}" in diff
    assert list(bare.folder.iterdir()) == []
    bare.said("init", "--host", "claude-code")
    assert bare.said("init", "--host", "claude-code", "--dry-run") == ""
    assert f"--- a/{SETTINGS}" in bare.said("host", "uninstall", "--dry-run")
    assert (bare.folder / SETTINGS).exists()


def test_with_the_plugin_installed_init_writes_no_hooks(shell: Shell) -> None:
    (shell.home / ".claude").mkdir()
    (shell.home / ".claude/settings.json").write_text('{"enabledPlugins": {"recollect@recollect": true}}')
    before = files(shell)
    assert "plugin" in shell.said("init", "--host", "claude-code")
    assert files(shell) == before


@pytest.mark.parametrize(
    "brought",
    [
        "[" * 50_000 + "]" * 50_000,
        "[]",
        '{"hooks": [1]}',
        '{"hooks": {"Stop": 1}}',
        '{"hooks": {"Stop": [{"hooks": [1]}]}}',
        '{"hooks": {"Stop": [{"hooks": [{"command": "\'"}]}]}}',
    ],
    ids=lambda brought: brought[:40],
)
def test_whatever_a_clone_brings_as_a_hosts_file_doctor_reads_past_it(shell: Shell, brought: str) -> None:
    shell.said("init", "--host", "claude-code")
    for file in (shell.folder / ".claude").glob("*.json"):
        file.write_text(brought)
    done = shell.run("doctor", "--host", "claude-code")
    assert (done.returncode, b"Traceback" in done.stderr) == (1, False)


def test_init_takes_hooks_out_again_when_the_plugin_came_later(shell: Shell) -> None:
    (shell.folder / ".mcp.json").write_text(THEIRS[".mcp.json"])
    before = files(shell)
    shell.said("init", "--host", "claude-code", "--host", "codex")
    codex = {name: text for name, text in files(shell).items() if name.startswith(".codex")}
    (shell.home / ".claude").mkdir()
    (shell.home / ".claude/settings.json").write_text('{"enabledPlugins": {"recollect@recollect": true}}')
    doubled = f"hooks are set up twice, for all projects and in {SETTINGS}, .mcp.json"
    assert doubled in shell.run("doctor", "--host", "claude-code").stdout.decode()
    assert f"--- a/{SETTINGS}" in shell.said("init", "--host", "claude-code", "--dry-run")
    assert f"removed our hooks and server from {SETTINGS}" in shell.said("init", "--host", "claude-code")
    assert files(shell) == before | codex
    assert "hooks are set up twice" not in shell.run("doctor", "--host", "claude-code").stdout.decode()
    shell.said("host", "uninstall")
    assert files(shell) == before


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_a_file_that_was_there_keeps_its_permissions(shell: Shell, mode: int) -> None:
    file = shell.folder / ".mcp.json"
    file.write_text(THEIRS[".mcp.json"])
    file.chmod(mode)
    shell.said("init", "--host", "claude-code")
    assert file.stat().st_mode & 0o777 == mode
    shell.said("host", "uninstall")
    assert file.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("real", ["shop/settings.json", "home/dotfiles/settings.local.json"])
def test_a_link_stays_one_and_the_file_it_leads_to_is_changed_and_restored(shell: Shell, real: str) -> None:
    target, link = shell.folder.parent / real, shell.folder / SETTINGS
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(THEIRS[SETTINGS].encode())
    link.parent.mkdir()
    link.symlink_to(target)
    shell.said("init", "--host", "claude-code")
    assert link.is_symlink()
    assert "SessionStart" in target.read_text()
    shell.said("host", "uninstall")
    assert link.is_symlink()
    assert target.read_bytes() == THEIRS[SETTINGS].encode()


@pytest.mark.parametrize("real", ["elsewhere/.mcp.json", "home/.bashrc"])
def test_a_link_to_a_file_that_is_not_the_hosts_is_refused(shell: Shell, real: str) -> None:
    target = shell.folder.parent / real
    target.parent.mkdir(exist_ok=True)
    target.write_text("theirs\n")
    (shell.folder / ".mcp.json").symlink_to(target)
    done = shell.run("init", "--host", "claude-code")
    assert done.returncode == 2
    assert b".mcp.json links to" in done.stderr
    assert target.read_text() == "theirs\n"


@pytest.mark.parametrize(
    ("host", "file", "text"),
    [
        ("claude-code", ".mcp.json", '{"mcpServers": {"recollect": {"command": "mine"}}}'),
        ("codex", ".codex/hooks.json", "\ufeff{}"),
    ],
)
def test_an_init_that_a_hosts_file_refuses_makes_nothing(bare: Shell, host: str, file: str, text: str) -> None:
    (bare.folder / file).parent.mkdir(parents=True, exist_ok=True)
    (bare.folder / file).write_text(text)
    assert bare.run("init", "--host", host).returncode == 2
    assert files(bare) == {file: text.encode()}
    assert not (bare.home / ".local/share").exists()


def test_init_with_a_host_fills_in_the_space_of_a_settings_file(bare: Shell) -> None:
    (bare.folder / "recollect.toml").write_text('timezone = "UTC"\n')
    assert f"made {SETTINGS}" in bare.said("init", "--host", "claude-code")


def test_a_file_that_is_no_plain_json_is_left_alone(shell: Shell) -> None:
    (shell.folder / ".gemini").mkdir()
    (shell.folder / ".gemini/settings.json").write_text('{"theme": 1, // a comment\n}')
    done = shell.run("init", "--host", "gemini")
    assert done.returncode == 2
    assert b"not plain JSON" in done.stderr
    assert (shell.folder / ".gemini/settings.json").read_text() == '{"theme": 1, // a comment\n}'


@pytest.mark.parametrize(
    ("made", "environ", "host"),
    [
        ("shop/.claude", {}, ".claude/settings.local.json"),
        ("home/.gemini", {}, ".gemini/settings.json"),
        ("home/.claude", {"GEMINI_CLI": "1"}, ".gemini/settings.json"),
        ("home/.claude", {"CODEX_THREAD_ID": "t-1"}, ".codex/hooks.json"),
        ("home/.codex", {"CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli"}, ".claude/settings.local.json"),
    ],
)
def test_a_host_that_is_at_work_here_is_found(bare: Shell, made: str, environ: dict[str, str], host: str) -> None:
    (bare.folder.parent / made).mkdir()
    assert f"made {host}" in bare.said("init", **environ)


def test_no_host_at_work_is_fine(bare: Shell) -> None:
    bare.said("init")
    assert files(bare).keys() == {"recollect.toml"}


def test_the_command_works_without_a_path_and_past_a_hostile_module(shell: Shell) -> None:
    shell.said("init", "--host", "claude-code")
    hook = json.loads((shell.folder / SETTINGS).read_text())["hooks"]["SessionStart"][0]["hooks"][0]
    for name in ("json.py", "typing.py", "recollect.py"):
        (shell.folder / name).write_text("raise SystemExit('taken over')")
    done = subprocess.run(
        ["/bin/sh", "-c", hook["command"]],
        input=START.encode(),
        cwd=shell.folder,
        env={**shell.environ, "PATH": ""},
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert BRIEF in shown(done.stdout.decode())


def test_hooks_are_silent_where_init_never_ran(bare: Shell) -> None:
    assert start(bare) == ""
    (bare.folder / "recollect.toml").write_text('space = "shop"\n')  # a clone: the memory is on another machine
    assert start(bare) == ""
    assert {path.name for path in bare.folder.iterdir()} == {"recollect.toml"}


def test_a_paused_project_gives_and_keeps_nothing(shell: Shell) -> None:
    shell.said("host", "pause")
    assert start(shell) == ""
    shell.said("hook", "Stop", "--host", "claude-code", stdin='{"session_id": "s-1", "last_assistant_message": "word"}')
    assert not (shell.data / "memory").exists()
    assert all("pause --off" in shell.said(command) for command in ("status", "doctor"))
    shell.said("host", "pause", "--off")
    assert BRIEF in start(shell)
    assert not any("pause --off" in shell.said(command) for command in ("status", "doctor"))


def ignoring(shell: Shell, pattern: str) -> None:
    with (shell.folder / "recollect.toml").open("a") as file:
        file.write(f'[hosts]\nignore = ["{pattern}"]\n')


def answers_in(shell: Shell, folder: Path) -> bool:
    return start(shell, stdin=json.dumps({"session_id": "s-1", "source": "startup", "cwd": str(folder)})) != ""


@pytest.mark.parametrize(
    ("pattern", "inside"),
    [
        ("vendor", "shop/vendor"),
        ("vendor", "shop/vendor/deep"),
        ("ven*", "shop/vendor"),
        ("vendor/", "shop/vendor"),
        ("./vendor", "shop/vendor"),
        ("./vendor//", "shop/vendor/deep"),
        ("vendor/**", "shop/vendor"),
        ("vendor/**", "shop/vendor/deep"),
        ("**/vendor", "shop/vendor"),
        ("vendor/**/deep", "shop/vendor/deep"),
        ("vendor", "link/vendor"),
        ("linked", "elsewhere"),
        ("~/scratch/*", "home/scratch/x"),
        ("~/scratch/", "home/scratch"),
    ],
)
def test_a_folder_can_be_ignored(shell: Shell, pattern: str, inside: str) -> None:
    top = shell.folder.parent
    (top / "link").symlink_to(shell.folder)
    (top / "elsewhere").mkdir()
    (shell.folder / "linked").symlink_to(top / "elsewhere")
    ignoring(shell, pattern)
    assert not answers_in(shell, top / inside)
    assert answers_in(shell, shell.folder)
    assert answers_in(shell, shell.folder / "invented")


def test_signs_in_the_name_of_a_project_are_no_pattern(bare: Shell) -> None:
    bare.folder = bare.folder.rename(bare.folder.parent / "shop [new]")
    bare.said("init")
    ignoring(bare, "vendor")
    assert not answers_in(bare, bare.folder / "vendor")
    assert answers_in(bare, bare.folder)


def test_in_ci_a_session_is_answered_and_not_captured(shell: Shell) -> None:
    assert BRIEF in start(shell, CI="true")
    said = '{"session_id": "s-1", "last_assistant_message": "word"}'
    shell.said("hook", "Stop", "--host", "claude-code", stdin=said, CI="true")
    assert not (shell.data / "memory").exists()


@pytest.mark.parametrize("value", ["", "0", "false", "FALSE"])
def test_a_ci_that_says_no_is_none(shell: Shell, value: str) -> None:
    said = '{"session_id": "s-1", "last_assistant_message": "a word to keep"}'
    shell.said("hook", "Stop", "--host", "claude-code", stdin=said, CI=value)
    assert "a word to keep" in shell.said("log", "show", "2026-03-02")


@pytest.mark.parametrize(
    "arguments", [(), ("Stop",), ("--host",), ("Stop", "--host", "emacs"), ("A", "B", "--host", "codex")]
)
def test_a_hook_called_wrongly_is_silent(shell: Shell, arguments: tuple[str, ...]) -> None:
    assert shell.said("hook", *arguments, stdin=START) == ""


def test_doctor_tries_the_hooks_and_tells_what_a_session_was_given(shell: Shell) -> None:
    assert shell.run("doctor", "--host", "claude-code").returncode == 1
    shell.said("init", "--host", "claude-code")
    id = shell.learn()
    start(shell)
    asked = '{"session_id": "s-1", "prompt": "Stripe webhooks"}'
    later = {"RECOLLECT_NOW": "2026-03-02T09:01:00Z"}
    shell.said("hook", "UserPromptSubmit", "--host", "claude-code", stdin=asked, **later)
    found = shell.json("doctor", "--host", "claude-code")
    assert found["good"]
    assert found["session"]["id"] == "s-1"
    assert [(one["event"], id in one["given"]) for one in found["given"]] == [
        ("SessionStart", False),
        ("UserPromptSubmit", True),
    ]
    assert "tools, " in next(one["answer"] for one in found["tried"] if one["event"] == "MCP server")


@pytest.mark.parametrize("broken", ["python gone", "python fails", "launcher gone"])
def test_where_the_launcher_does_not_start_doctor_counts_no_hook_as_answering_and_init_mends_it(
    shell: Shell, broken: str
) -> None:
    assert "made the launcher" not in shell.said("init", "--host", "claude-code")
    python = "/no/such/python"
    if broken == "python fails":
        bad = shell.home / "bad"
        bad.write_text("#!/bin/sh\nexit 1\n")
        bad.chmod(0o755)
        python = str(bad)
    launcher = shell.home / LAUNCHER
    launcher.write_text(launcher.read_text().replace(sys.executable, python))
    if broken == "launcher gone":
        launcher.unlink()
    done = shell.run("doctor", "--host", "claude-code", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, [one["event"] for one in found["tried"] if one["good"]]) == (1, [])
    for said in (found["notes"][0], shell.said("doctor")):
        assert "silent, since their launcher does not run" in said
        assert (python if broken == "python gone" else str(launcher)) in said
        assert "Path(" not in said
    assert "made the launcher" in shell.said("init", "--host", "claude-code")
    assert shell.json("doctor", "--host", "claude-code")["good"]


@pytest.mark.parametrize("plugin", [False, True])
def test_a_server_ends_with_its_launcher(shell: Shell, plugin: bool) -> None:
    shell.said("init", "--host", "claude-code")
    launcher = PLUGIN / "bin/recollect" if plugin else shell.home / LAUNCHER
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([launcher, "mcp"], cwd=shell.folder, env=shell.environ, text=True, **pipes) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 1
        server.terminate()
        # Its output is at an end when the last process that holds it is gone.
        assert select.select([server.stdout], [], [], 1)[0]
        assert server.stdout.read() == ""
        assert server.wait(1) == 143


def launched(shell: Shell, place: Path, **environ: str) -> str:
    """What the plugin's launcher says at a session's start, where our program is not on the PATH."""
    command = [str(PLUGIN / "bin/recollect"), "hook", "SessionStart", "--host", "claude-code"]
    around = {**shell.environ, "PATH": "/usr/bin:/bin", "CLAUDE_PROJECT_DIR": str(place), **environ}
    done = subprocess.run(command, input=START, env=around, cwd=place, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return shown(done.stdout) if done.stdout else ""


def test_the_launcher_finds_the_interpreter_that_init_left(shell: Shell, tmp_path: Path) -> None:
    (shell.folder / "deep").mkdir()
    assert BRIEF in launched(shell, shell.folder / "deep")
    assert launched(shell, tmp_path) == ""
    assert launched(shell, shell.folder, HOME="/nonexistent") == ""


def test_the_launcher_finds_it_in_a_state_folder_elsewhere_and_in_a_linked_worktree(bare: Shell) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    state = {"XDG_STATE_HOME": str(bare.home / "state")}
    bare.said("init", **state)
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"], ["worktree", "add", "-q", "../linked"]):
        subprocess.run([*git, *arguments], cwd=bare.folder, check=True, capture_output=True)
    assert BRIEF in launched(bare, bare.folder.parent / "linked", **state)


def test_a_repository_does_not_choose_what_the_launcher_runs(shell: Shell, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    (clone / ".recollect").mkdir(parents=True)
    program = clone / ".recollect/x"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/taken-over\n")
    program.chmod(0o755)
    for text in (str(program), ".recollect/x"):
        (clone / ".recollect/interpreter").write_text(text + "\n")
        launched(shell, clone)
        launched(shell, clone, HOME="/nonexistent")
    assert not (tmp_path / "taken-over").exists()


def test_a_project_that_was_moved_is_still_ones_own(shell: Shell, tmp_path: Path) -> None:
    shell.folder.rename(tmp_path / "moved")
    assert BRIEF in start(shell, folder=tmp_path / "moved")


def test_the_last_failure_has_its_time_and_goes_with_the_next_success(shell: Shell) -> None:
    shell.said("init", "--host", "claude-code")
    settings = shell.folder / "recollect.toml"
    good = settings.read_text()
    settings.write_text(good + "[hosts\n")
    assert start(shell) == ""
    settings.write_text(good)
    for _ in range(2):  # the doctor's own questions are no success of the host's
        assert "the last failure: 2026-03-02T09:00:00Z SessionStart: BadInput" in shell.said(
            "doctor", "--host", "claude-code"
        )
    start(shell)
    assert "the last failure" not in shell.said("doctor", "--host", "claude-code")


def test_doctor_names_a_variable_that_looks_like_a_setting_and_is_none(shell: Shell) -> None:
    shell.run("init")
    said = shell.said("doctor", RECOLLECT_INJECT_BUGDET="3", RECOLLECT_INJECT_BUDGET="900", RECOLLECT_STORE="")
    assert "RECOLLECT_INJECT_BUGDET" in said
    assert "RECOLLECT_INJECT_BUDGET" not in said
    assert "RECOLLECT_STORE" not in said
    assert "RECOLLECT_NOW" not in said


@pytest.mark.parametrize(
    ("host", "file"),
    [
        ("claude-code", "~/.claude/settings.json"),
        ("claude-code", "~/.claude/plugins/installed_plugins.json"),
        ("claude-code", ".claude/settings.json"),
        ("claude-code", ".claude/settings.local.json"),
        ("claude-code", ".mcp.json"),
        ("codex", "~/.codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
    ],
)
def test_a_pipe_in_place_of_a_hosts_file_is_not_waited_for(shell: Shell, host: str, file: str) -> None:
    path = shell.home / file[2:] if file.startswith("~/") else shell.folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    done = shell.run("init", "--host", host)
    assert done.returncode == 0 or b"is not a regular file" in done.stderr
    assert shell.run("doctor", "--host", host).returncode in (0, 1, 2)


@pytest.mark.parametrize("file", ["register.json", "config.json", "settings"])
def test_a_pipe_in_place_of_a_file_of_ours_is_not_waited_for(shell: Shell, file: str) -> None:
    home = shell.home / ".local/share/recollect"
    shell.said("init")
    (home / "config.toml").write_text("[search]\nlimit = 7\n")
    shell.run("status")
    name = home / file if file != "settings" else next((home / "spaces").glob("*/settings-*.json"))
    name.unlink(missing_ok=True)
    os.mkfifo(name)
    for command in (["status"], ["search", "pipeline"], ["log", "add", "A word about the pipeline"]):
        done = shell.run(*command)
        assert done.returncode in (0, 1) or b"is not a regular file; move it away" in done.stderr
