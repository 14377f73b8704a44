"""JSON-RPC over HTTP: the dispatcher and the methods are `rpc.py` and `cstp.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NoReturn

from fastapi import APIRouter, Depends, Request, Response

from recollect.api.access import Reads, admitted, may_only_read
from recollect.api.cstp import READS, methods
from recollect.api.route import Route
from recollect.api.rpc import dispatch
from recollect.core.errors import Refused
from recollect.core.token import Token

routes = APIRouter(tags=["json-rpc"], route_class=Route)


@routes.post("/cstp", summary="A JSON-RPC 2.0 call, or a batch of up to 100")
def call(memory: Reads, token: Annotated[Token, Depends(admitted)], request: Request) -> Response:
    table = methods(memory)
    if token.read_only:
        table = {name: method if name in READS else _refusing(method, token) for name, method in table.items()}
    said = dispatch(request.state.body, table)
    return Response(status_code=204) if said is None else Response(said, media_type="application/json")


def _refusing(method: Callable[..., Any], token: Token) -> Callable[..., Any]:
    """A method that would change something, for a token that may not."""

    def refused(**_: Any) -> NoReturn:
        raise Refused(may_only_read(token))

    refused.__wrapped__ = method  # type: ignore[attr-defined]
    return refused
