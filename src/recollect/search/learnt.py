"""The weights of the learnt order: written by `python -m training.rank`, not by hand.

Each signal has two weights: for a passage that stands alone and for one in a thread. Which data they come from and how
good they are on other data: training/README.md and docs/experiments.md.
"""

from __future__ import annotations

BY_MEANING = ("meaning", "whole")

WORDS: dict[str, tuple[float, float]] = {
    "words": (3.213, 7.47),
    "best": (1.736, 0.512),
    "title": (0, 6.393),
    "titled": (2.732, 0.4433),
    "repeated": (0.01448, 0.01448),
    "length": (0.2659, 0.2659),
    "thread": (3.077, 3.628),
    "recency": (0.3779, 0.3779),
    "person": (0.4185, 1.555),
    "label": (1.415, 3.122),
    "opening": (0.2574, 0.5148),
}

WITH_MEANING: dict[str, tuple[float, float]] = {
    "words": (1.99, 4.626),
    "best": (1.075, 0.3171),
    "title": (0, 3.959),
    "titled": (1.692, 0.2745),
    "repeated": (0.008968, 0.008968),
    "length": (0.1647, 0.1647),
    "thread": (1.906, 2.247),
    "recency": (0.234, 0.234),
    "person": (0.2591, 0.9626),
    "label": (0.8759, 1.933),
    "opening": (0.1594, 0.3188),
    "meaning": (8.939, 8.939),
    "whole": (5.375, 5.375),
}

FLOOR: tuple[float, dict[str, float]] = (
    -5.479,
    {
        "words": 1.274,
        "plain": 2.563,
        "held": -0.7622,
        "rarest": -0.1059,
        "matched": 1.219,
        "asked": -0.928,
        "titled": -0.4437,
        "thread": 3.998,
    },
)

FLOOR_WITH_MEANING: tuple[float, dict[str, float]] = (
    -5.044,
    {
        "words": -0.7261,
        "plain": 8.062,
        "held": -0.2226,
        "rarest": -0.08566,
        "matched": -0.6761,
        "asked": -0.2525,
        "titled": -2.57,
        "thread": 2.854,
        "meaning": 4.976,
        "whole": 1.101,
    },
)
