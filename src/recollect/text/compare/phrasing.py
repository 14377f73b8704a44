"""One phrasing for what English says in several: "never A unless B" is "only A if B", "roll back" is "rollback".

Only grammar and spelling; which words mean the same is the business of `rule_words`. What comes out is compared, never
shown.
"""

import re

_SPELLINGS = (("won't", "will not"), ("can't", "can not"), ("cannot", "can not"), ("n't", " not"), ("no longer", "not"))

_TURN = r"(?:turn|switch)(?:ed|s)?\s+"
_SWITCH = re.compile(rf"\b(?:{_TURN})?(on|off)(?=\s*(?:$|[.,;!]|by default))|\b{_TURN}(on|off)\b")
# Verb and particle are one word as a noun. "in" and "on" are prepositions too often.
_PARTICLE = re.compile(
    r"\b(roll|fall|back|time|check|log|sign|set|clean|look|start|warm|shut|fail|take|hand|opt)"
    r"(?:s|ed|p?ing)? (back|off|out|up|down|over)\b"
)
_NEVER = r"\b(?:do not|must not|may not|can not|should not|never)\b"
_FORMS = (
    (re.compile(r"\b(?:pull|merge)[ -]request"), "pr"),
    (re.compile(r"\b(?:nobody|no one|none) (?:but|except)\b"), "only"),
    (re.compile(r"\b(?:restricted to|limited to(?! \d)|reserved for|exclusively|solely)\b"), "only"),
    (re.compile(rf"{_NEVER}([^,;]*?)\bunless\b"), r"only\1if"),
    # "Never A until B" puts B first, as "B before A" and "A only after B" do.
    (re.compile(rf"{_NEVER}([^,;]*?)\b(?:before|until)\b"), r"\1 after"),
    (re.compile(r"\bonly (?=after\b|once\b)"), ""),
    (re.compile(r"\b(?:over|more than)(?= \d)"), "above"),
    (re.compile(r"\b(?:no more than|up to|at most)(?= \d)"), "under"),
    (re.compile(r"\bdaily(?=\s*(?:$|[.,;]))"), "every day"),
    (re.compile(r"\b(hour|week|month|year)ly(?=\s*(?:$|[.,;]))"), r"every \1"),
    (_PARTICLE, r"\1\2"),
)


def one_phrasing(text: str) -> str:
    """The text in lower case, in the form that others with the same meaning come out in too."""
    plain = text.replace("\u2019", "'").lower()
    for short, full in _SPELLINGS:
        plain = plain.replace(short, full)
    for form, instead in _FORMS:
        plain = form.sub(instead, plain)
    return _SWITCH.sub(lambda match: "enabled" if "on" in match.groups() else "disabled", plain)
