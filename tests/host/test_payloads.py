"""Payloads and transcripts as hosts really wrote them, by release and date, read as what they mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hooks import RECORDED, shown
from recollect.hosts.payloads import HostEvent, host_named
from recollect.hosts.payloads import answer as answer_of
from recollect.text import transcript

FILES = sorted(path for path in RECORDED.glob("*-2026-*.jsonl"))


def host_of(path: Path) -> str:
    return next(host for host in ("claude-code", "codex", "gemini") if path.name.startswith(host))


def recorded(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def moments(path: Path) -> list[HostEvent]:
    adapter = host_named(host_of(path))
    found = [adapter.read(each["event"], each["payload"]) for each in recorded(path)]
    return [moment for moment in found if moment is not None]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_recorded_event_is_understood(path: Path) -> None:
    for moment in moments(path):
        assert moment.session
        assert moment.folder == "/home/ada/shop"
        assert moment.kind != "prompt" or moment.prompt
        assert moment.kind not in ("stop", "subagent_stop") or moment.answer
        assert moment.kind != "after_compact" or moment.text or moment.host == "codex", "in its transcript alone"
        assert moment.kind != "task" or moment.topic


@pytest.mark.parametrize(("host", "missing"), [("claude-code", set()), ("codex", {"task"})])
def test_all_events_of_a_host_were_recorded(host: str, missing: set[str]) -> None:
    path = next(path for path in FILES if path.name.startswith(host))
    kinds = {moment.kind for moment in moments(path)}
    assert kinds | missing == {
        "start", "prompt", "subagent", "subagent_stop", "stop", "task", "before_compact", "after_compact", "end"
    }  # fmt: skip


def test_a_compactions_summary_of_codex_is_read_from_its_transcript() -> None:
    given = {"session_id": "s", "transcript_path": str(RECORDED / "codex-0.166.0-transcript.jsonl")}
    moment = host_named("codex").read("PostCompact", given)
    assert moment is not None
    assert moment.text == "Compared the created times.\n\nLEARNING_HELPFUL: learn_x"


def test_events_of_gemini_are_moments_only_where_something_happened() -> None:
    path = next(path for path in FILES if path.name.startswith("gemini"))
    found = moments(path)
    assert [moment.kind for moment in found] == [
        "start", "prompt", "stop", "end", "start", "prompt", "stop", "before_compact", "end", "prompt", "stop", "end"
    ]  # fmt: skip
    assert {moment.prompt for moment in found if moment.kind == "prompt"} == {
        "Fix the order of the Stripe refund webhooks. Look it up",
        "And the order of Stripe webhooks of test accounts?",
        "Order the Stripe webhooks",
    }, "a user's words without the brief that stood in front of them"


def test_an_answer_of_gemini_is_read_from_its_transcript() -> None:
    path = next(path for path in FILES if path.name.startswith("gemini"))
    payload = next(each["payload"] for each in recorded(path) if each["event"] == "AfterAgent")
    whole = (
        "Compared the created times of all of the events that came in and wrote a file.\n\nLEARNING_HELPFUL: learn_x"
    )
    told = {**payload, "transcript_path": str(RECORDED / "gemini-0.61.0-transcript.jsonl")}
    read = host_named("gemini").read
    for given, answer in (
        (told, whole),
        (payload, payload["prompt_response"]),  # no transcript
        ({**told, "prompt_response": "Another turn."}, "Another turn."),  # one that is behind
    ):
        moment = read("AfterAgent", given)
        assert moment is not None
        assert moment.answer == answer


def test_the_agent_that_writes_a_compactions_summary_is_not_one_of_the_users() -> None:
    payload = {"session_id": "s", "agent_id": "a", "agent_type": "", "last_assistant_message": "<summary>x</summary>"}
    assert host_named("claude-code").read("SubagentStop", payload) is None


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini"])
def test_an_answer_is_in_the_hosts_form(host: str) -> None:
    adapter = host_named(host)
    moment = adapter.read("SessionStart", {"session_id": "s"})
    assert moment is not None
    answer = answer_of(moment, "text")
    assert answer.startswith("{"), "a host reads JSON only when it begins so"
    assert json.loads(answer)["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert shown(answer) == "text"


@pytest.mark.parametrize("value", [None, 7, [], {}, "", " ", "x" * 500, "../../etc", "a b\nc"])
def test_any_value_of_any_field_is_survived(value: object) -> None:
    names = ("session_id", "cwd", "prompt", "transcript_path", "last_assistant_message", "source", "agent_id")
    for host in ("claude-code", "codex", "gemini"):
        for event in ("SessionStart", "UserPromptSubmit", "Stop", "BeforeAgent", "AfterAgent"):
            moment = host_named(host).read(event, dict.fromkeys(names, value))
            assert moment is None or (len(moment.session) <= 100 and moment.session.isascii())


@pytest.mark.parametrize(
    ("file", "requests", "answer"),
    [
        ("claude-code-2.1.197-transcript-1.jsonl", ("todo please", "Go on"), "All done."),
        (
            "claude-code-2.1.197-transcript-2.jsonl",
            ("Fix refunds; subagent please",),
            "All done.",
        ),
        (
            "codex-0.166.0-transcript.jsonl",
            ("Fix the Stripe refund webhook ordering",),
            "All done.\n\nLEARNING_HELPFUL: learn_x",
        ),
        (
            "gemini-0.61.0-transcript.jsonl",
            ("Fix the order of the Stripe refund webhooks. Look it up",),
            "Compared the created times of all of the events that came in and wrote a file.\n\n"
            "LEARNING_HELPFUL: learn_x",
        ),
    ],
)
def test_a_recorded_transcript_is_read(file: str, requests: tuple[str, ...], answer: str) -> None:
    talk = transcript.read(host_of(RECORDED / file), (RECORDED / file).read_text("utf-8").splitlines())
    assert (talk.requests, talk.answer) == (requests, answer)


def test_what_subagents_were_asked_is_told_by_their_ids_or_while_they_have_not_answered() -> None:
    lines = (RECORDED / "claude-code-2.1.197-transcript-2.jsonl").read_text("utf-8").splitlines()
    launched = next(place for place, line in enumerate(lines, 1) if '"name": "Agent"' in line)
    asked = "Look at the refund webhook code and report"
    assert transcript.read("claude-code", lines[:launched]).delegated == {"": asked}
    again = {"type": "tool_use", "id": "toolu_9", "name": "Agent", "input": {"prompt": "Count the queues"}}
    lines.append(json.dumps({"type": "assistant", "message": {"content": [again]}}))
    given = transcript.read("claude-code", lines).delegated
    assert given == {"a796125351f74101f": asked, "": "Count the queues"}


@pytest.mark.parametrize(
    "said",
    [
        "<task-notification>\n<task-id>a1</task-id>\n<result>They overtake.</result>\n</task-notification>",
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
    ],
)
def test_what_the_host_says_in_the_users_place_is_no_request(said: str) -> None:
    line = json.dumps({"type": "user", "message": {"role": "user", "content": said}})
    assert transcript.read("claude-code", [line]).requests == ()


def test_a_notification_that_comes_as_a_prompt_asks_for_nothing() -> None:
    given = {"session_id": "s", "prompt": "<task-notification><result>Webhooks overtake.</result></task-notification>"}
    moment = host_named("claude-code").read("UserPromptSubmit", given)
    assert moment is not None
    assert moment.prompt == ""


@pytest.mark.parametrize("value", [None, 7, [], {}, "", [7], {"content": 7}])
def test_any_line_of_a_transcript_is_survived(value: object) -> None:
    call = {"name": "replace", "status": "success", "args": value}
    inner = {"type": "item_completed", "item": value, "content": value, "message": value}
    for kind in ("user", "assistant", "gemini", "response_item", "event_msg"):
        odd = dict.fromkeys(("content", "toolCalls", "message", "payload", "metadata"), value)
        lines = [json.dumps({"type": kind, **odd}), json.dumps({"type": kind, "toolCalls": [call], "payload": inner})]
        for host in ("claude-code", "codex", "gemini"):
            assert not transcript.read(host, lines).files


def test_files_that_were_edited_are_named_once() -> None:
    edit = {"type": "tool_use", "name": "Edit", "input": {"file_path": "/home/ada/shop/a.py"}}
    line = json.dumps({"type": "assistant", "message": {"content": [edit, edit]}})
    patch = {"type": "custom_tool_call", "input": "*** Begin Patch\n*** Update File: b.py\n@@\n*** End Patch"}
    assert transcript.read("claude-code", [line, "not json", "[]", line]).files == ("/home/ada/shop/a.py",)
    assert transcript.read("codex", [json.dumps({"type": "response_item", "payload": patch})]).files == ("b.py",)
    lines = (RECORDED / "gemini-0.61.0-transcript.jsonl").read_text("utf-8").splitlines()
    refused = {"name": "replace", "args": {"file_path": "c.py"}, "status": "error"}
    lines.append(json.dumps({"type": "gemini", "content": "", "toolCalls": [refused]}))
    assert transcript.read("gemini", lines).files == ("a.py",)


def test_what_a_host_puts_around_a_users_words_is_not_theirs() -> None:
    text = "<system-reminder>Hook said: x</system-reminder>Fix it<local-command-stdout>y</local-command-stdout>"
    text += "<bash-input>ls</bash-input><bash-stdout>z</bash-stdout><bash-stderr></bash-stderr>"
    assert transcript.own_words(text) == "Fix it"
