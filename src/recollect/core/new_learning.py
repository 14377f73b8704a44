"""What a caller gives to make or change a learning, and what is refused.

Apart from `core/learning.py`, which a hook loads: this module needs `typing`.
"""

from __future__ import annotations

from typing import Any, Literal

from recollect.core.choices import PATTERN_TYPES, PatternType, Trust
from recollect.core.errors import BadInput
from recollect.core.learning import COIA, LearningSource
from recollect.core.records import (
    ID,
    TAG,
    as_text,
    check_choice,
    check_id,
    check_text,
    line,
    record,
    says_nothing,
    thousandths,
)

TITLE_LIMIT = 100  # characters; a title is one line wherever it is shown
FIELD_LIMIT = 10_000  # characters; more would not fit into an injected block
TAG_LIMIT = 20  # tags of one learning; the most useful ones are few
TAG_LENGTH = 50  # characters of a tag or domain
SOURCES = ("source_outcome_id", "source_task_id", "source_discovery_id")


@record
class NewLearning:
    """Unknown ids of sources are created on first use."""

    title: str
    context: str
    observation: str
    implication: str
    action: str
    tags: tuple[str, ...] = ()
    domain: str | None = None
    pattern_type: PatternType = "solution"
    confidence: float | None = None
    source_outcome_id: str | None = None
    source_task_id: str | None = None
    source_discovery_id: str | None = None

    STORED = {"title": line(TITLE_LIMIT), "tags": TAG, **dict.fromkeys(SOURCES, ID)}

    def __post_init__(self) -> None:
        check_content(self.title, {field: getattr(self, field) for field in COIA}, self.tags, self.domain)
        check_choice(self.pattern_type, "pattern_type", PATTERN_TYPES)
        if self.confidence is not None:
            thousandths(self.confidence)
        object.__setattr__(self, "tags", tuple(dict.fromkeys([tag.strip() for tag in self.tags])))
        for name in SOURCES:
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, check_id(given, name))

    def source(self, *, origin: str, trust: Trust, at: int) -> LearningSource:
        return LearningSource(
            outcome_id=self.source_outcome_id,
            task_id=self.source_task_id,
            discovery_id=self.source_discovery_id,
            origin=origin,
            trust=trust,
            at=at,
        )


@record
class LearningEdit:
    """Fields to change; None leaves a field as it is, an empty domain removes the domain.

    `status` archives or restores, `pinned` pins or unpins.
    """

    title: str | None = None
    context: str | None = None
    observation: str | None = None
    implication: str | None = None
    action: str | None = None
    tags: tuple[str, ...] | None = None
    domain: str | None = None
    pattern_type: PatternType | None = None
    confidence: float | None = None
    status: Literal["active", "archived"] | None = None
    pinned: bool | None = None

    STORED = {"title": line(TITLE_LIMIT), "tags": TAG}

    def __post_init__(self) -> None:
        _check_texts({name: text for name in ("title", *COIA) if (text := getattr(self, name)) is not None})
        if self.tags is not None:
            check_tags(self.tags)
        if self.domain is not None and as_text(self.domain, "domain").strip():
            _check_domain(self.domain)
        if self.pattern_type is not None:
            check_choice(self.pattern_type, "pattern_type", PATTERN_TYPES)
        if self.confidence is not None:
            thousandths(self.confidence)
        if self.status not in (None, "active", "archived"):
            raise BadInput(f"status can be set to active or archived, not {self.status!r}")
        if not isinstance(self.pinned, bool | None):
            raise BadInput("pinned must be true or false")

    @property
    def given(self) -> dict[str, Any]:
        changes = {name: value for name, value in vars(self).items() if value is not None}
        return {**changes, "domain": self.domain or None} if self.domain is not None else changes


def check_content(title: str, fields: dict[str, str], tags: object, domain: str | None) -> None:
    """Raise BadInput for what no learning may hold."""
    _check_texts({"title": title, **fields})
    check_tags(tags)
    if domain is not None:
        _check_domain(domain)


def _check_texts(texts: dict[str, str]) -> None:
    for name, value in texts.items():
        check_text(value, name, most=FIELD_LIMIT)
        if says_nothing(value):
            raise BadInput(f"{name} is empty; a learning needs a title and all of {', '.join(COIA)}")
    if len(title := texts.get("title", "")) > TITLE_LIMIT:
        raise BadInput(
            f"title has {len(title)} characters; {TITLE_LIMIT} is the most. Move detail into the observation"
        )


def _check_domain(domain: str) -> None:
    if not _is_word(as_text(domain, "domain")):
        raise BadInput(f"domain must be 1 to {TAG_LENGTH} printable characters")


def check_tags(tags: object) -> None:
    if not isinstance(tags, tuple | list) or not all(isinstance(tag, str) for tag in tags):
        raise BadInput("tags must be a list of words")
    if len(tags) > TAG_LIMIT:
        raise BadInput(f"{len(tags):,} tags given; {TAG_LIMIT} is the most")
    for tag in tags:
        if not _is_word(tag):
            raise BadInput(f"tag {tag[:60]!r} must be 1 to {TAG_LENGTH} printable characters")


def _is_word(label: str) -> bool:
    return bool(label.strip()) and len(label) <= TAG_LENGTH and label.isprintable()
