"""The page for the person who owns the memory: templates filled by the server, htmx for the parts that change.

One module for related pages with their routes; each route declares `Visiting` or `Changing` (see `api/auth.py`). No
script or style stands in a template, because the content security policy allows files alone. Not in a module of their
name: inbox, themes (`staging`), topics, search (`journal`), sessions (`learnings`), tokens, settings (`entrance`).
"""

from __future__ import annotations

from recollect.api.pages import base, decisions, entrance, home, journal, learnings, staging

ROUTES = (
    *(entrance.routes, entrance.static_routes, entrance.owner_routes),
    *(home.routes, learnings.routes, journal.routes),
    *(staging.theme_routes, staging.routes, decisions.routes, base.work_routes),
)
