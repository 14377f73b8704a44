"""The page for the person who owns the memory: templates filled by the server, htmx for the parts that change.

One module per page with its routes; each route declares `Visiting` or `Changing` (see `api/session.py`). No script or
style stands in a template, because the content security policy allows files alone.
"""

from __future__ import annotations

from recollect.api.pages import (
    decisions,
    entrance,
    inbox,
    journal,
    learnings,
    overview,
    preview,
    search,
    staging,
    themes,
)

_PAGES = (entrance, overview, search, learnings, journal, decisions, themes, staging, inbox, preview)
ROUTES = tuple(page.routes for page in _PAGES)
