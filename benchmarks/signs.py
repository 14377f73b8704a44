"""How well signs that a learning was used, ignored or contradicted are read: python benchmarks/signs.py [--json]

`data/signs.jsonl` holds 84 sessions with a learning that was shown and what became of it, each replayed through the
hooks with a transcript as Claude Code writes it. One author wrote rules and sessions. 60 were written before the
rules (`seen` was looked at while they were made, `held out` only afterwards); the 24 of `later` were written
afterwards to break them, and have been looked at since. The baseline counts a learning as used when the agent's work
holds 60 % of its action's words.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from recollect import Memory
from recollect.core.learning import SessionEvent, Write
from recollect.hosts.hook import respond
from recollect.text.tokens import terms

DATA = Path(__file__).parent / "data" / "signs.jsonl"
KINDS = ("contradicted", "ignored", "used")  # where a session shows several, the first counts


def transcript(path: Path, turn: dict[str, Any]) -> None:
    """Append a turn as Claude Code writes it. A step is a command behind `$`, or a file and what is written to it."""
    lines: list[dict[str, Any]] = [{"type": "user", "message": {"role": "user", "content": turn["ask"]}}]
    blocks = []
    for step in turn["steps"]:
        if step.startswith("$ "):
            blocks.append({"type": "tool_use", "name": "Bash", "input": {"command": step[2:]}})
        else:
            file, _, text = step.partition(": ")
            blocks.append({"type": "tool_use", "name": "Edit", "input": {"file_path": file, "new_string": text}})
    blocks.append({"type": "text", "text": turn["said"]})
    lines += [{"type": "assistant", "message": {"role": "assistant", "content": [block]}} for block in blocks]
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def read(case: dict[str, Any], folder: Path, environ: dict[str, str]) -> str:
    """What the hooks make of a session."""
    folder.mkdir()
    with Memory.open(folder, create=True, environ=environ) as memory:
        made = memory.learn(
            title=case["title"],
            context="Earlier work",
            observation=case["observation"],
            implication="It happens again",
            action=case["action"],
        )
        id, path = made.learning.id, folder / "talk.jsonl"
        shown = SessionEvent(session="s-1", host="claude-code", event="UserPromptSubmit", task="s-1", learnings=(id,))
        memory.sessions.deliver(Write(id="shown", what=shown))
        for turn in case["turns"]:
            transcript(path, turn)
            given = {"session_id": "s-1", "cwd": str(folder), "transcript_path": str(path)}
            respond("claude-code", "Stop", {**given, "last_assistant_message": turn["said"]}, environ, print)
        found = {event.what.removeprefix("sign.") for event in memory.why(id).events}  # type: ignore[union-attr]
    return next((kind for kind in KINDS if kind in found), "none")


def by_words(case: dict[str, Any]) -> str:
    """The baseline."""
    action = set(terms(case["action"]))
    done = {term for turn in case["turns"] for part in (*turn["steps"], turn["said"]) for term in terms(part)}
    return "used" if len(action & done) >= 0.6 * len(action) else "none"


def scores(pairs: list[tuple[str, str]]) -> dict[str, dict[str, Any]]:
    """Precision and recall of each kind, and of all signs together, as counts."""
    counts = Counter(pairs)
    rows = {}
    for kind in ("used", "ignored", "contradicted"):
        rows[kind] = {
            "right": counts[kind, kind],
            "told": sum(count for (_, found), count in counts.items() if found == kind),
            "true": sum(count for (truth, _), count in counts.items() if truth == kind),
        }
    rows["all"] = {name: sum(row[name] for row in rows.values()) for name in ("right", "told", "true")}
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    cases = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as scratch:
        environ = {"HOME": scratch, "USER": "ada", "PATH": "/usr/bin:/bin"}
        found = [read(case, Path(scratch, f"p{number}"), environ) for number, case in enumerate(cases)]
    parts = ("seen", "held out", "later")
    result = {
        part: {
            "signs": scores(
                [(case["truth"], one) for case, one in zip(cases, found, strict=True) if case["part"] == part]
            ),
            "baseline": scores([(case["truth"], by_words(case)) for case in cases if case["part"] == part]),
        }
        for part in parts
    }
    if arguments.json:
        print(json.dumps(result, indent=2))
        return
    for part, tables in result.items():
        for name, rows in tables.items():
            for kind, row in rows.items():
                if row["told"] or name == "signs":
                    told = f"precision {row['right']}/{row['told']}, recall {row['right']}/{row['true']}"
                    print(f"{part:9} {name:9} {kind:13} {told}")


if __name__ == "__main__":
    main()
