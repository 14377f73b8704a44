"""The weights of the learnt order: written by `python -m training.rank`, not by hand.

Each signal has two weights: for a passage that stands alone and for one in a thread. Which data they come from and how
good they are on other data: training/README.md and docs/experiments.md.
"""

from __future__ import annotations

BY_MEANING = ("meaning", "whole")

WORDS: dict[str, tuple[float, float]] = {
    "words": (2.094, 4.33),
    "best": (1.506, 1.756),
    "held": (1.895, 1.024),
    "long": (2.394, 3.009),
    "title": (0, 7.039),
    "titled": (2.463, 0.4174),
    "length": (0.2733, 0.2733),
    "thread": (1.747, 1.79),
    "session": (1.104, 0.4918),
    "beside": (0.1176, 0.2353),
    "recency": (0.7022, 0.7022),
    "person": (0.6225, 1.373),
    "label": (1.398, 2.76),
    "opening": (0.5253, 1.051),
}

WITH_MEANING: dict[str, tuple[float, float]] = {
    "words": (1.197, 2.475),
    "best": (0.8611, 1.004),
    "held": (1.083, 0.5853),
    "long": (1.368, 1.72),
    "title": (0, 4.023),
    "titled": (1.408, 0.2386),
    "length": (0.1562, 0.1562),
    "thread": (0.9984, 1.023),
    "session": (0.631, 0.2811),
    "beside": (0.06724, 0.1345),
    "recency": (0.4014, 0.4014),
    "person": (0.3558, 0.7849),
    "label": (0.7993, 1.578),
    "opening": (0.3003, 0.6006),
    "meaning": (10.48, 10.48),
    "whole": (3.044, 3.044),
}

FLOOR: tuple[float, dict[str, float]] = (
    -3.786,
    {
        "words": 1.748,
        "plain": -1.055,
        "held": -0.6742,
        "rarest": -0.07148,
        "matched": 1.608,
        "asked": -0.9272,
        "titled": -0.8585,
        "thread": 0.7059,
        "best": -0.9987,
        "session": 1.419,
        "long": -0.6414,
        "score": -0.05323,
        "ahead": 0.3492,
        "far_ahead": 0.4609,
    },
)

FLOOR_WITH_MEANING: tuple[float, dict[str, float]] = (
    -4.787,
    {
        "words": 3.075,
        "plain": -3.951,
        "held": 0.9781,
        "rarest": -0.06027,
        "matched": 0.7964,
        "asked": -0.2287,
        "titled": 0.3163,
        "thread": 1.121,
        "best": -0.7287,
        "session": 1.629,
        "long": -1.034,
        "score": -0.3607,
        "ahead": 0.3155,
        "far_ahead": 0.4047,
        "meaning": 15.58,
        "whole": -7.652,
    },
)
