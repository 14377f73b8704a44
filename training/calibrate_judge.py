"""Fit the last layer of comparing, and choose its two bars: python -m training.calibrate_judge

The layer weighs the judge's chances with what the rules say (`WEIGHTS` in `text/compare`). It is fitted on the held-out
writers and on `tests/data/detector_pairs.jsonl`, whose pairs share their words; the bars are chosen on the held-out
writers. Prints what goes into `text/compare`. Needs the embeddings extra, no torch.
"""

import json
from pathlib import Path

import numpy as np
from benchmarks.detectors import KINDS, average_precision, claims_in
from training.judge_pairs import LABELS, quintuples, sets

from recollect.models.embed import judge_pairs
from recollect.text.compare import compare, signs

NAMES = ("same", "conflict", "near")
SHARED = Path(__file__).parents[1] / "tests" / "data" / "detector_pairs.jsonl"
SHARED_WEIGHT = 0.6  # of a pair by authors who knew the rules
STEPS, RATE, DECAY = 6_000, 0.3, 1e-3


def read(pairs: list[tuple[str, str, str]]) -> tuple[np.ndarray, np.ndarray]:
    """The signs and the kind of each pair."""
    found, kinds = [], []
    for older, newer, label in pairs:
        pair = (claims_in(newer)[0], claims_in(older)[0])
        found.append(signs(pair, judge_pairs([pair])[0], compare(pair[:1], pair[1:])))
        kinds.append(NAMES.index(KINDS.get(label, "near")))
    return np.array(found), np.array(kinds)


def chances(given: np.ndarray, weights: np.ndarray) -> np.ndarray:
    powers = np.exp(given @ weights - (given @ weights).max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def fit(given: np.ndarray, kinds: np.ndarray, counts: np.ndarray) -> np.ndarray:
    weights = np.zeros((given.shape[1], 3))
    weights[:3] = np.eye(3)
    for _ in range(STEPS):
        off = (chances(given, weights) - np.eye(3)[kinds]) * counts[:, None]
        weights -= RATE * (given.T @ off / counts.sum() + DECAY * weights)
    return np.round(weights, 2)


def bar(given: np.ndarray, truth: np.ndarray, precision: float) -> float:
    """The lowest chance from which at least so many finds are right."""
    order = np.argsort(-given)
    right = np.cumsum(truth[order]) / np.arange(1, len(order) + 1)
    good = np.nonzero(right >= precision)[0]
    return float(np.ceil(given[order][good[-1]] * 100) / 100) if len(good) else 1.0


def main() -> None:
    rows = quintuples(held_out=True)
    told = [(row["a"], row[label], label) for row in rows for label in LABELS]
    told += [(row["a"], text, label) for row in sets(held_out=True) for label in LABELS for text in row[label]]
    held, kinds = read(told)
    shared = [json.loads(line) for line in SHARED.read_text("utf-8").splitlines()]
    beside, their_kinds = read([(pair["a"], pair["b"], pair["label"]) for pair in shared])
    counts = np.concatenate([np.ones(len(held)), np.full(len(beside), SHARED_WEIGHT)])
    weights = fit(np.concatenate([held, beside]), np.concatenate([kinds, their_kinds]), counts)
    print("WEIGHTS =", tuple(tuple(float(each) for each in row) for row in weights))
    found = chances(held, weights)
    for at, name in enumerate(NAMES[:2]):
        truth = kinds == at
        ap, recall = average_precision(found[:, at].tolist(), [bool(each) for each in truth])
        reversed_ = float(found[kinds == 1, 0].max()) if name == "same" else 0.0
        sure, maybe = bar(found[:, at], truth, 0.9), bar(found[:, at], truth, 0.75)
        print(f"{name}: AP {ap:.3f}, R at P .90 {recall:.2f}, sure from {sure}, maybe from {maybe}, "
              f"highest chance of a reversal {reversed_:.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
