"""The tree in the store: up to date after every cycle, equal to a rebuild, robust against what happens to files."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from conftest import Opener
from recollect import Memory, NotFound, ScriptedClock
from recollect.core.calendar import LEVELS
from recollect.core.journal import NewEntry
from recollect.models.ask import load_prompt
from recollect.models.scripted import ScriptedModels, ScriptedProvider
from recollect.store import topics
from recollect.text import nodes
from recollect.text.nodes import Limits
from samples import learning
from scale import TORTURE
from trees import LOGS, grow, reachable


def files_of(memory: Memory) -> dict[str, str]:
    vault = memory.context.vault
    return {path: vault.read(path) or "" for path in vault.paths() if "/" in path or path.startswith("ROOT")}


def put_log(memory: Memory, day: date | str, text: str) -> None:
    memory.context.vault.append(f"{day}.md", text)


def changed(memory: Memory) -> dict[str, str]:
    return {change.id: change.what for change in memory.journal.compact()[0].changes}


def test_the_first_entry_makes_the_whole_tree_at_once(memory: Memory) -> None:
    memory.journal.add(NewEntry(text="x", topic="auth"))
    assert changed(memory) == {
        "daily/2026-03-02": "created",
        "weekly/2026-W10": "created",
        "monthly/2026-03": "created",
        "root": "created",
    }
    assert "auth [project, 0d]" in memory.journal.node("root")
    assert changed(memory) == {}


def test_the_last_days_that_can_be_written_have_their_week_and_month(memory: Memory) -> None:
    put_log(memory, "8999-12-31", "## auth [project]\n\nmoved to tokens\n")
    assert {"weekly/9000-W01", "monthly/9000-01", "root"} <= set(changed(memory))
    assert changed(memory) == {}


def test_nothing_logged_is_nothing_due(memory: Memory) -> None:
    assert changed(memory) == {}
    assert memory.journal.tree() == []


# A cycle a day until the first months are fixed, then one in four days: 4 shares no factor with a week's 7 days or the
# log's rhythm of 5, so cycles meet every day of both. The torture run has one every day.
DAILY, GAP = 60, 4 if TORTURE == 1 else 1


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)  # what differs between engines, shorter tests show
def test_400_days_of_cycles_keep_every_entry_reachable_and_end_where_a_rebuild_ends(
    open_memory: Opener, environ: dict[str, str], clock: ScriptedClock
) -> None:
    limits = Limits(daily=12, weekly=40, monthly=90)
    given = {f"RECOLLECT_TREE_{level.upper()}_LINES": str(limits.of(level)) for level in LEVELS}
    memory = open_memory(environ={**environ, **given})
    first = date(2026, 3, 2)
    refs: list[tuple[date, str]] = []
    for n in range(400):
        day = first + timedelta(days=n)
        if n % 5 not in (3, 4) and not 100 < n < 130:
            kind = ("project", "project", "feedback", "reference", "user")[n % 7 % 5]
            text = f"Decided on option {n} for service-{n % 9}. Shipped v{n}.0 to src/part_{n % 13}.py\n" * (1 + n % 15)
            logged = memory.journal.add(NewEntry(text=text, topic=f"topic {n % 23}", type=kind))  # type: ignore[arg-type]
            refs.append((day, logged.id.removeprefix("log/")))
        if n < DAILY or n % GAP == 0 or n == 399:
            memory.cycle()
            assert {ref for _, ref in refs} <= reachable(files_of(memory))
        clock.advance(days=1)
    clock.advance(days=-1)
    grown = files_of(memory)
    logs = {day: memory.journal.show(day) for day, _ in refs}
    names = memory.context.read(topics.names_between, first, first + timedelta(days=399))
    assert grown == grow(logs, first + timedelta(days=399), limits, names)
    for path in grown:
        memory.context.vault.delete(path)
    memory.journal.rebuild()
    assert files_of(memory) == grown


def test_no_node_is_fixed_early_and_all_are_fixed_in_time(memory: Memory, clock: ScriptedClock) -> None:
    memory.journal.add(NewEntry(text="x", topic="t"))
    fixed_on: dict[str, date] = {}
    for n in range(45):
        memory.cycle()
        for node in (*memory.journal.tree(), *memory.journal.tree("2026-03")):
            if node.status == "fixed":
                fixed_on.setdefault(node.id, date(2026, 3, 2) + timedelta(days=n))
        clock.advance(days=1)
    assert fixed_on == {
        "daily/2026-03-02": date(2026, 3, 3),
        "weekly/2026-W10": date(2026, 3, 15),
        "monthly/2026-03": date(2026, 4, 8),
    }


def test_a_log_written_while_nobody_looked_is_noticed(memory: Memory) -> None:
    put_log(memory, "2026-03-01", "## Sunday [project]\nworked\n")
    assert "daily/2026-03-01" in changed(memory)


def test_a_fixed_node_is_opened_again_when_its_log_grows(memory: Memory, clock: ScriptedClock) -> None:
    memory.journal.add(NewEntry(text="x", topic="t"))
    clock.advance(days=60)
    memory.cycle()
    put_log(memory, "2026-03-02", "\n## late [project]\narrived by merge\n")
    assert changed(memory) == {
        "daily/2026-03-02": "reopened",
        "weekly/2026-W10": "reopened",
        "monthly/2026-03": "reopened",
        "root": "updated",
    }
    assert "arrived by merge" in memory.journal.node("monthly/2026-03")


def test_a_backlog_drains_in_one_cycle_without_a_model(memory: Memory) -> None:
    for n in range(60):
        put_log(memory, date(2026, 1, 1) + timedelta(days=n), f"## t{n}\nx\n")
    memory.cycle()
    assert changed(memory) == {}
    assert len([path for path in files_of(memory) if path.startswith("daily/")]) == 60


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: None,
        lambda text: f"<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> other\n",
        lambda text: "",
        lambda text: text + text,
    ],
    ids=["deleted", "in conflict", "emptied", "merged by union"],
)
@pytest.mark.parametrize("id", ["daily/2026-03-02", "weekly/2026-W10", "monthly/2026-03"])
def test_a_damaged_node_is_made_again(memory: Memory, id: str, damage: object) -> None:
    memory.journal.add(NewEntry(text="worked", topic="t"))
    memory.cycle()
    before = files_of(memory)
    path = f"{id}.md"
    after = damage(before[path])  # type: ignore[operator]
    if after is None:
        memory.context.vault.delete(path)
    else:
        memory.context.vault.replace(path, after)
    memory.cycle()
    assert files_of(memory) == before


@pytest.mark.parametrize("id", ["daily/2026-03-02", "weekly/2026-W10", "monthly/2026-03"])
def test_a_node_that_somebody_wrote_into_is_made_again_and_their_words_are_kept(memory: Memory, id: str) -> None:
    memory.journal.add(NewEntry(text="worked", topic="t"))
    memory.cycle()
    before = files_of(memory)
    memory.context.vault.append(f"{id}.md", "my remark\n")
    done, _ = memory.journal.compact()
    assert done.kept == (f"{id}.edited.md",)
    assert files_of(memory) == {**before, f"{id}.edited.md": before[f"{id}.md"] + "my remark\n"}
    memory.context.vault.append(f"{id}.md", "another\n")
    assert memory.journal.compact()[0].kept == (f"{id}.edited-2.md",)
    assert memory.journal.compact()[0].kept == ()


def test_a_root_that_somebody_wrote_into_is_made_again(memory: Memory) -> None:
    memory.journal.add(NewEntry(text="worked", topic="t"))
    memory.cycle()
    before = files_of(memory)
    memory.context.vault.append("ROOT.md", "- a stranger's line\n")
    assert changed(memory) == {"root": "updated"}
    assert files_of(memory) == before


def test_the_node_of_another_clone_is_no_edit(memory: Memory) -> None:
    memory.journal.add(NewEntry(text="worked", topic="t"))
    memory.cycle()
    theirs = files_of(memory)["daily/2026-03-02.md"]
    memory.journal.add(NewEntry(text="more", topic="t"))
    memory.cycle()
    memory.context.vault.replace("daily/2026-03-02.md", theirs)
    assert memory.journal.compact()[0].kept == ()
    assert "more" in memory.journal.node("daily/2026-03-02")


def test_an_old_log_written_to_in_place_is_noticed_the_next_day_and_at_once_when_all_is_asked_for(
    memory: Memory, clock: ScriptedClock
) -> None:
    memory.journal.add(NewEntry(text="worked", topic="t"))
    clock.advance(days=200)
    memory.cycle()
    put_log(memory, "2026-03-02", "\n## late [project]\nfirst\n")
    clock.advance(days=1)
    assert changed(memory)["daily/2026-03-02"] == "reopened"
    put_log(memory, "2026-03-02", "\n## later [project]\nsecond\n")
    memory.journal.compact(everything=True)
    assert "second" in memory.journal.node("daily/2026-03-02")


@pytest.mark.parametrize("name", ["2026-02-30.md", "2026-W54.md", "notes.md", "2026-3-1.md", "MEMORY.md"])
def test_a_file_that_is_no_log_is_left_alone(memory: Memory, name: str) -> None:
    memory.context.vault.append(name, "## x\nmine\n")
    assert changed(memory) == {}
    assert memory.context.vault.read(name) == "## x\nmine\n"


def test_a_node_whose_log_is_gone_stays_and_is_still_reachable(memory: Memory, clock: ScriptedClock) -> None:
    memory.journal.add(NewEntry(text="the only copy", topic="precious"))
    memory.cycle()
    memory.context.vault.delete("2026-03-02.md")
    clock.advance(days=1)
    memory.journal.add(NewEntry(text="y", topic="other"))
    memory.cycle()
    assert "the only copy" in memory.journal.node("daily/2026-03-02")
    assert "the only copy" in memory.journal.node("monthly/2026-03")
    assert "precious" in memory.journal.node("root")


def test_the_folder_of_another_tool_works_in_place(memory: Memory) -> None:
    vault = memory.context.vault
    put_log(memory, "2026-03-01", "## auth [project]\n- outcome: shipped\n")
    vault.replace("daily/2026-03-01.md", "---\ntype: daily\nstatus: fixed\ntopics: auth, x\n---\n\n## Topics\nauth\n")
    vault.replace("weekly/2026-W05.md", "---\ntype: weekly\nstatus: fixed\n---\n\n## Key Decisions\n- old: chose X\n")
    vault.replace("ROOT.md", "---\ntype: root\n---\n\n## Topics Index\n- theirs\n")
    vault.replace("MEMORY.md", "frozen")
    memory.cycle()
    assert "generator: copy" in memory.journal.node("daily/2026-03-01")
    assert "chose X" in memory.journal.node("monthly/2026-01")
    assert "- old" in memory.journal.node("root")
    assert vault.read("ROOT.before.md") == "---\ntype: root\n---\n\n## Topics Index\n- theirs\n"
    assert vault.read("MEMORY.md") == "frozen"
    assert changed(memory) == {}


def test_a_copy_that_was_kept_is_found_shown_and_owned(memory: Memory) -> None:
    put_log(memory, "2026-03-01", "## auth [project]\n- outcome: shipped\n")
    theirs = "---\ntype: daily\n---\n\n## Topics\n- a zeppelin was seen\n"
    memory.context.vault.replace("daily/2026-03-01.md", theirs)
    memory.cycle()
    assert memory.search("zeppelin")[0].id == "daily/2026-03-01.before"
    assert memory.journal.node("daily/2026-03-01.before") == theirs
    assert memory.data.verify() == ()
    memory.data.purge(text="zeppelin")
    assert memory.search("zeppelin") == []
    assert "zeppelin" not in memory.journal.node("daily/2026-03-01.before")


@pytest.mark.parametrize("id", ["daily/2026-01-26", "weekly/2026-W05", "monthly/2026-01"])
def test_what_only_another_tools_node_says_is_found_and_what_refers_to_it_leads_there(memory: Memory, id: str) -> None:
    level = id.partition("/")[0]
    text = f"---\ntype: {level}\nstatus: fixed\n---\n\n## Key Decisions\n- ledger: chose double-entry bookkeeping\n"
    memory.context.vault.replace(f"{id}.md", text)
    memory.journal.add(NewEntry(text="unrelated work", topic="today"))
    memory.cycle()
    assert id in [hit.id for hit in memory.search("double-entry bookkeeping")]
    (line,) = [line for line in memory.journal.node("root").split("\n") if line.startswith("- ledger [")]
    assert "double-entry" in memory.journal.entry(line.rpartition(" → ")[2]).text
    assert memory.why(line.rpartition(" → ")[2]).title.startswith(id)  # type: ignore[union-attr]


def test_a_clock_two_days_behind_calls_nothing_final(memory: Memory, clock: ScriptedClock) -> None:
    memory.journal.add(NewEntry(text="x", topic="t"))
    clock.advance(days=10)
    put_log(memory, "2026-03-05", "## y\nz\n")
    memory.cycle()
    put_log(memory, "2026-03-06", "## y\nz\n")
    clock.advance(days=-3)
    done, _ = memory.journal.compact()
    assert done.clock_behind
    assert {node.id: node.status for node in memory.journal.tree("2026-03-06")} == {"daily/2026-03-06": "tentative"}
    assert {node.status for node in memory.journal.tree("2026-03-05")} == {"fixed"}
    done, _ = memory.journal.compact()
    assert not done.clock_behind


def test_a_cycle_in_which_the_clock_was_years_ahead_loses_nothing_once_it_is_right_again(
    memory: Memory, clock: ScriptedClock
) -> None:
    kept = memory.learn(learning()).learning
    memory.journal.add(NewEntry(text="The ledger keeps double-entry books", topic="ledger"))
    clock.advance(days=1400)
    memory.cycle()
    clock.advance(days=-1400)
    assert not memory.cycle().held
    again = memory.journal.add(NewEntry(text="The ledger closes at midnight", topic="ledger"))
    clock.advance(days=1)
    assert not memory.cycle().held
    assert again.id in [hit.id for hit in memory.search("ledger closes midnight")]
    assert "closes at midnight" in memory.journal.node(f"daily/{again.day}")
    assert memory.learnings.get(kept.id).status == "active"
    assert memory.data.verify() == ()


def test_two_passes_at_once_are_one(memory: Memory, open_memory: Opener) -> None:
    from recollect.store import db

    memory.journal.add(NewEntry(text="x", topic="t"))
    assert db.take_lease(open_memory().context, "tree", seconds=60) is not None
    done, _ = memory.journal.compact()
    assert done.held
    assert files_of(memory) == {}


def test_a_pass_that_was_overtaken_writes_no_rows(memory: Memory, open_memory: Opener, clock: ScriptedClock) -> None:
    from recollect.core.errors import Refused
    from recollect.distil.tree import Pass
    from recollect.store import db

    memory.journal.add(NewEntry(text="x", topic="t"))
    slow = db.take_lease(memory.context, "tree", seconds=1)
    clock.advance(seconds=5)
    assert db.take_lease(open_memory().context, "tree", seconds=60) is not None
    with pytest.raises(Refused, match="took over"):
        Pass(ctx=memory.context, lease=slow).run()
    assert memory.journal.tree() == []


def test_an_entry_added_while_a_day_is_summarised_is_in_the_next_node(open_memory: Opener) -> None:
    long_day = "\n".join(f"## t{n}\nDecided {n}.\n" for n in range(150))

    def slow_model(prompt: object) -> str:
        put_log(memory, "2026-03-02", "\n## meanwhile [user]\nnot lost\n")
        return "## Topics\n- t1: decided, before the entry came in (2026-03-02#1)"

    provider = ScriptedProvider([slow_model, "## Topics\n- t1: decided, and after the entry came in (2026-03-02#1)"])
    memory = open_memory(models=ScriptedModels(dict.fromkeys(("daily", "weekly", "monthly"), provider)))
    put_log(memory, "2026-03-02", long_day)
    memory.journal.compact()
    assert "not lost" not in memory.journal.node("daily/2026-03-02")
    memory.journal.compact()
    assert "not lost" in memory.journal.node("daily/2026-03-02")


SCRIPTED = f"scripted@{load_prompt('summarise').version}"


def good_summary(prompt: object) -> str:
    return "## Topics\n- topic: decided on each, in few words\n\n## Key Themes\n- topic: decided"


def long_log(n: int) -> str:
    return "\n".join(f"## topic {n} {k}\nDecided on {k}.\n" for k in range(120))


def test_a_model_writes_the_newest_and_the_longest_waiting_and_the_rest_is_never_behind(open_memory: Opener) -> None:
    provider = ScriptedProvider([good_summary] * 20)
    memory = open_memory(models=ScriptedModels(dict.fromkeys(("daily", "weekly", "monthly"), provider)))
    for n in range(4):
        put_log(memory, date(2026, 3, 2) - timedelta(days=n), long_log(n))
    done, _ = memory.journal.compact()
    made = {id: nodes.parse(id, memory.journal.node(id)).generator for id in _dailies(memory)}
    assert [made[id] for id in sorted(made)] == ["offline/1", "offline/1", "offline/1", SCRIPTED]
    assert done.calls == len(provider.prompts)
    for _ in range(3):
        memory.journal.compact()
    assert {nodes.parse(id, memory.journal.node(id)).generator for id in _dailies(memory)} == {SCRIPTED}
    assert memory.status().tree["waiting"] == 0


def _dailies(memory: Memory) -> list[str]:
    return [path[:-3] for path in files_of(memory) if path.startswith("daily/")]


@pytest.mark.parametrize("answer", ["", "I'm sorry, I cannot help with these notes at all, really.", "x" * 400_000])
def test_a_bad_model_costs_three_tries_and_the_offline_twin_answers(open_memory: Opener, answer: str) -> None:
    provider = ScriptedProvider([answer] * 9)
    memory = open_memory(models=ScriptedModels(dict.fromkeys(("daily", "weekly", "monthly"), provider)))
    put_log(memory, "2026-03-02", long_log(1))
    memory.journal.compact()
    node = nodes.parse("daily/2026-03-02", memory.journal.node("daily/2026-03-02"))
    assert node.generator == nodes.OFFLINE
    assert len(provider.prompts) == 3


RULE = "rule: never deploy on Friday; why: nobody is there to roll back; how-to-apply: move the release to Monday"
SAID = f"""\
## deploys [feedback]

