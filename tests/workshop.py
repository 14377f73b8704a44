"""A project in which every kind of model job comes up, for tests that let models fail at all of them at once."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from recollect import Actor, Memory, NewDecision, Review, ScriptedClock
from recollect.core.context import Models
from recollect.core.settings import EmbedSettings, ModelSettings
from recollect.models.configured import ConfiguredModels
from repos import Repo
from scripted import ScriptedServer

NOW = "2026-03-02T09:00:00Z"
START = date(2026, 2, 1)
AGENT = Actor(name="claude-code", channel="hook", trust="agent")
OUTPUT = """DISCOVERY[blocker]: The staging database refuses connections from CI.

The deploy took three attempts. The build cache must be cleared when the compiler changes, because stale objects link
without an error and crash at run time. We kept the queue in PostgreSQL since a broker would need its own backups.
"""
RULES = {
    "Wait for a condition in flaky tests": "A fixed sleep fails on slow runners.",
    "Backfill large tables in batches during migrations": "One statement locks the table.",
    "Do not quarantine a flaky browser test on draft branches": "It blocks nobody.",
}
YOUNG = {f"Rule number {word} stays young": "It was only just noticed." for word in ("one", "two", "three")}
DOCUMENTS = {
    "docs/testing.md": "# Testing\n\n## Flaky tests\n\nQuarantine a flaky browser test.\n\n## Data\n\nUse factories.\n",
    "docs/database.md": "# Database\n\n## Migrations\n\nMigrations are reversible.\n\n## Indexes\n\nIndex every key.\n",
}
TOML = 'space = "shop"\ntimezone = "UTC"\n[tree]\ndaily_lines = 10\nweekly_lines = 10\nmonthly_lines = 10\n'


class HastyModels(ConfiguredModels):
    """The configured models, without the time a pause takes."""

    def __init__(self, models: ModelSettings, environ: Mapping[str, str]):
        super().__init__(models, EmbedSettings(use="off"), environ)
        self.pauses: list[float] = []

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)


def endpoint(server: ScriptedServer, **more: Any) -> ModelSettings:
    return ModelSettings(provider="openai", model="m", base_url=f"{server.url}/v1", **more)


class Workshop:
    """One project; `work` does everything that asks a model, `state` is all of it that people and agents see."""

    def __init__(self, root: Path, environ: Mapping[str, str]):
        self.root = root
        self.environ = dict(environ)
        self.clock = ScriptedClock(NOW)
        staged = "# Learnings\n\n---\n\n"
        old = staged + "\n".join(f"## {title}\n\n{body}\n" for title, body in RULES.items())
        new = old + "\n" + "\n".join(f"## {title}\n\n{body}\n" for title, body in YOUNG.items())
        files = {**DOCUMENTS, "recollect.toml": TOML, ".gitignore": "tmp/\n", "memory/learnings.md": old}
        days = [(START + timedelta(days=number), {}) for number in range(1, 20)]
        last = (START + timedelta(days=20), {"memory/learnings.md": new})
        Repo(root).import_history([(START, files), *days, last])

    def open(self, models: Models, **more: Any) -> Memory:
        given = {"actor": AGENT, "clock": self.clock, "models": models, "environ": self.environ, **more}
        return Memory.open(self.root, create=True, **given)

    def prepare(self, memory: Memory) -> None:
        """What is there before any model is asked."""
        for number in range(4):
            day = START + timedelta(days=number * 7)
            memory.context.vault.append(f"{day}.md", _log(number))
        for number in range(5):
            items = [
                {"category": "build", "source": "review", "description": "The cache key misses the lockfile hash"},
                {"category": "build", "source": "review", "description": f"Step {number} of the build has no timeout"},
            ]
            raw = {"workId": f"wu-{number}", "timestamp": "2026-02-12T14:30:00Z", "findings": items}
            memory.context.vault.replace(f"learnings/wu-{number}.json", json.dumps(raw))
        for number, days in enumerate((10, 40, 200, 210, 220)):
            decided = date(2026, 3, 2) - timedelta(days=days)
            kept = memory.decisions.record(
                NewDecision(
                    decision=f"Choose option {number} for the payment queue of the shop",
                    confidence=0.8,
                    category="architecture",
                    context="Two services wrote to the same table and lost updates now and then during the sale",
                    pattern="Measure the load before choosing a queue",
                    decided_at=decided.isoformat(),
                )
            ).decision
            memory.decisions.review(kept.id, Review(outcome="success", result="It held under load"))

    def work(self, memory: Memory) -> None:
        """Everything that asks."""
        memory.observe(OUTPUT, task="task-1", outcome="launch", title="Deploy")
        memory.cycle()
        memory.staging.consolidate()

    def state(self, memory: Memory) -> str:
        """All that is shown and kept, with ids that come from counting left out."""
        files = {
            path.relative_to(folder).as_posix(): path.read_text("utf-8")
            for folder in (self.root / "docs", self.root / "memory", memory.project.vault)
            for path in sorted(folder.rglob("*.md"))
        }
        learnings = [
            (each.title, each.context, each.observation, each.implication, each.action, each.tags, each.origin)
            for each in memory.learnings.page()[0]
        ]
        page = memory.decisions.compacted()
        shown = [
            files,
            learnings,
            page,
            memory.decisions.wisdom(),
            memory.inbox.waiting(),
            memory.work.discovery_page()[0],
            sorted((each.name, each.entries, each.state) for each in memory.topics.page()[0]),
        ]
        return re.sub(r"\b(learn|dec|disc)_\w+", r"\1_", "\n".join(map(repr, shown)))


def _log(number: int) -> str:
    entries = [
        f"## shop checkout [project]\n\nDecided to use queue {number} because retries must be idempotent.\n",
        f"## payments [project]\n\nLesson: always compare timestamps before applying webhook {number}.\n",
        "## style [feedback]\n\nrule: keep functions short; why: reviews are faster; how-to-apply: split at 40 lines\n",
        *(
            f"## area {number} {part}\n\nFinished step {part} of the migration to the new ledger.\n"
            for part in range(6)
        ),
        f"## The webhook for refunds of the bank came twice in round {number}\n\nIt was sent again after a timeout.\n",
    ]
    return "\n".join(entries)
