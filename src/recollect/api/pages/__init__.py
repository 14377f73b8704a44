"""The page for the person who owns the memory: templates filled by the server, htmx for the parts that change.

Each module has related pages with their routes; each route declares `Visiting` or `Changing` (see `api/auth.py`).
Templates contain neither script nor style, because the content security policy allows only files. In modules of another
name: themes (`staging`), topics, search (`journal`), sessions (`learnings`), tokens, settings (`entrance`).
"""

from __future__ import annotations

from recollect.api.pages import base, decisions, entrance, home, inbox, journal, learnings, staging

ROUTES = (
    *(entrance.routes, entrance.static_routes, entrance.owner_routes),
    *(home.routes, learnings.routes, journal.routes),
    *(staging.theme_routes, staging.routes, inbox.routes, decisions.routes, base.work_routes),
)
