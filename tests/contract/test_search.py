"""Search over learnings: any text is a query, options narrow, what matched is told truly."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Opener
from recollect import LearningEdit, Memory, SearchOptions
from refusals import taken
from samples import FLAKY, MIGRATIONS, WEBHOOKS, learning


def found(memory: Memory, query: str, **options: Any) -> list[str]:
    return [hit.learning.title for hit in memory.search(query, **options)]


@pytest.fixture
def three(memory: Memory) -> Memory:
    for base in (WEBHOOKS, MIGRATIONS, FLAKY):
        memory.learn(learning(base))
    return memory


# Any text is a query (promise P20)


@pytest.mark.parametrize(
    "query",
    [
        'webhook"',
        '"webhook',
        '""webhook""',
        'zzz"OR(title:webhook*)OR"zzz webhook',
        "NEAR(webhook order)",
        "webhook NEAR/2 order",
        "^webhook",
        "-webhook",
        "title:webhook",
        "nosuch:webhook",
        "webhook*",
        "(webhook",
        "webhook AND",
        "webhook OR",
        "NOT webhook",
        "webhook\x00",
        "\x00webhook \x00order",
        "webhook;DROP TABLE learnings;--",
        "webhook' OR '1'='1",
        "{webhook}",
        "web\\hook webhook",
        "%webhook_",
        "\ud800 webhook",
        "webhook " + "zzz " * 200_000,
    ],
    ids=lambda query: ascii(query)[:30],
)
def test_nothing_in_a_query_is_syntax(three: Memory, query: str) -> None:
    assert found(three, query)[0] == WEBHOOKS["title"]
    assert FLAKY["title"] not in found(three, query)


@pytest.mark.parametrize("query", ["*", '"', "()", "!?.,;", "\x00", "\ud800", "the of and", "¿¡", "🦖", "\u202e"])
def test_a_query_without_words_finds_nothing(three: Memory, query: str) -> None:
    assert found(three, query) == []


@given(st.text(st.characters(codec=None)))
def test_search_never_raises_on_any_text(memory: Memory, query: str) -> None:
    memory.learn(learning())
    for hit in memory.search(query, min_confidence=0) if query.strip() else ():
        assert hit.matched_fields
        assert hit.score > 0
        assert 0 < hit.relevance <= 1


@given(st.text(st.characters(codec=None), min_size=1, max_size=80))
def test_what_was_written_is_found_by_its_own_words(memory: Memory, text: str) -> None:
    kept = memory.learn(learning(FLAKY, title="odd one", context=f"marked {text} marked")).learning
    hits = memory.search(kept.context, limit=1000)
    assert kept.id in [hit.learning.id for hit in hits]


@pytest.mark.parametrize(
    ("written", "query"),
    [
        ("Go UI DB C# notes", "Go"),
        ("Go UI DB C# notes", "ui"),
        ("Go UI DB C# notes", "DB"),
        ("Go UI DB C# notes", "C#"),
        ("C++ build flags", "c++"),
        ("Use .NET eight", ".net"),
        ("Call retryWithBackoff twice", "retry backoff"),
        ("Call retryWithBackoff twice", "retryWithBackoff"),
        ("Call retryWithBackoff twice", "retrywithbackoff"),
        ("Set max_pool_size high", "pool size"),
        ("See src/billing/webhookHandler.py", "webhookHandler"),
        ("See src/billing/handler.py", "billing handler"),
        ("Broken since v2.10.3", "2.10.3"),
        ("Deploying services", "deploy service"),
        ("データベースの接続が切れる", "接続"),
        ("数据库连接池耗尽", "连接池"),
        ("데이터베이스 연결", "데이터베이스"),
        ("Überprüfung der Größe", "uberprufung"),
        ("naïve café", "naive cafe"),
        ("ＦＵＬＬＷＩＤＴＨ", "fullwidth"),
    ],
)
def test_programmers_words_are_found(memory: Memory, written: str, query: str) -> None:
    memory.learn(learning(FLAKY))
    kept = memory.learn(learning(title="Note", context=written, tags=())).learning
    assert memory.search(query)[0].learning.id == kept.id


@pytest.mark.parametrize(("written", "query"), [("C# notes", "C"), ("C notes", "C#"), ("Gopher", "Go")])
def test_short_names_are_not_mixed_up(memory: Memory, written: str, query: str) -> None:
    memory.learn(learning(title="Note", context=written))
    assert memory.search(query) == []


# What matched


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("stripe", ("title", "tags", "context")),
        ("overtake", ("observation",)),
        ("assume", ("implication",)),
        ("timestamp", ("action",)),
        ("billing", ("context",)),
        ("overtake timestamp", ("observation", "action")),
        ("webhooks overtake zzz", ("title", "tags", "observation")),
    ],
)
def test_matched_fields_are_true(three: Memory, query: str, fields: tuple[str, ...]) -> None:
    assert three.search(query)[0].matched_fields == fields


def test_a_snippet_shows_the_first_matching_field(three: Memory) -> None:
    assert three.search("timestamp")[0].snippet == WEBHOOKS["action"]
    assert three.search("overtake timestamp")[0].snippet == WEBHOOKS["observation"]


def test_a_title_match_alone_shows_the_title(memory: Memory) -> None:
    memory.learn(learning(title="Zebra crossing"))
    assert memory.search("zebra")[0].snippet == "Zebra crossing"


def test_a_snippet_of_a_long_field_is_cut_around_the_match(memory: Memory) -> None:
    memory.learn(learning(observation="many words before. " * 50 + "The needle. " + "and after. " * 50))
    snippet = memory.search("needle")[0].snippet
    assert "needle" in snippet
    assert len(snippet) < 180


# Order


def test_a_word_in_the_title_or_tags_counts_more_than_in_the_body(memory: Memory) -> None:
    body = memory.learn(learning(FLAKY, title="Alpha", context="The zebra crossing", tags=())).learning
    tagged = memory.learn(learning(MIGRATIONS, title="Beta", tags=("zebra",))).learning
    title = memory.learn(learning(title="Zebra", tags=())).learning
    assert [hit.learning.id for hit in memory.search("zebra")] == [title.id, tagged.id, body.id]
    scores = [hit.score for hit in memory.search("zebra")]
    assert scores == sorted(scores, reverse=True)


def test_a_learning_below_the_bar_is_found_by_its_own_words(memory: Memory) -> None:
    kept = memory.learn(learning(title="Zebra crossings need a lamp", confidence=0.45)).learning
    assert found(memory, "zebra") == []
    for query in ("zebra crossings lamp", "zebra lamp", kept.title):
        assert [hit.learning.id for hit in memory.search(query)] == [kept.id]
    short = memory.learn(learning(FLAKY, title="The frobnicator", confidence=0.3)).learning
    assert [hit.learning.id for hit in memory.search(short.title)] == [short.id]
    assert memory.search("zebra crossings lamp", min_confidence=0.5) == []


def test_a_rare_word_decides(memory: Memory) -> None:
    for number, word in enumerate(("alpha", "bravo", "delta", "gamma")):
        memory.learn(learning(FLAKY, title=f"Deploy {word}", observation=f"{word} deploys {number}", action=word))
    assert found(memory, "deploy gamma")[0] == "Deploy gamma"


def test_relevance_is_the_share_of_a_full_match(three: Memory) -> None:
    whole = three.search("stripe webhooks")[0].relevance
    part = three.search("stripe webhooks kangaroo didgeridoo boomerang")[0].relevance
    assert 0 < part < whole <= 1


# Options


@pytest.mark.parametrize(
    ("least", "expected"), [(None, True), (0, True), (0.5, True), (0.7, True), (0.701, False), (1, False)]
)
def test_min_confidence_is_inclusive(memory: Memory, least: float | None, expected: bool) -> None:
    memory.learn(learning(confidence=0.7))
    assert bool(memory.search("stripe", min_confidence=least)) is expected


@pytest.mark.parametrize(("confidence", "expected"), [(0.499, False), (0.5, True)])
def test_the_default_bar_is_a_half(memory: Memory, confidence: float, expected: bool) -> None:
    memory.learn(learning(confidence=confidence))
    assert bool(memory.search("stripe")) is expected


def test_the_default_limit_is_ten(memory: Memory) -> None:
    words = "alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima".split()
    for word in words:
        memory.learn(learning(title=f"Deploy {word}", observation=f"{word} was {word}", action=f"Use {word}"))
    assert len(memory.search("deploy")) == 10
    assert len(memory.search("deploy", limit=12)) == 12
    assert len(memory.search("deploy", limit=1000)) == 12
    assert found(memory, "deploy", limit=1) == found(memory, "deploy")[:1]


def test_what_came_up_again_in_an_outcome_is_left_out_with_it(memory: Memory) -> None:
    for outcome in ("billing", "shipping"):
        memory.learn(learning(source_outcome_id=outcome))
    assert found(memory, "stripe", exclude_outcome="shipping") == []


def test_search_narrows_by_outcome_and_domain(memory: Memory) -> None:
    memory.learn(learning(source_outcome_id="billing"))
    memory.learn(learning(FLAKY, context="Stripe again"))
    assert found(memory, "stripe", exclude_outcome="billing") == [FLAKY["title"]]
    assert len(found(memory, "stripe", exclude_outcome="elsewhere")) == 2
    assert found(memory, "stripe", domain="Testing ") == [FLAKY["title"]]
    assert found(memory, "stripe", domain="nowhere") == []


def test_search_narrows_by_status(memory: Memory) -> None:
    ids = {}
    for base in (WEBHOOKS, MIGRATIONS, FLAKY):
        ids[base["title"]] = memory.learn(learning(base, context="Checkout service")).learning.id
    memory.learnings.archive(ids[MIGRATIONS["title"]])
    memory.learnings.supersede(ids[FLAKY["title"]], ids[WEBHOOKS["title"]])
    assert found(memory, "checkout") == [WEBHOOKS["title"]]
    assert found(memory, "checkout", status="archived") == [MIGRATIONS["title"]]
    assert found(memory, "checkout", status="superseded") == [FLAKY["title"]]
    assert len(found(memory, "checkout", status="all")) == 3


OPTIONS_THAT_CANNOT_BE: tuple[dict[str, Any], ...] = (
    {"limit": 0},
    {"limit": -1},
    {"limit": 1001},
    {"limit": 10**9},
    {"limit": 1e9},
    {"limit": 2.5},
    {"limit": float("nan")},
    {"limit": "5"},
    {"limit": True},
    {"min_confidence": -1},
    {"min_confidence": 1.001},
    {"min_confidence": float("nan")},
    {"min_confidence": float("1e999")},
    {"min_confidence": "0.9"},
    {"min_confidence": True},
    {"status": "lost"},
    {"status": None},
    {"colour": "red"},
)


def test_options_that_cannot_be_are_refused(three: Memory) -> None:
    assert taken(partial(three.search, "stripe"), OPTIONS_THAT_CANNOT_BE) == []


def test_options_have_the_seeds_names() -> None:
    seeds = {"min_confidence", "limit", "exclude_outcome", "domain", "status", "strategy", "semantic_weight"}
    assert seeds <= set(vars(SearchOptions()))


def test_settings_give_the_defaults(open_memory: Opener, environ: dict[str, str]) -> None:
    environ |= {"RECOLLECT_SEARCH_LIMIT": "1", "RECOLLECT_SEARCH_MIN_CONFIDENCE": "0.65"}
    memory = open_memory()
    memory.learn(learning(confidence=0.64))
    assert found(memory, "stripe") == []
    memory.learn(learning(FLAKY, context="Stripe again"))
    memory.learn(learning(MIGRATIONS, context="Stripe again"))
    assert len(found(memory, "stripe")) == 1


def test_many_that_do_not_pass_do_not_hide_those_that_do(memory: Memory) -> None:
    """The filter is applied while candidates are read, not to the ten best."""
    words = [
        f"{one}{other}" for one in ("al", "be", "co", "du", "el", "fu", "gi", "ho") for other in ("ra", "mo", "ti")
    ]
    for word in words:
        memory.learn(learning(title=f"Stripe {word}", observation=word, action=word, confidence=0.4))
    kept = memory.learn(learning(FLAKY, context="A long story in which stripe is named once")).learning
    assert [hit.learning.id for hit in memory.search("stripe", limit=1)] == [kept.id]


# The index follows


def test_an_edit_moves_what_is_found(memory: Memory) -> None:
    kept = memory.learn(learning()).learning
    memory.learnings.edit(kept.id, LearningEdit(observation="Zebras cross", tags=("savanna",)))
    assert found(memory, "overtake") == []
    assert found(memory, "zebras") == found(memory, "savanna") == [kept.title]
    memory.learnings.undo()
    assert found(memory, "zebras") == found(memory, "savanna") == []
    assert found(memory, "overtake") == [kept.title]


def test_archive_and_restore_move_what_is_found(memory: Memory) -> None:
    kept = memory.learn(learning()).learning
    memory.learnings.archive(kept.id)
    assert found(memory, "stripe") == []
    memory.learnings.restore(kept.id)
    assert found(memory, "stripe") == [kept.title]


def test_counts_of_words_follow_edits(memory: Memory) -> None:
    """How rare a word is decides the order, so counts must not drift: after many edits scores are as in a new store."""
    kept = memory.learn(learning()).learning
    before = memory.search("stripe webhooks overtake")[0].score
    for number in range(5):
        memory.learnings.edit(kept.id, LearningEdit(context=f"stripe {number}"))
    memory.learnings.edit(kept.id, LearningEdit(context=kept.context))
    assert memory.search("stripe webhooks overtake")[0].score == before


def test_finding_changes_nothing(three: Memory) -> None:
    before = three.learnings.page(status="all"), three.status()
    three.search("stripe webhooks")
    assert (three.learnings.page(status="all"), three.status()) == before
