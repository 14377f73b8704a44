"""Requests and answers of the REST routes: lists, entity tags, problems, the OpenAPI document.

msgspec writes answers from the records that every surface uses; the response models of the routes only describe them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, make_dataclass
from functools import wraps
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import parse_qsl, quote, urlencode

import msgspec
from fastapi import APIRouter, Depends, FastAPI, Header, Query, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.convertors import Convertor, register_url_convertor

from recollect.api.bodies import PATTERNS, snake
from recollect.core.errors import (
    BadInput,
    Forbidden,
    NoSpace,
    NotFound,
    Proposed,
    RecollectError,
    Refused,
    Rejected,
    Stale,
    StoreBusy,
    Trouble,
)
from recollect.core.records import FURTHEST, MOST, plain, replace
from recollect.memory import Memory

# Answers


def answer(value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(
        msgspec.json.encode(plain(value)),
        status_code=status,
        media_type="application/json",
        headers=dict(headers or {}),
    )


def tagged(response: Response, version: int | None = None) -> Response:
    """The answer with an entity tag: its version, if it has one, and a hash of its content."""
    digest = hashlib.blake2b(bytes(response.body), digest_size=8).hexdigest()
    response.headers["etag"] = f'"{digest}"' if version is None else f'"{version}-{digest}"'
    return response


ETAG = r'^(\*|(W/)?"?[0-9]{1,9}(-[0-9a-f]{16})?"?)$'
PATTERNS[ETAG] = 'must be an ETag that the server gave, such as "3"'


async def _expected(
    if_match: Annotated[
        str | None,
        Header(pattern=ETAG, description="The ETag you read. If the record was edited since, the answer is 412."),
    ] = None,
) -> int | None:
    if if_match is None or if_match == "*":
        return None
    return int(if_match.removeprefix("W/").strip('"').partition("-")[0])


Expected = Annotated[int | None, Depends(_expected)]


# Lists


def shape(name: str, **fields: Any) -> Any:
    """The response model of an answer that is not a record."""
    return make_dataclass(name, fields.items(), frozen=True, kw_only=True)


def page_of(name: str, kind: Any, **more: Any) -> Any:
    """The response model of a list: its records under the plural of their noun, and which part of the list it is."""
    return shape(f"{kind.__name__}Page", **{name: tuple[kind, ...]}, total=int, limit=int, offset=int, **more)


@dataclass(frozen=True)
class Window:
    limit: int
    offset: int
    request: Request

    @property
    def part(self) -> dict[str, Any]:
        return {"limit": self.limit, "offset": self.offset}


Limit = Query(ge=1, le=MOST, description="How many records at most.")
Offset = Annotated[int, Query(ge=0, le=FURTHEST, description="How many records to skip.")]


async def _window(request: Request, limit: Annotated[int, Limit] = 50, offset: Offset = 0) -> Window:
    return Window(limit=limit, offset=offset, request=request)


Paged = Annotated[Window, Depends(_window)]


def page(name: str, found: Sequence[Any], total: int, window: Window, **more: Any) -> Response:
    body = {name: found, "total": total, **window.part, **more}
    links = {}
    if window.offset + window.limit < total:
        links["next"] = window.offset + window.limit
    if window.offset:
        links["prev"] = max(window.offset - window.limit, 0)
        links["first"] = 0
    kept = [(key, value) for key, value in window.request.query_params.multi_items() if key not in ("limit", "offset")]
    path = quote(window.request.url.path)
    said = [
        f'<{path}?{urlencode([*kept, ("limit", window.limit), ("offset", offset)])}>; rel="{relation}"'
        for relation, offset in links.items()
    ]
    return answer(body, headers={"link": ", ".join(said)} if said else None)


async def _found(request: Request, limit: Annotated[int | None, Limit] = None, offset: Offset = 0) -> Window:
    return Window(limit=limit or 0, offset=offset, request=request)


Found = Annotated[Window, Depends(_found)]
"""The part of a search's result; the default limit is the setting `search.limit`."""


def search_page(memory: Memory, query: str, part: Window, **wanted: Any) -> Response:
    window = replace(part, limit=part.limit or memory.context.settings.search.limit)
    # One more tells whether there is a next part; to count all, every passage would have to be ranked.
    found = memory.search(query, limit=min(window.limit + window.offset + 1, MOST), **wanted)
    return sliced("results", found, window)


def sliced(name: str, everything: Sequence[Any], window: Window, **more: Any) -> Response:
    """A page of a list that is in memory as a whole."""
    found = everything[window.offset : window.offset + window.limit]
    return page(name, found, len(everything), window, **more)


# Routes

ALSO_NAMED = {"q": "query", "search": "query", "exclude_outcome_id": "exclude_outcome"}
"""Other names of query parameters, which callers may use too."""


