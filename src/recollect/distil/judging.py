"""What a model is asked about a staged learning: is it a rule, where does it belong, how should it be worded.

Each has its offline twin in `text`. A model chooses among what it is given and words what is there; the reasons and
rephrasings people read are ours. Knows nothing about files or what becomes of an entry.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from recollect.core.context import Context
from recollect.core.errors import BadInput
from recollect.models.asking import OFFLINE, Answer, Ask, ask
from recollect.models.reading import read_object, read_text
from recollect.text import quality, route
from recollect.text.documents import sections
from recollect.text.quality import Refusal
from recollect.text.route import Alike, Placement
from recollect.text.staging import Entry

SHOWN = 8  # places a model may choose from
GIST = 300  # characters of a section it is shown
MARGIN = 200  # characters JSON may add to a text
TITLE_LIMIT = 200
_FENCED = re.compile(r"^(`{3,}|~{3,}).*?^\1[ \t]*$", re.DOTALL | re.MULTILINE)
_STRUCTURE = re.compile(r"^ {0,3}(?:#{1,6}\s|---+\s*$|===+\s*$|<!--)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Wording:
    """A staged learning as it will stand in its document."""

    title: str
    body: str


def refusal(entry: Entry) -> Ask[Refusal | None]:
    """Why does this state no rule that holds beyond the case it came from, if it does not?"""
    return Ask(
        kind="quality",
        subject=f"staged/{entry.slug}",
        sources=(_told(entry),),
        offline=lambda: quality.refused(entry.title, entry.body),
        accept=_read_refusal,
        longest=MARGIN,
        max_tokens=50,
    )


def placed(
    ctx: Context,
    entry: Entry,
    documents: Mapping[str, str],
    committed: Mapping[str, str],
    alike: Alike | None,
    ignored: Collection[str],
) -> Answer[Placement]:
    """Where this belongs. A model chooses among the places as the run found them, so that its choice can be asked for
    beforehand; one that the run has split away meanwhile is chosen without it."""
    if ctx.models.provider("route") is not None:
        chosen = ask(ctx, place(entry, committed, alike))
        path, heading = chosen.value.path, chosen.value.heading
        there = not heading or any(section.slug == heading for section in sections(documents.get(path, "")))
        if chosen.generator != OFFLINE and there and (not path or path in documents):
            return chosen
    nearest = route.place(f"{entry.title}\n{entry.body}", documents, alike=alike, ignored=ignored)
    return Answer(value=nearest, generator=OFFLINE)


def place(entry: Entry, documents: Mapping[str, str], alike: Alike | None) -> Ask[Placement]:
    """Which of the nearest sections does this belong under?"""
    text = f"{entry.title}\n{entry.body}"
    nearest = route.candidates(text, documents, alike=alike, most=SHOWN)
    targets = [
        {"number": number, "document": each.path, "heading": each.title, "says": each.says[:GIST]}
        for number, each in enumerate(nearest, 1)
    ]
    return Ask(
        kind="route",
        subject=f"staged/{entry.slug}",
        sources=(_told(entry), json.dumps(targets, ensure_ascii=False)),
        offline=lambda: route.place(text, documents, alike=alike),
        accept=lambda answer: _read_place(answer, [each.placement for each in nearest]),
        longest=MARGIN,
        max_tokens=50,
    )


def wording(entry: Entry) -> Ask[Wording]:
    """How does this read as a permanent rule? By its own words alone: a run that was cut off finds it again."""
    return Ask(
        kind="rewrite",
        subject=f"staged/{entry.slug}",
        sources=(_told(entry),),
        must_keep=(f"{entry.title}\n{entry.body}",),
        offline=lambda: Wording(title=entry.title, body=entry.body),
        accept=lambda text: _read_wording(text, entry),
        longest=len(_told(entry)) + MARGIN,
        max_tokens=2_000,
    )


def _told(entry: Entry) -> str:
    return json.dumps({"title": entry.title, "body": entry.body}, ensure_ascii=False)


def _read_refusal(text: str) -> Refusal | None:
    flaw = read_object(text).get("flaw", "")
    if flaw is None:
        return None
    if not isinstance(flaw, str) or flaw not in quality.REFUSALS:
        raise BadInput(f"unknown flaw {str(flaw)[:40]!r}")
    return quality.REFUSALS[flaw]


def _read_place(text: str, offered: list[Placement]) -> Placement:
    number = read_object(text).get("target")
    if type(number) is not int or not 0 <= number <= len(offered):
        raise BadInput("target must be one of the given numbers, or 0 for none")
    if number == 0:
        return Placement(kind="new file", path="", heading="", title="", score=0.0)
    return offered[number - 1]


def _read_wording(text: str, entry: Entry) -> Wording:
    given = read_object(text)
    title, body = read_text(given, "title", most=TITLE_LIMIT), given.get("body", "")
    if not isinstance(body, str) or bool(body.strip()) != bool(entry.body.strip()):
        raise BadInput("body must be a text where there was one")
    if len(title) + len(body) > len(entry.title) + len(entry.body) + MARGIN:
        raise BadInput("it is longer than what it words")
    code = [found[0] for found in _FENCED.finditer(entry.body)]
    if any(block not in body for block in code):
        raise BadInput("it changes code")
    if _STRUCTURE.search(_FENCED.sub("", body)):
        raise BadInput("it has headings or marks of its own")
    return Wording(title=title, body=body.strip("\n"))
