"""Porter's stemmer (1980) for English words.

Both engines index the stems made here, so that they find and rank alike.
"""

from __future__ import annotations

_STEP2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able",
    "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate",
    "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive",
    "biliti": "ble",
}  # fmt: skip
_STEP3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize",
    "al", "er", "ic", "ou",
)  # fmt: skip
_ENDINGS: dict[str, tuple[str, ...]] = {}  # what a word that changes at all ends with, by its last letter
for _ending in {"s", "ed", "ing", "y", "e", "ll", "ion", *_STEP2, *_STEP3, *_STEP4}:
    _ENDINGS[_ending[-1]] = (*_ENDINGS.get(_ending[-1], ()), _ending)
_LETTERS = str.maketrans({letter: "v" if letter in "aeiou" else "c" for letter in "abcdefghijklmnopqrstuvwxz"})
_BY_LENGTH2 = tuple(sorted(_STEP2, key=len, reverse=True))
_BY_LENGTH3 = tuple(sorted(_STEP3, key=len, reverse=True))


def stem(word: str) -> str:
    """The stem of a lower-case ASCII word; words of one or two letters stay."""
    if len(word) <= 2 or not word.endswith(_ENDINGS.get(word[-1], ())):
        return word
    word = _plurals(word)
    word = _past_and_gerund(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _swap(word, _BY_LENGTH2, _STEP2)
    word = _swap(word, _BY_LENGTH3, _STEP3)
    word = _drop_suffix(word)
    return _tidy(word)


def _plurals(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past_and_gerund(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and _has_vowel(word[: -len(suffix)]):
            word = word[: -len(suffix)]
            break
    else:
        return word
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _double_consonant(word) and word[-1] not in "lsz":
        return word[:-1]
    if _measure(word) == 1 and _consonant_vowel_consonant(word):
        return word + "e"
    return word


def _swap(word: str, suffixes: tuple[str, ...], table: dict[str, str]) -> str:
    if not word.endswith(suffixes):  # one look for all of them: most words have none
        return word
    for suffix in suffixes:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base + table[suffix] if _measure(base) > 0 else word
    return word


def _drop_suffix(word: str) -> str:
    for suffix in _STEP4 if word.endswith(_STEP4) else ():
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base if _measure(base) > 1 else word
    if word.endswith("ion"):
        base = word[:-3]
        if base and base[-1] in "st" and _measure(base) > 1:
            return base
    return word


def _tidy(word: str) -> str:
    if word.endswith("e"):
        base = word[:-1]
        size = _measure(base)
        if size > 1 or (size == 1 and not _consonant_vowel_consonant(base)):
            word = base
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


def _shape(word: str) -> str:
    """The word with a c for every consonant and a v for every vowel; a y is whichever its neighbour is not."""
    shape = word.translate(_LETTERS)
    while (at := shape.find("y")) >= 0:
        shape = shape[:at] + ("v" if at and shape[at - 1] == "c" else "c") + shape[at + 1 :]
    return shape


def _measure(word: str) -> int:
    """How many times a vowel run is followed by a consonant run."""
    return _shape(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _double_consonant(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _consonant_vowel_consonant(word: str) -> bool:
    return word[-1:] not in ("w", "x", "y") and _shape(word).endswith("cvc")
