"""The weights of the learnt order: written by `python -m training.rank`, not by hand.

Each signal has two weights: for a passage that stands alone and for one in a thread. Which data they come from and how
good they are on other data: training/README.md and docs/experiments.md.
"""

from __future__ import annotations

BY_MEANING = ("meaning",)

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
    "words": (1.266, 2.619),
    "best": (0.9111, 1.062),
    "held": (1.146, 0.6193),
    "long": (1.448, 1.82),
    "title": (0, 4.257),
    "titled": (1.49, 0.2525),
    "length": (0.1653, 0.1653),
    "thread": (1.056, 1.082),
    "session": (0.6677, 0.2974),
    "beside": (0.07115, 0.1423),
    "recency": (0.4247, 0.4247),
    "person": (0.3765, 0.8305),
    "label": (0.8457, 1.669),
    "opening": (0.3177, 0.6355),
    "meaning": (3.931, 3.931),
}

FLOOR: tuple[float, dict[str, float]] = (
    -5.311,
    {
        "words": 0.2921,
        "held": -0.1681,
        "rarest": -0.19,
        "matched": 1.207,
        "asked": -0.5596,
        "session": 1.308,
        "known": 2.029,
        "familiar": -1.187,
        "ahead": 0.3793,
        "far_ahead": 0.4263,
    },
)

FLOOR_WITH_MEANING: tuple[float, dict[str, float]] = (
    -5.177,
    {
        "words": 2.554,
        "plain": -4.093,
        "held": 0.518,
        "rarest": -0.03555,
        "matched": 0.8063,
        "asked": -0.2586,
        "titled": -0.4347,
        "thread": 0.3477,
        "best": -0.7849,
        "session": 1.39,
        "long": -1.168,
        "score": -0.03035,
        "ahead": 0.1596,
        "far_ahead": 0.5407,
        "closeness": 8.317,
        "whole": -3.518,
    },
)
