"""The brief: what a session starts with. Read-only, and the same bytes all day while nothing is remembered or settled.

Each fact appears once; `docs/brief.md` lists the parts.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice

from recollect.core.clock import DAY, day_of, iso, zone_named
from recollect.core.learning import COMPACTED, IMPLIED
from recollect.core.records import record
from recollect.store import events, sessions, topics
from recollect.text.frame import BRIEF_END, BRIEF_HEADING, escape, one_line, quote
from recollect.text.markdown import lazy, split_frontmatter
from recollect.text.sentences import MAY_BE_OPEN, OPEN_AMONG, counted, cut, gist, is_ephemeral, is_real, tells
from recollect.text.tokens import NOISE, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import date

    from recollect.core.context import Context, Tx
    from recollect.store.sessions import Told
    from recollect.store.spool import Queue
    from recollect.store.topics import TopicRow
    from recollect.text.tokens import ContextBudget

NOTE = (
    "What earlier sessions left behind, as facts to weigh; the task decides. A backslash before punctuation is only an "
    "escape. `recollect search QUESTION` finds more, `recollect get ID` shows it whole.\n"
    "A final message may hold lines `DISCOVERY[blocker]: …` (also constraint, pattern, decision), `TOPIC: …`, "
    "`DONE: …` and `OPEN: …`: they are kept."
)
NOTHING = "Nothing is logged yet. What was learned is given with the prompts that it fits."
ROOT_FILE, INDEX_FILE = "ROOT.md", "learnings/INDEX.md"
REVIEWS_SHOWN = 5  # of the decisions that are due; chosen, the count names the others
AWAY = 7  # days without an entry after which the brief says so
ALIVE = 8  # topics with a line each
OPEN_SHOWN = 6  # topics with something open; chosen, as the two beside it, to fit a screen
LOOKED_AT = 60  # topics, by weight, that are read for it; chosen for the time of a start
LEARNED = 5
DECIDED = 5
RING_SHOWN = 4  # entries, and as many learnings, of each ring
LINE = 220  # characters of a line; a longer sentence is cut
FRESH = 30  # days after its last mention in which a topic counts as alive
HALF_LIFE = 14  # days, of the weight by which living topics are chosen
MAPPED = 2_000  # topics that the map is made from; older ones are counted
SAID_AGAIN = 0.8  # of a title's words, with which a sentence is told alone: "Bumps wheel to …"
SAYS_MORE = 4  # words that a sentence has and the title has not
ALIKE = 0.6  # of the words of two titles; they are then one line
ENTRIES = 80  # single entries at the end, where there is room
DIFFER = 12  # words that tell such lines apart
FEW_TERMS = 2  # telling words of a title and its gist that make an entry speak for its topic
_WORD = lazy(r"[\w./-]*[^\W_]")
_LINKED = lazy(r"\[([^\]]+)\]\([^)\s]*\)")  # without the address, which says nothing in one line
_OVER = lazy(r"\n- \d+ more topics, (\d+) of them user and feedback items, (\d+) references → ROOT")
_KEPT = lazy(r"- (.+?) \[(user|feedback|reference)[^\]]*\](?:: (.*))? → (\S+)")


PARTS = {
    "waiting": ("Waiting", "for a person"),
    "stand": ("Where things stand", "the last entry, or where a session broke off"),
    "rules": ("What people asked for", "entries of type user and feedback"),
    "open": ("Left open", "topics of the last weeks"),
    "topics": ("Topics alive now", "many and recent entries"),
    "learned": ("Learned", "what helped most or was taught last"),
    "decided": ("Decisions that bind", "pinned ones, then the latest"),
    "pointers": ("Where to look", "entries of type reference"),
    "themes": ("Themes of findings", "their index"),
    "map": ("All other topics", "by their last mention"),
    "entries": ("Latest entries", "what nothing above tells"),
}
"""Headings of the parts by name, and why each is given; the other parts are of rings."""


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
    rings = [Part(name=name, lines=lines, share=0.12) for name, lines in ctx.rings.ask(ctx, _ring)]
    fixed = [BRIEF_HEADING, "", *NOTE.split("\n"), "", BRIEF_END]
    with ctx.db.read(ctx.space) as tx:
        held = waiting(tx, ctx, aside=aside)
        told = _Telling(tx, ctx, today, session)
        parts = [
            *told.parts(page),
            *rings,
            Part(name="themes", lines=tuple(index), share=0.1),
        ]
        whole = left = room.characters - sum(map(room.cost, [*fixed, *held]))
        shown: list[tuple[str, list[str]]] = []
        for part in parts:
            shown.append((part.name, _fitted(part, min(left, int(whole * part.share)), room)))
            left -= sum(map(room.cost, shown[-1][1]))
        above = sum(len(lines) - 2 for name, lines in shown if name in ("open", "topics") and lines)
        mapped = _map(told.others, told.total - above, today, left, room)
        more = told.entries("\n".join(mapped))
        latest = Part(name="entries", lines=tuple(more.values()), share=1)
        entries = _fitted(latest, left - sum(map(room.cost, mapped)), room)
        told_by = {line.rpartition(" → ")[2]: line for _, some in [*shown, ("", entries)] for line in some}
        single = {topic: told_by[id] for id, topic in topics.first_of(tx, [*told_by]).items()}
    # A topic of one entry whose line says its name is not in the map as well.
    others = [row for row in told.others if row.entries > 1 or not _words(row.name) <= _words(single.get(row.id, ""))]
    unnamed = told.total - above - len(told.others) + len(others)
    mapped = _map(others, unnamed, today, left - sum(map(room.cost, entries)), room)
    left -= sum(map(room.cost, [*entries, *mapped]))
    for at, part in enumerate(parts):  # what room is left, the first part that has more gets
        if part.name in ("open", "topics"):  # counted with the map
            continue
        used = sum(map(room.cost, shown[at][1]))
        shown[at] = part.name, max(shown[at][1], _fitted(part, used + left, room), key=len)
        left -= sum(map(room.cost, shown[at][1])) - used
    shown += [("entries", entries)]
    over = {
        part.name: len({*part.lines} - {*some}) + part.beyond
        for part, (_, some) in zip([*parts, latest], shown, strict=True)
    }
    shown.insert(-1, ("map", mapped))
    lines = [line for _, some in shown for line in some] or ([] if held else ["", NOTHING])
    text = room.runnable("\n".join([*fixed[:-2], *held, *lines, *fixed[-2:], ""]))
    names = (*(["waiting"] if held else []), *(name for name, some in shown if some))
    return Brief(text=text, parts=names, left_out=tuple(over.get(name, 0) for name in names))


def _ring(ctx: Context) -> tuple[str, ...]:
    """What every session is told of a ring: what people asked for, then what helped or a person wrote."""
    with ctx.db.read(ctx.space) as tx:
        asked = sessions.entries_of_types(tx, ("user", "feedback"), limit=RING_SHOWN)
        learned = [line for line, _ in _lessons(tx, RING_SHOWN)]
    return (*(f"- {_titled(one, ())}" for one in asked), *learned)


def _lessons(tx: Tx, limit: int) -> list[tuple[str, bool]]:
    """Lines of learnings, and whether each helped."""
    found = sessions.lessons(tx, limit)
    ids = [one[0] for one in found]
    held, by = events.contradicted(tx, ids, ids)
    lines = []
    for id, title, observation, action, confidence, helped in found:
        if id in held:
            continue
        stated = [each for each in (action, observation) if not each.startswith(IMPLIED)]
        said = next((each for each in stated if not _words(each) <= _words(title)), "")
        notes = [f"confidence {confidence / 1000:.2f}, helped {helped}x"] if helped else []
        notes += [f"contradicted by {_said(by[id])}; see the inbox"] if id in by else []
        worth = f" ({'; '.join(notes)})" if notes else ""
        lines.append((f"- {_said(title)}{f': {_cut(said)}' if said else ''}{worth} {id}", helped > 0))
    return lines[:limit]


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
        writes = f"{counted(aside.count, 'write')} that failed {'is' if aside.count == 1 else 'are'}"
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
        self._done = {row.id for row in self.others if row.state == "done"}
        self._topic = topics.first_of(tx, [one.id for one in self._latest])
        self._entries = cache(lambda topic: sessions.entries_of(tx, topic, OPEN_AMONG))
        self._open = cache(self._open_in)

    def parts(self, page: str) -> Iterator[Part]:
        """The parts before the map. `page` is ROOT.md, for what people said and for lessons of the last months."""
        kept = [found for line in page.split("\n") if (found := _KEPT.fullmatch(line))]
        self._told.update(one[4] for one in kept)
        yield Part(name="stand", lines=tuple(self._stand()), share=0.15)
        rules = [_kept(one) for one in kept if one[2] != "reference"]
        pointers = [_kept(one) for one in kept if one[2] == "reference"]
        over = _OVER.search(page)
        kept_over, pointers_over = map(int, over.groups()) if over else (0, 0)
        more, lines = "{} more, in `recollect log tree root` and its overflow file", tuple(rules)
        yield Part(name="rules", lines=lines, share=0.2, more=more, beyond=kept_over)
        more, waiting = "{} more topics with something open: `recollect topic list --state open`", self._waiting()
        lines = tuple(self._line(row, one, said) for row, one, said in waiting[:OPEN_SHOWN])
        self._told.update(other.id for row, _, _ in waiting[:OPEN_SHOWN] for other, _ in self._open(row.id))
        yield Part(name="open", lines=lines, share=0.15, more=more, beyond=len(waiting[OPEN_SHOWN:]))
        alive = tuple(islice(self._alive(), ALIVE))
        yield Part(name="topics", lines=alive, share=0.25)
        yield Part(name="learned", lines=tuple(self._learned(page)), share=0.15)
        yield Part(name="decided", lines=tuple(self._decided()), share=0.15)
        more, lines = "{} more: `recollect search WORDS`", tuple(pointers)
        yield Part(name="pointers", lines=lines, share=0.08, more=more, beyond=pointers_over)

    def entries(self, mapped: str) -> dict[str, str]:
        """Lines of single entries that nothing above tells, newest first; nearly the same ones are one with a count."""
        self._titles += [_words(row.name) for row in self.others if f"{_said(row.name)} ({row.entries})" in mapped]
        first: dict[str, Told] = {}
        others: dict[str, list[Told]] = {}
        for one in self._latest:
            words = _words(one.title)
            if one.id in self._told or self._is_empty(one) or self._said_before(one):
                continue
            like = next((id for id, other in first.items() if _alike(words, _words(other.title))), one.id)
            if like in first and one.title == first[like].title and one.text.startswith("- request:"):
                continue  # an earlier turn of the same piece of work
            first.setdefault(like, one)
            others.setdefault(like, []).append(one)
        said = {}
        for id, one in first.items():
            said[id] = f"- {_titled(one, self._left(one), self._is_new)}{_like(one, others[id][1:])} → {id}"
        return said

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
        latest = {one.id: one for one in self._latest}
        which = "The last"
        for session, asked in sessions.broken_off(self._tx, now=self._now, but=self._session)[:3]:
            entry = next((latest.get(id) for id, _ in topics.last_of(self._tx, session=session.id)), None)
            said = f"{self._headed(entry)} → {self._tell(entry)}" if entry else _cut(asked)
            yield f"- {which} session broke off after: {said}"
            which = "Another"
        if which == "The last":
            left = [one for one in self._latest if one.id not in self._told] or self._latest
            last = next((one for one in left if not self._is_empty(one)), left[0])
            yield f"- Last entry: {self._headed(last)} → {self._tell(last)}"

    def _headed(self, one: Told) -> str:
        return _titled(one, self._left(one), self._is_new)

    def _open_in(self, topic: str) -> list[tuple[Told, str]]:
        """What is open in a topic, newest first, each with the entry that says so."""
        found = self._entries(topic)[::-1]
        if topic in self._done or not any(MAY_BE_OPEN.search(one.text) for one in found):
            return []
        from recollect.text.summarise import left_open  # loads `typing`, which few starts need

        return [(found[place], text) for place, text in left_open(one.text for one in found)][::-1]

    def _left(self, one: Told) -> list[str]:
        """What an entry left open that is open still."""
        topic = self._topic.get(one.id)
        return [text for other, text in self._open(topic) if other.id == one.id] if topic else []

    def _is_empty(self, one: Told) -> bool:
        """Whether an entry says too little to speak for its topic, or only names a task that is done."""
        said = gist(one.text)
        little = one.title == COMPACTED or len(_words(f"{one.title} {said}") - NOISE) < FEW_TERMS
        return not self._left(one) and (little or bool(not said and MAY_BE_OPEN.search(one.text)))

    def _living(self) -> list[TopicRow]:
        fresh = [row for row in self.others if row.state == "open" and self._age(row.last_at) <= FRESH + self._away()]
        # Many and recent entries first.
        weight = {row.id: row.entries**0.5 * 0.5 ** (self._age(row.last_at) / HALF_LIFE) for row in fresh}
        return sorted(fresh, key=lambda row: (-weight[row.id], row.name))[:LOOKED_AT]

    def _waiting(self) -> list[tuple[TopicRow, Told, str]]:
        """Living topics with something open that is not told above, each with what is open and its latest entry."""
        found = []
        for row in self._living():
            if left := [(one, text) for one, text in self._open(row.id) if one.id not in self._told]:
                found.append((row, left[0][0], _listed([text for _, text in left], LINE - len(row.name) - 30)))
        return found

    def _alive(self) -> Iterator[str]:
        """Lines of other topics that live; the map has the rest."""
        for row in self._living():
            found = self._entries(row.id)[:3]
            new = next((one for one in found if one.id not in self._told and not self._is_empty(one)), None)
            if new is None or (row.entries == 1 and self._said_before(new)):
                continue
            if row.entries == 1 and _words(row.name) <= _words(new.title):
                self.others.remove(row)
                yield f"- {_titled(new, (), self._is_new)} ({self._ago(row)}) → {self._tell(new)}"
            else:
                said = f"{_asked_later(new)} {gist(new.text)}".strip()
                yield self._line(row, new, said if tells(said) and self._is_new(said) else new.title)

    def _line(self, row: TopicRow, one: Told, said: str) -> str:
        """A line of a topic, which is then not among the others, with what one of its entries says."""
        self.others.remove(row)
        name, words = _words(row.name), _words(said)
        self._titles.append(name)
        head = f"{_said(row.name)} ({counted(row.entries, 'entry')}, {self._ago(row)})"
        return f"- {head if words <= name or _alike(words, name) else f'{head}: {_cut(said)}'} → {self._tell(one)}"

    def _learned(self, page: str) -> Iterator[str]:
        found = _lessons(self._tx, LEARNED)
        proven = [line for line, helped in found if helped]
        yield from proven
        for text, ids in sessions.principles(self._tx, now=self._now)[:3]:
            yield f"- {_cut(text)} ({counted(len(ids), 'decision')} confirm it)"
        patterns = page.partition("\n## Recent Patterns\n")[2].partition("\n## ")[0].split("\n")
        for line in patterns[: LEARNED - len(proven)]:
            said, _, id = line.removeprefix("- ").rpartition(" → ")
            if said and id not in self._told:
                self._told.add(id)
                yield f"- {_cut(said)} → {id}"
        yield from (line for line, helped in found if not helped)

    def _decided(self) -> Iterator[str]:
        """Decisions that bind, without those that wait for a review and are listed above."""
        due = [id for id, _ in _due(self._tx, self._ctx)[:REVIEWS_SHOWN]]
        for id, said, category, at in sessions.binding(self._tx, now=self._now, but=due, limit=DECIDED):
            yield f"- {_cut(said)} ({_said(category)}, {iso(at)[:10]}) {id}"

    def _age(self, at: int) -> int:
        return max((self._today - day_of(at, self._zone)).days, 0)

    def _ago(self, row: TopicRow) -> str:
        days = self._age(row.last_at)
        return f"{days}d" if days else "today"

    def _away(self) -> int:
        return self._age(self._latest[0].at) if self._latest else 0


def _kept(found: re.Match[str]) -> str:
    name, said = one_line(found[1]), found[3] or ""
    again = said.casefold().startswith(name.casefold())
    return f"- {_cut(said) if again else f'{escape(name)}: {_cut(said)}'} → {found[4]}"


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
    return f"- {counted(count, 'more topic')}: `recollect topic list`"


def _period(month: str, today: date) -> str:
    """The month as 2026-03, or from three months back its quarter as 2025-Q4."""
    year, number = int(month[:4]), int(month[5:])
    back = (today.year - year) * 12 + today.month - number
    return month if back < 3 else f"{year}-Q{(number + 2) // 3}"


def _fitted(part: Part, allowed: int, room: ContextBudget) -> list[str]:
    """The lines of a part that fit, below their heading; nothing at all when none does."""
    head = ["", f"### {PARTS[part.name][0] if part.name in PARTS else f'From ring {_said(part.name)}'}"]
    allowed -= sum(map(room.cost, head)) + (room.cost("- " + part.more.format(9_999)) if part.more else 0)
    kept: list[str] = []
    for line in part.lines:
        allowed -= room.cost(line)
        if allowed < 0:
            break
        kept.append(line)
    left = len(part.lines) - len(kept) + part.beyond
    return [*head, *kept, *([f"- {part.more.format(left)}"] if left and part.more else [])] if kept else []


def _titled(one: Told, left: Sequence[str], is_new: Callable[[str], bool] | None = None) -> str:
    """An entry's title and, where it says more and nothing above says that, its gist; what is `left` open always."""
    title, said = one_line(one.title), gist(one.text)
    title = f"{title} {_asked_later(one)}".rstrip()
    if left and not _words(" ".join(left)) <= _words(title):
        return _cut(f"{cut(title, LINE // 3)}; left open: {_listed(left, LINE // 2)}")
    if (not title.endswith("?") and len(_words(said) - _words(title)) < SAYS_MORE) or (is_new and not is_new(said)):
        return _cut(title)
    words = {*terms(title)}
    again = is_real(title) and len(words.intersection(terms(said))) >= SAID_AGAIN * len(words)
    again = again or said.casefold().startswith(title.rstrip(".…").casefold())
    return _cut(said if again else f"{title}: {said}")


def _asked_later(one: Told) -> str:
    """What an entry was asked, where that or the title is a question and both differ."""
    before, _, asked = one_line(one.text.partition("\n")[0]).partition("- request: ")
    other = not before and not asked.startswith(one_line(one.title).rstrip(".…"))
    return asked if other and (asked.endswith("?") or one.title.endswith("?")) else ""


def _listed(items: Sequence[str], limit: int) -> str:
    """As many items as fit, the first at least, and how many more there are."""
    shown = 1
    while shown < len(items) and len("; ".join(items[: shown + 1])) <= limit:
        shown += 1
    said = cut("; ".join(items[:shown]), limit)
    return f"{said}; and {len(items) - shown} more" if shown < len(items) else said


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
