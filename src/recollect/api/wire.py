"""Records on the wire: bodies in, answers out, pages with their links, versions as entity tags.

Bodies are read by msgspec into the same records every other surface uses; nothing is coerced, and a name that no field
has is refused. Names may be written in camelCase too. Knows neither routes nor what a record is for.

What every route under /api does around its own work: names of parameters, and requests that may come twice.

Errors as answers: `application/problem+json` for programs, with the class of the error deciding the status.

The messages of `core/errors.py` already say what happened and what to do; nothing is added to them here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode

import msgspec
from fastapi import Depends, Header, Query, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor

from recollect.api.rpc import record_of, snake, snaked
from recollect.core.errors import (
    BadInput,
    FateUnknown,
    NoSpace,
    NotFound,
    RecollectError,
    Refused,
    Rejected,
    Stale,
    StoreBusy,
    Trouble,
)
from recollect.core.records import MOST, plain
from recollect.memory import Memory

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


KEPT_HEADERS = ("content-type", "etag", "location")


@dataclass(frozen=True, kw_only=True)
class RequestClaim:
    """A request under way that will not be done again under its key."""

    memory: Memory
    caller: str
    key: str

    def keep(self, response: Response) -> None:
        headers = {name: response.headers[name] for name in KEPT_HEADERS if name in response.headers}
        self.memory.requests.finish(
            self.caller, self.key, status=response.status_code, answer=bytes(response.body).decode(), headers=headers
        )

    def take_back(self) -> None:
        self.memory.requests.take_back(self.caller, self.key)


class Repeated(Exception):
    """The request was answered before; this is what it was told."""

    def __init__(self, response: Response):
        super().__init__("answered before")
        self.response = response


class _Anything(Convertor[str]):
    """An id as a path, `{id:anything}`: slashes and line breaks belong to it, so that no id fits no route."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("anything", _Anything())


class Route(APIRoute):
    """A route of the API."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        known = frozenset(_queries(self.dependant))

        async def handler(request: Request) -> Response:
            request.scope["query_string"] = named_query(request.scope["query_string"], known)
            request.state.body = await request.body()  # the guard read it already; threads cannot wait for it
            try:
                response = await handle(request)
            except Repeated as before:
                return before.response
            except FateUnknown:
                raise  # the key stays taken: sent again, the request might be done twice
            except BaseException:
                if claim := _claim(request):
                    with suppress(Trouble):  # the key stays taken for a day, which the caller is told
                        await run_in_threadpool(claim.take_back)
                raise
            if claim := _claim(request):
                with suppress(Trouble):  # what was asked for is done, and under this key it is not done again
                    await run_in_threadpool(claim.keep, response)
            return response

        return handler


def claim_once(request: Request, memory: Memory, caller: str, key: str) -> None:
    """Begin a request that has a key, or raise what it was told the last time."""
    asked = f"{request.method} {request.url.path}?{request.url.query}\n".encode()
    digest = hashlib.sha256(asked + request.state.body).hexdigest()
    before = memory.requests.begin(caller, key, hash=digest)
    if before is None:
        request.state.claim = RequestClaim(memory=memory, caller=caller, key=key)
        return
    headers = {**before.headers, "idempotent-replayed": "true"}
    raise Repeated(Response(before.answer, status_code=before.status, headers=headers))


def named_query(query: bytes, known: frozenset[str]) -> bytes:
    """The query with names as the route gives them; one that it does not know is a typo, not a wish."""
    given = [
        (snake(name), value) for name, value in parse_qsl(query.decode("utf-8", "replace"), keep_blank_values=True)
    ]
    unknown = sorted({name for name, _ in given} - known)
    if unknown:
        said = f"parameters are {', '.join(sorted(known))}" if known else "there are no parameters here"
        raise BadInput(f"unknown parameter {', '.join(unknown)[:200]}; {said}")
    if len(dict(given)) < len(given):
        raise BadInput("a parameter is given twice")
    return urlencode(given).encode()


def _claim(request: Request) -> RequestClaim | None:
    return getattr(request.state, "claim", None)


def _queries(dependant: Dependant) -> Iterator[str]:
    yield from (param.alias for param in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _queries(inner)


MEDIA_TYPE = "application/problem+json"

STATUS: dict[type[RecollectError], int] = {
    Rejected: 422,
    BadInput: 400,
    NotFound: 404,
    Stale: 409,
    Refused: 409,
    StoreBusy: 503,
    NoSpace: 507,
    Trouble: 503,
}
"""In order: the first class that fits decides."""


def status_of(error: RecollectError, *, conditional: bool = False) -> int:
    """The status of an error; a stale edit that named its version (If-Match) failed its precondition."""
    if isinstance(error, Stale) and conditional:
        return 412
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 500)


def problem(
    status: int, detail: str, *, kind: str = "about:blank", headers: Mapping[str, str] | None = None
) -> Response:
    """An RFC 9457 answer."""
    body = {"type": kind, "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return Response(msgspec.json.encode(body), status_code=status, media_type=MEDIA_TYPE, headers=dict(headers or {}))


def problem_of(error: RecollectError, *, conditional: bool = False) -> Response:
    """The answer to one of our own errors."""
    status = status_of(error, conditional=conditional)
    headers = {"retry-after": "1"} if isinstance(error, StoreBusy) else None
    return problem(status, str(error), kind=f"urn:recollect:{_slug(type(error).__name__)}", headers=headers)


def _slug(name: str) -> str:
    """`StoreBusy` → `store-busy`."""
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).lstrip("-")
