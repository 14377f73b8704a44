"""Who may use which route, as the routes themselves declare it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant

from recollect.api.auth import changing, leaving, looking, maintains, public, reads, visiting, writes

DECLARATIONS = frozenset({reads, writes, maintains, public, visiting, changing, looking, leaving})


def undeclared(app: FastAPI) -> list[str]:
    """Routes without exactly one declaration, by method and path."""
    found = []
    for path, methods, dependant in routes_of(app):
        calls = [call for call in calls_of(dependant) if call in DECLARATIONS] if dependant else []
        if len(calls) != 1:
            found.append(f"{','.join(sorted(methods))} {path}")
    return found


def routes_of(app: FastAPI) -> Iterator[tuple[str, set[str], Dependant | None]]:
    """Every route with what it depends on; None for one that is not FastAPI's."""
    for route in app.routes:
        path = getattr(route, "path", str(route))
        yield path, set(getattr(route, "methods", None) or ()), getattr(route, "dependant", None)


def calls_of(dependant: Dependant) -> Iterator[Any]:
    """Everything a route depends on, however deep."""
    for inner in dependant.dependencies:
        yield inner.call
        yield from calls_of(inner)