class _Anything(Convertor[str]):
    """An id as a path, `{id:anything}`, even with slashes and line breaks."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("anything", _Anything())


class _JsonRequest(Request):
    """A request whose body is strict JSON: the standard library would accept NaN and UTF-16."""

    async def json(self) -> Any:
        try:
            return msgspec.json.decode(await self.body())
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
            raise json.JSONDecodeError(str(problem), "", 0) from None


class Route(APIRoute):
    """A route of the API, whose function returns a record or a response; a record's version becomes its entity tag."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any):
        @wraps(endpoint)
        def answered(*given: Any, **named: Any) -> Response:
            made = endpoint(*given, **named)
            if isinstance(made, Response):
                return made
            response = answer(made, status=self.status_code or 200)
            return tagged(response, made.version) if hasattr(made, "version") else response

        super().__init__(path, answered, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        known = frozenset(_query_names(self.dependant))

        async def handler(request: Request) -> Response:
            request.scope["query_string"] = named_query(request.scope["query_string"], known)
            request = _JsonRequest(request.scope, request.receive)
            request.state.body = await request.body()  # here, because a thread cannot await it
            return _unless_known(request, await handle(request))

        return handler


def router(prefix: str, tag: str) -> APIRouter:
    """Routes under an address, each with its function's name as its operation id."""
    return APIRouter(
        prefix=prefix, tags=[tag], route_class=Route, generate_unique_id_function=lambda route: str(route.name)
    )


def _unless_known(request: Request, response: Response) -> Response:
    """The answer to a read, or 304 if the caller already has it."""
    if request.method != "GET" or response.status_code != 200:
        return response
    if "etag" not in response.headers:
        tagged(response)
    tag = response.headers["etag"]
    known = {given.strip().removeprefix("W/") for given in request.headers.get("if-none-match", "").split(",")}
    return Response(status_code=304, headers={"etag": tag}) if known & {tag, "*"} else response


def named_query(query: bytes, known: frozenset[str]) -> bytes:
    """The query with the route's names for its parameters; an unknown name is refused as a probable typo."""
    given = []
    for name, value in parse_qsl(query.decode("utf-8", "replace"), keep_blank_values=True):
        name = snake(name)
        given.append((name if name in known else ALSO_NAMED.get(name, name), value))
    unknown = sorted({name for name, _ in given} - known)
    if unknown:
        said = f"the parameters are {', '.join(sorted(known))}" if known else "there are no parameters here"
        raise BadInput(f"unknown parameter {', '.join(unknown)[:200]}; {said}")
    if len(dict(given)) < len(given):
        raise BadInput("a parameter is given twice; give each once")
    return urlencode(given).encode()


def _query_names(dependant: Dependant) -> Iterator[str]:
    yield from (param.alias for param in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _query_names(inner)


# Problems


class Denied(Exception):
    """A request refused before any work: no token, not allowed, too many requests, no such address."""

    def __init__(self, status: int, detail: str, *, headers: dict[str, str] | None = None):
        super().__init__(detail)
        self.status = status
        self.headers = headers or {}


MEDIA_TYPE = "application/problem+json"

STATUS: dict[type[RecollectError], int] = {
    Rejected: 422,
    BadInput: 400,
    NotFound: 404,
    Forbidden: 403,
    Proposed: 202,
    Refused: 409,
    StoreBusy: 503,
    NoSpace: 507,
    Trouble: 503,
}
"""In order: the first class that fits decides."""


def status_of(error: RecollectError, *, conditional: bool = False) -> int:
    """The status of an error; 412 for a stale edit that named its version with If-Match."""
    if isinstance(error, Stale) and conditional:
        return 412
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 500)


def problem(
    status: int, detail: str, *, kind: str = "about:blank", headers: Mapping[str, str] | None = None
) -> Response:
    body = {"type": kind, "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return Response(msgspec.json.encode(body), status_code=status, media_type=MEDIA_TYPE, headers=dict(headers or {}))


def problem_of(error: RecollectError, *, conditional: bool = False) -> Response:
    status = status_of(error, conditional=conditional)
    headers = {"retry-after": "1"} if isinstance(error, StoreBusy) else None
    # `StoreBusy` → `store-busy`
    slug = "".join(f"-{c.lower()}" if c.isupper() else c for c in type(error).__name__).lstrip("-")
    return problem(status, str(error), kind=f"urn:recollect:{slug}", headers=headers)


# The OpenAPI document

_PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "What went wrong, and what to do about it (RFC 9457).",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail"],
}


def document(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        shown = [route for route in app.routes if isinstance(route, APIRoute) and route.include_in_schema]
        made = get_openapi(title=app.title, version=app.version, description=app.description, routes=shown)
        problems = {
            "description": "A problem",
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for path in made["paths"].values():
            for method, operation in path.items():
                _describe(operation, reads=method == "get", problems=problems)
        schemas = made["components"]["schemas"]
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        made["components"]["schemas"] = {**_as_written(schemas), "Problem": _PROBLEM}
        app.openapi_schema = made
    return app.openapi_schema


def _describe(operation: dict[str, Any], *, reads: bool, problems: dict[str, Any]) -> None:
    """Add what all operations share: problems, conditional reads, and parameters that are never null."""
    for parameter in operation.get("parameters", ()):
        schema = parameter["schema"]
        given = [kind for kind in schema.pop("anyOf", ()) if kind != {"type": "null"}]
        schema.update(given[0] if len(given) == 1 else {"anyOf": given} if given else {})
    answers = operation["responses"]
    answers.pop("422", None)
    if reads:
        answers["304"] = {"description": "You already have it (If-None-Match)"}
    else:
        answers["202"] = {**problems, "description": "Nothing changed yet; a person must approve it (import tokens)"}
    if "201" in answers:
        answers["200"] = {**answers["201"], "description": "It already existed"}
    answers.update({"4XX": problems, "5XX": problems})


def _as_written(schema: Any, name: str = "") -> Any:
    """A schema with times in ISO 8601, as `core/records.py` writes them, and pairs as lists, which more tools read."""
    if isinstance(schema, list):
        return [_as_written(part, name) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "integer" and (name == "at" or name.endswith("_at")):
        return {**schema, "type": "string", "format": "date-time"}
    if "prefixItems" in schema:
        schema = {name: part for name, part in schema.items() if name != "prefixItems"}
    return {
        key: {inner: _as_written(part, inner) for inner, part in value.items()}
        if key == "properties"
        else _as_written(value, name)
        for key, value in schema.items()
    }
