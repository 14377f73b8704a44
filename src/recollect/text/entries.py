"""Log entries as Markdown: one `## Topic [type]` section each, and back.

What is rendered reads back as it was given: no text can pose as a heading or as the mark of an entry, or leave a fence
open. Secrets of hand-written sections are taken out as they are read, so nothing made from a log holds them. Logs of
any size are read in bounded memory.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import date
from hashlib import sha256

from recollect.core.choices import Trust
from recollect.core.journal import ENTRY_TYPES, FIELDS, TOPIC_LIMIT, Entry, EntryType, NewEntry
from recollect.core.records import record, replace
from recollect.text import markdown
from recollect.text.markdown import lazy
from recollect.text.sentences import first_sentence
from recollect.text.storable import redacted, storable

ENTRY_CHARS = 64_000  # read of one entry; the log keeps the rest
LOG_CHARS = 4_000_000  # read of one day beyond its headings
LOG_ENTRIES = 20_000  # sections read of one day; more are text of the last one
TITLE_WORDS = 14  # of the first sentence, where an entry comes without a title

PURGED = "<!-- recollect: purged=yes -->"  # in the place of an entry, whose number is never given to another
PURGED_SECTION = f"## purged\n{PURGED}\n"

_TAG = lazy(r"(.*?)\s*\[\s*(\w+)\s*\]")
_MARK = lazy(r"<!-- recollect:((?: \w+=\S*)*) -->")
_KEY = lazy(r"<!-- recollect:(?: \w+=\S*)*? key=(\S+)")
_PRIVATE_TAG = lazy(r"<(/?)private\s*>", re.IGNORECASE)
_FORGED_HEADING = lazy(r"\\*##(?=[ \t]|$)")
_FORGED_MARK = lazy(r"\\*(?:<!-- recollect:|<{7} )")
_NAMES = "|".join(name.replace("_", "[-_ ]") for name in FIELDS)
FIELD = lazy(rf"[-*][ \t]+(?:\*\*)?({_NAMES})[ \t]*:(?:\*\*)?(?:[ \t]+(.*))?", re.IGNORECASE)


def render(new: NewEntry, *, at: str = "", key: str = "", trust: Trust = "agent") -> str:
    """The section to append. External text carries a mark, so that every reader of the file knows."""
    marks = {
        "at": at,
        "key": key,
        "session": re.sub(r"[^\w.:@/+-]", "_", new.session or "")[:200],
        "heading": "" if new.topic and not new.title else "title",
        "trust": trust if trust == "external" else "",
    }
    mark = "".join(f" {name}={value}" for name, value in marks.items() if value)
    return f"## {title_of(new)} [{new.type}]\n<!-- recollect:{mark} -->\n\n{_escaped(body(new))}\n"


def title_of(new: NewEntry) -> str:
    """The heading of an entry: its title, its topic, or the beginning of what it says."""
    given = one_line(new.title or "") or one_line(new.topic or "")
    said = next((value for value in (new.text, *(value for _, value in new.fields)) if value.strip()), "")
    said = re.sub(r"(?m)^(?:TOPIC: .*|OPEN: )", "", markdown.without_fences(said))
    said = re.sub(r"(?m)^DONE: ", "Done: ", said)  # a result, which could be read as a task
    return given or one_line(first_sentence(said, TITLE_WORDS).rstrip(".!")) or "notes"


def body(new: NewEntry) -> str:
    """What an entry says: its text, then its fields as list items, values over several lines indented."""
    parts = [markdown.close_fence(normalised(new.text))] if new.text.strip() else []
    items = []
    for name, value in new.fields:
        first, *more = normalised(value).strip().split("\n")
        items.append("\n".join([f"- {name.replace('_', '-')}: {first}", *(f"  {line}".rstrip() for line in more)]))
    return markdown.close_fence("\n\n".join([*parts, *(["\n".join(items)] if items else [])]))


@record
class LogSection:
    """A section of a log without its secrets, and the entry that it is. A bare title and a purged entry say nothing.

    Position 0 is the text before the first heading. `clipped`: the log holds more of it than was read.
    """

    position: int
    text: str
    entry: Entry | None
    purged: bool = False
    secret: bool = False
    clipped: bool = False

    @property
    def words(self) -> str:
        """The hash of its words, without the empty lines after them: those change with what follows."""
        return _words(self.text)

    @property
    def hash(self) -> str:
        """The hash of its words, and how many empty lines follow."""
        return f"{self.words}:{len(self.text) - len(self.text.rstrip(chr(10)))}"


def parse(day: date, text: str, *, numbered: bool = False) -> list[Entry]:
    """The entries of a log, in order; with `numbered` those of a node's copy, whose marks may say their numbers."""
    return list(read(day, text.split("\n"), numbered=numbered))


