"""Records on the wire: bodies in, answers out, pages with their links, versions as entity tags.

Bodies are read by msgspec into the same records every other surface uses; nothing is coerced, and a name that no field
has is refused. Names may be written in camelCase too. Knows neither routes nor what a record is for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar
from urllib.parse import quote, urlencode

import msgspec
from fastapi import Depends, Header, Query, Request, Response

from recollect.api.rpc import record_of, snaked
from recollect.core.errors import BadInput
from recollect.core.limits import MOST
from recollect.core.plain import plain

F = TypeVar("F", bound=Callable[..., Any])
VERSIONS = 2**31
Share = Query(ge=0, le=1)


@dataclass(frozen=True, kw_only=True)
class DryRun:
    """A dry run says what would happen."""

    dry_run: bool = False


def taken(kind: type[Any]) -> Any:
    """A dependency that reads the body as a record."""

    async def body(request: Request) -> Any:
        return decoded(await request.body(), kind)

    body.takes = kind  # type: ignore[attr-defined]  # the OpenAPI document is made from it
    return Depends(body)


def decoded(body: bytes, kind: type[Any]) -> Any:
    """A JSON body as a record."""
    try:
        given = msgspec.json.decode(body or b"{}")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
        raise BadInput(f"the body is not JSON: {problem}"[:300]) from None
    if not isinstance(given, dict):
        raise BadInput("the body must be a JSON object")
    return record_of(kind, snaked(given))


def gives(kind: Any, *, listed: str = "") -> Callable[[F], F]:
    """Says what a route answers with: a record, or a page of records under a name."""

    def mark(endpoint: F) -> F:
        endpoint.gives = kind  # type: ignore[attr-defined]
        endpoint.listed = listed  # type: ignore[attr-defined]
        return endpoint

    return mark


def answer(value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A value as JSON: times in ISO 8601, confidence as a decimal."""
    return Response(
        msgspec.json.encode(plain(value)),
        status_code=status,
        media_type="application/json",
        headers=dict(headers or {}),
    )


def versioned(record: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A record with its version as entity tag, for If-Match."""
    return answer(record, status=status, headers={"etag": f'"{record.version}"', **(headers or {})})


async def _expected(
    if_match: Annotated[
        str | None, Header(description="The ETag you read; a change in between is refused with 412.")
    ] = None,
) -> int | None:
    if if_match is None or if_match.strip() == "*":
        return None
    version = if_match.strip().removeprefix("W/").strip('"')
    if not (version.isascii() and version.isdecimal()) or int(version) >= VERSIONS:
        raise BadInput('If-Match must be an ETag that was given, such as "3"')
    return int(version)


Expected = Annotated[int | None, Depends(_expected)]


@dataclass(frozen=True)
class Window:
    """Which part of a list is wanted."""

    limit: int
    offset: int


async def _window(
    limit: Annotated[int, Query(ge=1, le=MOST, description="How many.")] = 50,
    offset: Annotated[int, Query(ge=0, lt=2**31, description="How many to skip.")] = 0,
) -> Window:
    return Window(limit, offset)


Paged = Annotated[Window, Depends(_window)]


def page(request: Request, name: str, found: Sequence[Any], total: int, window: Window, **more: Any) -> Response:
    """A part of a list, how many there are in all, and links to its neighbours."""
    body = {name: found, "total": total, "limit": window.limit, "offset": window.offset, **more}
    links = {}
    if window.offset + window.limit < total:
        links["next"] = window.offset + window.limit
    if window.offset:
        links["prev"] = max(window.offset - window.limit, 0)
        links["first"] = 0
    kept = [(key, value) for key, value in request.query_params.multi_items() if key not in ("limit", "offset")]
    path = quote(request.url.path)
    said = [
        f'<{path}?{urlencode([*kept, ("limit", window.limit), ("offset", offset)])}>; rel="{relation}"'
        for relation, offset in links.items()
    ]
    return answer(body, headers={"link": ", ".join(said)} if said else None)


def sliced(request: Request, name: str, everything: Sequence[Any], window: Window, **more: Any) -> Response:
    """The same for a list that is whole in memory."""
    found = everything[window.offset : window.offset + window.limit]
    return page(request, name, found, len(everything), window, **more)
