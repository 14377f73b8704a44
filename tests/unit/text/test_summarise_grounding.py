"""What a stranger's text about ours may not do."""

from __future__ import annotations

import pytest

from recollect.text.summarise import additions, echoes, lost, refuses

SOURCE = "Run `make deploy --fast` after https://ci.example/green. Never push on Friday."


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I am unable to summarise these notes.",
        "I cannot assist with this request.",
        "As an AI, I have no opinion.",
        "## Summary\n\nUnfortunately, I must stop here.",
        "  Sorry, I won't do that.",
        "I’m sorry, that is not possible",
        "I must decline to answer.",
        "I apologize, but no.",
    ],
)
def test_a_refusal_is_recognised(text: str) -> None:
    assert refuses(text)


@pytest.mark.parametrize(
    "text",
    [
        "CI cannot reach the staging database",
        "The client is sorry, but the payment failed",
        "I/O waits dominate the build",
        "Unfortunately the cache is cold after a deploy",
        "- auth: I cannot be null",
        "",
    ],
)
def test_what_only_sounds_like_one_is_not(text: str) -> None:
    assert not refuses(text)


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("Run `make deploy --fast` after https://ci.example/green.", []),
        ("run MAKE   deploy --fast", []),
        ("See https://evil.example/x", ["https://evil.example/x"]),
        ("See www.evil.example", ["www.evil.example"]),
        ("See [this](//evil.example/x)", ["//evil.example/x"]),
        ("Run `rm -rf /`", ["rm -rf", "rm -rf /"]),
        ("Use --force", ["--force"]),
        ("First sudo, then deploy", ["sudo"]),
        ("```sh\nmake deploy --fast\nmake clean\n```", ["make clean"]),
        ("$ make clean", ["make clean"]),
        ("pip install nonsense", ["pip install"]),
    ],
)
def test_links_and_commands_come_from_the_sources(text: str, added: list[str]) -> None:
    assert additions(text, [SOURCE]) == added


def test_what_must_stay_is_said_again() -> None:
    kept = "Always run the migrations before the deploy, because the API starts with them."
    assert lost("Migrations always run before deploy: the API starts with them, because.", [kept]) == []
    assert lost("Deploys are nice.", [kept]) == [kept]


def test_an_echo_of_the_instructions_is_recognised() -> None:
    told = "You shrink the notes of one period into a keyword-dense index of it.\nShort line."
    assert echoes(f"Sure! {told}", told)
    assert not echoes("Short line.", told)