def read(day: date, lines: Iterable[str], *, numbered: bool = False) -> Iterator[Entry]:
    """The entries of a log, from lines without their ends. Long entries come clipped (see ENTRY_CHARS)."""
    number = 0
    for section in sections(day, lines):
        said = re.search(r" number=(\d+)", section.text.partition("\n")[2].partition("\n")[0]) if numbered else None
        number = int(said[1]) if said else number + 1 if section.position else 0
        if section.entry is not None:
            yield replace(section.entry, number=number)


def sections(day: date, lines: Iterable[str]) -> Iterator[LogSection]:
    """The sections of a log, from lines without their ends. Joined by line ends they are the log, without what git
    writes into a conflict."""
    left, position, private = LOG_CHARS, 0, False
    bounded = (line[:ENTRY_CHARS].removeprefix("\ufeff").rstrip("\r") for line in lines)
    for heading, content in _split(markdown.without_conflict_marks(bounded)):
        if heading is None and not any(map(str.strip, content)):
            continue
        position += heading is not None
        section, private = _section(day, position, heading, content, private, min(left, ENTRY_CHARS))
        left -= len(section.entry.text) if section.entry else 0
        yield section


def remembered(day: date, text: str) -> LogSection:
    """The section that was remembered with this text. It is one, whatever it may look like on its own."""
    heading, *content = text.split("\n")
    if not _is_heading(heading):
        return _section(day, 0, None, [heading, *content], False, ENTRY_CHARS)[0]
    return _section(day, 1, heading, content, False, ENTRY_CHARS)[0]


def has_hash(day: date, text: str, hash: str) -> bool:
    """Whether this text was remembered under this hash, whatever follows it by now."""
    words = hash.partition(":")[0]
    return _words(text) == words or remembered(day, text).words == words  # quick; then as a clipped entry is hashed


