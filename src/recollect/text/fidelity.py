"""Whether a retelling keeps the facts of its sources: no negation, number, date or name may be another one.

Compared clause by clause: a clause is held against the source clauses that say nearly the same in other respects, and
against all sources where there is none. Simple on purpose: what it rejects is worded offline, without a model. A name
that only begins sentences is not known to be one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from recollect.core.records import record
from recollect.text.patterns import lazy
from recollect.text.tokens import terms

SAME = 0.75  # share of a clause's other words that a source clause must have to be about the same
SAME_BACK = 0.5  # share of the source clause's other words that the clause must have

_REFERENCE = lazy(r"(?:→ *)?(?:log/)?\d{4}-\d{2}-\d{2}#[\d,#-]+|\(\s*\)")
_CLAUSE = lazy(
    r"[.!?:;](?:\s|$)|,(?!\d)|[()\n–—]|\s-\s|\b(?:but|because|so|since|while|whereas|and then)\b", re.IGNORECASE
)
_LIST_MARK = lazy(r"(?m)^\s*\d+[.)]\s")
_HEADING = lazy(r"(?m)^#.*$")
_NUMBER = lazy(r"\d+(?:[.,:/-]\d+)*")
_WORD = lazy(r"[^\W\d_][\w'’]*")
_NEGATION = lazy(
    r"\b(?:not|no|never|none|nothing|nobody|neither|nor|without|cannot|avoid\w*|stop(?:s|ped)?|forbid\w*|refuse[sd]?|"
    r"nicht|kein\w*|nie(?:mals)?)\b|\b\w+n['’]t\b",
    re.IGNORECASE,
)
_ALWAYS = lazy(r"\b(?:always|never|ever)\b", re.IGNORECASE)
_OPPOSITE = ("dis", "un", "non", "in", "im", "ir", "mis")  # a word with one of these says the opposite of the word
_DAYS = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december".split()
)
_COUNTS = dict(zip("two three four five six seven eight nine ten eleven twelve".split(), range(2, 13), strict=True))


@record
class _Clause:
    text: str
    negated: bool
    facts: frozenset[str]
    """Numbers, dates and names."""
    numbers: frozenset[str]
    words: frozenset[str]
    """Stems of everything else."""
    raw: frozenset[str]


def altered(text: str, sources: Sequence[str]) -> str:
    """The first clause whose negation, number, date or name is not that of the sources; empty when there is none."""
    text = _HEADING.sub("", text)
    names = _names((text, *(_HEADING.sub("", source) for source in sources)))
    known = [clause for source in sources for clause in _clauses(source, names)]
    every = frozenset(fact for clause in known for fact in clause.facts)
    for clause in _clauses(text, names):
        alike = [each for each in known if _about_the_same(clause, each)]
        allowed = frozenset(fact for each in alike for fact in each.facts) if alike else every | clause.facts
        if not clause.numbers <= every or not clause.facts <= allowed:
            return clause.text
        if alike and all(_opposed(clause, each) for each in alike):
            return clause.text
    return ""


def _about_the_same(clause: _Clause, other: _Clause) -> bool:
    shared = clause.words & other.words
    return bool(shared) and len(shared) >= SAME * len(clause.words) and len(shared) >= SAME_BACK * len(other.words)


def _opposed(clause: _Clause, other: _Clause) -> bool:
    turned = any(
        f"{prefix}{word}" in theirs
        for ours, theirs in ((clause.raw, other.raw), (other.raw, clause.raw))
        for word in ours - theirs
        for prefix in _OPPOSITE
    )
    return (clause.negated != other.negated) != turned


def _clauses(text: str, names: frozenset[str]) -> Iterator[_Clause]:
    for part in _CLAUSE.split(_REFERENCE.sub(" ", _LIST_MARK.sub("", text))):
        said = part.strip(" #*>`-\t")
        numbers = {found.replace(",", "") for found in _NUMBER.findall(said)}
        raw = [word.casefold() for word in _WORD.findall(said)]
        counts = {str(_COUNTS[word]) for word in raw if word in _COUNTS}
        dates = {word for word in raw if word in _DAYS}
        facts = frozenset(numbers | counts | dates | {word for word in raw if word in names})
        fact_terms = set(terms(" ".join((*facts, *(word for word in raw if word in _COUNTS)))))
        words = frozenset(terms(_ALWAYS.sub(" ", _NEGATION.sub(" ", said)))) - fact_terms
        turned = {word.removeprefix(prefix) for word in raw for prefix in _OPPOSITE if word.startswith(prefix)}
        if facts or words:
            yield _Clause(
                text=said,
                negated=bool(_NEGATION.search(said)),
                facts=facts,
                numbers=frozenset(numbers),
                words=words | frozenset(terms(" ".join(turned))),
                raw=frozenset(raw),
            )


def _names(texts: Iterable[str]) -> frozenset[str]:
    """Words with a capital letter inside a sentence. A line with mostly such words is a title and names nothing."""
    found: set[str] = set()
    for text in texts:
        for line in re.split(r"[.!?:]\s|\n", text):
            words = _WORD.findall(line)
            capital = [word for word in words[1:] if word[0].isupper()]
            if 2 * len(capital) <= len(words):
                found.update(word.casefold() for word in capital)
    return frozenset(found) - {"i"}
