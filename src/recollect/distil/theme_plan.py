"""Which finding belongs to which theme, and what each theme says.

Pure: findings and earlier themes in, a plan out. A finding keeps its theme from run to run and only new ones are
placed. Themes are added, split and merged as the findings and the budgets require; a theme keeps its name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from recollect.core.finding import Finding, Theme
from recollect.core.records import record
from recollect.text.cluster import (
    TOGETHER,
    Vectors,
    group,
    medoid,
    merge_nearest,
    middle,
    similarity,
    topic_vectors,
    wording_vectors,
)
from recollect.text.compare import Judge, agreeing
from recollect.text.sentences import clip, first_sentence
from recollect.text.themes import (
    MAX_THEMES,
    ThemeLine,
    ThemeText,
    fit,
    index_summary,
    name_theme,
    over_budget,
    uncounted,
)

SAME_LINE = 0.55
"""Findings this similar say the same and share a line. Chosen stricter than for one theme, so that no rule is lost."""
DESCRIPTION_WORDS = 28  # with the rule about 60 tokens, so that the 300 of a theme hold five lines
RULE_WORDS = 18  # with the description about 60 tokens


@record
class PlannedTheme:
    """A theme as it will be stored, its file's content within the budget, and what came from others than findings."""

    theme: Theme
    text: ThemeText
    inherited: tuple[str, ...] = ()
    inherited_units: tuple[str, ...] = ()


@record
class KnownTheme:
    """A theme of an earlier run or of another program: its findings and the lines written about it."""

    name: str
    named_by: str = "machine"
    findings: tuple[str, ...] = ()
    inherited: tuple[str, ...] = ()
    """Lines that another program or a person wrote; they stay until a person takes them out."""
    inherited_units: tuple[str, ...] = ()


def plan(
    findings: Sequence[Finding],
    known: Sequence[KnownTheme] = (),
    most: int = MAX_THEMES,
    judge: Judge | None = None,
) -> list[PlannedTheme]:
    """Themes for all findings that are not dismissed, best supported first."""
    live = [finding for finding in findings if not finding.dismissed]
    inherited = [theme for theme in known if theme.inherited]
    texts = [finding.text for finding in live] + [" ".join(theme.inherited) for theme in inherited]
    board = _Board(live, texts, topic_vectors(texts), known, judge)
    for offset, theme in enumerate(inherited):
        board.anchor(theme.name, len(live) + offset)
    board.place_new()
    board.merge_down(most)
    board.split_up(most)
    board.name_all()
    planned = [board.planned(number) for number in board.groups]
    return sorted(planned, key=lambda made: (-len(made.theme.work_ids), -len(made.theme.findings), made.theme.name))


