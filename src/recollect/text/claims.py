"""What a text claims, in a form that can be compared.

An entry, a section or a learning is read into claims: each bullet is one, and so are the paragraphs of a short text or
each paragraph of a long one. Each carries its heading, because the heading says what the rule is about; a heading alone
claims nothing unless it is a sentence. A claim's sentences are read into stems in order, those they deny, and
quantities: "30 s" and "30 seconds" are one. `text/compare` decides what two claims mean to each other.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path

from recollect.core.records import record
from recollect.text.markdown import lazy, lines_of, own_lines, text_lines
from recollect.text.sentences import split_sentences
from recollect.text.tokens import STOP_WORDS, stem, written

CLAIM_CHARS = 420  # of one claim; the judge was trained on texts of up to 60 words
CLAIMS = 40  # of one text; a rule has few, and the bound keeps the cost of a text that is none linear
SENTENCE_LIMIT = 1_000  # characters
LEAST_WORDS = 3  # of a heading that is a sentence
_VERB = lazy(
    r"\b(?:is|are|was|be|has|have|must|may|can|cannot|should|shall|will|do|does|don't|doesn't|never|always|only|no|not"
    r"|use|run|keep|avoid|prefer|make|write|add|set|check|put|call|read|send|test|need|needs|require|requires|\w+s)\b"
)
_TOPIC = lazy(
    r"(?:when|while|if|before|after|how|where|why|on|for|about|notes?)\b|.*(?:\?|:)$|\w+ing\b(?!.*\b(?:is|are)\b)"
)
_ASIDE = lazy(
    r"(?:##[^\n]*\n)?[-*+\d.)\s]*[*_]*(?:evidence|examples?|rationale|why|context|background|sources?|related|triggers?"
    r"|anti-?patterns?|wrong|bad|(?:decision )?dates?|status)\b[^:\n]{0,20}:",
    re.IGNORECASE,
)
_BULLET = lazy(r"\s*(?:[-*+]|\d+[.)])\s+")


@lru_cache(maxsize=4096)
def claims(title: str, body: str = "") -> tuple[str, ...]:
    """The claims of a text with a heading; none for a bare topic."""
    blocks = _blocks(enumerate(own_lines(body)))
    if not blocks:
        return (title.strip(),) if is_sentence(title) else ()
    heading = f"## {title.strip()}\n" if title.strip() else ""
    whole = sum(len(said) for said, *_ in blocks) <= CLAIM_CHARS
    made: list[str] = []
    lead, follows = "", False  # whether a paragraph came before
    for said, bullet, _, _ in blocks:
        if bullet:
            if follows:
                lead = f"{made.pop()} " if made[-1].endswith(":") else ""  # "Never:" is said of each bullet
            made.append(lead + said)
        elif whole and follows:
            made[-1] += f"\n{said}"
        else:
            made.append(said)
        follows = not bullet
    return tuple(f"{heading}{said}" for said in made[:CLAIMS])


def without_claim(body: str, claim: str) -> str:
    """A body without the bullet or the paragraphs of one of its claims, and without code right below them."""
    lines = lines_of(body)
    own = text_lines(lines)
    told = below(claim).split("\n")
    for said, _, first, last in reversed(_blocks((at, lines[at]) for at in own)):
        if said in told or any(one.endswith(f": {said}") for one in told):  # "Never:" is said of each bullet
            del lines[first : next((at for at in own if at > last), len(lines))]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def is_sentence(heading: str) -> bool:
    """Whether a heading says something about its subject: "Never mock the database", not "When testing"."""
    return not is_topic(heading) and bool(_VERB.search(heading.lower()))


def is_topic(heading: str) -> bool:
    """Whether a heading only names when a rule holds, or its subject: "When testing", "Retries"."""
    plain = heading.strip().lower()
    return len(plain.split()) < LEAST_WORDS or bool(_TOPIC.match(plain))


def rules_in(said: Sequence[str]) -> list[str]:
    """The claims that state a rule, without evidence, examples and what not to do; all of them where none does."""
    return [claim for claim in said if not _ASIDE.match(claim)] or list(said)


def _blocks(lines: Iterable[tuple[int, str]]) -> list[tuple[str, bool, int, int]]:
    """Paragraphs and bullets of numbered lines, without headings: whether each is a bullet, its first and last line."""
    found: list[tuple[str, bool, int, int]] = []
    fresh = True
    for at, line in lines:
        text = line.strip()
        if not text or text.startswith("#"):
            fresh = True
            continue
        bullet = _BULLET.match(line)
        if fresh or bullet:
            found.append((line[bullet.end() :].strip() if bullet else text, bool(bullet), at, at))
        else:
            said, is_bullet, first, _ = found[-1]
            found[-1] = (f"{said} {text}"[: 2 * CLAIM_CHARS], is_bullet, first, at)
        fresh = False
    return found


def below(claim: str) -> str:
    """A claim without its heading."""
    return claim.partition("\n")[2] if claim.startswith("#") else claim


def parts_of(claim: str) -> list[str]:
    """A claim for a person who has to choose: its heading where that is a sentence, and what it says below."""
    heading, _, body = claim.partition("\n")
    title = heading.lstrip("# ")
    return [*([title] if is_sentence(title) or not body else []), *([" ".join(body.split())] if body else [])]


# Sentences

_SPELLINGS = {
    "won't": "will not", "can't": "can not", "cannot": "can not", "n't": " not", "no longer": "not",
    "instead of": "over", "rather than": "over", "prior to": "before",
}  # fmt: skip
_NEGATIONS = frozenset(
    "not never no none neither nothing nobody without non avoid avoids avoiding avoided prevent prevents preventing"
    " forbid forbids forbidden prohibit prohibits prohibited banned refuse refuses stop stops stopped".split()
)
# Stop words that change what a sentence says, and other words that only say how strongly or how generally it holds.
_TELLING = frozenset(
    "may might could from to into out some both either before after up on off within first once other another until by"
    " if unless when while between than over only down under through more most".split()
)
MILD = ("mai", "might", "could", "from", "to", "into", "out")  # stems; they seldom set two sentences apart
_STRENGTH = frozenset(
    "always every ever even must shall please use uses used using prefer prefers preferred favour favours favor favors"
    " ensure ensures sure make makes may need needs needed get gets".split()
)
_FILLER = (STOP_WORDS | _STRENGTH) - _TELLING - _NEGATIONS
_CUE = lazy(
    r"\b(no longer|instead of|rather than|replac(?:es|ed|ing)|supersed(?:es|ed|ing)|deprecated|correction"
    r"|(?:switched|moved|migrated|changed) (?:to|from)|as of|from now on|anymore|used to|now(?! and then))\b"
)
LABEL = "label"  # of a number that may name one of several, or a version: "phase 2"
_NUMBER = lazy(r"(?<![\w./-])(\d+(?:[.,]\d+)*)(?:\s?(%|[a-z]+\b))?(?![\w/-])", re.ASCII)
_NUMBER_WORDS = {
    word: str(n) for n, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)
}
_UNITS = """
    time .001 ms msec millisecond milliseconds | time 1 s sec secs second seconds | time 60 min mins minute minutes
    | time 3600 h hr hrs hour hours | time 86400 d day days | time 604800 week weeks
    | bytes 1 byte bytes | bytes 1024 k kb kib | bytes 1048576 mb mib | bytes 1073741824 gb gib | share 1 % percent pct
    | months 1 month months | months 12 year years
