"""Charts as SVG made here: no script, no inline style, every mark with a title that says its numbers.

Pure: numbers in, markup out. Colours are classes of `page.css`, so that light and dark are its business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta

from markupsafe import Markup, escape

from recollect.core.records import record

WIDTH, HEIGHT, EDGE = 320, 150, 26
CELL = 12
WEEKS = 53
SHADES = (1, 3, 6, 10)
"""Entries a day from which a cell is one shade darker."""


@record
class ChartPoint:
    """A confidence after a change, and what the change was."""

    at: int
    value: float
    label: str


def history(moments: Sequence[ChartPoint], bar: float, *, now: int, when: Callable[[int], str]) -> Markup:
    """How a confidence moved until now, as steps; `bar` is the confidence from which a learning is injected."""
    first, last = moments[0].at, max(now, moments[-1].at)
    span = max(last - first, 1)

    def x(at: int) -> float:
        return EDGE + (at - first) / span * (WIDTH - 2 * EDGE)

    def y(value: float) -> float:
        return HEIGHT - EDGE - value * (HEIGHT - 2 * EDGE)

    steps = [f"M{x(first):.1f} {y(moments[0].value):.1f}"]
    steps += [f"H{x(each.at):.1f} V{y(each.value):.1f}" for each in moments[1:]]
    steps.append(f"H{WIDTH - EDGE}")
    marks = [
        f'<circle class="mark" cx="{x(each.at):.1f}" cy="{y(each.value):.1f}" r="4"><title>{escape(each.label)}</title>'
        "</circle>"
        for each in moments
    ]
    scale = [
        f'<text class="scale" x="2" y="{y(value) + 4:.1f}">{value:.1f}</text>'
        f'<line class="grid" x1="{EDGE}" x2="{WIDTH - EDGE}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
        for value in (0.0, 0.5, 1.0)
    ]
    floor = f'<line class="floor" x1="{EDGE}" x2="{WIDTH - EDGE}" y1="{y(bar):.1f}" y2="{y(bar):.1f}"/>'
    line = f'<path class="line" d="{" ".join(steps)}"/>'
    dates = [
        f'<text class="scale" x="{x(at):.1f}" y="{HEIGHT - 8}" text-anchor="{anchor}">{when(at)}</text>'
        for at, anchor in ((first, "start"), ((first + last) // 2, "middle"), (last, "end"))
    ]
    return _svg(WIDTH, HEIGHT, "Confidence over time", [*scale, *dates, floor, line, *marks])


@record
class Bar:
    """A week: how much there was, how much of it went up and how much down."""

    label: str
    total: int = 0
    up: int = 0
    down: int = 0


def bars(weeks: Sequence[Bar], name: str, *, noun: str = "Week of") -> Markup:
    """A bar a week: all of it pale, the part that went up in colour, what went down below the line."""
    height, foot = 120, 18
    most = max((max(week.total, week.up) for week in weeks), default=0) or 1
    deepest = max((week.down for week in weeks), default=0)
    scale = (height - foot - 14) / (most + deepest)
    line = 14 + most * scale
    wide = (WIDTH - EDGE) / max(len(weeks), 1)
    parts = [
        f'<text class="scale" x="0" y="{14 + 4}">{most}</text>',
        f'<line class="grid" x1="{EDGE}" x2="{WIDTH}" y1="{line:.1f}" y2="{line:.1f}"/>',
    ]
    for number, week in enumerate(weeks):
        x = EDGE + number * wide
        said = ", ".join(
            f"{count} {word}" for count, word in ((week.total, "shown"), (week.up, "up"), (week.down, "down")) if count
        )
        boxes = "".join(
            f'<rect class="{kind}" x="{x + 3:.1f}" y="{y:.1f}" width="{wide - 6:.1f}" rx="2" '
            f'height="{count * scale:.1f}"/>'
            for kind, count, y in (
                ("bar-all", week.total, line - week.total * scale),
                ("bar-up", week.up, line - week.up * scale),
                ("bar-down", week.down, line),
            )
            if count
        )
        parts.append(f"<g><title>{noun} {escape(week.label)}: {said or 'nothing'}</title>{boxes}</g>")
        if number % max(1, len(weeks) // 4) == 0 and number < len(weeks) - 1:
            parts.append(f'<text class="scale" x="{x + 3:.1f}" y="{height - 3}">{escape(week.label)}</text>')
    return _svg(WIDTH, height, name, parts)


def life(first: int, last: int, *, since: int, now: int) -> Markup:
    """From when to when something lived, on a line from `since` to now."""
    span, width, height = max(now - since, 1), 200, 8
    x, wide = (first - since) / span * (width - 4), (last - first) / span * (width - 4) + 4
    drawn = f'<rect class="bar-up" x="{x:.1f}" y="1" width="{wide:.1f}" height="6" rx="3"/>'
    line = f'<line class="grid" x1="0" x2="{width}" y1="4" y2="4"/>'
    return _svg(width, height, "Time from the first to the last mention", [line, drawn])


def calendar(counts: Mapping[date, int], today: date, *, base: str = "") -> Markup:
    """A year of days, a column a week, darker where more was written; a day links to its log."""
    monday = today - timedelta(days=today.weekday()) - timedelta(weeks=WEEKS - 1)
    last = max((day for day, count in counts.items() if count and day <= today), default=None)
    cells: list[str] = []
    for number in range(WEEKS * 7):
        day = monday + timedelta(days=number)
        if day > today:
            break
        count = counts.get(day, 0)
        shade = sum(count >= least for least in SHADES)
        x, y = number // 7 * CELL, number % 7 * CELL + CELL
        said = f"{day}: {count} {'entry' if count == 1 else 'entries'}"
        box = (
            f'<rect class="day shade{shade}" x="{x}" y="{y}" width="{CELL - 2}" height="{CELL - 2}" rx="2">'
            f"<title>{said}</title></rect>"
        )
        stop = 0 if day == last else -1  # one stop for Tab; arrows move on from there
        link = f'<a data-day href="{base}/journal/log/{day}" tabindex="{stop}" aria-label="{said}">'
        cells.append(f"{link}{box}</a>" if count else box)
        if day.day == 1 and number // 7 < WEEKS - 2:  # a name further right would be cut off
            cells.append(f'<text class="scale" x="{x}" y="{CELL - 3}">{day:%b}</text>')
    return _svg(WEEKS * CELL, CELL * 8, "Entries a day in the last year", cells, role="group")


@record
class Dot:
    """Decisions of about one confidence: what was expected, what came, and how many."""

    expected: float
    came: float
    count: int


def reliability(dots: Sequence[Dot]) -> Markup:
    """Confidence against success: on the diagonal a confidence means what it says."""
    size = 240
    inner = size - 2 * EDGE

    def place(value: float) -> float:
        return EDGE + value * inner

    def down(value: float) -> float:
        return size - EDGE - value * inner

    most = max((dot.count for dot in dots), default=1)
    parts = [
        f'<rect class="frame" x="{EDGE}" y="{EDGE}" width="{inner}" height="{inner}"/>',
        f'<line class="floor" x1="{place(0)}" y1="{down(0)}" x2="{place(1)}" y2="{down(1)}"/>',
        f'<text class="scale" x="{place(0)}" y="{size - 10}">confidence →</text>',
        f'<text class="scale" x="2" y="{EDGE - 8}">success ↑</text>',
    ]
    for dot in dots:
        x, y = place(dot.expected), down(dot.came)
        radius = 4 + 8 * (dot.count / most) ** 0.5
        said = f"said {dot.expected:.2f}, came true {dot.came:.2f}, {dot.count} decisions"
        parts.append(f'<circle class="mark" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"><title>{said}</title></circle>')
        parts.append(f'<text class="count" x="{x:.1f}" y="{y + 4:.1f}">{dot.count}</text>')
    return _svg(size, size, "Reliability diagram", parts)


@record
class Trend:
    """A month's reviews: what was said on average, and what came."""

    label: str
    said: float
    came: float
    count: int


