"""The brief: what a session starts with. Read-only, and the same bytes all day while nothing is remembered or settled.

Each fact appears once: what waits, where the last session broke off, what people asked for, what is open, the topics
that live, what helped and what binds, then a map of all other topics, finer where it is recent, and single entries.
"""

from __future__ import annotations

import re

from recollect.core.clock import DAY, day_of, iso, zone_named
from recollect.core.learning import COMPACTED
from recollect.core.records import record
from recollect.store import events, sessions, topics
from recollect.text.frame import BRIEF_END, BRIEF_HEADING, escape, one_line, quote
from recollect.text.markdown import lazy, split_frontmatter
from recollect.text.sentences import counted, cut, gist, is_ephemeral, tells
from recollect.text.tokens import NOISE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import date

    from recollect.core.context import Context, Tx
    from recollect.store.sessions import Told
    from recollect.store.spool import Queue
    from recollect.store.topics import TopicRow
    from recollect.text.frame import ContextBudget

NOTE = (
    "What earlier sessions left behind, as facts to weigh; the task decides. A backslash before punctuation is only an "
    "escape. `recollect search QUESTION` finds more, `recollect get ID` shows it whole.\n"
    "A final message may hold lines `DISCOVERY[blocker]: …` (also constraint, pattern, decision), `TOPIC: …`, "
    "`DONE: …` and `OPEN: …`: they are kept."
)
NOTHING = "Nothing is remembered yet."
ROOT_FILE, INDEX_FILE = "ROOT.md", "learnings/INDEX.md"
REVIEWS_SHOWN = 5  # of the decisions that are due; chosen, the count names the others
AWAY = 7  # days without an entry after which the brief says so
ALIVE = 8  # topics with a line each
OPEN_SHOWN = 6  # topics with something left open; these three are chosen to fit a screen together
LEARNED = 5
DECIDED = 5
RING_SHOWN = 4  # entries, and as many learnings, of each ring
LINE = 220  # characters of a line; a longer sentence is cut
FRESH = 30  # days after its last mention in which a topic counts as alive
HALF_LIFE = 14  # days, of the weight by which living topics are chosen
MAPPED = 2_000  # topics that the map is made from; older ones are counted
SAME_START = 24  # characters from which a title and a sentence say the same
SAYS_MORE = 4  # words that a sentence has and the title has not
ALIKE = 0.6  # of the words of two titles; they are then one line
ENTRIES = 80  # single entries at the end, where there is room
DIFFER = 12  # words that tell such lines apart
FEW_TERMS = 2  # telling words of a title and its gist that make an entry speak for its topic
_WORD = lazy(r"[\w./-]*[^\W_]")
_LINKED = lazy(r"\[([^\]]+)\]\([^)\s]*\)")  # without the address, which says nothing in one line
_OVER = lazy(r"\n- \d+ more topics, (\d+) of them user and feedback items, (\d+) references → ROOT")
_KEPT = lazy(r"- (.+?) \[(user|feedback|reference)[^\]]*\](?:: (.*))? → (\S+)")


@record
class Brief:
    """Its text, the names of its parts in order, and for each part how many more lines found no room."""

    text: str
    parts: tuple[str, ...]
    left_out: tuple[int, ...] = ()


@record
class Part:
    """A section; `more` tells how many lines found no room, with the `beyond` that are not among `lines`."""

    name: str
    heading: str
    lines: tuple[str, ...]
    share: float
    more: str = ""
    beyond: int = 0