"""
_FACTORS = {
    name: (dimension, float(factor))
    for dimension, factor, *names in map(str.split, _UNITS.split("|"))
    for name in names
}


@record
class Statement:
    """One sentence: its stems in order, and as written; which of them it denies; and what announces a change."""

    words: tuple[str, ...]
    written: tuple[str, ...]
    denied: frozenset[int]  # places in `words`
    quantities: tuple[tuple[str, str], ...]  # dimension, value in its base unit
    cue: str
    turns: frozenset[tuple[str, str]]  # numbers, denial and words of `_turning`, each with its group

    @property
    def said(self) -> tuple[str, ...]:
        return tuple(f"not {word}" if at in self.denied else word for at, word in enumerate(self.words))


@lru_cache(maxsize=4096)
def statements(claim: str) -> tuple[Statement, ...]:
    """The sentences of a claim that say anything, in order; a heading over a body is none."""
    heading, _, body = claim.partition("\n")
    bare = body and heading.startswith("#") and not is_sentence(heading.lstrip("# "))
    parts = [part for line in (body if bare else claim).split("\n") for part in split_sentences(line, lower_case=True)]
    read = (sentence(part.strip(" .!?-*#>\t\r")) for part in parts[:CLAIMS])
    return tuple(one for one in read if one.words or one.quantities)


@lru_cache(maxsize=4096)
def sentence(text: str) -> Statement:
    """A text read as one sentence."""
    plain = text[:SENTENCE_LIMIT].replace("\u2019", "'").lower()
    cue = _CUE.search(plain)
    for short, full in _SPELLINGS.items():
        plain = plain.replace(short, full)
    found: list[tuple[str, str]] = []

    def number(match: re.Match[str]) -> str:
        digits, unit = match[1].replace(",", ""), match[2] or ""
        dimension, factor = _FACTORS.get(unit, (LABEL if unit in _FILLER or not unit else "count", 1.0))
        found.append(
            (dimension, f"{float(digits) * factor:g}" if dimension != LABEL and digits.count(".") < 2 else digits)
        )
        return " " if unit in _FACTORS else unit

    rest = _NUMBER.sub(number, " ".join(_NUMBER_WORDS.get(word, word) for word in plain.split(" ")))
    kept: list[str] = []
    denied: set[int] = set()
    denying = False
    for word in written(rest.replace("-", " ")):
        if word in _NEGATIONS:
            denying = not denying
        elif word not in _FILLER:
            if denying:
                denied.add(len(kept))
            kept.append(word)
            denying = False
    if denying and kept:  # "emoji are not used"
        denied.add(len(kept) - 1)
    return Statement(
        words=tuple(stem(word) if word.isalpha() else word for word in kept),
        written=tuple(kept),
        denied=frozenset(denied),
        quantities=tuple(found),
        cue=cue[1] if cue else "",
        turns=frozenset(
            {_turning()[word] for word in written(plain.replace("-", " ")) if word in _turning()}
            | {("number", value) for _, value in found}
            | ({("denied", "")} if len(denied) % 2 else set())
        ),
    )


def turned(one: Statement, other: Statement, *, alike: bool = True) -> bool:
    """Whether a turning word or a number sets two texts apart; one that a text lacks does so only if they are alike."""
    differ = {group for group, _ in one.turns ^ other.turns}
    both = {group for group, _ in one.turns} & {group for group, _ in other.turns}
    return bool(differ & both) or (alike and not all(group.startswith("common") for group in differ))


@cache
def _turning() -> dict[str, tuple[str, str]]:
    """The words that may turn what a text says: of each its group, and those that say the same."""
    groups = (Path(__file__).parent / "data" / "turning.txt").read_text("utf-8").splitlines()
    return {word: (group, side) for group in groups for side in group.split() for word in side.split("/")}


@cache
def opposites() -> dict[str, frozenset[str]]:
    """The stems that mean the opposite of a stem, by WordNet's antonym pairs and ours; read on first use."""
    import json

    pairs: dict[str, list[str]] = json.loads((Path(__file__).parent / "data" / "antonyms.json").read_bytes())
    found: dict[str, set[str]] = {}
    for word, others in pairs.items():
        found.setdefault(stem(word), set()).update(map(stem, others))
    return {word: frozenset(others - {word}) for word, others in found.items()}
