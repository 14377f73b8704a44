"""Filling templates. Everything is escaped unless a template says otherwise, and none should."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Any

from fastapi import Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from recollect.api.pages.places import place
from recollect.api.pages.prose import prose
from recollect.api.session import CSRF_FIELD, CSRF_HEADER, Visit
from recollect.core.clock import zone_named
from recollect.text.counting import counted

SECTIONS = (
    ("/", "Overview"),
    ("/search", "Search"),
    ("/learnings", "Learnings"),
    ("/journal", "Journal"),
    ("/decisions", "Decisions"),
    ("/themes", "Themes"),
    ("/staging", "Staging"),
    ("/inbox", "Inbox"),
    ("/preview", "Preview"),
)
"""The pages in the order of the menu."""


def page(template: str, visit: Visit, *, title: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A template for somebody who is signed in. The title is the menu's name for a page, or a page's own below it."""
    zone = zone_named(visit.memory.project.settings.timezone)

    def when(milliseconds: int) -> str:
        return f"{datetime.fromtimestamp(milliseconds / 1000, zone):%Y-%m-%d %H:%M}"

    space = visit.memory.context.space
    known = {"csrf": visit.csrf, "space": space, "sections": SECTIONS, "when": when, "problem": ""}
    return bare(template, status=status, title=title, **{**known, **values})


def bare(template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A template for anybody."""
    known = {"csrf": "", "space": "", "sections": (), "csrf_field": CSRF_FIELD, "csrf_header": CSRF_HEADER}
    return HTMLResponse(environment().get_template(template).render(**{**known, **values}), status_code=status)


def go(path: str) -> Response:
    """After a change, look at what came of it."""
    return RedirectResponse(path, status_code=303)


@cache
def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("recollect.api.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["prose"] = prose
    made.globals.update(place=place, counted=counted)
    return made
