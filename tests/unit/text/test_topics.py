"""What a topic is called, and which headings and lines name one."""

from __future__ import annotations

import pytest

from recollect.text.markers import read_states
from recollect.text.sentences import gist
from recollect.text.topics import (
    LONGEST,
    NAME_LIMIT,
    EntryWords,
    as_name,
    is_thin,
    key_of,
    likeness,
    names,
    reads_as_name,
    said,
)

DAY = 86_400_000
RARE = dict.fromkeys(("refund", "webhook", "invoic", "total", "statu"), 4.0)


def best(*titles: str) -> str:
    return names(titles, {}, 100)[0]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Refactor the invoice renderer", "Refactor invoice renderer"),
        ("Can you please help me move payouts to Stripe webhooks?", "Move payouts to Stripe webhooks"),
        ("I'm trying to improve my guitar playing!", "Improve guitar playing"),
        ("Fix OAuth2Client", "Fix OAuth2Client"),
        ("chore: remove deprecated linters", "Remove deprecated linters"),
        ("chore: bump Go to v1.25 (#4711)", "Bump Go to v1.25"),
        ("build(deps): bump redis from 7.1.0 to 7.2.0", "deps: bump redis"),
        ("caddyfile: tweak", "caddyfile: tweak"),
        (
            "fix(caddyfile): nested quotes formatted incorrectly by fmt",
            "caddyfile: nested quotes formatted incorrectly by fmt",
        ),
        ("chore (internal): remove goimports", "internal: remove goimports"),
        ("only increment the version if a silence is added", "Only increment version if a silence is added"),
        (
            "fix: ignore unsupported errors when trying to flush everything that is left over",
            "Ignore unsupported errors",
        ),
        ("gofrs/uuid -> google/uuid", "gofrs/uuid -> google/uuid"),
        ("Release 1.0a5", "Release 1.0a5"),
        ("Refund webhooks undo a later status", "Refund webhooks undo later status"),
    ],
)
def test_a_name_is_a_short_title_without_what_says_nothing(title: str, expected: str) -> None:
    assert best(title) == expected


@pytest.mark.parametrize(
    ("title", "telling"),
    [
        ("Don't show the facet in the cog menu of a page that nobody is allowed to edit", "Don't show facet"),
        ("Skip source paths that are listed by the user but cannot be accessed by the backup", "Skip source paths"),
    ],
)
def test_a_long_title_is_cut_at_a_phrase_and_never_behind_a_negation(title: str, telling: str) -> None:
    made = names([title], {}, 100)
    assert made[0].startswith(telling)
    assert max(map(len, made)) <= LONGEST
    assert all("n't" in name for name in made if "facet" in name)
    assert all("cannot" in name.lower() for name in made if "accessed" in name)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Should webhooks be processed in the request or from a queue?", "Webhooks in the request or from a queue"),
        ("Should we drop Python 3.9?", "Python 3.9"),
        ("Why did we choose MySQL over Postgres for billing?", "MySQL over Postgres for billing"),
        ("Why is CI red on main?", "CI red on main"),
        ("How do I back up the staging database?", "Back up staging database"),
        ("Can you drop Python 3.9?", "Drop Python 3.9"),
        ("Is it possible to rerun one shard?", "Rerun one shard"),
        ("Is it possible to keep a shard that will be marked as lost?", "Keep shard that will be marked as lost"),
    ],
)
def test_a_question_is_named_by_its_subject_and_not_as_a_fact(title: str, expected: str) -> None:
    assert names([title], {}, 100)[0] == expected


def test_what_recurs_beats_what_is_said_once() -> None:
    titles = ("Refund webhooks undo a later status", "Late refund webhooks are dropped")
    assert best(*titles) == "Refund webhooks"


def test_a_phrase_that_titles_share_is_not_cut() -> None:
    titles = ("Cleanup legacy labels of the exporter", "Cleanup legacy tests of the renderer")
    made = names(titles, {}, 100)
    assert "Cleanup legacy" not in made


def test_the_labels_of_fields_and_file_names_make_no_name() -> None:
    text = "- request: go on\n- outcome: done\n- references: src/billing/zebra.py"
    assert not any("zebra" in name.lower() or "outcome" in name.lower() for name in names([gist(text)], {}, 100))


def test_what_says_nothing_has_no_name() -> None:
    assert names(["yes", "123"], {}, 100) == []


@pytest.mark.parametrize("heading", ["Refund webhooks", "OAuth", "C# bindings", "Billing: exports"[:7]])
def test_a_short_heading_is_a_name(heading: str) -> None:
    assert reads_as_name(heading)


@pytest.mark.parametrize(
    "heading",
    ["", "Why do the exports run twice?", "Fixed it, then shipped it", "a b c d e f g", "x" * (NAME_LIMIT + 1)],
)
def test_a_sentence_a_list_or_a_prompt_is_not(heading: str) -> None:
    assert not reads_as_name(heading)


def test_spelling_and_plural_do_not_make_two_names() -> None:
    assert key_of("Refund Webhooks") == key_of("refund webhook")
    assert as_name("  **Refund webhooks**. ") == "Refund webhooks"


def test_two_entries_are_alike_by_title_files_and_time() -> None:
    def words(title: str, files: frozenset[str], at: int) -> EntryWords:
        terms = frozenset(title.split())
        return EntryWords(title=terms, terms=terms, files=files, at=at)

    one = words("refund webhook statu", frozenset({"a.py"}), 0)
    near = likeness(one, words("refund webhook total", frozenset({"a.py"}), DAY), RARE)
    assert near > likeness(one, words("refund webhook total", frozenset({"b.py"}), DAY), RARE)
    assert near > likeness(one, words("refund webhook total", frozenset({"a.py"}), 400 * DAY), RARE)
    assert near > likeness(one, words("invoic total", frozenset({"a.py"}), DAY), RARE)


def test_an_entry_of_a_few_words_is_thin_unless_it_names_a_file() -> None:
    assert is_thin(said("ye\n\n\nrequest ye", "- request: yes", 0))
    assert not is_thin(said("ye\n\n\nrequest ye\nrefer py", "- request: yes\n- references: a/b.py", 0))


def test_lines_of_an_agent_name_topic_and_state() -> None:
    found = read_states("Fixed.\n\n**TOPIC:** Refund webhooks\n- DONE: late events\n`OPEN: replay March`\n")
    assert (found.topic, found.done, found.open) == ("Refund webhooks", ("late events",), ("replay March",))


@pytest.mark.parametrize("text", ["```\nTOPIC: x\n```", "<!-- TOPIC: x -->", "> TOPIC: x", "the TOPIC: x", "TOPIC:"])
def test_elsewhere_such_a_line_is_text(text: str) -> None:
    assert read_states(text).topic == ""


def test_quotes_inside_a_list_are_no_part_of_a_name() -> None:
    assert names(["Add `py`, `hs` and `typ` injection regexes"], {}, 10)[0] == "Add py, hs and typ injection regexes"
