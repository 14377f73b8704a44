"""Charts as SVG made here: no script, no inline style, every mark with a title that says its numbers.

Pure: numbers in, markup out. Colours are classes of `page.css`, so that light and dark are its business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from markupsafe import Markup, escape

WIDTH, HEIGHT, EDGE = 640, 180, 30
CELL = 12
WEEKS = 53
SHADES = (1, 3, 6, 10)
"""Entries a day from which a cell is one shade darker."""


@dataclass(frozen=True, kw_only=True)
class ChartPoint:
    """A confidence after a change, and what the change was."""

    at: int
    value: float
    label: str


def history(moments: Sequence[ChartPoint], bar: float) -> Markup:
    """How a confidence moved, as steps; `bar` is the confidence from which a learning is injected."""
    first, last = moments[0].at, moments[-1].at
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
    return _svg(WIDTH, HEIGHT, "Confidence over time", [*scale, floor, line, *marks])


def calendar(counts: Mapping[date, int], today: date) -> Markup:
    """A year of days, a column a week, darker where more was written; a day links to its log."""
    monday = today - timedelta(days=today.weekday()) - timedelta(weeks=WEEKS - 1)
    cells: list[str] = []
    for number in range(WEEKS * 7):
        day = monday + timedelta(days=number)
        if day > today:
            break
        count = counts.get(day, 0)
        shade = sum(count >= least for least in SHADES)
        x, y = number // 7 * CELL, number % 7 * CELL + CELL
        box = (
            f'<rect class="day shade{shade}" x="{x}" y="{y}" width="{CELL - 2}" height="{CELL - 2}" rx="2">'
            f"<title>{day}: {count} {'entry' if count == 1 else 'entries'}</title></rect>"
        )
        cells.append(f'<a href="/journal/log/{day}">{box}</a>' if count else box)
        if day.day == 1 and number // 7 < WEEKS - 2:  # a name further right would be cut off
            cells.append(f'<text class="scale" x="{x}" y="{CELL - 3}">{day:%b}</text>')
    return _svg(WEEKS * CELL, CELL * 8, "Entries a day in the last year", cells)


@dataclass(frozen=True, kw_only=True)
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


def _svg(width: int, height: int, name: str, parts: Sequence[str]) -> Markup:
    return Markup(  # numbers and escaped texts alone
        f'<svg class="chart" viewBox="0 0 {width} {height}" role="img" aria-label="{name}">{"".join(parts)}</svg>'
    )
