"""Stored text as harmless HTML: without HTML of its own and without images, with links only to the web.

Ids become links, so that one can click from a summary down to its sources; the marks of entries and sources are left
out. Also marks differences between two texts, and the words of a query.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import date
from difflib import SequenceMatcher
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote

import nh3
from markupsafe import Markup, escape

from recollect.core.calendar import ROOT, parse_period
from recollect.core.errors import BadInput
from recollect.tend.kinds import kind_of
from recollect.text.tokens import terms

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

TAGS = {
    *("p", "br", "hr", "blockquote", "pre", "code", "em", "strong", "s", "a", "ul", "ol", "li"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
_MARK = re.compile(r"<!-- (?:recollect: at=\S*(?: \w+=\S*)*|source: \w+/\S+ \S+) -->")
_ID = re.compile(
    r"(?<![\w/.-])(?:(?:log/)?(?P<entry>\d{4}-\d\d-\d\d#\d+)|daily/\d{4}-\d\d-\d\d|weekly/\d{4}-W\d\d"
    r"|monthly/\d{4}-\d\d|(?:learn|dec)_[0-9a-z]{8,})(?![\w/-])"
)
_PERIOD = re.compile(rf"^(?P<daily>\d{{4}}-\d\d-\d\d)$|^(?P<weekly>\d{{4}}-W\d\d)$|{_ID.pattern}")
"""In a heading also a bare day or week: summaries have a section for each, which is shown by its name."""
LONGEST = 32_000
"""Characters of a text that are rendered: 0.4 s of CPU for the slowest Markdown, a table of short cells."""
MOST_COMPARED = 3_000  # words of a text that is compared; for a longer one it takes seconds
ALIKE = 0.35  # chosen: in two texts that share less, nearly everything would be marked
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


def place(base: str, id: str) -> str:
    """The address of the page that shows what an id names, in the space with this base."""
    kind = kind_of(id)
    if kind is None or not kind.page:
        return f"{base}/text/{quote(id)}"
    return base + kind.page + quote(id.removeprefix(f"{kind.name}/"))


def period_name(id: str) -> str:
    """A node's period in words."""
    if id == ROOT:
        return "Everything"
    period = parse_period(id)
    if period.level == "monthly":
        return f"{date.fromisoformat(period.name + '-01'):%B %Y}"
    last = f"{period.last.day} {period.last:%B %Y}"
    if period.level == "daily":
        return f"{period.last:%A} {last}"
    first = (
        f"{period.first.day}" if period.first.month == period.last.month else f"{period.first.day} {period.first:%B}"
    )
    return f"Week {int(period.name[-2:])}, {first} to {last}"


def prose(text: str, *, base: str = "", id: str = "", most: int = LONGEST, below: int = 1) -> Markup:
    """The text as HTML under a heading of rank `below`; of a long text the beginning, with a link to the rest."""
    if len(text) > most:
        end = text.rfind("\n", 0, most) + 1 or most
        rest = Markup('<p class="more"><a href="{}">Show the whole text as it was written</a> ({:,} characters)</p>')
        return prose(text[:end], base=base, below=below) + rest.format(f"{base}/raw/{quote(id)}", len(text))
    parser = _parser()
    parsed = _without_marks(parser.parse(text))
    highest = min((int(token.tag[1]) for token in parsed if token.type == "heading_open"), default=1)
    rank = below
    for number, token in enumerate(parsed):
        if token.type in ("heading_open", "heading_close"):
            if token.type == "heading_open":  # below the page's headings, without gaps in rank
                rank = min(int(token.tag[1]) - highest + below + 1, rank + 1, 6)
            token.tag = f"h{rank}"
        elif token.children:
            pattern = _PERIOD if parsed[number - 1].type == "heading_open" else _ID
            token.children = _linked(token.children, base, pattern)
    made = nh3.clean(
        parser.renderer.render(parsed, parser.options, {}),
        tags=TAGS,
        attributes={"a": {"href"}},
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )
    return Markup(made)  # `made` is sanitised


def marked(text: str, query: str) -> Markup:
    """A text with the words of a query marked, in any of their forms."""
    wanted = set(terms(query))
    parts = (word if not wanted.intersection(terms(word)) else Markup("<mark>{}</mark>").format(word)
             for word in re.split(r"(\W+)", text))  # fmt: skip
    return Markup("").join(parts) if wanted else escape(text)


def differences(old: str, new: str) -> tuple[Markup, Markup]:
    """Two texts, each with the words marked that the other lacks."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    if len(before) + len(after) > MOST_COMPARED:
        return escape(old), escape(new)
    sides: tuple[list[Markup], list[Markup]] = ([], [])
    shared = 0
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        shared += 2 * sum(not word.isspace() for word in before[i1:i2]) if tag == "equal" else 0
        for side, name, words in ((sides[0], "del", before[i1:i2]), (sides[1], "ins", after[j1:j2])):
            said = escape("".join(words))
            side.append(said if tag == "equal" or not said.strip() else Markup(f"<{name}>{{}}</{name}>").format(said))
    if shared < ALIKE * sum(not word.isspace() for word in before + after):
        return escape(old), escape(new)
    return Markup("").join(sides[0]), Markup("").join(sides[1])


def _without_marks(tokens: list[Token]) -> list[Token]:
    """Without paragraphs that are only a mark."""
    marks = {
        number
        for number, token in enumerate(tokens)
        if token.type == "inline" and tokens[number - 1].type == "paragraph_open" and _MARK.fullmatch(token.content)
    }
    around = {near for number in marks for near in (number - 1, number, number + 1)}
    return [token for number, token in enumerate(tokens) if number not in around]


def _linked(children: Iterable[Token], base: str, pattern: re.Pattern[str]) -> list[Token]:
    """Ids in running text as links, unless they are part of a link."""
    from markdown_it.token import Token

    made: list[Token] = []
    inside = 0
    for child in children:
        inside += child.type == "link_open"
        inside -= child.type == "link_close"
        if child.type != "text" or inside:
            made.append(child)
            continue
        at = 0
        for found in pattern.finditer(child.content):
            level = {"entry": "log/", "daily": "daily/", "weekly": "weekly/"}.get(found.lastgroup or "", "")
            id = f"{level}{found['entry'] or found[0]}"
            made.append(Token("text", "", 0, content=child.content[at : found.start()]))
            made.append(Token("link_open", "a", 1, attrs={"href": place(base, id)}))
            said = found[0]
            if found.lastgroup in ("daily", "weekly"):
                with suppress(BadInput):  # a day that no calendar has stays as it is written
                    said = period_name(id)
            made.append(Token("text", "", 0, content=said))
            made.append(Token("link_close", "a", -1))
            at = found.end()
        rest = child.content[at:]
        made.append(Token("text", "", 0, content=rest.removesuffix(" [project]") if pattern is _PERIOD else rest))
    return made


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
