"""In a pipe there is the answer and nothing else; odd bytes, closed pipes and vanished folders end no command badly."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import apsw
import pytest

from recollect.store import project as store_init
from recollect.tend.export import BATCH
from shell import Shell


def test_nothing_found_prints_nothing(shell: Shell) -> None:
    shell.learn()
    done = shell.run("search", "zebra")
    assert (done.stdout, b"Nothing found for 'zebra'." in done.stderr) == (b"", True)
    assert shell.said("inject", "--task", "a", "--outcome", "b", "--title", "zebra") == ""


@pytest.mark.parametrize(
    "line", ["learn list", "status", "task list", "inbox", "learn show ID", "why ID", "search order"]
)
def test_an_answer_in_a_pipe_has_no_colour_and_ends_with_one_line_break(shell: Shell, line: str) -> None:
    id = shell.learn()
    shell.inject()
    said = shell.said(*line.replace("ID", id).split(), TERM="xterm-256color")
    assert "\x1b" not in said
    assert said.endswith("\n")
    assert not said.endswith("\n\n")


def test_the_injected_block_ends_with_its_end_mark(shell: Shell) -> None:
    shell.learn()
    assert shell.inject().endswith("\n_End of relevant learnings._\n")


@pytest.mark.parametrize("command", ["learn list --json", "inject --task a --outcome b --title stripe-webhooks"])
def test_a_reader_that_went_away_is_no_error(shell: Shell, command: str) -> None:
    shell.learn()
    child = subprocess.Popen(
        [sys.executable, "-m", "recollect", *command.split()],
        cwd=shell.folder,
        env=shell.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    assert child.stderr.read() == b""
    assert child.wait(60) == 0
    child.stderr.close()


def test_answers_are_utf_8_in_any_locale(shell: Shell) -> None:
    id = shell.learn(title="Größe – 大きさ")
    assert "Größe – 大きさ" in shell.said("learn", "show", id, PYTHONIOENCODING="ascii", LC_ALL="C")


def test_bytes_that_are_no_text_are_searched_and_stored_as_marks(shell: Shell) -> None:
    shell.learn()
    assert b"Stripe webhooks" in shell.run("search", b"\xff stripe webhooks").stdout
    done = shell.run(
        "inject", "--task", "a", "--outcome", "b", "--title", "stripe webhooks", "--description", "-", stdin=b"\xff"
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Stripe webhooks" in done.stdout
    assert shell.run("task", "feedback", "--task", "a", stdin=b"\xff\x00").stdout == b"no verdicts\n"
    unknown = shell.run("learn", "show", b"learn_\xff")
    assert unknown.stderr.startswith(b"recollect: There is no learning learn_")


def test_a_byte_order_mark_hides_no_first_line(shell: Shell) -> None:
    id = shell.learn()
    shell.said("inject", "--task", "a", "--outcome", "b", "--learning", id)
    shell.said("task", "feedback", "--task", "a", stdin=f"\ufeffLEARNING_HELPFUL: {id}\r\n")
    assert shell.json("learn", "show", id)["times_helpful"] == 1


def test_a_folder_that_is_gone_is_said_in_one_line(shell: Shell) -> None:
    vanish = "import os, sys; os.chdir(sys.argv[1]); os.rmdir(sys.argv.pop(1))"
    code = f"{vanish}; from recollect.__main__ import main; main()"
    for command in ("status", "inject --task a --outcome b --title c"):
        gone = shell.home / "gone"
        gone.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", code, str(gone), *command.split()], env=shell.environ, capture_output=True, text=True
        )
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr.startswith("recollect: ")
        assert done.stderr.count("\n") == 1


def test_a_locked_store_still_shows_and_the_record_waits_in_the_spool(shell: Shell) -> None:
    id = shell.learn()
    holder = apsw.Connection(str(shell.data / "memory.db"))
    holder.execute("BEGIN IMMEDIATE")
    try:
        assert id in shell.inject(RECOLLECT_STORE_BUSY_SECONDS="0.1")
        assert len(list((shell.data / "spool").glob("*.json"))) == 1
    finally:
        holder.execute("ROLLBACK")
        holder.close()
    assert shell.json("learn", "show", id)["times_injected"] == 1
    assert list((shell.data / "spool").glob("*.json")) == []


def on_a_terminal(shell: Shell, command: str, *, typed: str = "") -> tuple[int, str]:
    """`script` gives the command a terminal."""
    if not shutil.which("script"):
        pytest.fail("the program `script` (util-linux, bsdutils) is missing")
    done = subprocess.run(
        ["script", "-qec", f"stty cols 34; {sys.executable} -m recollect {command}", "/dev/null"],
        cwd=shell.folder,
        env={**shell.environ, "TERM": "xterm-256color"},
        input=typed,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout


def test_a_terminal_gets_a_drawn_table_with_whole_ids(shell: Shell) -> None:
    id = shell.learn()
    _, said = on_a_terminal(shell, "learn list")
    assert "\x1b" not in said
    assert id in said


def test_a_narrow_terminal_cuts_no_letter_of_an_id_off(shell: Shell) -> None:
    told = "DISCOVERY[blocker]: The sandbox answers 429 to bursts, so back off before the next request is sent."
    shell.said("task", "observe", "--task", "TASK-7", stdin=told)
    assert "…" not in on_a_terminal(shell, "task discovery list")[1]


def test_a_terminal_is_told_that_nothing_was_found(shell: Shell) -> None:
    assert "Nothing found" in on_a_terminal(shell, "search zebra")[1]


def test_no_is_an_answer_to_a_purge(shell: Shell) -> None:
    id = shell.learn()
    code, said = on_a_terminal(shell, f"store purge {id}", typed="n\n")
    assert (code, "nothing was changed" in said) == (1, True)
    assert shell.json("learn", "show", id)["id"] == id


def test_lines_of_a_field_pose_neither_as_another_field_nor_as_an_event(shell: Shell) -> None:
    id = shell.learn()
    shell.said("learn", "edit", id, "--observation", "Late\nAction       Delete it\nlearning.adopted  by a person")
    shell.said("learn", "archive", id, "--reason", "old\nlearning.adopted  by a person")
    assert "\n             Action       Delete it\n" in shell.said("learn", "show", id)
    events = [line for line in shell.said("why", id).splitlines() if line.startswith("learning.")]
    assert [line.split()[0] for line in events] == ["learning.created", "learning.edited", "learning.archived"]


def test_stored_words_cannot_steer_the_terminal_or_forge_a_row(shell: Shell) -> None:
    shell.learn(title="Row one\nlearn_000  0.999  active  Forged", context="ctx \x1b[2J \x9b31m \u202ertl")
    for line in ("learn list", "search forged", "learn show ID", "why ID"):
        id = shell.json("learn", "list")["learnings"][0]["id"]
        said = shell.said(*line.replace("ID", id).split())
        assert not any(mark in said for mark in ("\x1b", "\x9b", "\u202e"))
        assert not [row for row in said.splitlines() if row.startswith("learn_000")]


@pytest.mark.parametrize("command", ["task observe --task z <&-", "task feedback --task z <&-", "learn list >&-"])
def test_a_closed_stream_ends_no_command_badly(shell: Shell, command: str) -> None:
    shell.learn()
    line = f"{sys.executable} -m recollect {command}"
    done = subprocess.run(["sh", "-c", line], cwd=shell.folder, env=shell.environ, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr.decode()) == (0, "")


@pytest.mark.parametrize(
    "command", ["store purge ID", "store import -", "rpc", "log add", "learn add", "learn edit ID"]
)
def test_a_closed_input_is_an_empty_one(shell: Shell, command: str) -> None:
    arguments = command.replace("ID", shell.learn())
    said = []
    for stdin in ("<&-", "</dev/null"):
        line = f"{sys.executable} -m recollect {arguments} {stdin}"
        done = subprocess.run(["sh", "-c", line], cwd=shell.folder, env=shell.environ, capture_output=True, check=False)
        said.append((done.returncode, done.stdout, done.stderr))
    assert b"Traceback" not in said[0][2]
    assert said[0] == said[1]


@pytest.mark.parametrize(
    "command", ["task observe --task t", "task feedback --task t", "log add -", "staged add Rule --body -", "rpc"]
)
def test_an_agent_at_work_may_finish_before_it_is_told_that_there_is_no_project(bare: Shell, command: str) -> None:
    line = [sys.executable, "-m", "recollect", *command.split()]
    with subprocess.Popen(
        line, cwd=bare.folder, env=bare.environ, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        assert run.stdin is not None
        run.stdin.write(b"still at work\n" * 100_000)  # more than a pipe holds: the agent would die of it
        assert b"recollect init" in run.communicate()[1]
    assert run.returncode == 2


@pytest.mark.parametrize("command", ["model apply", "log add -", "store import", "store import - --preview"])
def test_input_that_cannot_be_used_makes_no_store(bare: Shell, command: str) -> None:
    store_init.create(bare.folder, bare.environ, space="shop")
    assert bare.run(*command.split(), stdin="  \n").returncode == 2
    assert not (bare.data / "memory.db").exists()


def test_an_import_opens_the_store_when_something_comes(bare: Shell) -> None:
    store_init.create(bare.folder, bare.environ, space="shop")
    fifo = bare.folder / "export.jsonl"
    os.mkfifo(fifo)
    line = [sys.executable, "-m", "recollect", "store", "import", fifo.name]
    with subprocess.Popen(line, cwd=bare.folder, env=bare.environ, stdout=subprocess.PIPE) as run:
        with fifo.open("wb") as export:  # opens when the command does; it has nothing to read yet
            assert not (bare.data / "memory.db").exists()
            export.write(b'{"type": "task", "id": "t7", "title": "Rotate keys"}\n')
        assert run.communicate()[0] == b"added 1 task\n"


@pytest.mark.parametrize("command", ["log compact", "doctor", "store export", "learn list"])
def test_without_a_place_for_errors_a_command_works_all_the_same(shell: Shell, command: str) -> None:
    shell.learn()
    line = f"{sys.executable} -m recollect {command} 2>&-"
    done = subprocess.run(["sh", "-c", line], cwd=shell.folder, env=shell.environ, capture_output=True, check=False)
    assert (done.returncode, done.stdout != b"") == (0, True)


def test_an_import_may_come_through_a_named_pipe(shell: Shell) -> None:
    shell.learn()
    (shell.folder / "export.jsonl").write_text(shell.said("store", "export"))
    line = f"{sys.executable} -m recollect store import <(cat export.jsonl)"
    done = subprocess.run(["bash", "-c", line], cwd=shell.folder, env=shell.environ, capture_output=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[:2]) == (0, [b"nothing new", b"1 known from before"])


@pytest.mark.parametrize("options", [["--topic", "retries"], ["--session", "s9"], ["-", "--topic", "retries"]])
def test_a_log_entry_may_be_piped_with_its_topic_or_session(shell: Shell, options: list[str]) -> None:
    id = shell.json("log", "add", *options, stdin="Retries are idempotent now.")["id"]
    assert "Retries are idempotent now." in shell.said("log", "show", id)


def test_a_command_that_is_interrupted_does_not_say_that_nothing_was_changed(shell: Shell) -> None:
    lines = [json.dumps({"type": "outcome", "id": f"o{number}"}) + "\n" for number in range(BATCH)]
    with subprocess.Popen(
        [sys.executable, "-m", "recollect", "store", "import", "-"],
        cwd=shell.folder,
        env=shell.environ,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as importing:
        assert importing.stdin is not None
        assert importing.stderr is not None
        importing.stdin.writelines(lines)
        importing.stdin.flush()
        deadline = time.monotonic() + 30
        while not shell.json("task", "outcome", "list")["outcomes"] and time.monotonic() < deadline:
            time.sleep(0.05)
        importing.send_signal(signal.SIGINT)
        assert importing.wait(timeout=30) == 130
        assert importing.stderr.read().strip() == "recollect: stopped; what was saved before that is kept"
    assert shell.json("task", "outcome", "list")["outcomes"]
