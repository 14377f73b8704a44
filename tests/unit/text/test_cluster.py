import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text import cluster
from recollect.text.cluster import (
    TOGETHER,
    group,
    medoid,
    merge_nearest,
    similarities,
    similarity,
    topic_vectors,
    wording_vectors,
)

NOTES = [
    "Build cache misses when the lockfile hash is not in the cache key",
    "The cache key of the build must hold the lockfile",
    "Cold build cache doubles pipeline time",
    "Login token expires during long uploads",
    "Refresh the login token before uploads start",
    "Token refresh races when two tabs log in",
    "Migrations on the orders table lock writers",
    "Add an index concurrently in migrations or writers wait for the lock",
]


def test_notes_on_one_subject_come_together() -> None:
    groups = group(topic_vectors(NOTES), TOGETHER)
    assert sorted(groups) == [[0, 1, 2], [3, 4, 5], [6, 7]]


def test_every_item_is_in_exactly_one_group_however_little_it_shares() -> None:
    texts = [*NOTES, "", "zzz", "…"]
    groups = group(topic_vectors(texts), TOGETHER)
    assert sorted(item for items in groups for item in items) == list(range(len(texts)))


def test_more_notes_than_one_batch_come_together_by_subject() -> None:
    subjects = {
        "cache": "lockfile build key hash",
        "token": "login refresh expire tab",
        "lock": "migration table index",
    }
    chance = random.Random(7)
    texts, labels = [], []
    for number in range(cluster.BATCH + 200):
        subject = sorted(subjects)[number % 3]
        texts.append(" ".join([subject, *chance.sample(subjects[subject].split(), 2), f"unique{number}"]))
        labels.append(subject)
    groups = group(topic_vectors(texts), TOGETHER)
    pure = sum(max(sum(labels[i] == s for i in items) for s in subjects) for items in groups)
    assert pure == len(texts)
    assert len(groups) <= 20


@given(st.lists(st.text(alphabet="abcde ", max_size=20), max_size=25), st.randoms(use_true_random=False))
def test_groups_are_a_partition_and_do_not_depend_on_chance(texts: list[str], chance: random.Random) -> None:
    groups = group(topic_vectors(texts), TOGETHER)
    assert sorted(item for items in groups for item in items) == list(range(len(texts)))
    assert group(topic_vectors(texts), TOGETHER) == groups


def test_chains_of_neighbours_merge_as_the_nearest_pair_each_time_would() -> None:
    chance = random.Random(3)
    for _ in range(20):
        points = [[chance.gauss(0, 1) for _ in range(3)] for _ in range(14)]
        units = [{str(n): x / math.dist(p, (0, 0, 0)) for n, x in enumerate(p)} for p in points]
        fast = group(units, 0.3)
        assert fast == nearest_pair_each_time(units, 0.3)


def nearest_pair_each_time(units: list[dict[str, float]], together: float) -> list[list[int]]:
    table = similarities(units)
    groups = [[item] for item in range(len(units))]

    def mean(one: list[int], other: list[int]) -> float:
        return sum(table[i][j] for i in one for j in other) / (len(one) * len(other))

    while len(groups) > 1:
        score, a, b = max((mean(groups[a], groups[b]), a, b) for a in range(len(groups)) for b in range(a))
        if score < together:
            break
        groups[b] += groups.pop(a)
    return sorted((sorted(items) for items in groups), key=lambda items: (-len(items), items))


def test_one_group_too_many_merges_the_two_nearest() -> None:
    vectors = topic_vectors(NOTES)
    merged = merge_nearest([[0], [1], [3, 4, 5], [6, 7]], vectors, 3)
    assert sorted(merged) == [[0, 1], [3, 4, 5], [6, 7]]


def test_groups_kept_apart_are_never_merged() -> None:
    vectors = topic_vectors(NOTES)
    merged = merge_nearest([[0], [1], [6, 7]], vectors, 2, apart={0, 1})
    assert [0, 1] not in merged
    assert merge_nearest([[0], [1]], vectors, 1, apart={0, 1}) == [[0], [1]]


def test_a_newcomer_joins_before_two_settled_groups_are_moved() -> None:
    def unit(degrees: float) -> dict[str, float]:
        return {"x": math.cos(math.radians(degrees)), "y": math.sin(math.radians(degrees))}

    vectors = [unit(0), unit(30), unit(80)]
    assert merge_nearest([[0], [1], [2]], vectors, 2) == [[0, 1], [2]]
    assert merge_nearest([[0], [1], [2]], vectors, 2, settled={0, 1}) == [[1, 2], [0]]
    near = [unit(0), unit(2), unit(80)]
    assert merge_nearest([[0], [1], [2]], near, 2, settled={0, 1}) == [[0, 1], [2]]


def test_the_same_words_are_alike_and_other_words_are_not() -> None:
    same, again, other = wording_vectors(["Search first saves work", "search FIRST saves work.", "Rotate keys"])
    assert similarity(same, again) == pytest.approx(1)
    assert similarity(same, other) == 0


def test_the_medoid_is_the_one_most_like_the_others() -> None:
    vectors = wording_vectors(["cache the key", "cache the key hash", "hash of the lockfile in the cache key"])
    assert medoid([0, 1, 2], vectors) == 1


def test_more_items_than_are_linked_at_once_join_the_groups_they_are_like() -> None:
    def unit(*values: float) -> dict[str, float]:
        return {f"word {n}": value / math.hypot(*values) for n, value in enumerate(values)}

    many = [unit(1, 0.001 * n, 0) for n in range(cluster.BATCH)] + [unit(0, 0.001 * n, 1) for n in range(50)]
    for items in group(many, TOGETHER):
        assert all(item < cluster.BATCH for item in items) or all(item >= cluster.BATCH for item in items)