- rule: never deploy on Friday
- why: nobody is there to roll back
- how-to-apply: move the release to Monday

## ada [user]

Ada lives in Berlin and dislikes emoji.

## importer

The importer does not retry failed jobs. The pool holds 25 connections. The export is reviewed by Grace on 2026-03-14.

{long_log(1)}"""
WORDS = "- importer: The importer does not retry failed jobs. Pool holds 25 connections. Export reviewed by Grace."
REWORDED = {
    "exact": f"- deploys [feedback]: {RULE} (2026-03-02#1)",
    "always": "- deploys [feedback]: rule: always deploy on Friday (2026-03-02#1)",
    "without never": "- deploys [feedback]: rule: deploy on Friday (2026-03-02#1)",
    "Paris": "- ada [user]: Ada lives in Paris and dislikes emoji (2026-03-02#2)",
    "likes": "- ada [user]: Ada lives in Berlin and likes emoji (2026-03-02#2)",
    "without why": "- deploys [feedback]: rule: never deploy on Friday; how-to-apply: move it (2026-03-02#1)",
    "without how": "- deploys [feedback]: rule: never deploy on Friday (2026-03-02#1)",
    "nothing": "",
}


def test_a_models_summary_inside_a_fence_is_read(open_memory: Opener) -> None:
    answer = f"```markdown\n## Topics\n{WORDS} (2026-03-02#3)\n```"
    memory = open_memory(models=ScriptedModels({"daily": ScriptedProvider([answer])}))
    put_log(memory, "2026-03-02", SAID)
    memory.journal.compact()
    node = nodes.parse("daily/2026-03-02", memory.journal.node("daily/2026-03-02"))
    assert node.generator == SCRIPTED
    assert "```" not in node.body
    assert WORDS in node.body


@pytest.mark.parametrize("said", REWORDED)
def test_no_model_words_what_a_person_said(open_memory: Opener, said: str) -> None:
    """Findings A4: a rule was inverted, a user's facts were changed, and both reached ROOT.md."""
    answer = f"## Topics\n{REWORDED[said]}\n{WORDS} (2026-03-02#3)"
    provider = ScriptedProvider([answer] * 9)
    memory = open_memory(models=ScriptedModels({"daily": provider}))
    put_log(memory, "2026-03-02", SAID)
    memory.journal.compact()
    node = nodes.parse("daily/2026-03-02", memory.journal.node("daily/2026-03-02"))
    assert node.generator == SCRIPTED
    assert f"- deploys [feedback]: {RULE} (2026-03-02#1)" in node.body
    assert "- ada [user]: Ada lives in Berlin and dislikes emoji. (2026-03-02#2)" in node.body
    root = memory.journal.node("root")
    assert RULE in root
    assert "Ada lives in Berlin and dislikes emoji" in root
    assert not any(word in node.body + root for word in ("always", "Paris", " likes", "rule: deploy"))
    (asked,) = provider.prompts
    assert "Friday" not in asked.data
    assert "Berlin" not in asked.data


