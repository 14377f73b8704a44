"""Promise P29: no website or stranger reaches the memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi import FastAPI

from recollect import Memory
from recollect.api.access import undeclared
from recollect.api.app import DECLARATIONS, make_app
from serving import Served, serving


@pytest.fixture
def served(memory: Memory) -> Iterator[Served]:
    with serving(memory) as running:
        yield running


def test_every_route_declares_who_may_use_it(memory: Memory) -> None:
    assert undeclared(make_app(memory), DECLARATIONS) == []


def test_a_route_without_a_declaration_is_found() -> None:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.get("/open")(lambda: None)
    assert undeclared(app, DECLARATIONS) == ["GET /open"]


def test_the_page_is_for_whoever_typed_the_code(served: Served) -> None:
    stranger = served.client(None)
    assert stranger.get("/").headers["location"] == "/sign-in"
    assert stranger.post("/sign-in", data={"code": "wrong"}).status_code == 403
    assert served.browser().get("/").text.count("<h1>Overview</h1>") == 1
    assert len(served.codes) == 2


def test_a_code_serves_once(served: Served) -> None:
    first = served.codes[0]
    served.browser()
    assert served.client(None).post("/sign-in", data={"code": first}).status_code == 403
