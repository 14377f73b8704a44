"""Signs, in what an agent did, that a learning it was shown was used, ignored or contradicted. No verdicts.

A learning's advice is its action: what it names to do, and what it says to leave (`instead of`, `never`). Used: the
agent ran or wrote something that the advice names, or its words, which the user had not said. Ignored: it did what the
advice says to leave, or the user corrected it towards the advice. Contradicted: agent or user says that the learning
no longer holds. `benchmarks/signs.py` measures it. Knows nothing about rows or transcripts.
"""

from __future__ import annotations

import re

from recollect.core.records import record
from recollect.text import points
from recollect.text.markers import IMPLIED
from recollect.text.patterns import lazy
from recollect.text.sentences import split_sentences
from recollect.text.tokens import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.core.learning import Learning
    from recollect.text.transcript import Turn

# Chosen; from 0.4 to 0.8 the 30 seen sessions of the benchmark are told alike.
COVERED = 0.6
FEWEST = 2  # words of the advice that a stretch of work must share

_LEAVE = lazy(r"\b(?:instead of|rather than|never|not|don't|avoid|without)\b", re.IGNORECASE)
_SPAN = lazy(r"`([^`]+)`")
_NAME = lazy(r"--?[a-z][\w-]+|\w*[\w)][./_=:-][\w./_=:()-]*\w\)?|\w+\(\)|[a-z]+[A-Z]\w*|[A-Za-z]+\d\w*")
_FILE = lazy(r"/|\.[a-z]{1,5}$")
_PLACE = lazy(r"\b[A-Z]{2,}\b")
_CORRECTS = lazy(
    r"\b(?:no|not|don't|wrong|never|instead|must|should|ha(?:ve|s) to|why did you|we use|please (?:remove|add|use))\b",
    re.IGNORECASE,
)
_OVER = lazy(  # that something broken "no longer" happens is what using a learning brings, too
    r"\b(?:outdated|obsolete|not true|contrary to|does not apply|not the case"
    r"|no longer (?:needed|necessary|exists?|applies|holds|true)|not exist any ?more|not \w+ \w+ any ?more"
    r"|(?:learning|note|memory|remembered|claim)\b.{0,200}\b(?:wrong|no longer|any ?more))\b",
    re.IGNORECASE,
)


@record
class Sign:
    kind: str
    because: str


@record
class _Advice:
    """The names and the words of what to do, and the names of what to leave."""

    names: frozenset[str]
    words: frozenset[str]
    left_names: frozenset[str]


def read_sign(learning: Learning, turn: Turn, *, again: bool) -> Sign | None:
    """What a turn tells about a learning; `again`: the agent had answered since it was shown the learning."""
    action = "" if learning.action.startswith(IMPLIED) else learning.action
    to_do, to_leave = [], []
    for clause in re.split(r"[;.]\s|,\s", action):
        start, *rest = _LEAVE.split(clause, maxsplit=1)
        to_do.append(start)
        to_leave += rest
    advice = _Advice(names=_names(to_do), words=_words(to_do), left_names=_names(to_leave))
    about = frozenset(terms(f"{learning.title} {learning.observation} {learning.action}"))
    asked = "\n".join(turn.requests)
    told = [(each, FEWEST) for each in _sentences(asked if again else "")]
    told += [(each, FEWEST + 1) for each in _sentences(turn.answer)]
    if over := next((each for each, least in told if _OVER.search(each) and _shares(about, each, least)), ""):
        return Sign(kind="contradicted", because=points.cut(over, 120))
    if again and _CORRECTS.search(asked) and _shares(about, asked, FEWEST):
        return Sign(kind="ignored", because="the user asked for it afterwards")
    own = advice.words - frozenset(terms(asked))
    names = {name for name in advice.names if name not in asked}
    files = {name for name in names if _FILE.search(name)}
    if found := _named(names - files, [*turn.commands, *turn.edits]):
        return Sign(kind="used", because=f"`{found}`")
    for edit in turn.edits:  # a file that the advice names may be changed for other reasons
        if (found := _named(files, [edit])) and own & _plain_terms(edit) - frozenset(terms(found)):
            return Sign(kind="used", because=f"`{found}`")
    if found := _named(advice.left_names, [*turn.commands, *turn.edits]):
        return Sign(kind="ignored", because=f"`{found}`")
    for stretch in (*turn.edits, *_sentences(turn.answer)):
        shared = own & _plain_terms(stretch)
        if len(shared) >= FEWEST and len(shared) >= COVERED * len(own):
            return Sign(kind="used", because=", ".join(sorted(shared)))
    return None


def _names(parts: Iterable[str]) -> frozenset[str]:
    """What is written as code writes it: commands, flags, files, calls; without places for values."""
    found: set[str] = set()
    for part in parts:
        found |= {" ".join(_PLACE.sub("", span).split()) for span in _SPAN.findall(part)}
        found |= {*_NAME.findall(_SPAN.sub("", part))}
    return frozenset(name for name in found if len(name) > 2)


def _words(parts: Iterable[str]) -> frozenset[str]:
    return frozenset(term for part in parts for term in terms(_SPAN.sub("", part)))


def _named(names: Iterable[str], done: Sequence[str]) -> str:
    for name in sorted(names, key=len, reverse=True):
        shape = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
        if any(shape.search(each) for each in done):
            return name
    return ""


def _shares(about: frozenset[str], text: str, least: int) -> bool:
    return len(about & _plain_terms(text)) >= least


def _plain_terms(text: str) -> frozenset[str]:
    """The terms of a text, names of code in their parts."""
    return frozenset(terms(re.sub(r"[_./()'\"=-]|(?<=[a-z])(?=[A-Z])", " ", text)))


def _sentences(text: str) -> list[str]:
    return [each for line in text.split("\n") for each in split_sentences(line)]
