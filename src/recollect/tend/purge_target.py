"""What a purge is after: things by id, everything they ever said, and texts wherever they stand.

A later noun with ids of its own plugs in by an entry in `THINGS`. Knows nothing about where the words are taken out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from recollect.capture import log_files as logs
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput, NotFound
from recollect.core.learning import COIA
from recollect.store import decisions, events, learnings, purging, tasks
from recollect.tend.purge_names import MARK, NAME, Names, names_quoting
from recollect.text.staging import slug_of

SHORTEST = 4  # characters of a text to purge: "a" would be everywhere
SHORTEST_QUOTE = 20  # characters that, said by a purged thing and found elsewhere, count as quoting it
_EDGES = ".,;:!?()[]{}<>\"'`"


@dataclass(frozen=True)
class Target:
    """What has to go: things by id, and texts wherever they stand."""

    things: tuple[str, ...]
    texts: tuple[str, ...]
    names: Names = field(default_factory=Names)
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        parts = []
        for text in sorted({*self.texts}, key=lambda text: (-len(text), text)):
            parts.append(r"\s+".join(re.escape(word) for word in text.split()))
            if named := _named(text):  # ids and names of files are made of a text's words
                parts.append(r"[\s_-]+".join(map(re.escape, named)))
        object.__setattr__(self, "pattern", re.compile("|".join(parts) or r"(?!)", re.IGNORECASE))

    def scrub(self, text: str) -> str:
        """The text with a mark where something went; what was cut off in the middle of it goes too."""
        marked = self.pattern.sub(MARK, self.names.in_text(text))
        body = marked.rstrip(" .…").lower()
        for wanted in map(str.lower, self.texts):
            begins = body.rfind(wanted[:SHORTEST_QUOTE])
            if len(wanted) > SHORTEST_QUOTE and begins >= 0 and wanted.startswith(body[begins:]):
                return marked[:begins] + MARK
        return marked

    def scrub_id(self, id: str) -> str:
        """An id that words make (`staged/…`, `theme/…`, `doc/…#…`) as that of the words with the mark."""
        id = self.names.in_text(id)
        if "/" not in id:
            return id
        for slug in sorted({slug_of(text) for text in self.texts if _named(text)}, key=len, reverse=True):
            if len(slug) >= SHORTEST:
                id = id.replace(slug, NAME)
        return self.pattern.sub(NAME, id)

    def says(self, words: str) -> bool:
        """Whether a tag or domain is made of the texts' own words."""
        own = {word.strip(_EDGES) for text in self.texts for word in text.lower().split()}
        return all(word in own for word in words.lower().replace("-", " ").split())

    def in_bytes(self, data: bytes) -> bool:
        """Whether raw bytes hold one of the texts, plain or as JSON writes it."""
        return any(form in data for text in self.texts for form in forms(text))


def target_of(ctx: Context, tx: Tx, id: str | None, text: str | None) -> Target:
    target = _wanted(ctx, tx, id, text)
    return replace(target, names=names_quoting(ctx, tx, target))


def _wanted(ctx: Context, tx: Tx, id: str | None, text: str | None) -> Target:
    if (id is None) == (text is None):
        raise BadInput("say either the id of a thing or --text")
    if text is not None:
        if len("".join(text.split())) < SHORTEST:
            raise BadInput(f"a text to purge needs at least {SHORTEST} characters; shorter ones are everywhere")
        return Target((), (text.strip(),))
    assert id is not None
    if id.startswith("log/"):
        entry = logs.entry(replace(ctx, vault=ctx.vault.inside(tx)), id)
        said = (entry.topic, *entry.text.split("\n"))
        return Target((id,), tuple(line.strip() for line in said if len(line.strip()) >= SHORTEST_QUOTE))
    describe = THINGS.get(id.partition("_")[0])
    if describe is None:
        raise BadInput(f"{id[:80]} is nothing that can be purged by its id; use --text for its words")
    things, texts = describe(tx, id)
    if not things and not any(event.what == "purged" for event in events.of(tx, id)):
        raise NotFound(f"no {id} here, and nothing of that id was purged")
    return Target(tuple(things), tuple(text for text in texts if len(text) >= SHORTEST_QUOTE))


def _learning(tx: Tx, id: str) -> tuple[list[str], list[str]]:
    """A learning, the raw discoveries it was made of, and everything it ever said."""
    found = learnings.many(tx, [id])
    if not found:
        return [], []
    things, texts = [id], [found[0].title, *found[0].fields]
    for event in events.of(tx, id):
        for said in (event.old, event.new):
            texts += [said[name] for name in ("title", *COIA) if isinstance(said.get(name), str)]
    for discovery in purging.discoveries_of(tx, id):
        more_things, more_texts = _discovery(tx, discovery)
        things += more_things
        texts += more_texts
    return things, texts


def _discovery(tx: Tx, id: str) -> tuple[list[str], list[str]]:
    found = tasks.known_discovery(tx, id)
    return ([id], [found.content]) if found else ([], [])


def _decision(tx: Tx, id: str) -> tuple[list[str], list[str]]:
    """A decision and everything it ever said."""
    found = decisions.many(tx, [id])
    if not found:
        return [], []
    texts = list(decisions.passage_of(found[0]).lines)
    for event in events.of(tx, id):
        texts += [text for said in (event.old, event.new) for text in _strings(said)]
    return [id], texts


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _named(text: str) -> list[str]:
    """The words that a name of a text is made of; none where they are too short to say it."""
    words = [slug_of(word) for word in re.findall(r"\w+", text)]
    return words if len("".join(words)) >= SHORTEST else []


THINGS: dict[str, Callable[[Tx, str], tuple[list[str], list[str]]]] = {
    "learn": _learning,
    "disc": _discovery,
    "dec": _decision,
}
"""By the prefix of an id: the things that go with it, and the texts they hold. No things: there is no such id."""


def forms(text: str) -> set[bytes]:
    """How a text may stand in a file: as it is, on one line, lower-cased, and inside JSON."""
    spellings = {text, " ".join(text.split()), text.lower(), "-".join(_named(text)) or text}
    escaped = {json.dumps(one, ensure_ascii=ascii)[1:-1] for one in spellings for ascii in (True, False)}
    return {one.encode("utf-8", "replace") for one in spellings | escaped}