@pytest.mark.parametrize(
    "changed",
    [
        ("does not retry failed jobs", "retries failed jobs"),
        ("does not retry failed jobs", "always retries failed jobs"),
        ("25 connections", "250 connections"),
        ("reviewed by Grace", "reviewed by Linus"),
        ("reviewed by Grace", "reviewed by Grace on 2026-03-15"),
    ],
    ids=lambda pair: pair[1],
)
def test_a_summary_that_changes_a_fact_is_not_used(open_memory: Opener, changed: tuple[str, str]) -> None:
    provider = ScriptedProvider([f"## Topics\n{WORDS.replace(*changed)} (2026-03-02#3)"] * 9)
    memory = open_memory(models=ScriptedModels({"daily": provider}))
    put_log(memory, "2026-03-02", SAID)
    memory.journal.compact()
    node = nodes.parse("daily/2026-03-02", memory.journal.node("daily/2026-03-02"))
    assert node.generator == nodes.OFFLINE
    assert len(provider.prompts) == 3


def test_a_known_answer_is_not_asked_for_again(open_memory: Opener) -> None:
    provider = ScriptedProvider([good_summary])
    memory = open_memory(models=ScriptedModels(dict.fromkeys(("daily", "weekly", "monthly"), provider)))
    put_log(memory, "2026-03-02", long_log(1))
    memory.journal.compact()
    memory.journal.rebuild()
    assert len(provider.prompts) == 1
    assert "decided on each" in memory.journal.node("daily/2026-03-02")