def brief(ctx: Context, room: ContextBudget, *, aside: Queue | None = None, session: str = "") -> Brief:
    """What a session starts with, within the room that its host gives.

    `aside` are writes that were set aside; `session` is the one that starts, which is not the last session before it.
    """
    today = day_of(ctx.clock.now(), zone_named(ctx.settings.timezone))
    page = split_frontmatter(ctx.vault.read(ROOT_FILE) or "")[1]
    index = [line for line in quote(split_frontmatter(ctx.vault.read(INDEX_FILE) or "")[1], below=4) if line.strip()]
    rings = [
        Part(name=name, heading=f"From ring {_said(name)}", lines=lines, share=0.12)
        for name, lines in ctx.rings.ask(ctx, _ring)
    ]
    fixed = [BRIEF_HEADING, "", *NOTE.split("\n"), "", BRIEF_END]
    with ctx.db.read(ctx.space) as tx:
        held = waiting(tx, ctx, aside=aside)
        told = _Telling(tx, ctx, today, session)
        parts = [
            *told.parts(page),
            *rings,
            Part(name="themes", heading="Themes of findings", lines=tuple(index), share=0.1),
        ]
        whole = left = room.characters - sum(map(room.cost, [*fixed, *held]))
        shown: list[tuple[str, list[str]]] = []
        over: dict[str, int] = {}
        for part in parts:
            lines = _fitted(part, min(left, int(whole * part.share)), room)
            shown.append((part.name, lines))
            over[part.name] = len(part.lines) + part.beyond - len({*part.lines} & {*lines})
            left -= sum(map(room.cost, lines))
        above = sum(len(lines) - 2 for name, lines in shown if name in ("open", "topics") and lines)
        mapped = _map(told.others, told.total - above, today, left, room)
        more = told.entries("\n".join(mapped))
        latest = Part(name="", heading="Latest entries", lines=tuple(more.values()), share=1)
        entries = _fitted(latest, left - sum(map(room.cost, mapped)), room)
        over["entries"] = len(latest.lines) - len({*latest.lines} & {*entries})
        told_by = {line.rpartition(" → ")[2]: line for _, some in [*shown, ("", entries)] for line in some}
        single = {topic: told_by[id] for id, topic in topics.first_of(tx, [*told_by]).items()}
    # A topic of one entry whose line says its name is not in the map as well.
    others = [row for row in told.others if row.entries > 1 or not _words(row.name) <= _words(single.get(row.id, ""))]
    unnamed = told.total - above - len(told.others) + len(others)
    mapped = _map(others, unnamed, today, left - sum(map(room.cost, entries)), room)
    shown += [("map", mapped), ("entries", entries)]
    lines = [line for _, some in shown for line in some] or ([] if held else ["", NOTHING])
    text = room.runnable("\n".join([*fixed[:-2], *held, *lines, *fixed[-2:], ""]))
    names = (*(["waiting"] if held else []), *(name for name, some in shown if some))
    return Brief(text=text, parts=names, left_out=tuple(over.get(name, 0) for name in names))


def _ring(ctx: Context) -> tuple[str, ...]:
    """What every session is told of a ring: what people asked for, then what helped or a person wrote."""
    with ctx.db.read(ctx.space) as tx:
        asked = sessions.entries_of_types(tx, ("user", "feedback"), limit=RING_SHOWN)
        helped = [one[:3] for one in sessions.proven(tx, RING_SHOWN)]
        learned = list(dict.fromkeys([*helped, *sessions.by_person(tx, RING_SHOWN)]))[:RING_SHOWN]
    lines = [f"- {_titled(one)}" for one in asked]
    return (*lines, *(f"- {_said(title)}: {_cut(action)} {id}" for id, title, action in learned))


def waiting(tx: Tx, ctx: Context, *, aside: Queue | None = None) -> list[str]:
    """What only a person settles, and what is due."""
    now = ctx.clock.now()
    due = _due(tx, ctx)
    lines = [f"- {_said(id)}: {_said(text)[:200]}" for id, text in due[:REVIEWS_SHOWN]]
    if due:
        count = counted(len(due), "decision")
        lines = ["", f"{count} without an outcome, due for review (`recollect decision review`):", *lines]
    inbox = len(events.waiting_escalations(tx))
    if inbox:
        lines += ["", f"{counted(inbox, 'item')} in the inbox for a person (`recollect inbox`)."]
    if aside and aside.count:
        days = (now - (aside.oldest_at or now)) // DAY  # in days, so that the brief stays the same all day
        age = f"{counted(days, 'day')} old" if days > 0 else "less than a day old"
        writes = f"{aside.count} write{' that failed is' if aside.count == 1 else 's that failed are'}"
        lines += ["", f"{writes} set aside, the oldest {age}: not in memory until `recollect doctor --fix` succeeds."]
    return ["", "### Waiting", *lines] if lines else []


