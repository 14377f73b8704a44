"""Labelled pairs for the judge: from the writers' quintuples, and from small changes to their own sentences.

A quintuple gives a pair for each of its four relations and some between its other texts. A telling word is what the
judge overlooks most, so sentences are also changed in one place only (a number, a negation, before and after, the
environment), and a few frames make states that begin and end. Everything is drawn with a seed.
"""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

LABELS = ("same", "opposite", "newer", "near")
FOLDER = Path(__file__).parent / "data" / "judge"
SETS = Path(__file__).parent / "data" / "judge_sets"
HELD_OUT = ("w5", "w17", "w33", "n03", "n14")  # training never sees them: temperature and bars are chosen on them
_DERIVED = (("same", "opposite", "opposite"), ("same", "newer", "newer"), ("same", "near", "near"))
_NUMBER = re.compile(r"(?<![\w.#/-])(?!(?:19|20)\d\d\b)(\d{1,5})(?![\w.:/-]|,\d)")
_TURNS = (
    ("always", "never"), ("must", "must not"), ("before", "after"), ("enabled", "disabled"), ("at least", "at most"),
    ("is allowed", "is forbidden"), ("on by default", "off by default"), ("with", "without"), ("more", "less"),
    ("required", "optional"), ("can", "cannot"), ("do not", "do"), ("don't", "do"), ("never", "always"),
    ("first", "last"), ("is", "is not"), ("are", "are not"), ("after", "before"), ("without", "with"), ("all", "no"),
    ("weekly", "monthly"), ("daily", "weekly"), ("hours", "minutes"), ("minutes", "seconds"), ("days", "hours"),
)  # fmt: skip
_SCOPES = (
    ("production", "staging"), ("prod", "staging"), ("staging", "production"), ("ios", "android"), ("android", "ios"),
    ("linux", "windows"), ("windows", "linux"), ("macos", "windows"), ("frontend", "backend"), ("backend", "frontend"),
    ("mobile", "desktop"), ("eu", "us"), ("dev", "production"), ("unit tests", "load tests"), ("nightly", "release"),
)  # fmt: skip
_SPELT = (
    ("seconds", "s"), ("minutes", "min"), ("hours", "h"), ("percent", "%"), ("do not", "don't"), ("is not", "isn't"),
    ("must", "has to"), ("delete", "remove"), ("every", "each"), ("run", "execute"), ("maximum", "max"),
    ("only", "just"),
    ("because", "since"), ("repository", "repo"), ("production", "prod"), ("pull request", "PR"), ("database", "DB"),
    ("never", "at no time"), ("always", "at all times"), ("before", "prior to"), ("start", "begin"), ("use", "go for"),
    ("need", "require"), ("about", "around"), ("we", "our team"), ("twice", "two times"), ("allowed", "permitted"),
)  # fmt: skip
_STATES = (
    ("{} is supported", "we support {}", "support for {} has ended", "{} is unsupported"),
    ("{} is enabled", "{} is switched on", "{} has been turned off", "{} is disabled"),
    ("{} is required", "{} is mandatory", "{} is no longer needed", "{} is optional"),
    ("{} is allowed", "you may use {}", "{} has been banned", "{} is forbidden"),
    ("We use {}", "{} is what we work with", "we dropped {}", "we do not use {}"),
    ("{} is maintained", "{} still gets fixes", "{} was retired", "nobody maintains {}"),
    ("{} runs every night", "there is a nightly run of {}", "{} was cancelled", "{} never runs at night"),
    ("Keep {}", "hold on to {}", "{} was removed", "delete {}"),
    ("{} is in force", "{} applies", "{} was reverted", "{} does not apply"),
    ("{} is current", "{} is up to date", "{} is obsolete now", "{} is out of date"),
)
_THINGS = (
    "Node 16", "Python 3.8", "the legacy importer", "strict mode", "the beta flag", "two-factor login", "IPv6",
    "the v1 API", "Safari 14", "the audit trail", "the mobile client", "dark mode", "the read replica", "Redis 5",
    "the code freeze", "rate limiting", "the SOAP gateway", "hot reload", "the retry queue", "Postgres 12",
    "the old billing job", "gzip on responses", "the Friday deploy", "telemetry", "feature branches",
    "the daily digest",
)  # fmt: skip


class Pair(NamedTuple):
    one: str
    other: str
    label: str
    form: str = "line"


