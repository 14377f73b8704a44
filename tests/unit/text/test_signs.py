"""What an agent's work tells about a learning that it was shown."""

from __future__ import annotations

import pytest

from made import PLAIN
from recollect.core.records import replace
from recollect.text.transcript import Turn, read, read_sign

PNPM = replace(
    PLAIN, title="Use pnpm", observation="npm writes a lock file", action="Run `pnpm add`, never `npm install`"
)
HEADERS = replace(PLAIN, title="The gateway strips headers", action="Register new headers in gateway.yaml")


def told(learning: object, *, asked: str = "Add date-fns", again: bool = False, **done: object) -> str:
    sign = read_sign(learning, Turn(requests=(asked,), **done), again=again)  # type: ignore[arg-type]
    return sign.kind if sign else ""


def test_a_command_that_it_names_was_run() -> None:
    assert told(PNPM, commands=("pnpm add date-fns",)) == "used"


def test_what_the_user_asked_for_in_so_many_words_is_no_sign() -> None:
    assert told(PNPM, asked="Run pnpm add date-fns", commands=("pnpm add date-fns",)) == ""


def test_the_command_that_it_says_to_leave_was_run() -> None:
    assert told(PNPM, commands=("npm install date-fns",)) == "ignored"


@pytest.mark.parametrize(("again", "sign"), [(True, "ignored"), (False, "")])
def test_a_user_who_asks_for_it_afterwards_corrects_the_agent(again: bool, sign: str) -> None:
    assert told(PNPM, asked="No, use pnpm and remove the lock file", again=again) == sign


def test_its_file_touched_in_the_way_it_says_and_for_another_reason() -> None:
    assert told(HEADERS, edits=("infra/gateway.yaml\nallow_headers: [X-Locale]",)) == "used"
    assert told(HEADERS, edits=("infra/gateway.yaml\ntimeout: 30",)) == ""


def test_its_words_in_the_answer() -> None:
    assert told(PLAIN, answer="The issue date is stored and tokens renew at 80 days.") == "used"
    assert told(PLAIN, answer="The button is blue.") == ""


def test_that_something_no_longer_breaks_does_not_contradict_it() -> None:
    assert told(PLAIN, answer="Stripe refresh tokens no longer break.") == ""
    assert told(PLAIN, answer="That Stripe refresh tokens expire after 90 days is outdated.") == "contradicted"


def test_an_action_that_was_only_implied_tells_nothing() -> None:
    implied = replace(PLAIN, action="(implied) Plan similar work within this limit.")
    assert told(implied, answer="I planned the similar work within this limit.") == ""


@pytest.mark.parametrize(
    ("host", "line"),
    [
        (
            "claude-code",
            '{"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash",'
            ' "input": {"command": "pnpm add x"}}, {"type": "tool_use", "name": "Write",'
            ' "input": {"file_path": "a.py", "content": "b"}}]}}',
        ),
        (
            "gemini",
            '{"type": "gemini", "content": "", "toolCalls": [{"name": "run_shell_command", "status": "success",'
            ' "args": {"command": "pnpm add x"}}, {"name": "write_file", "status": "success",'
            ' "args": {"file_path": "a.py", "content": "b"}}]}',
        ),
    ],
)
def test_commands_and_edits_of_a_transcript(host: str, line: str) -> None:
    turn = read(host, [line])
    assert (turn.commands, turn.edits, turn.files) == (("pnpm add x",), ("a.py\nb",), ("a.py",))