def _due(tx: Tx, ctx: Context) -> list[tuple[str, str]]:
    return sessions.due(tx, now=ctx.clock.now(), otherwise_after=ctx.settings.decisions.summary_days * DAY)


class _Telling:
    """The parts in the order they are read; each remembers which entries it told, so that none is told twice."""

    def __init__(self, tx: Tx, ctx: Context, today: date, session: str):
        self._tx = tx
        self._ctx = ctx
        self._today = today
        self._session = session
        self._zone = zone_named(ctx.settings.timezone)
        self._now = ctx.clock.now()
        self._told: set[str] = set()
        self._titles: list[frozenset[str]] = []
        self._sentences: list[frozenset[str]] = []
        self._latest = [one for one in sessions.latest_entries(tx, ENTRIES) if not is_ephemeral(one.title)]
        self.others, self.total = topics.listed(tx, now=self._now, limit=MAPPED)

    def parts(self, page: str) -> Iterator[Part]:
        """The parts before the map. `page` is ROOT.md, for what people said and for lessons of the last months."""
        kept = [found for line in page.split("\n") if (found := _KEPT.fullmatch(line))]
        self._told.update(one[4] for one in kept)
        yield Part(name="stand", heading="Where things stand", lines=tuple(self._stand()), share=0.15)
        rules = [_kept(one) for one in kept if one[2] != "reference"]
        pointers = [_kept(one) for one in kept if one[2] == "reference"]
        over = _OVER.search(page)
        kept_over, pointers_over = map(int, over.groups()) if over else (0, 0)
        more, lines = "{} more, in `recollect log tree root` and its overflow file", tuple(rules)
        yield Part(name="rules", heading="What people asked for", lines=lines, share=0.2, more=more, beyond=kept_over)
        left_open, alive = self._living()
        yield Part(name="open", heading="Left open", lines=tuple(left_open), share=0.15)
        yield Part(name="topics", heading="Topics alive now", lines=tuple(alive), share=0.25)
        yield Part(name="learned", heading="Learned", lines=tuple(self._learned(page)), share=0.15)
        yield Part(name="decided", heading="Decisions that bind", lines=tuple(self._decided()), share=0.15)
        more, lines = "{} more: `recollect search WORDS`", tuple(pointers)
        yield Part(name="pointers", heading="Where to look", lines=lines, share=0.08, more=more, beyond=pointers_over)

    def entries(self, mapped: str) -> dict[str, str]:
        """Lines of single entries that nothing above tells, newest first; nearly the same ones are one with a count."""
        self._titles += [_words(row.name) for row in self.others if f"{_said(row.name)} ({row.entries})" in mapped]
        done = {row.id for row in self.others if row.state == "done"}
        of = topics.first_of(self._tx, [one.id for one in self._latest])
        first: dict[str, Told] = {}
        others: dict[str, list[Told]] = {}
        for one in self._latest:
            words = _words(one.title)
            if one.id in self._told or _is_thin(one) or self._said_before(one):
                continue
            like = next((id for id, other in first.items() if _alike(words, _words(other.title))), one.id)
            if like in first and one.title == first[like].title and one.text.startswith("- request:"):
                continue  # an earlier turn of the same piece of work
            first.setdefault(like, one)
            others.setdefault(like, []).append(one)
        said = {id: _cut(one.title) if of.get(id) in done else _titled(one, self._is_new) for id, one in first.items()}
        return {id: f"- {said[id]}{_like(one, others[id][1:])} → {id}" for id, one in first.items()}

    def _is_new(self, sentence: str) -> bool:
        """Whether no line above says nearly the same sentence; from now on one does."""
        words = _words(sentence)
        if any(_alike(words, other) for other in self._sentences):
            return False
        self._sentences.append(words)
        return True

    def _said_before(self, one: Told) -> bool:
        return any(_alike(_words(one.title), other) for other in self._titles)

    def _tell(self, one: Told) -> str:
        self._told.add(one.id)
        self._titles.append(_words(one.title))
        return one.id

    def _stand(self) -> Iterator[str]:
        if not self._latest:
            return
        if (away := self._away()) >= AWAY:
            day = day_of(self._latest[0].at, self._zone)
            yield f"- Nothing was logged since {day} ({counted(away, 'day')}); this is where things stood then."
        said, left = "Last entry", [one for one in self._latest if one.id not in self._told]
        if sessions.broken_off(self._tx, but=self._session):
            said = "The last session broke off after"
        else:
            left = [one for one in left if not _is_thin(one)] or left
        last = (left or self._latest)[0]
        yield f"- {said}: {_titled(last, self._is_new)} → {self._tell(last)}"

    def _living(self) -> tuple[list[str], list[str]]:
        """Lines of the topics that live: those that left something open, and others. The map has the rest."""
        fresh = [row for row in self.others if row.state == "open" and self._age(row.last_at) <= FRESH + self._away()]
        left_open: list[str] = []
        alive: list[str] = []
        for row in sorted(fresh, key=self._weight)[: 2 * (ALIVE + OPEN_SHOWN)]:
            found = sessions.entries_of(self._tx, row.id, 3)
            new = [one for one in found if one.id not in self._told and not _is_thin(one)]
            if not new or (row.entries == 1 and self._said_before(new[0])):
                continue
            one = new[0]
            said, is_open = gist(one.text)
            some, most = (left_open, OPEN_SHOWN) if is_open else (alive, ALIVE)
            if len(some) < most:
                age = f"{self._age(row.last_at)}d"
                if row.entries == 1 and not is_open and _words(row.name) <= _words(one.title):
                    line = f"{_titled(one, self._is_new)} ({age})"
                else:
                    said = said if is_open or (tells(said) and self._is_new(said)) else one.title
                    name, words = _words(row.name), _words(said)
                    self._titles.append(name)
                    head = f"{_said(row.name)} ({counted(row.entries, 'entry')}, {age})"
                    line = head if words <= name or _alike(words, name) else f"{head}: {_cut(said)}"
                some.append(f"- {line} → {self._tell(one)}")
                self.others.remove(row)
        return left_open, alive

    def _learned(self, page: str) -> Iterator[str]:
        found = sessions.proven(self._tx, LEARNED)
        for id, title, action, confidence, helped in found:
            worth = f"confidence {confidence / 1000:.2f}, helped {helped}x"
            yield f"- {_said(title)}: {_cut(action)} ({worth}) {id}"
        for text, ids in sessions.principles(self._tx, now=self._now)[:3]:
            yield f"- {_cut(text)} ({counted(len(ids), 'decision')} confirm it)"
        patterns = page.partition("\n## Recent Patterns\n")[2].partition("\n## ")[0].split("\n")
        for line in patterns[: max(LEARNED - len(found), 0)]:
            said, _, id = line.removeprefix("- ").rpartition(" → ")
            if said and id not in self._told:
                self._told.add(id)
                yield f"- {_cut(said)} → {id}"

    def _decided(self) -> Iterator[str]:
        """Decisions that bind, without those that wait for a review and are listed above."""
        due = [id for id, _ in _due(self._tx, self._ctx)[:REVIEWS_SHOWN]]
        for id, said, category, at in sessions.binding(self._tx, now=self._now, but=due, limit=DECIDED):
            yield f"- {_cut(said)} ({_said(category)}, {iso(at)[:10]}) {id}"

    def _weight(self, row: TopicRow) -> tuple[float, str]:
        """Topics with many and recent entries first; the name decides between equals."""
        return -(row.entries**0.5) * 0.5 ** (self._age(row.last_at) / HALF_LIFE), row.name

    def _age(self, at: int) -> int:
        return max((self._today - day_of(at, self._zone)).days, 0)

    def _away(self) -> int:
        return self._age(self._latest[0].at) if self._latest else 0