def quintuples(*, held_out: bool) -> list[dict[str, str]]:
    rows = [
        json.loads(line) for file in sorted(FOLDER.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()
    ]
    return [row for row in rows if (row["writer"] in HELD_OUT) == held_out]


def held_out_pairs() -> list[Pair]:
    """Every relation of every quintuple of the held-out writers, in the order they were written."""
    rows = quintuples(held_out=True)
    pairs = [Pair(row["a"], row[label], label, row["form"]) for row in rows for label in LABELS]
    return pairs + [Pair(row[one], row[other], label, row["form"]) for row in rows for one, other, label in _DERIVED]


def epoch(rows: list[dict[str, str]], draw: random.Random) -> list[Pair]:
    """The pairs of one pass: the four relations, one between the other texts, a stranger, and small changes."""
    pairs: list[Pair] = []
    for place, row in enumerate(rows):
        pairs += [Pair(row["a"], row[label], label, row["form"]) for label in LABELS]
        one, other, label = draw.choice(_DERIVED)
        pairs.append(Pair(row[one], row[other], label, row["form"]))
        beside = rows[(place + draw.choice((-3, -2, -1, 1, 2, 3))) % len(rows)]
        if draw.random() < 0.6 and beside["subject"] != row["subject"]:
            pairs.append(Pair(row["a"], beside[draw.choice(("a", *LABELS))], "near", row["form"]))
        changed = list(_changed(row["a"], row["form"], draw))
        pairs += draw.sample(changed, min(len(changed), 1))
        if draw.random() < 0.15:
            changed = list(_changed(row["same"], row["form"], draw))
            pairs += [Pair(row["a"], each.other, each.label, each.form) for each in changed[:1] if each.label != "near"]
    pairs += _states(draw)
    return [_loosened(pair, draw) for pair in pairs]


def training_pairs(draw: random.Random) -> list[Pair]:
    """The pairs of one pass: those of the sets, where no manner goes with a label, and those of the quintuples."""
    pairs = [_loosened(pair, draw) for one in sets(held_out=False) for pair in set_pairs(one, draw)]
    return pairs + epoch(quintuples(held_out=False), draw)


def pool(draw: random.Random) -> list[Pair]:
    """`training_pairs`, and pairs between the other texts of a set, which have no label."""
    pairs = training_pairs(draw)
    for row in sets(held_out=False):
        for one, other in draw.sample((("opposite", "newer"), ("opposite", "near"), ("newer", "near")), 2):
            pairs.append(Pair(draw.choice(row[one]), draw.choice(row[other]), "", row["form"]))
    return pairs


def set_pairs_of(*, held_out: bool) -> list[Pair]:
    """A note of each set against its eight others."""
    return [
        Pair(row["a"], text, label, row["form"])
        for row in sets(held_out=held_out)
        for label in LABELS
        for text in row[label]
    ]


def sets(*, held_out: bool) -> list[dict[str, Any]]:
    rows = [json.loads(line) for file in sorted(SETS.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()]
    return [row for row in rows if (row["writer"] in HELD_OUT) == held_out]


def set_pairs(row: dict[str, Any], draw: random.Random) -> list[Pair]:
    """A note against its eight others, and six pairs among those."""
    pairs = [Pair(row["a"], text, label, row["form"]) for label in LABELS for text in row[label]]
    pairs.append(Pair(row["same"][0], row["same"][1], "same", row["form"]))
    for label in ("opposite", "newer", "near"):
        texts = row[label]
        pairs += [Pair(row["same"][draw.randint(0, 1)], text, label, row["form"]) for text in texts]
    return pairs


def _changed(text: str, form: str, draw: random.Random) -> Iterator[Pair]:
    number = _NUMBER.search(text)
    if number:
        value = int(number[1])
        other = draw.choice([value + 1, value * 2, max(1, value // 2), value * 10, value + draw.randint(2, 30)])
        if other != value:
            replaced = text[: number.start()] + str(other) + text[number.end() :]
            yield Pair(text, replaced, "opposite", form)
    for words, label in ((_TURNS, "opposite"), (_SPELT, "same"), (_SCOPES, "near")):
        found = [pair for pair in words if re.search(rf"(?i)\b{re.escape(pair[0])}(?![\w-]| not)", text)]
        if found:
            old, new = draw.choice(found)
            replaced = re.sub(rf"(?i)\b{re.escape(old)}(?![\w-]| not)", new, text, count=1)
            yield Pair(text, replaced, label, form)
    if draw.random() < 0.25:
        plain = re.sub(r"[`*]", "", text).rstrip(".")
        yield Pair(text, plain.lower() if draw.random() < 0.5 else f"- {plain}", "same", form)


def _states(draw: random.Random, count: int = 90) -> list[Pair]:
    pairs = []
    for _ in range(count):
        state, again, ended, never = draw.choice(_STATES)
        thing, other = draw.sample(_THINGS, 2)
        one = draw.choice((state, again))
        text, label = draw.choice(((again if one == state else state, "same"), (ended, "newer"), (never, "opposite")))
        subject = thing
        if draw.random() < 0.25:
            text, subject, label = draw.choice((state, again, ended, never)), other, "near"
        pairs.append(Pair(_sentence(one, thing, draw), _sentence(text, subject, draw), label))
    return pairs


def _sentence(frame: str, thing: str, draw: random.Random) -> str:
    made = frame.format(thing)
    return made[0].upper() + made[1:] + draw.choice((".", ""))


def _loosened(pair: Pair, draw: random.Random) -> Pair:
    """Either order, and now and then one side without its heading, as a line of a document has none."""
    one, other = pair.one, pair.other
    if pair.form == "entry" and draw.random() < 0.2:
        one = re.sub(r"^#.*\n+", "", one)
    if pair.form == "entry" and draw.random() < 0.2:
        other = re.sub(r"^#.*\n+", "", other)
    if draw.random() < 0.5:
        one, other = other, one
    return Pair(one, other, pair.label, pair.form)
