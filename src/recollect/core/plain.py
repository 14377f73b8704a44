"""Records as plain JSON values: snake_case names, times as ISO 8601 UTC, tuples as lists.

One rule for every surface: a field called `at` or ending in `_at` is a time.
"""

from __future__ import annotations

from typing import Any

from recollect.core.clock import iso


def plain(value: Any, name: str = "") -> Any:
    """A record, or any mixture of records and containers, as what `json.dumps` takes."""
    kind = type(value)
    if kind in _AS_THEY_ARE:  # nearly every field of a long list: asked first
        return value
    if kind is int:
        return iso(value) if name == "at" or name.endswith("_at") else value
    if hasattr(kind, "__dataclass_fields__"):
        return {field: plain(getattr(value, field), field) for field in kind.__annotations__}
    if isinstance(value, dict):
        return {key: plain(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.isoformat() if hasattr(value, "isoformat") else value


_AS_THEY_ARE = frozenset({str, bool, float, type(None)})
