"""The detectors on pairs whose answer is known; benchmarks/detectors.py gives figures over many."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text import compare

PAIRS = [
    json.loads(line) for line in (Path(__file__).parents[2] / "data/detector_pairs.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("Commit generated files", "Never commit generated files", "negation"),
        ("Enable compression on the proxy", "Disable compression on the proxy", "antonym"),
        ("The migration is reversible", "The migration is irreversible", "antonym"),
        ("Queue consumers are stateful", "Queue consumers are stateless", "antonym"),
        ("Handlers are idempotent", "Handlers are non-idempotent", "antonym"),
        ("Timeout is 30s", "The timeout is 1 minute", "quantity"),
        ("Deploys happen on Fridays", "Deploys happen on Mondays", "quantity"),
        ("Use polling for status", "Use webhooks instead of polling for status", "rejects"),
        ("Prefer tabs over spaces", "Prefer spaces over tabs", "rejects"),
        ("Run migrations before deploying", "Deploy before running migrations", "order"),
        ("Feature flags default to on", "Feature flags default to off", "antonym"),
        ("Empty fields are omitted from the response", "Empty fields are included in the response", "antonym"),
        ("Start the workers with MODE=thread", "Start the workers with MODE=fork", "value"),
    ],
)
def test_a_contradiction_names_what_conflicts(one: str, other: str, reason: str) -> None:
    for found in (compare.contradiction(one, other), compare.contradiction(other, one)):
        assert (found.answer, found.reason) == ("yes", reason)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Debug logging is off in production", "Debug logging is on in development"),
        ("Restart the indexer after changing its mapping", "Pause the indexer while changing its mapping"),
        ("Store images in the bucket", "Store metadata in the bucket"),
    ],
)
def test_other_words_in_the_same_places_are_another_rule_however_alike(one: str, other: str) -> None:
    assert compare.redundancy(one, other, cosine=0.95).answer != "yes"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Run the migrations before the deploy", "Before the deploy, announce the migrations"),
        ("Store invoices in the archive", "The archive is searched for invoices"),
        ("Block merges when coverage drops", "When coverage drops, merges are flagged"),
    ],
)
def test_something_else_done_with_the_same_things_is_another_rule(one: str, other: str) -> None:
    for found in (compare.redundancy(one, other, cosine=0.88), compare.redundancy(other, one, cosine=0.88)):
        assert (found.answer, found.reason) == ("unsure", "another action")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Start the worker with QUEUE=mail.", "Start the worker with QUEUE=mail"),
        ("Start the worker with QUEUE=mail", "Start the worker with LEVEL=mail"),
        ("Start the worker with QUEUE=mail", "Stop the mailer with QUEUE=jobs"),
    ],
)
def test_only_another_value_of_the_same_name_is_a_contradiction(one: str, other: str) -> None:
    assert compare.contradiction(one, other).answer != "yes"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Raw logs must never be deleted", "Don't delete raw logs"),
        ("Before you commit, run the tests", "Run the tests before committing"),
        ("Prefer pathlib over os.path", "Use pathlib instead of os.path"),
        ("Don't skip flaky tests; fix them", "Fix flaky tests rather than skipping them"),
        ("The cache TTL is 60s", "Cache TTL is 1 minute"),
        ("Webhooks can arrive out of order", "Webhooks are not guaranteed to arrive in order"),
        ("Never merge unless CI is green", "Merge only when CI is green"),
        ("Don't optimise before measuring", "Measure before you optimize"),
        ("Nobody but admins may rename a project", "Renaming a project is restricted to admins"),
        ("Keep the image below 200 MB", "The image must not exceed 200 MB"),
        ("Roll back without a migration", "A rollback needs no migration"),
        ("Release notes are written by the author", "The author writes the release notes"),
        ("Retrain the model every week", "The model is retrained weekly"),
        ("Prefer early returns to deep nesting", "Use early returns rather than deeply nested code"),
    ],
)
def test_the_same_insight_in_other_words_is_redundant(one: str, other: str) -> None:
    assert compare.redundancy(one, other).answer == "yes"
    assert compare.redundancy(other, one).answer == "yes"
    assert compare.contradiction(one, other).answer == "no"


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("Store images in the bucket", "Store metadata in the bucket", "different words"),
        ("The frontend imports the backend", "The backend imports the frontend", "same words in other roles"),
        ("The client trusts the server", "The client is trusted by the server", "same words in other roles"),
        ("Retry requests", "Retry requests 3 times", "different quantities"),
        ("The API limits requests", "The admin API limits requests", "one says more"),
        ("Mock the clock and the network", "Mock the clock and the network in tests", "one says more"),
        ("Write contract tests", "Write contract tests before the implementation", "one says more"),
    ],
)
def test_what_differs_in_one_thing_that_matters_is_not_redundant(one: str, other: str, reason: str) -> None:
    found = compare.redundancy(one, other)
    assert (found.answer != "yes", found.reason) == (True, reason)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Log all incoming requests", "Don't log health check requests"),
        ("Debug logging is enabled in development", "Debug logging is disabled in production"),
        ("The API allows 100 requests per minute", "The admin API allows 1000 requests per minute"),
        ("Retry failed requests three times", "Do not retry requests that failed with a 400"),
    ],
)
def test_an_exception_or_another_scope_is_no_contradiction(one: str, other: str) -> None:
    assert compare.contradiction(one, other).answer != "yes"


def test_one_conflicting_sentence_keeps_two_long_texts_from_being_merged() -> None:
    shared = "Pool connections per worker. Recycle idle connections after an hour. Log each checkout. "
    one, other = shared + "Close the pool on shutdown.", shared + "Never close the pool on shutdown."
    assert compare.redundancy(one, other).reason == "conflict:negation"
    assert compare.contradiction(one, other).answer == "yes"


def test_no_labelled_opposites_are_ever_called_redundant() -> None:
    opposites = [pair for pair in PAIRS if pair["label"] == "contradiction"]
    assert len(opposites) >= 50
    merged = [pair for pair in opposites if compare.redundancy(pair["a"], pair["b"]).answer == "yes"]
    assert merged == []


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_are_compared_without_an_error_and_the_same_way_round(one: str, other: str) -> None:
    assert compare.redundancy(one, other) == compare.redundancy(other, one)
    assert compare.contradiction(one, other) == compare.contradiction(other, one)


@given(st.text(max_size=200))
def test_a_text_repeats_itself_and_does_not_contradict_itself(text: str) -> None:
    assert compare.redundancy(text, text).answer == "yes"
    assert compare.contradiction(text, text).answer != "yes"


def test_importing_the_detectors_reads_no_data_and_loads_no_model() -> None:
    code = (
        "import sys; from recollect.text import compare; from recollect.text import lexicon;"
        "assert not {'re2', 'numpy', 'onnxruntime'} & set(sys.modules);"
        "assert lexicon._pairs.cache_info().currsize == 0"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Migrate the billing tables in phase 1", "Migrate the billing tables in phase 2"),
        ("Node pool 1 runs the batch jobs", "Node pool 2 runs the batch jobs"),
        ("Check the logs in step 3", "Check the logs in step four"),
        ("The v1 endpoint returns XML", "The v2 endpoint returns XML"),
    ],
)
def test_a_number_that_only_names_one_of_several_is_no_value(one: str, other: str) -> None:
    assert compare.contradiction(one, other).answer == "no"
    assert compare.supersession(other, one).answer == "no"
    assert compare.redundancy(one, other).answer != "yes"


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        ("Use tabs for indentation", "Use spaces for indentation.", "yes"),
        ("Indent with tabs", "Indent with spaces", "yes"),
        ("Use squash for pull requests", "Always use rebase for pull requests", "yes"),
        ("Use Vitest for unit tests", "Use Jest for unit tests", "unsure"),
        ("Use Redis for sessions", "Use Redis for caching", "no"),
        ("Use tabs in Makefiles", "Use spaces in Python files", "no"),
        ("Use tabs", "Use short names", "no"),
        ("Use npm for the site", "Use npm and yarn for the site", "no"),
        ("Document the npm build", "Document the yarn build", "no"),
    ],
)
def test_another_choice_for_the_same_purpose_contradicts_where_one_excludes_the_other(
    one: str, other: str, answer: str
) -> None:
    assert compare.contradiction(one, other).answer == compare.contradiction(other, one).answer == answer
