"""What a model is asked about a finished task: which discoveries are in its output, and what each teaches.

Both have offline twins: marked lines, and rules that sort sentences. Knows nothing about what is stored.
"""

from __future__ import annotations

import json
from functools import partial
from typing import cast

from recollect.core.choices import DISCOVERY_TYPES, DiscoveryType
from recollect.core.errors import BadInput
from recollect.core.learning import COIA
from recollect.core.new_learning import FIELD_LIMIT, NewLearning
from recollect.core.task import Discovery
from recollect.models.asking import Ask
from recollect.models.reading import read_object, read_text
from recollect.text.coia import Coia, extract
from recollect.text.tokens import terms

MOST_FOUND = 10
"""Discoveries a model may see in one output."""
SAID = 0.7
"""Share of a discovery's words that the output itself must have."""
LONGEST_COIA = 6_000

Found = tuple[tuple[DiscoveryType, str], ...]


def extraction(discovery: Discovery, title: str) -> Ask[Coia]:
    """What does this discovery teach?"""
    facts = {"type": discovery.type, "content": discovery.content, "task": title}
    # A host's session is task and outcome in one: its id names neither.
    outcome = discovery.outcome_id if discovery.outcome_id != discovery.task_id else None
    return Ask(
        kind="extract",
        subject=discovery.id,
        sources=(json.dumps(facts, ensure_ascii=False),),
        offline=partial(extract, discovery.type, discovery.content, title, outcome or ""),
        accept=_read_coia,
        longest=LONGEST_COIA,
    )


def observation(output: str, task: str) -> Ask[Found]:
    """What was discovered in this output, beside what its author marked?"""
    return Ask(
        kind="observe",
        subject=f"task {task}",
        sources=(output,),
        offline=tuple,
        accept=lambda text: _read_found(text, output),
    )


def task_of(subject: str) -> str:
    """The task an observation was about."""
    return subject.removeprefix("task ")


def _read_coia(text: str) -> Coia:
    """A model's answer, checked like any stranger's."""
    given = read_object(text)
    tags, domain = given.get("tags"), given.get("domain") or None
    if not isinstance(tags, list) or len(tags) < 2:
        raise BadInput("tags must be a list of two to five words")
    fields = {name: given.get(name) for name in ("title", *COIA)}
    checked = NewLearning(**fields, tags=tuple(tags[:5]), domain=domain)  # type: ignore[arg-type]
    return Coia(**fields, tags=checked.tags, domain=domain)  # type: ignore[arg-type]


def _read_found(text: str, output: str) -> Found:
    """Discoveries in the output's own words; one that it does not say is an invention."""
    given = read_object(text).get("discoveries")
    if not isinstance(given, list) or len(given) > MOST_FOUND:
        raise BadInput(f"discoveries must be a list of at most {MOST_FOUND}")
    spoken = set(terms(output))
    found: dict[tuple[DiscoveryType, str], None] = {}
    for each in given:
        if not isinstance(each, dict) or each.get("type") not in DISCOVERY_TYPES:
            raise BadInput(f"a discovery's type must be one of {', '.join(DISCOVERY_TYPES)}")
        content = read_text(each, "content", most=FIELD_LIMIT)
        words = set(terms(content))
        if len(words & spoken) < SAID * max(len(words), 1):
            raise BadInput(f"the output does not say {content[:80]!r}")
        found[cast(DiscoveryType, each["type"]), content] = None
    return tuple(found)
