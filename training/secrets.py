# ruff: noqa: E501
"""Learns what a random value beside a word for a secret looks like, and writes `text/data/secrets.json`.

    python -m training.secrets RULES CODE… [--write]

`RULES` is a clone of github.com/mongodb/kingfisher (Apache-2.0): its rules have examples, whose values are replaced by
random ones of the same characters. A hash of a rule's file keeps half of them back. `CODE` are folders of code and
documents under permissive licences, where every value counts as harmless. Prints both halves and what code is hit.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import re
import string
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import yaml
from benchmarks import innocent_samples, secret_samples, unseen_secrets
from training.harmless import lines

from recollect.text import secret_context
from recollect.text.secret_context import RUN, bits, candidate, features, not_a_placeholder, not_a_stand_in

FILE = Path(secret_context.__file__).parent / "data" / "secrets.json"
ENDINGS = ".py .md .rst .txt .yml .yaml .json .toml .go .js .ts .sh .cfg .ini .html .tf .xml .css .log".split()
PUBLIC = re.compile(
    r"(?i)public|\b(ID|Domain|Host|Org Name|Recipient|ARN|Account|Resource Name|Bucket|URL|Publishable|Username|Endpoint|"
    r"Organization|Instance|App Name|Project|Hash|Credentials in|Site Key|Connect-VI)\b"
)
PREFIX = re.compile(r"(?:[A-Za-z]{2,12}[0-9]{0,2}[_.-]){1,3}(?=[A-Za-z0-9]{12,})|AKIA|AIza|SK|ya29\.|eyJ|SG\.")
Row = tuple[dict[str, float], str]


def rules(folder: Path) -> Iterator[tuple[str, str, bool]]:
    """Text, secret, and whether it is kept back."""
    for file in sorted((folder / "data" / "rules").glob("*.yml")):
        kept = not hashlib.sha256(file.name.encode()).digest()[0] % 2
        for rule in yaml.safe_load(file.read_text())["rules"]:
            bare = re.sub(r"\(\?[xism]+\)", "", rule["pattern"])
            flags = (re.X if "(?x" in rule["pattern"] else 0) | (re.I if "(?i" in rule["pattern"][:60] else 0)
            try:
                pattern = re.compile(bare, flags)
            except re.error:
                continue
            for example in rule.get("examples") or ():
                match = pattern.search(str(example))
                secret = match and (match.groupdict().get("TOKEN") or match[1 if pattern.groups else 0])
                if secret and 6 <= len(secret) <= 400 and "\n" not in secret and not PUBLIC.search(rule["name"]):
                    new = renewed(secret, random.Random(f"{rule['id']} {example}"))
                    yield example.replace(secret, new), new, kept


def renewed(secret: str, rng: random.Random) -> str:
    """Other random characters of the same kinds; examples often say 1234567890abcdef."""
    prefix = found[0] if (found := PREFIX.match(secret)) else ""
    body = secret[len(prefix) :]
    kinds = [one for one in (string.ascii_lowercase, string.ascii_uppercase, string.digits) if set(body) & set(one)]
    for alphabet in ("0123456789abcdef", "0123456789ABCDEF"):
        if set(body) <= {*alphabet, "-"}:
            kinds = [alphabet]
    return prefix + "".join(rng.choice("".join(kinds)) if each.isalnum() else each for each in body)


def judged(text: str, secret: str = "") -> Iterator[Row]:
    """The features of each candidate, or of those in the secret."""
    text, secret = (each.encode("utf-8", "surrogatepass").decode("latin-1") for each in (text, secret))
    at = text.find(secret)
    for run in RUN.finditer(text):
        found = candidate(text, *run.span())
        if not found or (secret and 2 * (min(found[1], at + len(secret)) - max(found[0], at)) < len(secret)):
            continue
        value = text[found[0] : found[1]]
        if not_a_placeholder(value) and not_a_stand_in(value):
            yield features(text, *found), text[max(0, found[2].start() - 12) : found[1]]


def texts(folders: list[Path]) -> Iterator[str]:
    for folder in folders:
        files = [
            path for path in folder.rglob("*") if path.suffix in ENDINGS and ".min." not in path.name and path.is_file()
        ]
        random.Random(2).shuffle(files)
        for path in sorted(files[:900]):
            yield path.read_text("utf-8", "replace")[:300_000]


def tables(code: list[str]) -> tuple[list[list[float]], dict[str, list[float]]]:
    """What it costs, in bits, to go from one kind of character to the next, and from one letter to the next."""
    words = Counter(word for text in code for word in re.findall(r"[A-Za-z0-9]{3,40}", text))
    turns, pairs = [[1.0] * 3 for _ in range(4)], defaultdict(lambda: dict.fromkeys(string.ascii_lowercase, 5))
    for word, count in words.items():
        last, kind = "", 3
        for each in word if count > 1 else "":
            now = 2 if each.isdigit() else int(each.isupper())
            turns[kind][now] += min(count, 20)
            last = "" if now == 2 or (now == 1 and kind == 0) else last
            if now != 2:
                pairs[last][each.lower()] += min(count, 20)
                last = each.lower()
            kind = now
    costs = [[round(-math.log2(one / sum(row)), 2) for one in row] for row in turns]
    rows = {letter: list(pairs[letter].values()) for letter in ("", *string.ascii_lowercase)}
    return costs, {letter: [round(-math.log2(one / sum(row)), 1) for one in row] for letter, row in rows.items()}


def fitted(rows: list[tuple[Row, float, float]], names: list[str]) -> np.ndarray:
    """Logistic regression by Newton's method: rows of features, label and weight."""
    found, label, weight = (
        matrix([row for row, _, _ in rows], names),
        *(np.array([row[i] for row in rows]) for i in (1, 2)),
    )
    theta = np.zeros(len(names))
    for _ in range(40):
        chance = 1 / (1 + np.exp(-np.clip(found @ theta, -30, 30)))
        slope = found.T @ (weight * (chance - label)) + 2 * theta
        bend = (found * (weight * chance * (1 - chance))[:, None]).T @ found + 2 * np.eye(len(names))
        theta -= np.linalg.solve(bend, slope)
    return theta


