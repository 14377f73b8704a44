"""The target of a purge: ids, texts, the pattern that finds them, and the names that are made of their words.

Work units and themes whose names quote the text are called `purged`, `purged-2`, … everywhere; a person may rename a
theme afterwards. Knows nothing about where a purge looks for texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from recollect.capture.finding import FOLDER, survey
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput, NotFound
from recollect.distil.themes import INDEX
from recollect.store import events, purge
from recollect.store import themes as theme_rows
from recollect.store.themes import StoredTheme
from recollect.tend.kinds import kind_of
from recollect.text.staging import free_slug, slug_of
from recollect.text.themes import parse_index, render_index, retitled

MARK = "[purged]"
NAME = "purged"


@dataclass(frozen=True, kw_only=True)
class Names:
    """Old names and the new ones. A text is searched for those behind a kind (`theme/x`), and for no others: a unit may
    be called `package`, and `package.json` is somebody else's file."""

    units: Mapping[str, str] = field(default_factory=dict)
    themes: Mapping[str, str] = field(default_factory=dict)

    def in_text(self, text: str) -> str:
        """A text, id or path with the new names in it."""
        for old, new in self.units.items():
            file = rf"(?<={FOLDER}/){re.escape(old)}(?=\.json\b)"
            text = re.sub(rf"(?<=finding/){re.escape(old)}(?=#\d)|{file}", new, text)
        for old, new in self.themes.items():
            text = re.sub(rf"(?<=theme/){re.escape(old)}(?![\w-])|(?<=themes/){re.escape(old)}(?=\.md\b)", new, text)
        return text

    def in_file(self, path: str, text: str) -> str:
        """A file of the findings folder, where names also stand alone."""
        if path == INDEX:
            index = parse_index(text)
            told = tuple((self.themes.get(name, name), summary) for name, summary in index.themes)
            return render_index(replace(index, themes=told)) if told != index.themes else text
        if path.startswith(f"{FOLDER}/themes/"):
            name = path.rpartition("/")[2].removesuffix(".md")
            return retitled(text, name, self.themes.get(name, name), self.units)
        return text

    def of_theme(self, stored: StoredTheme) -> StoredTheme:
        theme = stored.theme
        return replace(
            stored,
            theme=replace(
                theme,
                name=self.themes.get(theme.name, theme.name),
                named_by="machine" if theme.name in self.themes else theme.named_by,
                findings=tuple(map(self.in_text, theme.findings)),
                work_ids=tuple(self.units.get(unit, unit) for unit in theme.work_ids),
            ),
            inherited_units=tuple(self.units.get(unit, unit) for unit in stored.inherited_units),
        )


def names_quoting(ctx: Context, tx: Tx, target: Target) -> Names:
    """New names for work units and themes that say the text, or are made of its words where it was said."""
    vault = ctx.vault.inside(tx)
    files = survey(replace(ctx, vault=vault)).files
    stored = theme_rows.everything(tx)
    touched = {one.id for file in files for one in file.findings if target.scrub(one.text) != one.text}
    known = {name.removesuffix(".json") for name in vault.stamps(FOLDER) if name.endswith(".json")}
    known |= {unit for one in stored for unit in (*one.theme.work_ids, *one.inherited_units)}
    known |= {file.work_id for file in files}
    units = {name for name in known if target.pattern.search(name)}
    units |= {
        file.work_id for file in files if target.says(file.work_id) and any(f.id in touched for f in file.findings)
    }
    themes = {
        one.theme.name
        for one in stored
        if target.pattern.search(one.theme.name)
        or (target.shares_a_word(one.theme.name) and _lost(one, touched, target))
    }
    return Names(units=_fresh(units, known), themes=_fresh(themes, {one.theme.name for one in stored}))


def _lost(stored: StoredTheme, touched: Collection[str], target: Target) -> bool:
    """Whether the text was said in the theme."""
    kept = (stored.theme.summary, *stored.inherited)
    return any(id in touched for id in stored.theme.findings) or any(target.scrub(text) != text for text in kept)


def rename(tx: Tx, names: Names) -> None:
    """The same in the rows that hold names alone; where a kind stands before a name, whoever scrubs texts does it."""
    if names == Names():
        return
    hashes = {names.in_text(id): digest for id, digest in theme_rows.text_hashes(tx).items()}
    theme_rows.replace_all(tx, map(names.of_theme, theme_rows.everything(tx)), hashes)
    theme_rows.rename_files(tx, {f"{old}.json": f"{new}.json" for old, new in names.units.items()})
    purge.rename_in_events(tx, ("themes.gathered", "theme.renamed"), lambda said: names.themes.get(said, said))


def _fresh(quoting: set[str], known: set[str]) -> dict[str, str]:
    made: dict[str, str] = {}
    for name in sorted(quoting):
        made[name] = free_slug(NAME, {*known, *made.values()})
    return made


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
        """Whether a tag or a name is made of the texts' own words."""
        return _words(words) <= self._own_words()

    def shares_a_word(self, name: str) -> bool:
        return not _words(name).isdisjoint(self._own_words())

    def _own_words(self) -> set[str]:
        return {word.strip(_EDGES) for text in self.texts for word in text.lower().split()}

    def in_bytes(self, data: bytes) -> bool:
        """Whether raw bytes hold one of the texts, plain or as JSON writes it."""
        return any(form in data for text in self.texts for form in forms(text))


def target_of(ctx: Context, tx: Tx, id: str | None, text: str | None) -> Target:
    target = _wanted(ctx, tx, id, text)
    return replace(target, names=names_quoting(ctx, tx, target))


def _wanted(ctx: Context, tx: Tx, id: str | None, text: str | None) -> Target:
    if (id is None) == (text is None):
        raise BadInput("Give either an id or --text")
    if text is not None:
        if len("".join(text.split())) < SHORTEST:
            raise BadInput(f"A text to purge needs at least {SHORTEST} characters; shorter texts are everywhere")
        return Target((), (text.strip(),))
    assert id is not None
    kind = kind_of(id)
    if kind is None or kind.quotes is None:
        raise BadInput(f"{id[:80]} cannot be purged by its id; purge its words with --text")
    things, texts = kind.quotes(ctx, tx, id)
    if not things and not any(event.what == "purged" for event in events.of(tx, id)):
        raise NotFound(f"There is no {id}, and nothing of that id was purged")
    return Target(tuple(things), tuple(text for text in texts if len(text) >= SHORTEST_QUOTE))


def _words(name: str) -> set[str]:
    return set(name.lower().replace("-", " ").split())


def _named(text: str) -> list[str]:
    """The words that a name of a text is made of; none where they are too short to say it."""
    words = [slug_of(word) for word in re.findall(r"\w+", text)]
    return words if len("".join(words)) >= SHORTEST else []


def forms(text: str) -> set[bytes]:
    """How a text may stand in a file: as it is, on one line, lower-cased, and inside JSON."""
    spellings = {text, " ".join(text.split()), text.lower(), "-".join(_named(text)) or text}
    escaped = {json.dumps(one, ensure_ascii=ascii)[1:-1] for one in spellings for ascii in (True, False)}
    return {one.encode("utf-8", "replace") for one in spellings | escaped}
