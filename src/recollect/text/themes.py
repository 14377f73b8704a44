"""Theme files, INDEX.md and raw findings files: their exact form, written and read back, and how a theme is named.

A raw findings file is one work unit's JSON, read without ever trusting it and written in the same form:

    {"workId": "…", "timestamp": "…", "findings": [{"category", "source", "description", "proposedRule"?,
     "disposition"?}]}

`distil` decides which finding belongs to which theme.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from recollect.core.choices import Trust
from recollect.core.clock import parse_time
from recollect.core.errors import BadInput
from recollect.core.finding import (
    FINDING_LIMIT,
    THEME_NAME_LIMIT,
    Finding,
    NewFinding,
    SkippedFile,
    WorkFile,
    check_theme_name,
    check_work_id,
)
from recollect.core.records import record, replace
from recollect.text.cluster import WEAK_WORDS
from recollect.text.frame import escape, one_line, unescape
from recollect.text.markdown import frontmatter, lazy
from recollect.text.markers import VERBS
from recollect.text.sentences import first_sentence
from recollect.text.staging import free_slug
from recollect.text.topics import is_phrase

MAX_THEMES = 20  # chosen: INDEX.md stays one screen
THEME_BUDGET = 300  # chosen: tokens of a theme file, at three quarters of a word each
SUMMARY_WORDS = 18  # one line of INDEX.md
SHORT_WORD = 4  # letters; shorter words are mostly abbreviations, which name no subject by themselves
_COUNT = lazy(r" \(\d+ work units\)$")
_RELATED = "## Related Work Units"
_UNIT = lazy(r"- +[^\s:]+(?: *[(:—–].*)?$")
_INDEX_LINE = lazy(r"\*\*([a-z0-9-]+)\*\* — (.*) → themes/\1\.md")
_COUNTED = lazy(r"\d{1,9}")


@record
class ThemeLine:
    """One line of a theme: what findings of one or more work units say."""

    text: str
    findings: tuple[str, ...] = ()
    work_ids: tuple[str, ...] = ()


@record
class ThemeText:
    name: str
    lines: tuple[ThemeLine, ...]
    work_ids: tuple[str, ...]


@record
class Index:
    """INDEX.md: when and over how many raw files it was made, and one line per theme."""

    last_compaction: str
    raw_files_processed: int
    themes: tuple[tuple[str, str], ...]


def render_theme(theme: ThemeText) -> str:
    lines = [f"- {escape(one_line(line.text))}" for line in theme.lines]
    related = [f"- {work_id}" for work_id in theme.work_ids]
    return "\n".join([f"# {_title(theme)}", "", *lines, "", _RELATED, *related]) + "\n"


def _title(theme: ThemeText) -> str:
    """The name in title case; a word that the lines mostly write with capitals inside, as `API`, is written so."""
    forms = Counter(word for line in theme.lines for word in _NAME_WORD.findall(line.text))

    def form(word: str) -> str:
        usual = max((each for each in forms if each.lower() == word), key=lambda each: forms[each], default=word)
        return usual if usual[1:] != usual[1:].lower() else word.capitalize()

    return " ".join(map(form, theme.name.split("-")))


def parse_theme(name: str, text: str) -> ThemeText:
    """A theme file, ours or another program's: the lines of its summary and its work units."""
    body, _, related = text.replace("\r\n", "\n").partition(f"\n{_RELATED}")
    below = [line.strip() for line in related.splitlines()]
    units = [line for line in below if _UNIT.match(line)]
    added = [line for line in below if line not in units]  # by a person
    lines = (line.strip() for line in (*body.splitlines(), *added) if not line.lstrip().startswith("#"))
    told = (unescape(one_line(line.removeprefix("- "))) for line in lines)
    return ThemeText(
        name=name,
        lines=tuple(ThemeLine(text=line) for line in told if line),
        work_ids=tuple(unit[2:].strip() for unit in units),
    )


def render_index(index: Index) -> str:
    lines = [f"**{name}** — {escape(summary)} → themes/{name}.md" for name, summary in index.themes]
    head = f'---\nlastCompaction: "{index.last_compaction}"\nrawFilesProcessed: {index.raw_files_processed}\n---\n'
    return "\n".join([head, *lines]) + "\n"


def parse_index(text: str) -> Index:
    """INDEX.md as far as it can be read; what cannot is left out, never an error."""
    fields, body = frontmatter(text)
    last, processed = fields.get("lastCompaction", ""), fields.get("rawFilesProcessed", "")
    themes = (_INDEX_LINE.fullmatch(line.strip()) for line in body.splitlines())
    return Index(
        last_compaction=last if isinstance(last, str) else "",
        raw_files_processed=int(processed) if _COUNTED.fullmatch(str(processed)) else 0,
        themes=tuple((found.group(1), unescape(found.group(2))) for found in themes if found),
    )


