"""Verdicts in an agent's own words: which learnings helped and which did not.

A marker is `LEARNING_HELPFUL: <id>` or `LEARNING_NOT_HELPFUL: <id>`, exactly so and alone on its line.
Tolerated around it: up to three spaces in front (four are an indented code block), a list bullet `-`, `*` or
`+`, one pair of backticks or of `**` round the whole marker, backticks or the `<>` of our own instructions round
the id, and white space at the end. Anything else on the line means that somebody talks about the marker. Code
blocks, quotes and HTML comments are not the agent's own words (`prose`).

Knows nothing about who was shown what: whether a verdict counts is decided where injections are known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from recollect.text.prose import own_lines

_MARKER = re.compile(
    r" {0,3}(?:[-*+][ \t]++)?(?P<round>`|\*\*|)LEARNING_(?P<no>NOT_)?HELPFUL:[ \t]*+"
    r"(?P<id>learn_[A-Za-z0-9]++|<learn_[A-Za-z0-9]++>|`learn_[A-Za-z0-9]++`)(?P=round)[ \t\r]*+"
)


@dataclass(frozen=True, kw_only=True)
class Signals:
    """Ids in order of first mention, each once. With both verdicts it is in `both` alone and counts as none."""

    helpful: tuple[str, ...] = ()
    not_helpful: tuple[str, ...] = ()
    both: tuple[str, ...] = ()


def read_signals(output: str) -> Signals:
    """The verdicts in a final message, in time linear in its length."""
    if "HELPFUL:" not in output:
        return Signals()
    verdicts: dict[str, set[bool]] = {}
    for line in own_lines(output):
        if "HELPFUL:" in line and (marker := _MARKER.fullmatch(line)):
            verdicts.setdefault(marker["id"].strip("<`>"), set()).add(marker["no"] is None)
    return Signals(
        helpful=tuple(name for name, said in verdicts.items() if said == {True}),
        not_helpful=tuple(name for name, said in verdicts.items() if said == {False}),
        both=tuple(name for name, said in verdicts.items() if len(said) == 2),
    )


def without_signals(output: str) -> str:
    """A message without the lines that are verdicts: those are kept as such, not as words."""
    if "HELPFUL:" not in output:
        return output
    return "\n".join(line for line in output.split("\n") if not _MARKER.fullmatch(line))
