"""Filling templates. Everything is escaped unless a template says otherwise, and none should."""

from __future__ import annotations

from functools import cache
from typing import Any

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from recollect.api.session import CSRF_FIELD, CSRF_HEADER, Visit

SECTIONS = (("/", "Overview"),)
"""The pages in the order of the menu."""


def page(template: str, visit: Visit, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A template for somebody who is signed in."""
    return bare(template, status=status, csrf=visit.csrf, space=visit.memory.context.space, sections=SECTIONS, **values)


def bare(template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A template for anybody."""
    known = {"csrf": "", "space": "", "sections": (), "csrf_field": CSRF_FIELD, "csrf_header": CSRF_HEADER}
    return HTMLResponse(environment().get_template(template).render(**{**known, **values}), status_code=status)


@cache
def environment() -> Environment:
    return Environment(
        loader=PackageLoader("recollect.api.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
