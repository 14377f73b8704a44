"""The brief: what a session starts with. Read-only, and the same bytes all day while nothing is remembered or settled.

What waits comes first; then ROOT.md with its ages counted to today, the most recent day whatever its age, and the index
of themes. Each has a share of the room; what one leaves over goes to the others, in this order. Cut is from the end, of
a day's entries from the beginning. Knows nothing about hosts.
"""

from __future__ import annotations

import re

from recollect.core.clock import DAY, day_of, zone_named
from recollect.core.records import record
from recollect.store import events, reviews
from recollect.store.files import content_hash
from recollect.text.frame import BRIEF_END, BRIEF_HEADING, escape, one_line, quote, with_ages
from recollect.text.markdown import split_frontmatter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.core.context import Context, Tx
    from recollect.store.spool import Queue
    from recollect.text.frame import ContextBudget

NOTE = (
    "What earlier sessions left behind, as facts to weigh; the task decides. A backslash before punctuation is only an "
    "escape. `recollect recall QUESTION` finds the raw words behind a line, `recollect search` what was learned.\n"
    "A final message may hold lines `DISCOVERY[blocker]: …`, also with constraint, pattern or decision: they are kept."
)
NOTHING = "Nothing is remembered yet."
MORE = "- … and more"
ROOT_FILE, DAILY_FOLDER, INDEX_FILE = "ROOT.md", "daily", "learnings/INDEX.md"
SHARES = {"root": 0.55, "daily": 0.3, "index": 0.15}
REVIEWS_SHOWN = 5
ENTRY_CHARACTERS = 1_200
"""What one entry of the most recent day may take: a long answer must not hide the rest of the day."""

LOG_CHARACTERS = 1_000_000
"""A longer log is left to its node."""

_LOG = re.compile(r"\d{4}-\d{2}-\d{2}\.md")
_ROOT_ORDER = ("Active Context", "Topics Index", "Recent Patterns", "Historical Summary")
"""The most telling first: what does not fit is cut from the end."""


@record
class Brief:
    """The text, and the names of what is in it."""

    text: str
    parts: tuple[str, ...]


@record
class Part:
    """A piece of the brief: blocks of lines, the most telling first, or last in a day's entries."""

    name: str
    heading: str
    blocks: tuple[tuple[str, ...], ...]
    latest_last: bool = False


def brief(ctx: Context, room: ContextBudget, *, aside: Queue | None = None) -> Brief:
    """What a session starts with, within the room that its host gives; `aside` are writes that were set aside."""
    today = day_of(ctx.clock.now(), zone_named(ctx.settings.timezone))
    held = ctx.read(waiting, ctx, aside=aside)
    parts = [
        Part(name="root", heading="At a glance", blocks=_root(with_ages(ctx.vault.read(ROOT_FILE) or "", today))),
        _daily(ctx, room),
        Part(name="index", heading="Themes", blocks=_lines(ctx.vault.read(INDEX_FILE) or "")),
    ]
    parts = [part for part in parts if part.blocks]
    if not parts and not held:
        return Brief(text=f"{BRIEF_HEADING}\n\n{NOTE}\n\n{NOTHING}\n\n{BRIEF_END}\n", parts=())
    fixed = [BRIEF_HEADING, "", *NOTE.split("\n"), *held, "", BRIEF_END]
    left = room.characters - sum(map(room.cost, fixed))
    shown = _fitted(parts, left, room)
    text = "\n".join([*fixed[:-2], *(line for lines in shown for line in lines), *fixed[-2:]]) + "\n"
    return Brief(text=text, parts=(*(["waiting"] if held else []), *(part.name for part in parts)))


def waiting(tx: Tx, ctx: Context, *, aside: Queue | None = None) -> list[str]:
    """What only a person settles, and what is due."""
    now = ctx.clock.now()
    due = reviews.due(tx, now=now, otherwise_after=ctx.settings.decisions.summary_days * DAY)
    lines = [f"- {escape(one_line(id))}: {escape(one_line(text))[:200]}" for id, text in due[:REVIEWS_SHOWN]]
    if due:
        count = f"{len(due)} decision{'' if len(due) == 1 else 's'}"
        lines = [
            "",
            "### Waiting",
            "",
            f"{count} without an outcome, due for review (`recollect decision review`):",
            *lines,
        ]
    inbox = len(events.waiting_escalations(tx))
    if inbox:
        lines += ["", f"{inbox} matter{'' if inbox == 1 else 's'} in the inbox for a person (`recollect inbox`)."]
    if aside and aside.count:
        days = (now - (aside.oldest_at or now)) // DAY  # in days, so that the brief stays the same all day
        age = f"{days} day{'' if days == 1 else 's'} old" if days > 0 else "less than a day old"
        writes = f"{aside.count} write{' that failed is' if aside.count == 1 else 's that failed are'}"
        lines += ["", f"{writes} set aside, the oldest {age}: not in memory until `recollect doctor --fix` succeeds."]
    return lines


