"""What a form sent, as plain text: browsers send CRLF, and an empty field means "not given"."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from recollect.api.session import CSRF_FIELD
from recollect.core.errors import BadInput


@dataclass(frozen=True)
class Fields:
    """The fields of a form by name; one may stand several times."""

    values: dict[str, tuple[str, ...]]

    def text(self, name: str) -> str:
        return self.values.get(name, ("",))[0]

    def given(self, name: str) -> str | None:
        return self.text(name).strip() or None

    def number(self, name: str) -> float | None:
        given = self.given(name)
        try:
            return None if given is None else float(given)
        except ValueError:
            raise BadInput(f"{name} must be a number, not {given!r:.40}") from None

    def every(self, name: str) -> tuple[str, ...]:
        return tuple(value for value in self.values.get(name, ()) if value.strip())

    def kept(self) -> dict[str, str]:
        """What was typed, to fill the form again; an empty text for what was not."""
        return defaultdict(str, {name: values[0] for name, values in self.values.items()})

    def words(self, name: str) -> tuple[str, ...]:
        """Tags and the like, separated by commas."""
        return tuple(dict.fromkeys(word.strip() for word in self.text(name).split(",") if word.strip()))


async def _fields(request: Request) -> Fields:
    values: dict[str, tuple[str, ...]] = {}
    for name, value in (await request.form()).multi_items():
        if name != CSRF_FIELD and isinstance(value, str):
            values[name] = (*values.get(name, ()), value.replace("\r\n", "\n"))
    return Fields(values)


Sent = Annotated[Fields, Depends(_fields)]