def _words(text: str) -> str:
    return sha256(text.rstrip("\n").encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _section(
    day: date, position: int, heading: str | None, content: list[str], private: bool, limit: int
) -> tuple[LogSection, bool]:
    """A section, and whether a `<private>` span is still open at its end. Such a span ends at an entry of ours: what we
    wrote has no secrets, and a tag that was never closed must not hide it."""
    mark = content[:1] if content and _MARK.fullmatch(content[0].strip()) else []
    private = private and not mark
    text = "\n".join(([] if heading is None else [heading]) + content[len(mark) :])
    safe, kinds = redacted(f"<private>{text}" if private else text)
    for tag in _PRIVATE_TAG.finditer(text) if "<" in text else ():
        private = not tag[1]
    if safe != text:
        lines = safe.split("\n")
        if heading is not None:
            heading = lines[0] if _is_heading(lines[0]) else f"## {lines[0]}"
        content = [*mark, *lines[heading is not None :]]
    purged = bool(mark) and " purged=yes" in mark[0]
    says = not purged and (heading is not None or bool(_preamble(content)))
    title = (heading or "##")[2:].strip()
    entry = _entry(day, position, title, content if heading else _preamble(content), limit) if says else None
    whole = "\n".join(([] if heading is None else [heading]) + content)
    most = limit + len(heading or "") + sum(map(len, mark)) + 2
    made = LogSection(
        position=position,
        text=whole[:most],
        entry=entry,
        purged=purged,
        secret=bool(kinds),
        clipped=len(whole) > min(most, ENTRY_CHARS),
    )
    return made, private


def with_mark(text: str, **values: object) -> str:
    """A section with some values in its mark, in place of those of the same names."""
    heading, _, rest = text.partition("\n")
    first, _, below = rest.partition("\n")
    mark = _MARK.fullmatch(first.strip())
    pairs = [pair for pair in (mark[1].split() if mark else ()) if pair.partition("=")[0] not in values]
    pairs += [f"{name}={value}" for name, value in values.items() if value not in ("", None)]
    line = f"<!-- recollect: {' '.join(pairs)} -->" if pairs else ""
    return "\n".join([heading, *([line] if line else []), *([below] if mark else [rest])])


def secret_lines(lines: Iterable[str]) -> list[int]:
    """The numbers of the lines that redaction changes, or in which a private span begins."""
    return [
        number
        for number, line in enumerate(lines, start=1)
        if not _MARK.fullmatch(line.strip()) and (storable(line) != line or _PRIVATE_TAG.search(line))
    ]


def keys(lines: Iterable[str]) -> Iterator[str]:
    """The keys of a log's entries, without reading what they say: no text can pose as the mark that holds one."""
    return (mark[1] for line in lines if line.startswith("<!-- ") and (mark := _KEY.match(line)))


def at_the_end(day: date, text: str) -> LogSection | None:
    """How `sections` reads rendered text that follows entries of ours; None when that depends on the text before."""
    lines = text.split("\n")
    if list(markdown.without_conflict_marks(["<<<<<<< before", *lines])) != lines:
        return None
    return next(sections(day, lines))


def copied(text: str) -> str:
    """A log as a node carries it: without the marks of a merge, which would make the node look like one."""
    lines = markdown.without_conflict_marks(text.removeprefix("\ufeff").split("\n"))
    return without_external("\n".join(lines)).strip("\n")


def without_external(text: str) -> str:
    """A log for readers who may not be shown external text: such an entry leaves its place and nothing else."""
    if "trust=external" not in text:
        return text
    lines: list[str] = []
    for heading, content in _split(text.split("\n")):
        mark = _MARK.fullmatch(content[0].strip()) if content else None
        if mark and "trust=external" in mark[1].split():
            content = [content[0], "", "(external text: it stays in the log, where search finds it)", ""]
            heading = "## external entry"
        lines += [*([] if heading is None else [heading]), *content]
    return "\n".join(lines)


def verbatim(text: str) -> list[str]:
    """The sections of a log as they are in the file."""
    split = _split(text.split("\n"), limit=len(text))
    parts = (([] if heading is None else [heading]) + content for heading, content in split)
    return ["\n".join(part) for part in parts if any(map(str.strip, part))]


def emptied(text: str, positions: Collection[int]) -> str:
    """A log without what the entries at some positions say: heading and words go, the place and a mark stay."""
    lines: list[str] = []
    position = 0
    for heading, content in _split(text.split("\n"), limit=len(text)):
        position += heading is not None
        if position in positions:
            content = [PURGED, ""]
            heading = None if heading is None else "## purged"
        lines += [*([] if heading is None else [heading]), *content]
    return "\n".join(lines)


def fields(text: str) -> tuple[list[tuple[str, str]], str]:
    """The structured items of a body, in order, and the prose around them."""
    found: list[tuple[str, list[str]]] = []
    prose: list[str] = []
    continues = False
    for line, in_fence in markdown.fenced(text.split("\n")):
        item = None if in_fence else FIELD.fullmatch(line)
        if item:
            found.append((re.sub("[- ]", "_", item[1].lower()), [(item[2] or "").strip()]))
            continues = True
        elif continues and (line.startswith(("  ", "\t")) or not line.strip()):
            found[-1][1].append(line.removeprefix("  "))
        else:
            continues = False
            prose.append(line)
    return [(name, "\n".join(lines).strip()) for name, lines in found], "\n".join(prose).strip("\n")


def normalised(text: str) -> str:
    """Text as a log keeps it: Unix line ends, no control characters, no blank edges."""
    text = re.sub("\r\n?|\u2028|\u2029|\x85|\x0b|\x0c", "\n", text)
    text = re.sub("[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff\ufeff]", "", text)
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def one_line(topic: str) -> str:
    """A topic as a heading carries it."""
    return " ".join(normalised(topic).split())[:TOPIC_LIMIT].strip()


def type_tag(title: str) -> tuple[str, EntryType]:
    """`Auth [feedback]` as topic and type. What has no known tag is a project topic."""
    found = _TAG.fullmatch(title)
    if found:
        for known in ENTRY_TYPES:
            if found[2].lower() == known:
                return found[1].strip(), known
    return title.strip(), "project"


def _entry(day: date, number: int, title: str, content: list[str], limit: int) -> Entry:
    topic, kind = type_tag(title)
    mark = _MARK.fullmatch(content[0].strip()) if content else None
    marks = dict(pair.split("=", 1) for pair in mark[1].split()) if mark else {}
    text = _unescaped("\n".join(content[1:] if mark else content).strip("\n"))[:limit]
    return Entry(
        day=day,
        number=number,
        topic=one_line(topic),
        type=kind,
        text=text,
        fields=tuple(fields(text)[0]),
        at=marks.get("at", ""),
        key=marks.get("key", ""),
        session=marks.get("session", ""),
        titled=marks.get("heading") == "title" or marks.get("key", "").startswith("turn."),
        trust="external" if marks.get("trust") == "external" else "agent",
    )


def _split(lines: Iterable[str], *, limit: int = ENTRY_CHARS) -> Iterator[tuple[str | None, list[str]]]:
    """Heading and body lines of every section; None heads the text before the first."""
    heading: str | None = None
    content: list[str] = []
    size = started = fence_at = 0
    previous = ""
    fences = markdown.Fences()
    for line in lines:
        was_open = bool(fences.closing)
        in_fence = fences.inside(line)
        if in_fence and not was_open:
            fence_at = len(content)
        if in_fence and _MARK.fullmatch(line) and _is_heading(previous):
            # Only we write a heading with a mark below it: the fence before it was never closed.
            if content and content[-1] == previous:
                content.pop()
            yield heading, content
            heading, content, size, fences = previous, [line], 0, markdown.Fences()
            started += 1
        elif not in_fence and _is_heading(line) and started < LOG_ENTRIES:
            yield heading, content
            heading, content, size = line, [], 0
            started += 1
        elif size <= limit:
            content.append(line)
            size += len(line) + 1
        previous = line
    if fences.closing and size <= limit:
        # A fence that never closes would swallow every later entry: its first line counts as text.
        inside = _split(content[fence_at + 1 :], limit=limit)
        yield heading, [*content[: fence_at + 1], *next(inside)[1]]
        yield from inside
    else:
        yield heading, content


def _is_heading(line: str) -> bool:
    found = markdown.heading(line)
    return bool(found and found[0] == 2)


def _preamble(lines: list[str]) -> list[str]:
    """The text before the first heading, without frontmatter and a bare title; empty when nothing is left."""
    left = markdown.frontmatter("\n".join(lines))[1].split("\n")
    return left if any(line.strip() and not line.startswith("# ") for line in left) else []


def _escaped(text: str) -> str:
    return "\n".join(
        f"\\{line}" if _FORGED_MARK.match(line) or (not in_fence and _FORGED_HEADING.match(line)) else line
        for line, in_fence in markdown.fenced(text.split("\n"))
    )


def _unescaped(text: str) -> str:
    return "\n".join(
        line[1:]
        if line.startswith("\\") and (_FORGED_MARK.match(line) or (not in_fence and _FORGED_HEADING.match(line)))
        else line
        for line, in_fence in markdown.fenced(text.split("\n"))
    )
