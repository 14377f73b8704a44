"""Settings: every option with its default and one line of documentation.

Order of precedence: defaults < the user's file < `recollect.toml` < environment < flags. Reading files is the store's
work; this module only knows what exists, what type it has, and which of it a repository may not choose by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any

from recollect.core.errors import BadInput


def _option(default: Any, doc: str, *, guarded: bool = False) -> Any:
    """`guarded`: a repository's file may not set it until `recollect trust`."""
    return field(default=default, metadata={"doc": doc, "guarded": guarded})


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    min_confidence: float = _option(0.5, "learnings below this confidence are not found")
    limit: int = _option(10, "how many hits a search gives")


@dataclass(frozen=True, kw_only=True)
class InjectSettings:
    max_learnings: int = _option(5, "how many learnings one task is given at most")
    min_confidence: float = _option(0.6, "learnings below this confidence are not injected")
    explore_from: float = _option(0.5, "one slot tries a learning between this and min_confidence")
    explore_verdicts: int = _option(3, "… while it has fewer verdicts than this")
    relevance: float = _option(0.12, "share of the task's words, weighted by rarity, that a learning must meet")
    budget: int = _option(1500, "tokens the injected block may take")


@dataclass(frozen=True, kw_only=True)
class ConfidenceSettings:
    helpful: float = _option(0.05, "added by a helpful verdict")
    not_helpful: float = _option(0.1, "taken by a not-helpful verdict")
    floor: float = _option(0.1, "the lowest confidence; nothing is fully forgotten")
    ceiling: float = _option(1.0, "the highest confidence")
    decay: float = _option(0.02, "taken per full period without use")
    decay_days: int = _option(30, "days in such a period")
    decay_clock: str = _option("calendar", "`calendar`, or `active` to count only days with a commit")


@dataclass(frozen=True, kw_only=True)
class CaptureSettings:
    person: float = _option(0.7, "initial confidence of what a person wrote")
    blocker: float = _option(0.7, "initial confidence of a learning from a blocker (and of a gotcha)")
    constraint: float = _option(0.6, "initial confidence of a learning from a constraint")
    pattern: float = _option(0.5, "initial confidence of a learning from a pattern (and of a best practice)")
    decision: float = _option(0.5, "initial confidence of a learning from a decision (and of a solution)")
    recurring_tasks: int = _option(3, "different tasks with the same insight that propose a best practice")


@dataclass(frozen=True, kw_only=True)
class StoreSettings:
    url: str = _option("", "where rows live: empty for the embedded store, or postgresql://…", guarded=True)
    busy_seconds: float = _option(30.0, "how long a write waits for another process")
    backups: int = _option(5, "how many automatic backups are kept")


@dataclass(frozen=True, kw_only=True)
class Settings:
    space: str = _option("", "the project's name in the store; `init` writes it, so that two clones are one space")
    timezone: str = _option("UTC", "IANA time zone that decides which day it is; `init` pins it")
    store: StoreSettings = field(default_factory=StoreSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    inject: InjectSettings = field(default_factory=InjectSettings)
    confidence: ConfidenceSettings = field(default_factory=ConfidenceSettings)
    capture: CaptureSettings = field(default_factory=CaptureSettings)

    def __post_init__(self) -> None:
        if self.confidence.decay_clock not in ("calendar", "active"):
            raise BadInput("confidence.decay_clock must be calendar or active")
        for section, names in _SHARES.items():
            for name in names:
                value = getattr(getattr(self, section), name)
                if not 0 <= value <= 1:
                    raise BadInput(f"{section}.{name} must be between 0 and 1, not {value}")
        for section, names in _COUNTS.items():
            for name in names:
                if getattr(getattr(self, section), name) < 1:
                    raise BadInput(f"{section}.{name} must be at least 1")


_SHARES = {
    "search": ("min_confidence",),
    "inject": ("min_confidence", "explore_from", "relevance"),
    "confidence": ("helpful", "not_helpful", "floor", "ceiling", "decay"),
    "capture": ("person", "blocker", "constraint", "pattern", "decision"),
}
_COUNTS = {
    "search": ("limit",),
    "inject": ("max_learnings", "budget"),
    "confidence": ("decay_days",),
    "capture": ("recurring_tasks",),
}


def described() -> list[tuple[str, Any, str, bool]]:
    """Every setting as (dotted name, default, documentation, guarded), in order."""
    rows: list[tuple[str, Any, str, bool]] = []
    defaults = Settings()
    for top in fields(Settings):
        value = getattr(defaults, top.name)
        if "doc" in top.metadata:
            rows.append((top.name, value, top.metadata["doc"], top.metadata["guarded"]))
            continue
        for option in fields(value):
            meta = option.metadata
            rows.append((f"{top.name}.{option.name}", getattr(value, option.name), meta["doc"], meta["guarded"]))
    return rows


def merged(
    settings: Settings, given: Mapping[str, Any], source: str, *, trusted: Callable[[], bool] = lambda: True
) -> Settings:
    """Settings with a file's or the environment's values over them. Unknown names are refused: a typo is not a wish."""
    changes: dict[str, Any] = {}
    known = {option.name: option for option in fields(Settings)}
    for name, value in given.items():
        option = known.get(name)
        if option is None:
            raise BadInput(f"{source}: unknown setting {name!r}; see docs/settings.md")
        current = getattr(settings, name)
        if "doc" in option.metadata:
            changes[name] = _checked(option, current, value, name, source, trusted)
            continue
        if not isinstance(value, Mapping):
            raise BadInput(f"{source}: {name} is a section; write [{name}] and its options under it")
        inner = {item.name: item for item in fields(current)}
        section: dict[str, Any] = {}
        for key, part in value.items():
            if key not in inner:
                raise BadInput(f"{source}: unknown setting {name}.{key!r}; see docs/settings.md")
            section[key] = _checked(inner[key], getattr(current, key), part, f"{name}.{key}", source, trusted)
        changes[name] = replace(current, **section)
    return replace(settings, **changes)


def from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """`RECOLLECT_INJECT_BUDGET=900` is inject.budget; `RECOLLECT_STORE` is short for the store's url."""
    given: dict[str, Any] = {}
    if environ.get("RECOLLECT_STORE"):
        given["store"] = {"url": environ["RECOLLECT_STORE"]}
    for name, default, _, _ in described():
        text = environ.get("RECOLLECT_" + name.replace(".", "_").upper())
        if not text:
            continue
        value: Any = text
        if isinstance(default, int | float):
            try:
                value = type(default)(text)
            except ValueError:
                raise BadInput(f"environment: {name} must be a number, not {text!r}") from None
        section, _, key = name.rpartition(".")
        if section:
            given.setdefault(section, {})[key] = value
        else:
            given[key] = value
    return given


def _checked(option: Field[Any], current: Any, value: Any, name: str, source: str, trusted: Callable[[], bool]) -> Any:
    if option.metadata["guarded"] and value != current and not trusted():
        raise BadInput(
            f"{source} sets {name}, which a repository may not choose by itself. "
            "Look at the file, then run: recollect trust"
        )
    if isinstance(current, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not type(current):
        raise BadInput(f"{source}: {name} must be {type(current).__name__}, not {value!r}")
    return value
