"""Stored Markdown as HTML that cannot do anything: no HTML of its own, no images, links to the web alone."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import nh3
from markupsafe import Markup

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

TAGS = {
    *("p", "br", "hr", "blockquote", "pre", "code", "em", "strong", "s", "a", "ul", "ol", "li"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}


def prose(text: str) -> Markup:
    parser = _parser()
    parsed = parser.parse(text)
    for token in parsed:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"  # the page's own heading stays the only one of its rank
    made = nh3.clean(
        parser.renderer.render(parsed, parser.options, {}),
        tags=TAGS,
        attributes={"a": {"href"}},
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )
    return Markup(made)  # cleaned just now


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
