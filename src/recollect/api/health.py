"""Whether the server and its store answer; says nothing about what is remembered."""

from __future__ import annotations

from fastapi import APIRouter, Request

from recollect.api.access import Public
from recollect.memory import Memory

routes = APIRouter()


@routes.get("/health", dependencies=[Public], summary="Whether the server and its store answer")
def health(request: Request) -> dict[str, str]:
    memory: Memory = request.app.state.memory
    memory.tokens.holder("")  # the least that the store can be asked
    return {"status": "ok"}
