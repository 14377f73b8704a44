"""Tags are words of the text, and a domain needs a word that speaks of it."""

from __future__ import annotations

import pytest

from recollect.text.tags import domain, tags


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgres and k8s", {"postgresql", "kubernetes"}),
        ("WebSockets over HTTP", {"websocket", "http"}),
        ("set max_retries in conftest.py", {"max_retries", "conftest.py"}),
        ("run with --cache on /orders", {"--cache", "/orders"}),
        ("TaskGroup raised a SyntaxError", {"taskgroup", "syntaxerror"}),
        ("argon2id or the CSP", {"argon2id", "csp"}),
        ("C# and Go code", {"c#", "go"}),
        ("Node 20 resolves names", {"node"}),
        ("login with a password", {"login", "password"}),
        ("Docker镜像构建失败，Redis缓存为空", {"docker", "redis"}),
        ("트랜잭션을 사용한다", {"트랜잭션을", "사용한다"}),
    ],
)
def test_technologies_identifiers_and_telling_words_become_tags(text: str, expected: set[str]) -> None:
    assert expected <= set(tags(text))


@pytest.mark.parametrize(
    ("text", "unwanted"),
    [
        ("go to the page", "go"),
        ("Go to the page", "go"),
        ("Express delivery. Rest is fine", "express"),
        ("a long-lived connection", "long-lived"),
        ("this MUST NOT happen", "must"),
        ("x" * 51 + "_y stays", "x" * 51 + "_y"),
        ("部署前必须运行测试", "部署前必须运行测试"),
    ],
)
def test_everyday_words_do_not(text: str, unwanted: str) -> None:
    assert unwanted not in tags(text)


def test_there_are_at_most_five_tags_each_once() -> None:
    found = tags("Redis redis REDIS a_b c_d e_f g_h i_j")
    assert found == ("redis", "a_b", "c_d", "e_f", "g_h")


def test_spare_tags_help_out_only_when_the_text_has_too_few() -> None:
    assert tags("it is so", spare=("blocker", "discovery")) == ("blocker", "discovery")
    assert "blocker" not in tags("Redis and Kafka", spare=("blocker",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The OAuth callback lost its session", "authentication"),
        ("A migration locked two tables", "database"),
        ("Passwords never expire", "authentication"),
        ("pytest fixtures leak", "testing"),
        ("goroutines in a deadlock", "concurrency"),
        ("webpack cannot resolve the package", "build"),
        ("tokens.css holds the colours", "ui"),
        ("The rest is fine", None),
        ("A plain REST design", "api-integration"),
        ("nothing in particular", None),
    ],
)
def test_the_domain_is_what_most_words_speak_of(text: str, expected: str | None) -> None:
    assert domain(text) == expected


def test_the_text_outweighs_the_hint_and_the_hint_outweighs_nothing() -> None:
    assert domain("A migration failed", hints="Write tests") == "database"
    assert domain("pytest failed", hints="Fix the login") == "testing"
    assert domain("It failed", hints="Write tests") == "testing"