def _root(text: str) -> tuple[tuple[str, ...], ...]:
    """ROOT.md line by line, its sections in the order of what they are worth."""
    sections: list[list[str]] = [[]]
    for line in quote(split_frontmatter(text)[1], below=4):
        if line.startswith("#"):
            sections.append([])
        if line.strip():
            sections[-1].append(line)
    told = [section for section in sections if len(section) > 1]
    told.sort(key=lambda section: next((n for n, name in enumerate(_ROOT_ORDER) if name in section[0]), 9))
    blocks: list[tuple[str, ...]] = []
    for section in told:
        # A heading comes with its first line, never alone.
        blocks += [("", section[0], "", section[1]), *((line,) for line in section[2:])]
    return tuple(blocks)


def _daily(ctx: Context, room: ContextBudget) -> Part:
    """The most recent day: yesterday or last month, it is where work was left.

    Its node, or the log itself while the node does not know of the last entries yet. A log with external text is not
    shown as it is: the node leaves such text out.
    """
    path = max(ctx.vault.paths(DAILY_FOLDER), default="")
    text = (ctx.vault.read(path) if path else None) or ""
    day = path.removeprefix(f"{DAILY_FOLDER}/").removesuffix(".md")
    copied = "\ngenerator: copy\n" in text
    log = max((name for name in ctx.vault.stamps() if _LOG.fullmatch(name)), default="").removesuffix(".md")
    if log >= day and log:
        raw = ctx.vault.read(f"{log}.md") or ""
        if content_hash(raw) not in text and "trust=external" not in raw and len(raw) <= LOG_CHARACTERS:
            text, day, copied = raw, log, True
    blocks = _entries(text, room.cost, most=room.characters if copied else None)
    return Part(name=f"daily/{day}", heading=f"Most recent day: {day}", blocks=blocks, latest_last=copied)


def _entries(text: str, cost: Callable[[str], int], *, most: int | None) -> tuple[tuple[str, ...], ...]:
    """The entries of a day, one block each; only the last when they cost more than `most`: a session waits for it."""
    stretches: list[list[str]] = [[]]
    for line in split_frontmatter(text)[1].splitlines():
        if line.lstrip().startswith("#"):
            stretches.append([])
        stretches[-1].append(line)
    blocks: list[tuple[str, ...]] = []
    entry: list[str] = []
    taken = 0
    for stretch in reversed(stretches):
        entry = [line for line in quote("\n".join(stretch), below=4) if line.strip()] + entry
        if entry and (entry[0].startswith("#### ") or stretch is stretches[0]):
            blocks.append(("", *_clipped(entry)))
            taken += sum(map(cost, blocks[-1]))
            entry = []
        if most is not None and taken > most:
            break
    return tuple(blocks[::-1])


def _lines(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple((line,) for line in quote(split_frontmatter(text)[1], below=4) if line.strip())


def _clipped(lines: list[str]) -> list[str]:
    """An entry within its room; the line that leaves it is cut, since many an answer is one long line."""
    kept: list[str] = []
    left = ENTRY_CHARACTERS
    for line in lines:
        if len(line) >= left:
            return [*kept, line[:left] + " …"]
        left -= len(line) + 1
        kept.append(line)
    return kept


def _fitted(parts: Sequence[Part], left: int, room: ContextBudget) -> list[list[str]]:
    """The lines of every part that fit: first within its share, then within what all left over."""
    heads = [["", f"### {part.heading}"] for part in parts]
    left -= sum(room.cost(line) for head in (*heads, [MORE] * len(parts)) for line in head)
    shares = [int(left * SHARES[part.name.partition("/")[0]]) for part in parts]
    spare = left - sum(shares)
    taken = [0] * len(parts)
    for share_counts in (True, False):
        for place, part in enumerate(parts):
            allowed = spare + (shares[place] if share_counts else 0)
            order = part.blocks[::-1] if part.latest_last else part.blocks
            for block in order[taken[place] :]:
                cost = sum(map(room.cost, block))
                if cost > allowed:
                    break
                allowed -= cost
                taken[place] += 1
            spare = allowed
    shown: list[list[str]] = []
    for head, part, count in zip(heads, parts, taken, strict=True):
        kept = (part.blocks[-count:] if part.latest_last else part.blocks[:count]) if count else ()
        more = [MORE] if count < len(part.blocks) else []
        body = [line for block in kept for line in block]
        shown.append([*head, *more, *body] if part.latest_last else [*head, *body, *more])
    return shown
