"""How often a learning is placed where a reader would put it, on words alone and with the embedder.

    python -m benchmarks.routing FILE [--misses]
    python -m benchmarks.routing REPOSITORY COMMIT… [--staging FILE] [--documents FOLDER] [--misses]

FILE holds {"documents": {path: text}, "entries": [{title, body, path, heading}]}; an empty path means that no
document fits. Reports the share of entries put into the right document and under the right heading, and of those put
under another heading once their own document is gone.

For a repository, each COMMIT is one in which a person moved entries of a staging file into documents. Entries and
documents are read as they were before it, with the history up to then; an entry counts if the commit put its heading
into a document that existed and had no such heading. Reports how often the person's document is first, and among three,
beside the document of the nearest section by textbook BM25.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.bm25 import Bm25
from recollect.distil.staged import PLACES
from recollect.models.embed import SentenceModel, default_files
from recollect.store.git import Repository
from recollect.text.documents import sections
from recollect.text.route import DECIDED, NEW_FILE, Likeness, Router, manner
from recollect.text.staging import StagedEntry, read_staging


def figures(data: dict[str, Any], alike: Likeness | None, misses: bool) -> dict[str, float]:
    router = Router(data["documents"], alike=alike)
    document = heading = astray = 0
    for entry in data["entries"]:
        placed = next(iter(router.ranked(entry["title"], entry["body"])), NEW_FILE)
        document += entry["path"] == placed.path
        heading += (entry["path"], entry["heading"]) == (placed.path, placed.heading)
        others = {path: text for path, text in data["documents"].items() if path != entry["path"]}
        elsewhere = Router(others, alike=alike).ranked(entry["title"], entry["body"])
        astray += any(each.heading for each in elsewhere[:1])
        if misses and (entry["path"], entry["heading"]) != (placed.path, placed.heading):
            print(f"  {entry['title']!r}: {placed.where} {placed.score}")
    count = len(data["entries"])
    return {"document": document / count, "heading": heading / count, "astray": astray / count}


def embedder() -> Likeness | None:
    """How alike texts are by the default model, each text embedded once; None without the extra."""
    files = default_files()
    if files is None:
        return None
    model = SentenceModel(files)
    known: dict[str, Any] = {}

    def alike(text: str, others: Sequence[str]) -> list[float]:
        new = [each for each in dict.fromkeys([text, *others]) if each not in known]
        known.update(zip(new, model.embed(new), strict=True))
        return [float(known[text] @ known[other]) for other in others]

    return alike


class Move:
    """One commit of a person who moved entries into documents, and everything as it was before it."""

    def __init__(self, repository: Path, commit: str, staging: str, folder: str) -> None:
        def git(*arguments: str) -> str:
            done = subprocess.run(["git", *arguments], cwd=repository, capture_output=True, text=True, check=True)
            return done.stdout

        def documents(at: str) -> dict[str, str]:
            paths = git("ls-tree", "-r", "--name-only", at, "--", folder).split("\n")
            return {path: git("show", f"{at}:{path}") for path in paths if path.endswith(".md")}

        self.documents, after = documents(f"{commit}^"), documents(commit)
        staged = read_staging(git("show", f"{commit}^:{staging}")).entries
        left = {entry.title for entry in read_staging(git("show", f"{commit}:{staging}")).entries}
        self.ignored = manner([f"{entry.title}\n{entry.body}" for entry in staged])
        homes = _headings(after)
        before = _headings(self.documents)
        self.entries: list[tuple[StagedEntry, set[str]]] = []
        for entry in staged:
            chosen = homes.get(entry.title.lower(), set()) & self.documents.keys()
            if chosen and entry.title not in left and entry.title.lower() not in before:
                self.entries.append((entry, chosen))
        self.bm25 = Bm25(
            (f"{path}#{each.slug}", each.title, each.text)
            for path, text in self.documents.items()
            for each in sections(text)
        )
        with TemporaryDirectory() as place:
            subprocess.run(["git", "clone", "-qn", repository.resolve(), place], check=True)
            subprocess.run(["git", "update-ref", "--no-deref", "HEAD", f"{commit}^"], cwd=place, check=True)
            self.earlier = Repository(Path(place), UTC, limit=60).moved(staging, list(self.documents))

    def by_bm25(self, entry: StagedEntry) -> list[str]:
        """The documents by their nearest section."""
        return list(dict.fromkeys(id.partition("#")[0] for id in self.bm25.best(f"{entry.title}\n{entry.body}")))


def _headings(documents: dict[str, str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path, text in documents.items():
        for section in sections(text):
            found.setdefault(section.title.lower(), set()).add(path)
    return found


def history(moves: Sequence[tuple[str, Move]], alike: Likeness | None, misses: bool) -> None:
    """Print, for each commit, the share of entries whose own document is first, and among three."""
    for name, move in moves:
        router = Router(move.documents, alike=alike, earlier=move.earlier)
        first = three = sure = sure_right = base_first = base_three = 0
        for entry, chosen in move.entries:
            ranked = router.ranked(entry.title, entry.body, move.ignored)
            paths = [each.path for each in ranked]
            first += bool(chosen & set(paths[:1]))
            three += bool(chosen & set(paths[: len(PLACES)]))
            if ranked and ranked[0].score >= DECIDED:
                sure += 1
                sure_right += ranked[0].path in chosen
            base = move.by_bm25(entry)
            base_first += bool(chosen & set(base[:1]))
            base_three += bool(chosen & set(base[: len(PLACES)]))
            if misses and paths[:1] and paths[0] not in chosen:
                print(f"  {entry.title!r}: {ranked[0].where} {ranked[0].score}; the person: {', '.join(chosen)}")
        print(
            f"  {name}: {len(move.entries)} entries, {len(move.earlier)} earlier; first {first}, of three {three}; "
            f"placed without asking {sure}, right {sure_right}; BM25 first {base_first}, of three {base_three}"
        )


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("commits", nargs="*")
    parser.add_argument("--staging", default="memory/learnings.md")
    parser.add_argument("--documents", default="docs")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--misses", action="store_true")
    given = parser.parse_args(arguments)
    by_meaning = embedder()
    ways: dict[str, Likeness | None] = {"words": None, **({"embedder": by_meaning} if by_meaning else {})}
    if given.file.is_dir():
        moves = [(each, Move(given.file, each, given.staging, given.documents)) for each in given.commits]
        for way, alike in ways.items():
            print(way)
            history(moves, alike, given.misses)
        return
    data = json.loads(given.file.read_text("utf-8"))
    shares = {way: figures(data, alike, given.misses) for way, alike in ways.items()}
    if given.json:
        print(json.dumps(shares, indent=2))
        return
    for way, share in shares.items():
        told = "  ".join(f"{name} {value:.3f}" for name, value in share.items())
        print(f"{way:9} {told}  of {len(data['entries'])} entries")


if __name__ == "__main__":
    main(sys.argv[1:])