class _Board:
    """The state of one planning: numbered groups of items, some of them named."""

    def __init__(
        self,
        live: Sequence[Finding],
        texts: Sequence[str],
        vectors: Vectors,
        known: Sequence[KnownTheme],
        judge: Judge | None,
    ):
        self.live, self.texts, self.vectors, self.judge = live, texts, vectors, judge
        self.known = {theme.name: theme for theme in known}
        self.inherited = [theme.name for theme in known if theme.inherited]
        self.groups: dict[int, list[int]] = {}
        self.names: dict[int, str] = {}
        home = {finding: theme.name for theme in known for finding in theme.findings}
        by_name: dict[str, list[int]] = defaultdict(list)
        for item, finding in enumerate(live):
            if finding.id in home:
                by_name[home[finding.id]].append(item)
        for name, items in by_name.items():
            self._add(items, name)

    def anchor(self, name: str, item: int) -> None:
        """Put another program's text into its theme, so that findings on the same topic join it."""
        for number, its in self.names.items():
            if its == name:
                self.groups[number].append(item)
                return
        self._add([item], name)

    def place_new(self) -> None:
        """Each new finding joins the most similar theme; the rest are grouped among themselves."""
        placed = {item for items in self.groups.values() for item in items}
        homes = {number: middle(items, self.vectors) for number, items in self.groups.items()}
        strays: list[int] = []
        for item in range(len(self.live)):
            if item in placed:
                continue
            likeness = {number: similarity(self.vectors[item], home) for number, home in homes.items()}
            best = max(likeness, key=lambda number: (likeness[number], -number), default=None)
            if best is not None and likeness[best] >= TOGETHER:
                self.groups[best].append(item)
            else:
                strays.append(item)
        for items in group([self.vectors[item] for item in strays], TOGETHER) if strays else []:
            self._add([strays[item] for item in items])

    def merge_down(self, most: int) -> None:
        """Merge the nearest themes until `most` are left. Two themes that people named are not merged."""
        numbers = sorted(self.groups, key=lambda number: (-len(self.groups[number]), min(self.groups[number])))
        ordered = [self.groups[number] for number in numbers]
        by_human = {name for name, theme in self.known.items() if theme.named_by == "human"}
        human = {min(self.groups[number]) for number in numbers if self.names.get(number) in by_human}
        settled = {item for number in self.names for item in self.groups[number]}
        merged = merge_nearest(ordered, self.vectors, most, apart=human, settled=settled)
        if len(merged) == len(ordered):
            return
        old = {frozenset(self.groups[number]): self.names.get(number) for number in self.groups}
        self.groups, self.names = {}, {}
        for items in merged:
            parts = [(len(part), name) for part, name in old.items() if name and part <= set(items)]
            parts.sort(key=lambda part: (part[1] not in by_human, -part[0], part[1]))
            self._add(items, parts[0][1] if parts else None)

    def split_up(self, most: int) -> None:
        """A theme over its budget becomes two while there is room; the larger part keeps the name."""
        waiting = sorted(self.groups)
        while waiting and len(self.groups) < most:
            number = waiting.pop(0)
            items = self.groups[number]
            if len(items) < 2 or not over_budget(self._text(number, "theme")):
                continue
            halves = merge_nearest([[item] for item in items], self.vectors, 2)
            self.groups[number] = halves[0]
            waiting += [number, self._add(halves[1])]

    def name_all(self) -> None:
        for number in sorted(self.groups):
            if number not in self.names:
                items = set(self.groups[number])
                inside = [self.texts[item] for item in sorted(items)]
                outside = [text for item, text in enumerate(self.texts) if item not in items]
                self.names[number] = name_theme(inside, outside, set(self.names.values()))

    def planned(self, number: int) -> PlannedTheme:
        name = self.names[number]
        whole = self._text(number, name)
        text, left_out = fit(whole)
        theme = Theme(
            name=name,
            # What a person or another program wrote leads: it was put there on purpose.
            summary=index_summary([line for line in text.lines if not line.findings] or text.lines),
            named_by=self.known[name].named_by if name in self.known else "machine",
            findings=tuple(sorted(self.live[item].id for item in self._findings(number))),
            work_ids=whole.work_ids,
            left_out=tuple(sorted(left_out)),
        )
        given = self._given(number)
        lines = tuple(dict.fromkeys(line for one in given for line in one.inherited))
        return PlannedTheme(theme=theme, text=text, inherited=lines, inherited_units=_units(given))

    def _add(self, items: list[int], name: str | None = None) -> int:
        number = max(self.groups, default=-1) + 1
        self.groups[number] = list(items)
        if name:
            self.names[number] = name
        return number

    def _findings(self, number: int) -> list[int]:
        return [item for item in sorted(self.groups[number]) if item < len(self.live)]

    def _text(self, number: int, name: str) -> ThemeText:
        """All lines of the theme, before the budget."""
        members = [self.live[item] for item in self._findings(number)]
        given = self._given(number)
        lines = theme_lines(members, self.judge)
        said = {uncounted(line.text) for line in lines}
        theirs = dict.fromkeys(text for one in given for text in one.inherited if uncounted(text) not in said)
        lines += [ThemeLine(text=text) for text in theirs]
        units = dict.fromkeys([*_units(given), *sorted(finding.work_id for finding in members)])
        return ThemeText(name=name, lines=tuple(lines), work_ids=tuple(units))

    def _given(self, number: int) -> list[KnownTheme]:
        """The earlier theme of that name, and those that were merged into this one: their lines stay, too."""
        own, there = self.names.get(number, ""), set(self.names.values())
        texts = [self.inherited[item - len(self.live)] for item in self.groups[number] if item >= len(self.live)]
        return [
            self.known[name]
            for name in dict.fromkeys([own, *texts])
            if name in self.known and (name == own or name not in there)
        ]


def _units(given: Sequence[KnownTheme]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(unit for one in given for unit in one.inherited_units))


def theme_lines(findings: Sequence[Finding], judge: Judge | None = None) -> list[ThemeLine]:
    """One line per rule, most work units first; findings that repeat each other, none its opposite, share a line."""
    if not findings:
        return []
    vectors = wording_vectors([finding.text for finding in findings])
    lines = []
    alike = group(vectors, SAME_LINE)
    agreed = [[its[at] for at in part] for its in alike for part in agreeing([findings[i].text for i in its], judge)]
    for items in agreed:
        lead = findings[medoid(items, vectors)]
        units = sorted({findings[item].work_id for item in items})
        text = finding_line(lead) + (f" ({len(units)} work units)" if len(units) > 1 else "")
        ids = tuple(sorted(findings[item].id for item in items))
        lines.append(ThemeLine(text=text, findings=ids, work_ids=tuple(units)))
    return sorted(lines, key=lambda line: (-len(line.work_ids), -len(line.findings), line.findings))


def finding_line(finding: Finding) -> str:
    text = clip(finding.description, DESCRIPTION_WORDS)
    rule = first_sentence(finding.proposed_rule, RULE_WORDS)
    if not rule or rule.rstrip(".").casefold() in text.casefold():
        return text
    return f"{text}{'' if text.endswith(('.', '!', '?', '…')) else '.'} Rule: {rule}"
