"""Records as plain JSON values: snake_case names, times as ISO 8601 UTC, tuples as lists.

One rule for every surface: a field called `at` or ending in `_at` is a time.
"""

from __future__ import annotations

from typing import Any

from recollect.core.clock import iso


def plain(value: Any, name: str = "") -> Any:
    """A record, or any mixture of records and containers, as what `json.dumps` takes."""
    if isinstance(value, int) and not isinstance(value, bool) and (name == "at" or name.endswith("_at")):
        return iso(value)
    if hasattr(type(value), "__dataclass_fields__"):
        return {field: plain(getattr(value, field), field) for field in type(value).__annotations__}
    if isinstance(value, dict):
        return {key: plain(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.isoformat() if hasattr(value, "isoformat") else value
