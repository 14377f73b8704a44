"""Errors as answers: `application/problem+json` for programs, with the class of the error deciding the status.

The messages of `core/errors.py` already say what happened and what to do; nothing is added to them here.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

import msgspec
from starlette.responses import Response

from recollect.core.errors import (
    BadInput,
    NoSpace,
    NotFound,
    RecollectError,
    Refused,
    Rejected,
    Stale,
    StoreBusy,
    Trouble,
)

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
