"""What the owner sets up: tokens for programs, and the settings in force."""

from __future__ import annotations

from typing import Any

from fastapi import Response
from fastapi.responses import HTMLResponse

from recollect.api.auth import Changing, PageRequest, Visiting
from recollect.api.pages.base import Sent, go, page, page_router
from recollect.core.errors import BadInput, Refused
from recollect.core.settings import Settings
from recollect.store.tokens import SCOPES, TOKEN_CHANNELS

routes = page_router()


@routes.get("/tokens")
def tokens(visit: Visiting) -> HTMLResponse:
    return _tokens(visit)


@routes.post("/tokens")
def new(visit: Changing, sent: Sent) -> Response:
    """The secret is in this answer alone: reloading the page does not show it again."""
    try:
        made, secret = visit.memory.tokens.new(
            sent.text("name").strip(),
            channel=sent.given("channel") or "api",  # type: ignore[arg-type]
            scopes=sent.every("scope"),  # type: ignore[arg-type]
            expires=sent.text("expires").strip(),
        )
    except (BadInput, Refused) as wrong:
        return _tokens(visit, problem=str(wrong), status=400)
    return _tokens(visit, made=made.name, secret=secret)


@routes.post("/tokens/revoke")
def revoke(visit: Changing, sent: Sent) -> Response:
    gone = visit.memory.tokens.revoke(sent.text("token"))
    return go(visit, "/tokens", f"Revoked {gone.name}; its next request is refused")


def _tokens(visit: PageRequest, *, made: str = "", secret: str = "", **said: Any) -> HTMLResponse:
    found = visit.memory.tokens.list()
    return page(
        "tokens.html",
        visit,
        title="Tokens",
        tokens=found,
        valid={token.id for token in found if token.valid(visit.memory.context.clock.now())},
        made=made,
        secret=secret,
        channels=TOKEN_CHANNELS,
        scopes=SCOPES,
        **said,
    )


@routes.get("/settings")
def settings(visit: Visiting) -> HTMLResponse:
    """What is in force; files and variables choose it, because an agent reads this page's forms too easily."""
    chosen = vars(visit.memory.project.settings)
    groups: dict[str, list[tuple[str, str, str]]] = {}  # of each setting its name, its value and its default
    for name, default in vars(Settings()).items():
        for field, usual in vars(default).items() if hasattr(default, "__dict__") else [("", default)]:
            value = getattr(chosen[name], field) if field else chosen[name]
            shown = "set, not shown" if value and SECRET.intersection(field.split("_")) else _shown(value)
            full = f"{name}.{field}" if field else name
            groups.setdefault(name if field else "project", []).append((full, shown, _shown(usual)))
    changed = [one for group in groups.values() for one in group if one[1] != one[2]]
    root = visit.memory.project.root
    return page("settings.html", visit, title="Settings", groups=groups, changed=changed, file=root)


SECRET = {"url", "key", "token", "password"}
"""Settings whose value may hold a password."""


def _shown(value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "none"
    return str(value) if value not in ("", None) else "none"
