"""Stored Markdown as HTML that cannot do anything: no HTML of its own, no images, links to the web alone.

The marks of entries and sources are left out, and ids become links, so that one can click from a summary down to the
words it was made of.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import nh3
from markupsafe import Markup

from recollect.api.pages.places import place

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

TAGS = {
    *("p", "br", "hr", "blockquote", "pre", "code", "em", "strong", "s", "a", "ul", "ol", "li"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
_MARK = re.compile(r"<!-- (?:recollect: at=\S*(?: \w+=\S*)*|source: \w+/\S+ \S+) -->")
_ID = re.compile(
    r"(?<![\w/.-])(?:log/\d{4}-\d\d-\d\d#\d+|daily/\d{4}-\d\d-\d\d|weekly/\d{4}-W\d\d|monthly/\d{4}-\d\d"
    r"|(?:learn|dec)_[0-9a-z]{8,})(?![\w/-])"
)


def prose(text: str) -> Markup:
    parser = _parser()
    parsed = _without_marks(parser.parse(text))
    for token in parsed:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"  # the page's own heading stays the only one of its rank
        elif token.children:
            token.children = _linked(token.children)
    made = nh3.clean(
        parser.renderer.render(parsed, parser.options, {}),
        tags=TAGS,
        attributes={"a": {"href"}},
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )
    return Markup(made)  # cleaned just now


def _without_marks(tokens: list[Token]) -> list[Token]:
    """Without the paragraphs that are a mark and nothing else."""
    marks = {
        number
        for number, token in enumerate(tokens)
        if token.type == "inline" and tokens[number - 1].type == "paragraph_open" and _MARK.fullmatch(token.content)
    }
    around = {near for number in marks for near in (number - 1, number, number + 1)}
    return [token for number, token in enumerate(tokens) if number not in around]


def _linked(children: list[Token]) -> list[Token]:
    """Ids in running text as links, unless they stand in one already."""
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
        for found in _ID.finditer(child.content):
            made.append(Token("text", "", 0, content=child.content[at : found.start()]))
            made.append(Token("link_open", "a", 1, attrs={"href": place(found[0])}))
            made.append(Token("text", "", 0, content=found[0]))
            made.append(Token("link_close", "a", -1))
            at = found.end()
        made.append(Token("text", "", 0, content=child.content[at:]))
    return made


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