def test_why_a_node_names_the_entries_of_every_line(memory: Memory) -> None:
    put_log(memory, "2026-03-02", long_log(7))
    memory.cycle()
    found = memory.why("daily/2026-03-02")
    assert len(found.lines) > 20  # type: ignore[union-attr]
    for line in found.lines:  # type: ignore[union-attr]
        assert line.sources
        assert all(source.startswith("log/2026-03-02#") for source in line.sources)


def test_a_node_that_does_not_exist_is_not_found(memory: Memory) -> None:
    for ask in (memory.journal.node, memory.journal.sources, memory.journal.tree, memory.why):
        with pytest.raises(NotFound):
            ask("daily/2026-03-02")


def test_the_golden_month_in_the_store_is_the_golden_month(memory: Memory, clock: ScriptedClock) -> None:
    clock.advance(days=-1)
    for day, text in LOGS.items():
        put_log(memory, day, text)
    memory.cycle()
    names = memory.context.read(topics.names_between, min(LOGS), max(LOGS))
    assert files_of(memory) == grow(LOGS, date(2026, 3, 1), names=names)


def test_the_settings_decide_the_thresholds(open_memory: Opener, environ: dict[str, str]) -> None:
    memory = open_memory(
        environ={**environ, "RECOLLECT_TREE_DAILY_LINES": "10", "RECOLLECT_TREE_ROOT_MAX_TOKENS": "100"}
    )
    put_log(memory, "2026-03-02", long_log(1)[:1_500])
    memory.cycle()
    text = memory.journal.show("2026-03-02")
    assert files_of(memory) == grow({date(2026, 3, 2): text}, date(2026, 3, 2), Limits(daily=10, root_tokens=100))
    assert "ROOT.overflow.md" in files_of(memory)


