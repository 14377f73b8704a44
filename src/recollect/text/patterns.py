"""Regular expressions that are compiled when they are first used.

Compiling the patterns of this room takes longer than a short command may take as a whole, and most commands use few of
them. Hooks load this module, so it imports nothing but `re`.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern that behaves as `re.compile(pattern, flags)` does and is compiled on first use."""
    return _Lazy(pattern, flags)  # type: ignore[return-value]


class _Lazy:
    def __init__(self, pattern: str, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        # Python calls this for a name that the instance lacks: once for the pattern, and once for each method used.
        value = re.compile(*self._source) if name == "_compiled" else getattr(self._compiled, name)
        setattr(self, name, value)
        return value