def index_summary(lines: Sequence[ThemeLine]) -> str:
    text = first_sentence(uncounted(lines[0].text), SUMMARY_WORDS) if lines else ""
    return text.replace(" → ", " -> ").rstrip(" .")


def uncounted(text: str) -> str:
    """A line without the number of work units behind it, which grows."""
    return _COUNT.sub("", text)


def tokens(text: str) -> int:
    """Words over 0.75, where a long word is more than one."""
    return max(-(-len(text.split()) * 4 // 3), len(text) // 6)


def fit(theme: ThemeText, budget: int = THEME_BUDGET) -> tuple[ThemeText, tuple[str, ...]]:
    """The theme within its budget, and the findings left out.

    The least supported lines go first; those of a person or another program, which have no findings, stay. A list of
    work units that alone would fill half of the file keeps its last ones and counts the others.
    """
    theme = replace(theme, work_ids=_fit_units(theme.work_ids, budget // 2))
    kept = list(theme.lines)
    while len(kept) > 1 and tokens(render_theme(replace(theme, lines=tuple(kept)))) > budget:
        ours = [i for i, line in enumerate(kept) if line.findings]
        if not ours:
            break
        del kept[min(ours, key=lambda i: (len(kept[i].work_ids), len(kept[i].findings), -i))]
    left = tuple(finding for line in theme.lines if line not in kept for finding in line.findings)
    return replace(theme, lines=tuple(kept)), left


def over_budget(theme: ThemeText) -> bool:
    return tokens(render_theme(theme)) > THEME_BUDGET


def _fit_units(work_ids: tuple[str, ...], budget: int) -> tuple[str, ...]:
    if tokens(" ".join(f"- {unit}" for unit in work_ids)) <= budget:
        return work_ids
    keep = max(1, (budget * 3 // 4 - 3) // 2)
    return (f"… {len(work_ids) - keep} earlier", *work_ids[-keep:])


_NAME_WORD = lazy(r"[^\W_]+")
_ODD_WORD = lazy(r"\d|^(?:md|json|toml|yaml|yml|txt)$")  # numbers of rules and versions, endings of file names


def name_theme(texts: Sequence[str], others: Sequence[str], taken: Collection[str], *, alone: bool = False) -> str:
    """A kebab-case name from the words its texts share and other texts do not; `-2` where it is taken.

    A single word gets the word beside it, unless it may be `alone`.
    """
    inside = Counter(phrase for text in texts for phrase in set(_phrases(text)))
    outside = Counter(phrase for text in others for phrase in set(_phrases(text)))
    total = len(texts) + len(others)
    said = [set(_phrases(text)) for text in texts]
    central = max(said, key=lambda its: sum(inside[each] - 1 for each in its) / (1 + len(its)), default=set())

    def worth(phrase: tuple[str, ...]) -> tuple[float, tuple[str, ...]]:
        rarity = math.log(1 + total / (inside[phrase] + outside[phrase]))
        # Two words say what a theme is about; one alone seldom does, least an abbreviation.
        weight = (0.5 if len(phrase[0]) < SHORT_WORD else 1.0, 1.9, 2.0)[len(phrase) - 1]
        if inside[phrase] == 1:  # of one text: the one that says most of what the others say, and no verb
            weight *= 1.5 if phrase in central else 1.0
            acts = any(word.endswith("ing") or VERBS & {word, word[:-1], word[:-2]} for word in phrase)  # "requires"
            weight *= 1.0 if is_phrase(phrase) and not acts else 0.6
        return (-(inside[phrase] ** 1.5) * rarity * weight, phrase)

    ranked = sorted(inside, key=worth)
    best = ranked[0] if ranked else ("theme",)
    if len(best) == 1 and not alone:  # `llm-output` rather than `llm`
        best = next((phrase for phrase in ranked if len(phrase) == 2 and best[0] in phrase), best)
    name = "-".join(best)
    return free_slug(slug(name), taken)


def slug(text: str) -> str:
    """Text as a theme name; what has no letter or digit to offer becomes `theme`."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    made = "-".join(re.findall(r"[a-z0-9]+", plain))[: THEME_NAME_LIMIT - 4].strip("-") or "theme"
    try:
        return check_theme_name(made)
    except BadInput:
        return f"{made}-theme"  # a device name such as `con`


def _phrases(text: str) -> Iterable[tuple[str, ...]]:
    """Runs of one to three telling words, as written, lower case, ASCII letters and digits."""
    for run in re.split(r"[^\w\s'-]|\n", text):
        telling: list[str] = []
        for word in [*_NAME_WORD.findall(run), ""]:
            plain = unicodedata.normalize("NFKD", word).encode("ascii", "ignore").decode().lower()
            if len(plain) > 1 and plain not in WEAK_WORDS and not _ODD_WORD.search(plain) and len(plain) <= 24:
                telling.append(plain)
                yield from (tuple(telling[-size:]) for size in (1, 2, 3) if len(telling) >= size)
            else:
                telling = []


SIZE_LIMIT = 5_000_000  # bytes; a work unit writes kilobytes
COUNT_LIMIT = 10_000  # findings of one file, for the same reason
_TEXTS = {
    "category": "category",
    "source": "source",
    "proposedRule": "proposed_rule",
    "disposition": "disposition",
}


def read_work_file(path: str, data: bytes) -> WorkFile | SkippedFile:
    """The findings of a valid file; an item that is not a finding is skipped."""
    try:
        return _read(path, data)
    except BadInput as problem:
        return SkippedFile(path=path, reason=str(problem))


def _read(path: str, data: bytes) -> WorkFile:
    import hashlib  # loads OpenSSL, which no reader needs that finds no file

    import msgspec

    if len(data) > SIZE_LIMIT:
        raise BadInput(f"larger than {SIZE_LIMIT // 1_000_000} MB")
    if not data.strip():
        raise BadInput("empty")
    try:
        body = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except UnicodeDecodeError:
        raise BadInput("not UTF-8") from None
    except RecursionError:
        raise BadInput("nested too deeply") from None
    except msgspec.MsgspecError as problem:
        raise BadInput(f"not JSON: {problem}") from None
    if not isinstance(body, Mapping):
        raise BadInput("not a JSON object")
    missing = [name for name in ("workId", "timestamp", "findings") if body.get(name) is None]
    if missing:
        raise BadInput(f"without {', '.join(missing)}")
    if not isinstance(body["timestamp"], str) or not body["timestamp"].strip():
        raise BadInput("timestamp is not text")
    try:
        parse_time(body["timestamp"].strip())
    except BadInput:
        raise BadInput(f"timestamp {body['timestamp'][:40]!r} is not a time such as 2026-03-01T12:00:00Z") from None
    if not isinstance(body["findings"], list):
        raise BadInput("findings is not a list")
    if len(body["findings"]) > COUNT_LIMIT:
        raise BadInput(f"more than {COUNT_LIMIT:,} findings")
    work_id = check_work_id(body["workId"])
    items = [_finding(work_id, number, item) for number, item in enumerate(body["findings"], start=1)]
    return WorkFile(
        path=path,
        work_id=work_id,
        timestamp=body["timestamp"].strip(),
        findings=tuple(item for item in items if item is not None),
        sha=hashlib.sha256(data).hexdigest(),
    )


def without_repeats(files: list[WorkFile]) -> tuple[list[WorkFile], list[SkippedFile]]:
    """One file per work id: the one named after it, else the first by name."""
    chosen: dict[str, WorkFile] = {}
    for file in sorted(files, key=lambda file: (file.path.rpartition("/")[2] != f"{file.work_id}.json", file.path)):
        chosen.setdefault(file.work_id, file)
    kept = [file for file in files if chosen[file.work_id] is file]
    repeats = [
        SkippedFile(path=file.path, reason=f"work id {file.work_id} is already in {chosen[file.work_id].path}")
        for file in files
        if chosen[file.work_id] is not file
    ]
    return kept, repeats


def write_work_file(work_id: str, timestamp: str, items: list[dict[str, Any]]) -> str:
    """The file's text; `items` are kept as they are, so that what another program added survives."""
    import msgspec

    body = {"workId": check_work_id(work_id), "timestamp": timestamp, "findings": items}
    return msgspec.json.format(msgspec.json.encode(body), indent=2).decode() + "\n"


def raw_item(finding: NewFinding, trust: Trust = "agent") -> dict[str, Any]:
    item = {"category": finding.category, "source": finding.source, "description": finding.description}
    if finding.proposed_rule:
        item["proposedRule"] = finding.proposed_rule
    if finding.disposition:
        item["disposition"] = finding.disposition
    if trust == "external":
        item["trust"] = trust
    return item


def _finding(work_id: str, number: int, item: Any) -> Finding | None:
    if not isinstance(item, Mapping) or not isinstance(item.get("description"), str):
        return None
    description = item["description"].replace("\x00", "").strip()
    if not description:
        return None
    texts = {ours: item[theirs] for theirs, ours in _TEXTS.items() if isinstance(item.get(theirs), str)}
    texts = {name: text.replace("\x00", "").strip()[:FINDING_LIMIT] for name, text in texts.items()}
    trust: Trust = "external" if item.get("trust") == "external" else "agent"
    return Finding(work_id=work_id, number=number, description=description[:FINDING_LIMIT], trust=trust, **texts)