def trend(months: Sequence[Trend]) -> Markup:
    """Stated confidence and success by month: where the line is above the bars, confidence was too high."""
    height = 160
    wide = (WIDTH - EDGE) / max(len(months), 1)

    def y(value: float) -> float:
        return 10 + (1 - value) * (height - 34)

    parts = [
        f'<text class="scale" x="0" y="{y(value) + 4:.1f}">{value:.1f}</text>'
        f'<line class="grid" x1="{EDGE}" x2="{WIDTH}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
        for value in (0.0, 0.5, 1.0)
    ]
    line = []
    for number, month in enumerate(months):
        x = EDGE + number * wide
        said = f"{month.label}: said {month.said:.2f}, came true {month.came:.2f}, {month.count} reviews"
        parts.append(
            f'<rect class="bar-all" x="{x + 4:.1f}" y="{y(month.came):.1f}" width="{wide - 8:.1f}" '
            f'height="{y(0) - y(month.came):.1f}" rx="2"><title>{escape(said)}</title></rect>'
        )
        line.append(f"{x + wide / 2:.1f} {y(month.said):.1f}")
        if number % max(1, len(months) // 6) == 0:
            parts.append(f'<text class="scale" x="{x + 4:.1f}" y="{height - 4}">{escape(month.label)}</text>')
    parts.append(f'<path class="line" d="M{" L".join(line)}"/>')
    return _svg(WIDTH, height, "Stated confidence and success by month of review", parts)


def _svg(width: int, height: int, name: str, parts: Sequence[str], *, role: str = "img") -> Markup:
    drawn = "".join(parts)  # numbers and escaped texts alone
    return Markup(f'<svg class="chart" viewBox="0 0 {width} {height}" role="{role}" aria-label="{name}">{drawn}</svg>')