def _kept(found: re.Match[str]) -> str:
    return f"- {_said(found[1])}: {_cut(found[3] or '')} → {found[4]}"


def _map(others: Sequence[TopicRow], unnamed: int, today: date, left: int, room: ContextBudget) -> list[str]:
    """Other topics by their last mention: months, then quarters; what is left of the `unnamed` ones is counted."""
    head = ["", "### All other topics, by last mention (how many entries)"]
    periods = list(dict.fromkeys(_period(iso(row.last_at)[:7], today) for row in others))  # the latest comes first
    names: dict[str, list[str]] = {period: [] for period in periods}
    for row in sorted(others, key=lambda row: (-row.entries, -row.last_at, row.name)):
        count = f" ({row.entries})" if row.entries > 1 else ""
        names[_period(iso(row.last_at)[:7], today)].append(f"{_said(row.name)}{count}")
    heads = {period: f"- {period} ({len(some)}): " for period, some in names.items()}
    left -= sum(map(room.cost, [*head, *heads.values(), _rest(unnamed)]))
    taken: dict[str, list[str]] = {period: [] for period in names}
    for period, name in _in_turn(names):
        left -= room.cost(f"{name},")
        if left < 0:
            break
        taken[period].append(name)
    lines = [f"{heads[period]}{', '.join(some)}" for period, some in taken.items() if some]
    rest = unnamed - sum(map(len, taken.values()))
    return [*head, *lines, *([_rest(rest)] if rest else [])] if lines else []


