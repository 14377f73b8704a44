"""The OpenAPI 3.1 document, made from the routes: what each takes and gives are the records themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import msgspec
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from recollect.api.auth import Reads
from recollect.api.wire import MEDIA_TYPE, Route, answer

routes = APIRouter(prefix="/api", route_class=Route)

_REFERENCE = "#/components/schemas/{name}"
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
_RPC: dict[str, Any] = {
    "type": "object",
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "method": {"type": "string"},
        "params": {"type": "object"},
        "id": {"type": ["string", "integer", "null"]},
    },
    "required": ["jsonrpc", "method"],
}


@routes.get("/openapi.json", summary="This document", include_in_schema=False)
def openapi(memory: Reads, request: Request) -> Response:
    return answer(document(request.app))


def document(app: FastAPI) -> dict[str, Any]:
    """The document of an application's routes, made once."""
    if app.openapi_schema is None:
        app.openapi_schema = _made(app)
    return app.openapi_schema


def _made(app: FastAPI) -> dict[str, Any]:
    shown = [route for route in app.routes if isinstance(route, APIRoute) and route.include_in_schema]
    made = get_openapi(title=app.title, version=app.version, description=app.description, routes=shown)
    kinds = {kind for route in shown for kind in (*_takes(route.dependant), *_gives(route))}
    ordered = sorted(kinds, key=lambda kind: (kind.__name__, kind.__module__))
    references, schemas = msgspec.json.schema_components(ordered, ref_template=_REFERENCE)
    known = dict(zip(ordered, references, strict=True))
    components = made.setdefault("components", {})
    components["schemas"] = {name: _told(schema) for name, schema in schemas.items()}
    components["schemas"]["Problem"] = _PROBLEM
    for route in shown:
        for method in route.methods or ():
            _describe(made["paths"][route.path_format][method.lower()], route, known)
    return made


def _describe(operation: dict[str, Any], route: APIRoute, known: dict[type[Any], dict[str, Any]]) -> None:
    takes = next(_takes(route.dependant), None)
    if takes is not None:
        operation["requestBody"] = _json(known[takes], required=True)
    elif route.path == "/cstp":
        operation["requestBody"] = _json({"anyOf": [_RPC, {"type": "array", "items": _RPC}]}, required=True)
    elif "POST" in (route.methods or ()):
        operation["requestBody"] = _json({"type": "object", "additionalProperties": False}, required=True)
    shapes = [known[kind] for kind in _gives(route)]
    shape = shapes[0] if len(shapes) == 1 else {"anyOf": shapes} if shapes else {}
    if listed := getattr(route.endpoint, "listed", ""):
        shape = _list_of(listed, shape)
    problems = {
        "description": "A problem",
        "content": {MEDIA_TYPE: {"schema": {"$ref": _REFERENCE.format(name="Problem")}}},
    }
    operation["responses"] = {
        str(route.status_code or 200): _json(shape, description="Done"),
        "4XX": problems,
        "5XX": problems,
    }
    if route.status_code == 201:
        operation["responses"]["200"] = _json(shape, description="It was there already")
    if route.path == "/cstp":
        operation["responses"]["204"] = {"description": "Notifications only"}


def _list_of(name: str, shape: dict[str, Any]) -> dict[str, Any]:
    number = {"type": "integer", "minimum": 0}
    return {
        "type": "object",
        "properties": {name: {"type": "array", "items": shape}, "total": number, "limit": number, "offset": number},
        "required": [name, "total", "limit", "offset"],
    }


def _json(shape: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**more, "content": {"application/json": {"schema": shape}}}


def _told(schema: Any, name: str = "") -> Any:
    """A schema with times as they are shown, in ISO 8601 (see `core/records.py`), and pairs as short lists."""
    if isinstance(schema, list):
        return [_told(part, name) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "integer" and (name == "at" or name.endswith("_at")):
        return {**schema, "type": "string", "format": "date-time"}
    if "prefixItems" in schema:  # both parts of our pairs are of one kind, and few tools read more than that
        schema = {**schema, "items": schema["prefixItems"][0]}
        del schema["prefixItems"]
    return {
        key: {inner: _told(part, inner) for inner, part in value.items()} if key == "properties" else _told(value, name)
        for key, value in schema.items()
    }


def _takes(dependant: Dependant) -> Iterator[type[Any]]:
    """The record a route reads from its body."""
    for inner in dependant.dependencies:
        kind = getattr(inner.call, "takes", None)
        if kind is not None:
            yield kind
        yield from _takes(inner)


def _gives(route: APIRoute) -> tuple[type[Any], ...]:
    """The record a route answers with; several where it depends on what was asked for."""
    kind = getattr(route.endpoint, "gives", None)
    return () if kind is None else get_args(kind) or (kind,)