def matrix(rows: list[Row], names: list[str]) -> np.ndarray:
    return np.array([[row[0].get(name, 0.0) for name in names] for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rules", type=Path)
    parser.add_argument("code", type=Path, nargs="+")
    parser.add_argument("--write", action="store_true", help="the weights too; without it only the letters")
    given = parser.parse_args()
    code = list(texts(given.code))
    turns, pairs = tables(code)
    write(turns, pairs, {})
    examples = list(rules(given.rules))
    own = [
        (line.format(filled), filled)
        for table in (unseen_secrets.SECRETS, unseen_secrets.LAST)
        for line, fill in table.values()
        for i in range(5)
        for filled in [fill(random.Random(f"{i} {line}"))]
    ]
    formats = [make(random.Random(f"{i} {name}")) for name, make in secret_samples.FORMATS.items() for i in range(6)]
    positive = [row for text, secret, kept in examples if not kept for row in judged(text, secret)]
    positive += [
        row
        for text, secret in own + [(one.text, max(one.hidden, key=len)) for one in formats]
        for row in judged(text, secret)
    ]
    unseen = [row for text, secret, kept in examples if kept for row in judged(text, secret)]
    tables_of = (unseen_secrets.INNOCENT, unseen_secrets.LAST_INNOCENT, innocent_samples.INNOCENT)
    innocent = [
        row
        for table in tables_of
        for name, make in table.items()
        for i in range(25)
        for row in judged(make(random.Random(f"{i} {name}")))
    ]
    alike = [row for line in lines() for row in judged(line)]
    real = list({said: row for text in code for row in judged(text) for said in [row[1]]}.values())
    random.Random(5).shuffle(real)
    cut = len(real) * 4 // 5
    rows = [(row, 1.0, 1.0) for row in positive] + [
        (row, 0.0, weight) for group, weight in ((innocent, 1.5), (alike, 0.25), (real[:cut], 1.0)) for row in group
    ]
    names = sorted({name for row, _, _ in rows for name in row[0]})
    theta = fitted(rows, names)
    scores = {
        what: matrix(group, names) @ theta
        for what, group in (
            ("learnt", positive),
            ("unseen rules", unseen),
            ("innocent", innocent),
            ("look-alikes", alike),
            ("unseen code", real[cut:]),
        )
    }
    for bar in (-0.5, 0.0, 0.5, 1.0, 1.5, 2.0):
        print(bar, {what: f"{(found > bar).mean():.3f} of {len(found)}" for what, found in scores.items()})
    for score, row in sorted(zip(scores["unseen code"], real[cut:], strict=True), key=lambda pair: -pair[0])[:15]:
        print(f"  {score:5.1f} {row[1]!r}")
    if given.write:
        write(
            turns,
            pairs,
            {name: round(float(weight), 1) for name, weight in zip(names, theta, strict=True) if abs(weight) >= 0.05},
        )


def write(turns: list[list[float]], pairs: dict[str, list[float]], weights: dict[str, float]) -> None:
    """Rewrites the tables and forgets what was read; without weights, those that are there stay."""
    weights = weights or json.loads(FILE.read_text())["weights"]
    lines = ",\n".join(f"{json.dumps(letter)}: {json.dumps(costs)}" for letter, costs in pairs.items())
    said = json.dumps(weights, indent=1)
    FILE.write_text(f'{{"turns": {json.dumps(turns)},\n"pairs": {{\n{lines}}},\n"weights": {said}}}\n')
    secret_context.learnt.cache_clear()
    bits.cache_clear()


if __name__ == "__main__":
    main()
