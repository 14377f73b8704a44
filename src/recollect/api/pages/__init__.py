"""The page for the person who owns the memory: templates filled by the server, htmx for the parts that change.

One module per page with its routes; each route declares `Visiting` or `Changing` (see `api/auth.py`). No script or
style stands in a template, because the content security policy allows files alone.
"""

from __future__ import annotations

from recollect.api.pages import base, decisions, journal, learnings, staging

ROUTES = (
    base.routes,
    *(journal.overview_routes, journal.search_routes, learnings.routes, journal.routes, decisions.routes),
    *(staging.theme_routes, staging.routes, staging.inbox_routes, journal.preview_routes),
)
