"""Quantities in a text: "30s", "30 seconds", "an hour", "three", "Fridays", in comparable form.

Knows nothing about what a quantity limits; `statement` keeps it beside its words.
"""

import re

Quantity = tuple[str, str]  # dimension, value in the dimension's base unit

_NUMBER = re.compile(r"(?<![\w./-])v?(\d+(?:[.,]\d+)*)\s?(%|[a-z]+)?(?![\w/-])", re.ASCII)
# A number that only names one of several is no quantity: "phase 2", "node pool 1", "the v1 endpoint".
_LABEL = re.compile(
    r"\b(phase|stage|step|part|chapter|section|appendix|pool|tier|layer|shard|replica|partition|zone|region|cluster|rack"
    r"|sprint|milestone|option|figure|table|case|ticket|wave|lane|slot|bucket|environment|site|group|team|node|server|host"
    r"|worker|queue|rule|question|scenario|variant|plan)s?\s+(\d+[a-z]?)\b(?![.%\w])"
)
_VERSIONED = re.compile(
    r"\bv(\d+(?:\.\d+)*)\s+(?=(?:endpoint|api|route|schema|client|server|format|protocol|contract)s?\b)"
)
_ONE = re.compile(r"\b(?:an?|every|each|per) (second|minute|hour|day|week|month|year)\b")
_DAY = re.compile(r"\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b")

_NUMBER_WORDS = "one two three four five six seven eight nine ten eleven twelve"
_NUMBER_WORD = re.compile(rf"\b({_NUMBER_WORDS.replace(' ', '|')})\b(?=\s+\w)")
_VALUES = {word: str(number) for number, word in enumerate(_NUMBER_WORDS.split(" "), start=1)}
_UNITS: dict[str, dict[float, str]] = {
    "time": {
        0.001: "ms msec millisecond milliseconds",
        1: "s sec secs second seconds",
        60: "min mins minute minutes",
        3600: "h hr hrs hour hours",
        86400: "d day days",
        604800: "week weeks",
    },
    "bytes": {2**0: "byte bytes", 2**10: "k kb kib", 2**20: "mb mib", 2**30: "gb gib", 2**40: "tb tib"},
    "share": {1: "% percent pct"},
    "months": {1: "month months", 12: "year years"},
}
_FACTORS = {
    name: (dimension, factor)
    for dimension, factors in _UNITS.items()
    for factor, names in factors.items()
    for name in names.split()
}


def take_quantities(text: str) -> tuple[frozenset[Quantity], str]:
    """The quantities of a lower-case text, and the text without them (a counted noun stays: "40 lines")."""
    found: set[Quantity] = set()

    def number(match: re.Match[str]) -> str:
        digits, unit = match[1].replace(",", ""), match[2] or ""
        dimension, factor = _FACTORS.get(unit, ("count", 1))
        # Without a unit it may be a version, where 3.1 is not 3.10.
        measured = dimension != "count" and digits.count(".") < 2
        found.add((dimension, f"{float(digits) * factor:g}" if measured else digits))
        return " " if unit in _FACTORS else f" {unit} "

    def day(match: re.Match[str]) -> str:
        found.add(("weekday", match[1]))
        return " "

    plain = _ONE.sub(r"1 \1", _NUMBER_WORD.sub(lambda match: _VALUES[match[1]], text))
    plain = _VERSIONED.sub(r"v_\1 ", _LABEL.sub(r"\1_\2", plain))
    rest = _DAY.sub(day, _NUMBER.sub(number, plain))
    return frozenset(found), rest