def test_a_failing_reindex_command_is_a_warning(open_memory: Opener, environ: dict[str, str]) -> None:
    memory = open_memory(environ={**environ, "RECOLLECT_TREE_REINDEX": "false"})
    memory.journal.add(NewEntry(text="x"))
    done, warning = memory.journal.compact()
    assert done.changes
    assert "ended with 1" in warning
    assert memory.journal.compact()[1] == ""


def test_cycle_says_what_the_tree_did(memory: Memory) -> None:
    memory.journal.add(NewEntry(text="x"))
    assert dict(memory.cycle().steps)["tree"] == "4 nodes made"
    assert dict(memory.cycle().steps)["tree"] == "nothing due"


def test_status_names_what_is_tentative_and_what_waits_for_a_model(open_memory: Opener, clock: ScriptedClock) -> None:
    memory = open_memory(models=ScriptedModels({"daily": ScriptedProvider(["no"] * 9)}))
    put_log(memory, "2026-03-02", "\n".join(f"## t{n}\nDecided {n}.\n" for n in range(150)))
    memory.cycle()
    found = memory.status()
    assert found.tentative == ("daily/2026-03-02", "monthly/2026-03", "root", "weekly/2026-W10")
    assert found.waiting == ("daily/2026-03-02",)
    clock.advance(days=1)
    memory.cycle()
    assert found.tentative[1:] == memory.status().tentative


LEARNING = {
    "title": "Stripe webhooks arrive out of order",
    "context": "Integrating Stripe payments into the billing service",
    "observation": "Deliveries can overtake each other, so an update may come before its creation",
    "implication": "Handlers must not rely on the order of arrival",
    "action": "Compare the event's created time with the stored one before applying it",
}


def test_a_cycle_names_every_step(memory: Memory, clock: ScriptedClock) -> None:
    memory.journal.add(NewEntry(text="x", topic="t"))
    memory.learn(**LEARNING)
    clock.advance(days=40)
    done = dict(memory.cycle().steps)
    assert (done["tree"], done["decay"]) == ("4 nodes made", "1 learning lost confidence")