def _in_turn(names: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Names of each period in turn, two of a recent one for one of an older."""
    for turn in range(max(map(len, names.values()), default=0)):
        for place, (period, some) in enumerate(names.items()):
            step = 2 if place < 3 else 1
            yield from ((period, name) for name in some[turn * step : (turn + 1) * step])


def _rest(count: int) -> str:
    return f"- {count} more topics: `recollect topic list`"


def _period(month: str, today: date) -> str:
    """The month as 2026-03, or from three months back its quarter as 2025-Q4."""
    year, number = int(month[:4]), int(month[5:])
    back = (today.year - year) * 12 + today.month - number
    return month if back < 3 else f"{year}-Q{(number + 2) // 3}"


def _fitted(part: Part, allowed: int, room: ContextBudget) -> list[str]:
    """The lines of a part that fit, below their heading; nothing at all when none does."""
    head = ["", f"### {part.heading}"]
    allowed -= sum(map(room.cost, head)) + (room.cost("- " + part.more.format(9_999)) if part.more else 0)
    kept: list[str] = []
    for line in part.lines:
        allowed -= room.cost(line)
        if allowed < 0:
            break
        kept.append(line)
    left = len(part.lines) - len(kept) + part.beyond
    return [*head, *kept, *([f"- {part.more.format(left)}"] if left and part.more else [])] if kept else []


def _titled(one: Told, is_new: Callable[[str], bool] | None = None) -> str:
    """An entry's title and, where it says more and nothing above says that, its gist; what it leaves open always."""
    title, (said, is_open) = one_line(one.title), gist(one.text)
    if is_open and not _words(said) <= _words(title):
        return _cut(f"{title}; left open: {said}")
    if len(_words(said) - _words(title)) < SAYS_MORE or (is_new and not is_new(said)):
        return _cut(title)
    begun = min(len(title.rstrip(".…")), len(said.rstrip(".…")), SAME_START)
    if said[:begun].casefold() == title[:begun].casefold():
        return _cut(title if len(title) > 2 * SAME_START and not title.endswith("…") else said)
    return _cut(f"{title}: {said}")


def _is_thin(one: Told) -> bool:
    """Whether an entry says too little to speak for its topic."""
    said, is_open = gist(one.text)
    return not is_open and (one.title == COMPACTED or len(_words(f"{one.title} {said}") - NOISE) < FEW_TERMS)


def _like(one: Told, others: Sequence[Told]) -> str:
    """How many entries are like one, and by which words they differ."""
    said = (word for each in others for word in _WORD.findall(one_line(each.title)))
    new = dict.fromkeys(word for word in said if not _words(word) <= _words(one.title))
    by = f": {escape(', '.join([*new][:DIFFER]))}" if new else ""
    return f" (and {len(others)} like it{by})" if others else ""


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]+", re.sub(r"https?:\S+", "", text.casefold())))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two titles are nearly the same: "Bump wheel from 0.45 to 0.46" is like "Bump tox from 4.1 to 4.2"."""
    return len(one & other) >= ALIKE * len(one | other)


def _cut(text: str, limit: int = LINE) -> str:
    return escape(cut(_LINKED.sub(r"\1", one_line(text)), limit))


def _said(text: str) -> str:
    return escape(one_line(text))
