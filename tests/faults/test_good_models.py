"""A good model at every place that asks one: its words are used, and whatever it made says who made it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from recollect import Memory
from recollect.core.settings import ModelSettings
from recollect.models.ask import load_prompt
from recollect.models.configured import KINDS
from recollect.text import nodes
from scripted import Request, ScriptedServer
from workshop import OUTPUT, HastyModels, Workshop

KEPT = "- style [feedback]: rule: keep functions short; why: reviews are faster; how-to-apply: split at 40 lines"
LESSON = "- payments: always compare timestamps before applying webhooks"
LEARNING = {
    "title": "CI cannot reach the staging database",
    "context": "Running jobs against staging from CI",
    "observation": "The staging database refuses connections from CI",
    "implication": "Jobs that need it fail before they start",
    "action": "Give CI a database of its own",
    "tags": ["ci", "database"],
    "domain": "infrastructure",
}
ANSWERS: dict[str, object] = {
    "extract": LEARNING,
    "observe": {
        "discoveries": [{"type": "constraint", "content": "The build cache must be cleared when the compiler changes."}]
    },
    "decision-summary": "An option for the payment queue, after two services lost updates during the sale",
    "decision-digest": "Payment queue of the shop: the option that holds under load",
    "topic": "Refunds webhook",
    "principle": "Measure the load, then choose a queue: measure before choosing",
    "compare": {"verdict": "compatible"},
    "quality": {"flaw": None},
    "route": {"target": 1},
}


def answer(request: Request) -> str:
    return answer_to(request.system, re.findall(r"<source>\n(.*?)\n</source>", request.text, re.DOTALL))


def answer_to(instructions: str, sources: Sequence[str]) -> str:
    kind = next(
        name for name in (*ANSWERS, "summarise", "root", "theme", "rewrite") if load_prompt(name).text == instructions
    )
    if kind == "summarise":
        topics, lessons = (
            ("Key Themes", "Lessons & Patterns") if "Key Themes" in sources[0] else ("Topics", "Lessons Learned")
        )
        return f"## {topics}\n{KEPT}\n\n## {lessons}\n{LESSON}"
    if kind == "theme":
        return "Found: " + json.loads(sources[0])["lines"][0]
    if kind == "root":
        return sources[0].replace("always ", "").replace("Lesson: ", "")
    if kind == "rewrite":
        given = json.loads(sources[0])
        return json.dumps({"title": given["title"], "body": given["body"].rstrip(".") + ", every time."})
    said = ANSWERS[kind]
    return said if isinstance(said, str) else json.dumps(said)


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Memory, Path]:
    folder = tmp_path_factory.mktemp("good")
    environ = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "MY_KEY": "sk-test"}
    workshop = Workshop(folder / "project", environ)
    with ScriptedServer(answer) as server:
        settings = ModelSettings(provider="anthropic", model="m", base_url=server.url, key_env="MY_KEY")
        memory = workshop.open(HastyModels(settings, environ))
        workshop.prepare(memory)
        workshop.work(memory)
        memory.journal.compact(everything=True)
    return memory, workshop.root


def by(prompt: str) -> str:
    return f"anthropic:m@{load_prompt(prompt).version}"


def test_every_kind_of_job_was_done_by_the_model(worked: tuple[Memory, Path]) -> None:
    memory, _ = worked
    done = {each.kind for each in memory.models.usage() if each.calls and not each.fallbacks}
    assert done == set(KINDS)


def test_a_cycle_and_a_command_keep_to_their_calls_and_the_next_ones_go_on(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "MY_KEY": "sk-test", "RECOLLECT_MODELS_CALLS": "2"}
    workshop = Workshop(tmp_path / "project", environ)
    made: list[int] = []
    with ScriptedServer(answer) as server:
        settings = ModelSettings(provider="anthropic", model="m", base_url=server.url, key_env="MY_KEY")
        with workshop.open(HastyModels(settings, environ)) as memory:
            workshop.prepare(memory)

            def calls(work: Callable[[], object]) -> int:
                before = len(server.asked)
                work()
                made.append(len(server.asked) - before)
                return made[-1]

            calls(lambda: memory.observe(OUTPUT, task="task-1", outcome="launch", title="Deploy"))
            while calls(memory.cycle):
                pass
            first = memory.staging.consolidate()
            while calls(memory.staging.consolidate):
                pass
            done = {each.kind for each in memory.models.usage() if each.calls and not each.fallbacks}
    assert max(made) == 2
    assert [each.reason for each in first.held if "models.calls" in each.reason]
    # Two of three entries stay staged, and so few are not taken up: the last of them would have been compared.
    assert done >= set(KINDS) - {"extract", "compare"}


def test_learnings_are_the_models(worked: tuple[Memory, Path]) -> None:
    memory, _ = worked
    assert {(each.title, each.origin) for each in memory.learnings.page()[0]} == {
        (LEARNING["title"], f"observer:{by('extract')}")
    }
    assert {each.type for each in memory.work.discovery_page()[0]} == {"blocker", "constraint"}


def test_nodes_are_the_models_and_nothing_drops_out(worked: tuple[Memory, Path]) -> None:
    memory, _ = worked
    for level in ("daily/2026-02-22", "weekly/2026-W08", "monthly/2026-02"):
        node = nodes.parse(level, memory.journal.node(level))
        assert node.generator == by("summarise"), level
    entries = {f"2026-02-22#{number}" for number in range(1, 11)}
    assert entries <= {ref for point in memory.journal.sources("daily/2026-02-22") for ref in point.refs}


def test_the_roots_patterns_are_the_models(worked: tuple[Memory, Path]) -> None:
    memory, _ = worked
    text = memory.journal.node("root")
    assert f"generator: {by('root')}" in text
    assert "compare timestamps before applying" in text
    assert "always compare" not in text.partition("## Recent Patterns")[2].partition("## Historical")[0]


def test_decisions_and_principles_are_in_the_models_words(worked: tuple[Memory, Path]) -> None:
    memory, _ = worked
    page = memory.decisions.compacted()
    assert page.summary[0].summary == ANSWERS["decision-summary"]
    assert str(ANSWERS["decision-digest"]) in repr(page.digest)
    (taught,) = memory.decisions.wisdom()
    assert taught.key_principles == (f"{ANSWERS['principle']} (3 confirmations)",)
    assert taught.principles[0].generator == by("principle")


def test_a_topics_name_is_the_models_and_the_offline_one_still_leads_to_it(worked: tuple[Memory, Path]) -> None:
    shown = worked[0].topics.show(str(ANSWERS["topic"]))
    assert (shown.topic.name, shown.topic.named_by) == (ANSWERS["topic"], "model")
    assert shown.aliases
    assert worked[0].topics.show(shown.aliases[0]) == shown


def test_a_themes_line_is_the_models(worked: tuple[Memory, Path]) -> None:
    index = worked[0].project.vault / "learnings/INDEX.md"
    assert "Found: The cache key misses the lockfile hash" in index.read_text("utf-8")


def test_staged_rules_stand_where_and_how_the_model_says(worked: tuple[Memory, Path]) -> None:
    _, root = worked
    documents = "".join(path.read_text("utf-8") for path in (root / "docs").glob("*.md"))
    assert "A fixed sleep fails on slow runners, every time." in documents
    report = (root / "tmp/consolidation-report.md").read_text("utf-8")
    assert f"chosen by {by('route')}, worded by {by('rewrite')}" in report.replace("\\", "")


def test_an_agent_can_do_every_kind_of_job_later(tmp_path: Path) -> None:
    """Nothing moves before the questions of a consolidation are answered, because a dry run opens them."""
    environ = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    workshop = Workshop(tmp_path / "project", environ)
    done: set[str] = set()
    with workshop.open(HastyModels(ModelSettings(provider="agent"), environ)) as memory:
        workshop.prepare(memory)
        memory.observe(OUTPUT, task="task-1", outcome="launch", title="Deploy")
        for _ in range(12):
            memory.cycle()
            memory.staging.consolidate(dry_run=True)
            asked = memory.models.pending()
            if not asked:
                break
            given = [{"id": each.id, "answer": answer_to(each.instructions, each.sources)} for each in asked]
            taken = memory.models.apply(given)
            assert [(each.kind, one.reason) for each, one in zip(asked, taken, strict=True) if not one.taken] == []
            done |= {each.kind for each in asked}
        memory.cycle()
        memory.staging.consolidate()
        assert done == set(KINDS)
        documents = "".join(path.read_text("utf-8") for path in (workshop.root / "docs").glob("*.md"))
        assert "A fixed sleep fails on slow runners, every time." in documents
        assert nodes.parse("monthly/2026-02", memory.journal.node("monthly/2026-02")).generator.startswith("agent:")
        assert memory.topics.show(str(ANSWERS["topic"])).topic.named_by == "model"
        assert memory.decisions.wisdom()[0].principles[0].text == ANSWERS["principle"]
        assert memory.status().models.all_time.calls == 0
