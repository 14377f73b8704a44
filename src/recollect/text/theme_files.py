"""Theme files and INDEX.md: their exact form, written and read back, and how a theme is named and kept short.

Strings in, strings out; which finding belongs to which theme is decided elsewhere.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from recollect.core.errors import BadInput
from recollect.core.finding import THEME_NAME_LIMIT, check_theme_name
from recollect.text.frame import escape, one_line, unescape
from recollect.text.sentences import first_sentence
from recollect.text.staging import free_slug
from recollect.text.tokens import tokens
from recollect.text.vectors import WEAK_WORDS

MAX_THEMES = 20
THEME_BUDGET = 300
SUMMARY_WORDS = 18
_COUNT = re.compile(r" \(\d+ work units\)$")
_RELATED = "## Related Work Units"
_INDEX_LINE = re.compile(r"\*\*([a-z0-9-]+)\*\* — (.*) → themes/\1\.md")
_FRONTMATTER = re.compile(r"\A﻿?---\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_LAST = re.compile(r"^lastCompaction:[ \t]*[\"']?([^\"'\r\n]+?)[\"']?[ \t]*\r?$", re.MULTILINE)
_PROCESSED = re.compile(r"^rawFilesProcessed:[ \t]*[\"']?(\d{1,9})[\"']?[ \t]*\r?$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class ThemeLine:
    """One line of a theme: what findings of one or more work units say."""

    text: str
    findings: tuple[str, ...] = ()
    work_ids: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ThemeText:
    """A theme file's content."""

    name: str
    lines: tuple[ThemeLine, ...]
    work_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Index:
    """INDEX.md: when and over how many raw files it was made, and one line per theme."""

    last_compaction: str
    raw_files_processed: int
    themes: tuple[tuple[str, str], ...]


def render_theme(theme: ThemeText) -> str:
    lines = [f"- {escape(one_line(line.text))}" for line in theme.lines]
    related = [f"- {work_id}" for work_id in theme.work_ids]
    return "\n".join([f"# {_title(theme.name)}", "", *lines, "", _RELATED, *related]) + "\n"


def _title(name: str) -> str:
    return " ".join(word.capitalize() for word in name.split("-"))


def parse_theme(name: str, text: str) -> ThemeText:
    """A theme file, ours or another program's: the lines of its summary and its work units."""
    body, _, related = text.replace("\r\n", "\n").partition(f"\n{_RELATED}")
    lines = (line.strip() for line in body.splitlines() if not line.lstrip().startswith("#"))
    told = (unescape(one_line(line.removeprefix("- "))) for line in lines)
    units = (line.strip()[2:].strip() for line in related.splitlines() if line.strip().startswith("- "))
    return ThemeText(
        name=name,
        lines=tuple(ThemeLine(text=line) for line in told if line),
        work_ids=tuple(unit for unit in units if unit),
    )


def retitled(text: str, old: str, new: str, units: Mapping[str, str]) -> str:
    """A theme file under another name, with other names for some work units; whatever else it says stays."""
    body, mark, related = text.partition(f"\n{_RELATED}")
    lines = [f"# {_title(new)}" if line == f"# {_title(old)}" else line for line in body.split("\n")]
    listed = [f"- {units.get(line[2:], line[2:])}" if line.startswith("- ") else line for line in related.split("\n")]
    return "\n".join(lines) + mark + "\n".join(listed)


def render_index(index: Index) -> str:
    lines = [f"**{name}** — {escape(summary)} → themes/{name}.md" for name, summary in index.themes]
    head = [
        "---",
        f'lastCompaction: "{index.last_compaction}"',
        f"rawFilesProcessed: {index.raw_files_processed}",
        "---",
    ]
    return "\n".join([*head, "", *lines]) + "\n"


def parse_index(text: str) -> Index:
    """INDEX.md as far as it can be read; what cannot is left out, never an error."""
    front = _FRONTMATTER.search(text)
    head, body = (front.group(1), text[front.end() :]) if front else ("", text)
    last, processed = _LAST.search(head), _PROCESSED.search(head)
    themes = (_INDEX_LINE.fullmatch(line.strip()) for line in body.splitlines())
    return Index(
        last_compaction=last.group(1) if last else "",
        raw_files_processed=int(processed.group(1)) if processed else 0,
        themes=tuple((found.group(1), unescape(found.group(2))) for found in themes if found),
    )


def index_summary(lines: Sequence[ThemeLine]) -> str:
    """One line for INDEX.md: what the theme's best supported line says."""
    text = first_sentence(uncounted(lines[0].text), SUMMARY_WORDS) if lines else ""
    return text.replace(" → ", " -> ").rstrip(" .")


def uncounted(text: str) -> str:
    """A line without the number of work units behind it, which grows from run to run."""
    return _COUNT.sub("", text)


def fit(theme: ThemeText, budget: int = THEME_BUDGET) -> tuple[ThemeText, tuple[str, ...]]:
    """The theme within its budget, and the findings left out.

    The least supported lines go first. A list of work units that alone would fill half of the file keeps its last
    ones and counts the others; raw files and rows still know them all.
    """
    theme = replace(theme, work_ids=_fit_units(theme.work_ids, budget // 2))
    kept = list(theme.lines)
    while len(kept) > 1 and tokens(render_theme(replace(theme, lines=tuple(kept)))) > budget:
        weakest = min(range(len(kept)), key=lambda i: (len(kept[i].work_ids), len(kept[i].findings), -i))
        del kept[weakest]
    left = tuple(finding for line in theme.lines if line not in kept for finding in line.findings)
    return replace(theme, lines=tuple(kept)), left


def over_budget(theme: ThemeText) -> bool:
    return tokens(render_theme(theme)) > THEME_BUDGET


def _fit_units(work_ids: tuple[str, ...], budget: int) -> tuple[str, ...]:
    if tokens(" ".join(f"- {unit}" for unit in work_ids)) <= budget:
        return work_ids
    keep = max(1, (budget * 3 // 4 - 3) // 2)
    return (f"… {len(work_ids) - keep} earlier", *work_ids[-keep:])


_NAME_WORD = re.compile(r"[^\W_]+")


def name_theme(texts: Sequence[str], others: Sequence[str], taken: Collection[str]) -> str:
    """A kebab-case name from the words its texts share and other texts do not; `-2` where it is taken."""
    inside = Counter(phrase for text in texts for phrase in set(_phrases(text)))
    outside = Counter(phrase for text in others for phrase in set(_phrases(text)))
    total = len(texts) + len(others)

    def worth(phrase: tuple[str, ...]) -> tuple[float, tuple[str, ...]]:
        rarity = math.log(1 + total / (inside[phrase] + outside[phrase]))
        return (-(inside[phrase] ** 1.5) * rarity * (1.0, 1.7, 1.8)[len(phrase) - 1], phrase)

    ranked = sorted(inside, key=worth)
    name = "-".join(ranked[0]) if ranked else "theme"
    if ranked and len(ranked[0]) == 1:
        partner = next((p for p in ranked[1:] if len(p) == 1 and inside[p] * 2 > inside[ranked[0]]), None)
        if partner:
            name = f"{name}-{partner[0]}"
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
            if len(plain) > 1 and plain not in WEAK_WORDS and not plain.isdigit() and len(plain) <= 24:
                telling.append(plain)
                yield from (tuple(telling[-size:]) for size in (1, 2, 3) if len(telling) >= size)
            else:
                telling = []
