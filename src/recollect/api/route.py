"""What every route under /api does around its own work: names of parameters, and requests that may come twice."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor

from recollect.api.rpc import snake
from recollect.core.errors import BadInput, FateUnknown, Trouble
from recollect.memory import Memory

KEPT_HEADERS = ("content-type", "etag", "location")


@dataclass(frozen=True, kw_only=True)
class Claim:
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
        request.state.claim = Claim(memory=memory, caller=caller, key=key)
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


def _claim(request: Request) -> Claim | None:
    return getattr(request.state, "claim", None)


def _queries(dependant: Dependant) -> Iterator[str]:
    yield from (param.alias for param in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _queries(inner)
