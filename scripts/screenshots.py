"""Makes the pictures of the page in the README: `python scripts/screenshots.py [FOLDER]`.

Plays the week of `scripts/week.py`, adds the past months of the same shop, serves it, signs in with a real browser and
photographs pages. Without a folder it writes the three of docs/pictures; with one it writes every page at four widths
in light and dark there, and those of a memory that is empty.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from week import MONDAY, Project, Week

from recollect import Actor, Memory, NewDecision, NewFinding, Review
from recollect.core.clock import ScriptedClock
from recollect.core.journal import NewEntry

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from browsing import Site, chromium, signed_in  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
WIDTHS = (390, 768, 1280, 1920)
DAY = 86_400_000
SHOWN = {"home": 800, "agent": 500, "inbox": 740}
"""The pictures of the README and their heights; each stays below 150 kB."""
PROMPT = "Refund webhooks from Stripe overtake each other; find out why"
AREAS = ("payments", "search", "deploys", "checkout", "imports", "mail")
RULES = (
    ("{0} jobs need an idempotency key", "A retried {0} job ran twice", "Store the key before the job begins"),
    ("Timeouts of {0} calls belong in the client", "A hung {0} call blocked a worker", "Set a timeout on every call"),
    ("Log the request id in {0}", "Errors in {0} could not be joined with their cause", "Pass the id through"),
    ("{0} tests need a fixed clock", "Tests of {0} failed at midnight", "Inject the clock"),
    (
        "Migrations of {0} tables run in batches",
        "One statement locked a {0} table",
        "Backfill in batches",
    ),
    ("Cache {0} results by their inputs", "{0} results went stale after a change", "Put every input into the key"),
)
CHOICES = (
    "Split {0} into a service",
    "Keep {0} in the monolith",
    "Queue slow work of {0}",
    "Rewrite {0} at once",
)


def fill(memory: Memory, clock: ScriptedClock, *, days: int) -> None:
    """Months of work: entries, learnings that were shown and judged, decisions with their outcomes."""
    luck = random.Random(7)
    now = clock.now()
    ids: list[str] = []
    rules = [(area, rule) for area in AREAS for rule in RULES]
    luck.shuffle(rules)
    for back in range(days, 7, -1):
        clock.advance(ms=now - back * DAY - clock.now())
        if luck.random() < 0.3:
            continue
        for _ in range(luck.randint(1, 4)):
            area = luck.choice(AREAS)
            text = f"Worked on {area}: {luck.choice(RULES)[1].format(area).lower()}, and it is mended now."
            memory.journal.add(NewEntry(text=text, topic=f"{area.capitalize()} hardening"))
        if rules and back % 3 == 0:
            area, (title, observation, action) = rules.pop()
            new = memory.learn(
                anyway=True, title=title.format(area).capitalize(), context=f"Working on {area}",
                observation=observation.format(area), implication=f"Work on {area} has to expect it", action=action,
                tags=(area, "reliability"), domain=area,
            )  # fmt: skip
            ids.append(new.learning.id)
        for learning in luck.sample(ids, min(len(ids), 2)):
            task = f"{luck.choice(AREAS)}-{back}"
            memory.inject(task=task, outcome=task, title="Work", learnings=(learning,))
            if luck.random() < 0.6:
                memory.rate(learning, "helpful" if luck.random() < 0.8 else "not_helpful", task=task)
        if back % 4 == 0:
            choice = luck.choice(CHOICES).format(luck.choice(AREAS))
            sure = luck.choice((0.6, 0.7, 0.8, 0.9))
            made = memory.decisions.record(
                NewDecision(
                    decision=f"{choice} ({back})", confidence=sure, category=luck.choice(("architecture", "process"))
                ),
                anyway=True,
            )
            if back > 12:
                good = luck.random() < sure - 0.1
                review = Review(outcome="success" if good else "failure", lesson="Small steps are easier to take back")
                memory.decisions.review(made.decision.id, review)
    clock.advance(ms=now - clock.now())
    for title, action in (
        ("Always run migrations before the deploy", "Run migrations before the deploy."),
        ("Never run migrations before the deploy", "Do not run migrations before the deploy."),
        ("Always retry a failed refund at once", "Retry a failed refund at once."),
        ("Never retry a failed refund at once", "Do not retry a failed refund at once."),
    ):
        memory.learn(
            anyway=True, title=title, context="Deploying the shop", observation=f"It mattered: {action}",
            implication="Whoever deploys has to know", action=action,
        )  # fmt: skip
    for number, (area, rule) in enumerate((area, rule) for area in AREAS[:4] for rule in RULES[:3]):
        found = NewFinding(description=rule[1].format(area), category=area, proposed_rule=rule[2])
        memory.themes.add(f"work-{number}", found)
        if number == 9:  # the last two wait
            memory.themes.run(always=True)
    memory.cycle()


def shop(folder: Path) -> Memory:
    """The memory of a shop after half a year."""
    (folder / "shop").mkdir(parents=True)
    project = Project(folder / "shop")
    Week(project).tell()
    os.environ.update(project.environ)
    clock = ScriptedClock(round((MONDAY + timedelta(days=7, hours=10)).timestamp() * 1000))
    person = Actor(name="ada", channel="terminal", trust="human")
    memory = Memory.open(project.folder, actor=person, clock=clock, environ=project.environ)
    fill(memory, clock, days=160)
    return memory


def addresses(memory: Memory) -> dict[str, str]:
    """Every kind of page by a name."""
    one = memory.learnings.page(sort="injected", limit=1)[0][0]
    other = memory.learnings.search(one.title, limit=2)[1]
    decided = [each.id for each in memory.decisions.page(outcome="success", limit=2)[0]]
    topic = max(memory.topics.page(limit=50)[0], key=lambda each: each.entries).id
    plain = (
        "inbox",
        "learnings",
        "decisions",
        "journal",
        "topics",
        "themes",
        "staging",
        "health",
        "tokens",
        "settings",
    )
    return {
        "home": "/",
        "agent": f"/agent?prompt={PROMPT.replace(' ', '+')}",
        **{name: f"/{name}" for name in (*plain, "sessions")},
        "search": "/search?q=webhooks",
        "learning": f"/learnings/{one.id}",
        "edit": f"/learnings/{one.id}/edit",
        "pick": f"/learnings/{one.id}/pick",
        "compare": f"/learnings/{one.id}/compare?other={other.id}",
        "decision": f"/decisions/{decided[0]}",
        "decision-edit": f"/decisions/{decided[0]}/edit",
        "decision-compare": f"/decisions/{decided[0]}/compare?other={decided[1]}",
        "topic": f"/topics/{topic}",
        "theme": f"/themes/{memory.themes.list()[0].name}",
        "theme-plan": "/findings/plan",
        "insight": "/decisions/insight",
        "month": "/journal/monthly/2026-02",
        "week": "/journal/weekly/2026-W10",
        "log": "/journal/log/2026-03-03",
        "entry": "/text/log/2026-03-03%231",
        "missing": "/nowhere",
    }


EMPTY = ("", "inbox", "agent", "learnings", "decisions", "journal", "topics", "themes", "staging", "sessions", "search")
"""The pages of a memory that holds nothing yet."""


def main() -> None:
    wanted = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    target = wanted or PICTURES
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        with shop(Path(folder)) as memory, signed_in(browser, memory, "shots") as site:
            if wanted:
                everything(site, addresses(memory), target)
            else:
                pages = addresses(memory)
                for name, height in SHOWN.items():
                    photograph(site, {name: pages[name]}, target, 1280, height=height)
        if wanted:
            person = Actor(name="ada", channel="terminal", trust="human")
            (Path(folder) / "empty").mkdir()
            with (
                Memory.open(Path(folder) / "empty", create=True, actor=person) as memory,
                signed_in(browser, memory, "empty") as site,
            ):
                everything(site, {f"empty-{name or 'home'}": f"/{name}" for name in EMPTY}, target)


def everything(site: Site, pages: Mapping[str, str], target: Path) -> None:
    for width in WIDTHS:
        for scheme in ("light", "dark"):
            photograph(site, pages, target, width, scheme=scheme, suffix=f"-{width}-{scheme}")


def photograph(
    site: Site,
    pages: Mapping[str, str],
    target: Path,
    width: int,
    *,
    height: int = 0,
    scheme: str = "light",
    suffix: str = "",
) -> None:
    """Pictures of pages; without a height of the whole page."""
    window = site.another(viewport={"width": width, "height": height or 800}, color_scheme=scheme)
    for name, path in pages.items():
        answer = window.goto(site.served.site + path)
        if answer and not answer.ok and name != "missing":
            raise SystemExit(f"{path} answered with {answer.status}")
        if path == "/":
            window.wait_for_selector("[data-feed].live")
        window.screenshot(path=target / f"{name}{suffix}.png", full_page=not height)
    window.context.close()


if __name__ == "__main__":
    main()
