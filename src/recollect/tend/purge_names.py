"""Names that quote what a purge is after: work units and themes are called something else, everywhere.

A theme that the machine named is named anew from what its findings still say. Knows nothing about where a purge looks
for texts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from recollect.capture.finding import FOLDER, survey
from recollect.core.context import Context, Tx
from recollect.distil.themes import INDEX
from recollect.store import purging
from recollect.store import themes as theme_rows
from recollect.store.themes import StoredTheme
from recollect.text.staging import free_slug
from recollect.text.theme_files import name_theme, parse_index, render_index, retitled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.tend.purge_target import Target

MARK = "[purged]"
NAME = "purged"


@dataclass(frozen=True, kw_only=True)
class Names:
    """Old names and the new ones. Where a kind stands before a name (`theme/x`, `x.json`) any text can be searched."""

    units: Mapping[str, str] = field(default_factory=dict)
    themes: Mapping[str, str] = field(default_factory=dict)

    def in_text(self, text: str) -> str:
        """A text, id or path with the new names in it."""
        for old, new in self.units.items():
            text = re.sub(rf"(?<![\w.-]){re.escape(old)}(?=#\d|\.json\b)", new, text)
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
    """The names that have to go: those that say the text, or are made of its words where its words stood."""
    vault = ctx.vault.inside(tx)
    files = survey(replace(ctx, vault=vault)).files
    stored = theme_rows.everything(tx)
    said = {finding.id: finding.text for file in files for finding in file.findings}
    left = {id: target.scrub(text) for id, text in said.items()}
    touched = {id for id in said if said[id] != left[id]}
    known = {name.removesuffix(".json") for name in vault.stamps(FOLDER) if name.endswith(".json")}
    known |= {unit for one in stored for unit in (*one.theme.work_ids, *one.inherited_units)}
    known |= {file.work_id for file in files}
    units = {name for name in known if target.pattern.search(name)}
    units |= {
        file.work_id for file in files if target.says(file.work_id) and any(f.id in touched for f in file.findings)
    }
    themes: dict[str, str] = {}
    taken = {one.theme.name for one in stored}
    for one in stored:
        if _quotes(one, touched, target):
            inside = [_unmarked(left[id]) for id in one.theme.findings if id in left]
            outside = [_unmarked(text) for id, text in left.items() if id not in one.theme.findings]
            themes[one.theme.name] = name_theme(inside, outside, taken - {one.theme.name})
            taken.add(themes[one.theme.name])
    return Names(units=_fresh(units, known), themes={old: new for old, new in themes.items() if old != new})


def _quotes(stored: StoredTheme, touched: Collection[str], target: Target) -> bool:
    theme = stored.theme
    if target.pattern.search(theme.name):
        return True
    lost = any(id in touched for id in theme.findings) or any(
        target.scrub(text) != text for text in (theme.summary, *stored.inherited)
    )
    return lost and (theme.named_by == "machine" or target.says(theme.name))


def rename(tx: Tx, names: Names) -> None:
    """The same in the rows that hold names alone; where a kind stands before a name, whoever scrubs texts does it."""
    if names == Names():
        return
    hashes = {names.in_text(id): digest for id, digest in theme_rows.text_hashes(tx).items()}
    theme_rows.replace_all(tx, map(names.of_theme, theme_rows.everything(tx)), hashes)
    theme_rows.rename_files(tx, names.in_text)
    purging.rename_in_events(tx, ("themes.gathered", "theme.renamed"), lambda said: names.themes.get(said, said))


def _unmarked(text: str) -> str:
    """What is left to name a theme by."""
    return text.replace(MARK, "\n")


def _fresh(quoting: set[str], known: set[str]) -> dict[str, str]:
    made: dict[str, str] = {}
    for name in sorted(quoting):
        made[name] = free_slug(NAME, {*known, *made.values()})
    return made
