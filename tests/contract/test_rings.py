"""Rings: a session reads its project, shared spaces and the person's own; nothing else of a project reaches another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import template
from conftest import AGENT, PERSON, STRANGER
from hooks import Hooks
from recollect import Actor, Memory, ScriptedClock
from recollect.core.errors import BadInput, Forbidden, Refused
from samples import FLAKY, MIGRATIONS, WEBHOOKS, learning
from samples import UV as PACKAGES

Opening = Callable[..., Memory]
UV: dict[str, Any] = {**PACKAGES, "tags": ("python",), "domain": "tooling"}
ASKED = "Install the Python packages of this project with uv or pip"


@pytest.fixture
def opening(
    engine: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    clock: ScriptedClock,
    environ: dict[str, str],
    empty_store: Path,
) -> Iterator[Opening]:
    """Opens the memory of any project of one user by its name."""
    if engine == "postgres":
        environ["RECOLLECT_STORE"] = request.getfixturevalue("postgres_url")
    opened: list[Memory] = []

    def open_project(name: str, actor: Actor = PERSON) -> Memory:
        folder = tmp_path / name
        if not folder.exists():
            folder.mkdir()
            template.begin(folder, environ, empty_store)
        opened.append(Memory.open(folder, actor=actor, clock=clock, environ=environ))
        return opened[-1]

    yield open_project
    for memory in opened:
        memory.close()


@pytest.fixture
def share(environ: dict[str, str]) -> Callable[..., None]:
    """Names shared spaces in the user's own settings file."""

    def write(*names: str) -> None:
        file = Path(environ["HOME"], ".config", "recollect", "config.toml")
        file.parent.mkdir(parents=True, exist_ok=True)
        listed = ", ".join(f'"{name}"' for name in names)
        file.write_text(f"[rings]\nshared = [{listed}]\n", "utf-8")

    return write


def found(memory: Memory, query: str, **options: Any) -> list[tuple[str, str]]:
    return [(hit.title, hit.ring) for hit in memory.search(query, **options)]


def test_a_learning_for_me_is_found_and_injected_in_another_project(opening: Opening) -> None:
    kept = opening("a").learn(learning(UV), to="me").learning
    b = opening("b")
    assert found(b, "install packages with uv") == [(UV["title"], "me")]
    chosen = b.inject(task="t-1", outcome="setup", title=ASKED)
    assert [one.id for one in chosen.learnings] == [kept.id]
    assert f"_ID: {kept.id} | Ring: me_" in chosen.markdown
    assert "### From ring me" in b.brief().text
    assert opening("a").learnings.page()[1] == 0, "the project itself did not take it"


def test_the_last_session_tells_why_it_was_given_something_of_a_ring(opening: Opening, environ: dict[str, str]) -> None:
    kept = opening("a").learn(learning(UV), to="me").learning
    b = opening("b")
    hooks = Hooks(b.project.root, environ)
    hooks.fire("UserPromptSubmit", prompt=ASKED)
    (told,) = b.sessions.last().events
    (reason,) = [one for one in told.considered if not one.held_back]
    assert (told.given, reason.id, reason.ring) == ((kept.id,), kept.id, "me")
    assert "uv" in reason.words


def test_a_ring_does_not_contradict_what_the_project_has_learned(opening: Opening) -> None:
    opening("a").learn(learning(title="Never retry failed stripe webhooks", action="Never retry them"), to="me")
    b = opening("b")
    kept = b.learn(learning(title="Always retry failed stripe webhooks", action="Always retry them")).learning
    given = b.sessions.prompted("retry failed stripe webhooks", session="s-1", task="s-1", room=_room())
    assert given.learnings == (kept.id,)


def test_the_reasons_of_a_preview_name_what_comes_from_a_ring(opening: Opening) -> None:
    kept = opening("a").learn(learning(UV), to="me").learning
    b = opening("b")
    b.learn(learning())
    given = b.sessions.prompted(ASKED, session="preview", task="preview", room=_room())
    (reason,) = b.sessions.candidates(ASKED, given)
    assert (given.learnings, reason.id, reason.ring, reason.held_back) == ((kept.id,), kept.id, "me", "")
    b.learn(learning(UV))
    given = b.sessions.prompted(ASKED, session="preview", task="preview", room=_room())
    why = {one.ring: one.held_back for one in b.sessions.candidates(ASKED, given)}
    assert why == {"project": "", "me": "the project has learned the same"}


def test_undo_takes_back_ones_own_change_in_a_ring_when_that_was_the_last(
    opening: Opening, clock: ScriptedClock
) -> None:
    a = opening("a")
    here = a.learn(learning(WEBHOOKS)).learning
    clock.advance(seconds=1)
    kept = a.learn(learning(UV), to="me").learning
    clock.advance(seconds=1)
    a.holding(kept.id)[0].learnings.archive(kept.id)
    clock.advance(seconds=1)
    opening("b", Actor(name="bob", channel="cli", trust="human")).ring("me").learn(learning(FLAKY))
    assert [one.id for one in a.data.undo()] == [kept.id], "bob's change in the ring is his to take back"
    assert a.holding(kept.id)[0].learnings.get(kept.id).status == "active"
    a.learnings.archive(here.id)
    assert [one.id for one in a.data.undo()] == [here.id]


def test_a_log_entry_in_a_ring_hides_no_change_there_from_undo(opening: Opening, clock: ScriptedClock) -> None:
    a = opening("a")
    a.learn(learning(WEBHOOKS))
    clock.advance(seconds=1)
    kept = a.learn(learning(UV), to="me").learning
    clock.advance(seconds=1)
    a.ring("me").journal.add(text="Prefers short answers.", type="user")
    assert [one.id for one in a.data.undo()] == [kept.id]


def test_a_project_writes_to_itself_unless_told_otherwise(opening: Opening) -> None:
    a = opening("a")
    a.learn(learning())
    assert a.context.rings.names == [], "the person's ring begins when something is written to it"
    a.learn(learning(UV), to="me")
    assert a.context.rings.names == ["me"]
    assert a.learnings.page()[1] == 1


def test_nothing_of_a_project_crosses_but_through_a_ring(opening: Opening) -> None:
    a = opening("a")
    a.learn(learning(UV), to="me")
    word = "quokka"
    a.learn(learning(title=f"The {word} importer needs a lock"))
    a.journal.add(text=f"The {word} importer is finished.", topic=f"{word} importer", type="feedback")
    a.journal.add(text=f"I am the one who feeds the {word}.", topic=f"{word} keeper", type="user")
    a.decisions.record(decision=f"Use one {word} per shard", confidence=0.8, category="architecture")
    a.observe(f"DISCOVERY[blocker]: The {word} cache is not shared between processes.", task="t-9", title=word)
    a.staging.stage(f"Feed the {word} before deploying", "It bites otherwise, and the deployment stops half way.")
    a.cycle()
    assert a.search(word)

    b = opening("b")
    b.cycle()
    assert b.search(word) == []
    assert b.search("", limit=50) != [], "but the person's ring is listed"
    given = b.sessions.prompted(f"Feed the {word} importer", session="s-1", task="s-1", room=_room())
    seen = [given.text, b.brief().text, repr(b.inbox.waiting()), repr(b.status().rings), repr(b.topics.page())]
    assert [text for text in seen if word in text] == []
    assert b.inject(task="t-2", outcome="o", title=f"{word} importer lock").learnings == ()


def _room() -> Any:
    from recollect.text.tokens import ContextBudget

    return ContextBudget()


def test_shared_spaces_are_read_when_the_users_own_file_names_them(opening: Opening, share: Any) -> None:
    team = opening("team")
    team.learn(learning())
    team.journal.add(text="Refund webhooks are sorted by their created time.", topic="Refund webhooks")
    assert found(opening("a"), "stripe webhooks") == []
    share(team.context.space)
    a = opening("a")
    a.learn(learning(UV), to="me")
    assert a.context.rings.names == [team.context.space, "me"], "the nearer ring first"
    hits = a.search("refund webhooks of stripe")
    assert {hit.ring for hit in hits} == {team.context.space}
    entry = next(hit for hit in hits if hit.kind == "log")
    assert entry.id.startswith(f"{team.context.space}:log/"), "an id that names a place says whose"
    at, bare = a.holding(entry.id)
    assert "sorted by their created time" in at.texts.get(bare).text


def test_the_nearer_of_two_that_are_alike_comes_first(opening: Opening) -> None:
    a = opening("a")
    a.learn(learning(UV), to="me")
    a.learn(learning(UV, title="Install packages of Python with uv"))
    assert [ring for _, ring in found(a, "install Python packages with uv")] == ["project", "me"]


def test_what_the_project_knows_too_is_shown_once(opening: Opening) -> None:
    a = opening("a")
    a.learn(learning(UV), to="me")
    own = a.learn(learning(UV)).learning
    assert found(a, "install Python packages with uv") == [(UV["title"], "project")]
    assert [one.id for one in a.inject(task="t", outcome="o", title=ASKED).learnings] == [own.id]


def test_a_verdict_counts_in_the_ring_of_its_learning(
    opening: Opening, environ: dict[str, str], tmp_path: Path
) -> None:
    kept = opening("a").learn(learning(UV), to="me").learning
    b = opening("b")
    hooks = Hooks(tmp_path / "b", environ)
    assert kept.id in hooks.fire("UserPromptSubmit", prompt=ASKED)
    assert hooks.fire("UserPromptSubmit", prompt=ASKED) == "", "once per context of a session"
    hooks.fire("Stop", last_assistant_message=f"Quokkas bite the mailman.\n\nLEARNING_HELPFUL: {kept.id}")
    me = b.ring("me")
    assert me.learnings.get(kept.id).confidence == 0.75
    (shown,) = me.learnings.injections(kept.id)
    assert (shown.task_id, shown.outcome_id, shown.feedback) == ("s-1", "s-1", "helpful")
    assert me.search("quokkas bite the mailman") == []
    assert b.work.injections() == []

    b.inject(task="t-7", outcome="o", title=ASKED)
    assert b.feedback(f"LEARNING_NOT_HELPFUL: {kept.id}", task="t-7").counted == (kept.id,)
    assert b.rate(kept.id, "helpful", task="t-7").confidence == 0.8
    assert me.work.task_page()[0][0].title == "", "the task's own words stay in its project"


def test_a_moved_learning_keeps_what_it_earned(opening: Opening) -> None:
    a = opening("a")
    kept = a.learn(learning(UV)).learning
    a.inject(task="t-1", outcome="o", title=ASKED)
    a.rate(kept.id, "helpful")
    moved = a.learnings.move(kept.id, to="me").learning
    assert (moved.confidence, moved.times_helpful, moved.trust) == (0.75, 1, "human")
    assert a.learnings.get(kept.id).status == "archived"
    assert moved.id in a.why(kept.id).events[-1].reason
    assert a.why(kept.id).events[-1].what == "learning.moved_out"
    back = a.learnings.move(moved.id, to="project").learning
    assert a.learnings.get(back.id).confidence == 0.75
    with pytest.raises(Refused):
        a.learnings.move(back.id, to="project")


def test_undo_takes_back_both_halves_of_a_move_and_then_goes_further(opening: Opening, clock: ScriptedClock) -> None:
    a = opening("a")
    kept = a.learn(learning(UV)).learning
    moved = a.learnings.move(kept.id, to="me").learning
    me = a.ring("me").learnings
    clock.advance(seconds=1)
    back = a.learnings.move(moved.id, to="project").learning
    assert {one.id: one.status for one in a.data.undo()} == {moved.id: "active", back.id: "archived"}
    assert {one.id: one.status for one in a.data.undo()} == {kept.id: "active", moved.id: "archived"}
    assert (a.learnings.get(kept.id).status, me.get(moved.id).status) == ("active", "archived")
    assert [(one.id, one.status) for one in a.data.undo()] == [(kept.id, "archived")], "its capture"
    with pytest.raises(Refused, match="nothing to undo"):
        a.data.undo()


def test_undo_takes_back_both_halves_of_a_move_that_the_person_made_under_another_name(opening: Opening) -> None:
    page = opening("a", Actor(name="page", channel="api", trust="human"))
    kept = page.learn(learning(UV)).learning
    moved = page.learnings.move(kept.id, to="me").learning
    a = opening("a")
    assert {one.id: one.status for one in a.data.undo()} == {kept.id: "active", moved.id: "archived"}
    assert a.ring("me").learnings.get(moved.id).status == "archived"


def test_an_agent_is_told_that_only_a_person_takes_a_persons_move_back(opening: Opening) -> None:
    a = opening("a")
    kept = a.learn(learning(UV)).learning
    moved = a.learnings.move(kept.id, to="me").learning
    with pytest.raises(Forbidden, match="only a person may take it back"):
        opening("a", AGENT).data.undo()
    assert a.ring("me").learnings.get(moved.id).status == "active"


def test_undo_in_a_project_leaves_a_move_of_another_project_alone(opening: Opening, clock: ScriptedClock) -> None:
    a, b = opening("a"), opening("b")
    own = b.learn(learning(WEBHOOKS)).learning
    kept = a.learn(learning(UV)).learning
    clock.advance(seconds=1)
    moved = a.learnings.move(kept.id, to="me").learning
    assert [one.id for one in b.data.undo()] == [own.id]
    assert b.ring("me").learnings.get(moved.id).status == "active"
    a.ring("me").learnings.edit(moved.id, action="Run uv sync")
    assert [one.id for one in b.data.undo()] == [moved.id], "the words were changed in the ring itself"
    with pytest.raises(Refused, match="nothing to undo"):
        b.data.undo()
    assert {one.id for one in a.data.undo()} == {kept.id, moved.id}


def test_undo_goes_no_further_in_a_ring_than_the_move_of_another_project(
    opening: Opening, clock: ScriptedClock
) -> None:
    a, b = opening("a"), opening("b")
    older = a.ring("me").learn(learning(UV)).learning
    clock.advance(seconds=1)
    a.learnings.move(a.learn(learning(WEBHOOKS)).learning.id, to="me")
    with pytest.raises(Refused, match="nothing to undo"):
        b.data.undo()
    assert b.ring("me").learnings.get(older.id).status == "active"


def test_a_move_whose_learning_moved_on_is_taken_back_after_that(opening: Opening, clock: ScriptedClock) -> None:
    a, b = opening("a"), opening("b")
    kept = a.learn(learning(UV)).learning
    moved = a.learnings.move(kept.id, to="me").learning
    clock.advance(seconds=1)
    b.learnings.move(moved.id, to="project")
    with pytest.raises(Refused, match="undo that first, where it was done"):
        a.data.undo()
    assert (a.learnings.get(kept.id).status, a.ring("me").learnings.get(moved.id).status) == ("archived", "archived")
    b.data.undo()
    a.data.undo()
    assert (a.learnings.get(kept.id).status, a.ring("me").learnings.get(moved.id).status) == ("active", "archived")


def test_only_a_person_moves_a_learning(opening: Opening) -> None:
    kept = opening("a").learn(learning(UV)).learning
    with pytest.raises(Forbidden):
        opening("a", AGENT).learnings.move(kept.id, to="me")


def test_an_outsiders_text_stays_external_in_a_ring(opening: Opening, share: Any) -> None:
    team = opening("team", STRANGER)
    team.learn(learning(UV))
    share(team.context.space)
    a = opening("a")
    assert [hit.trust for hit in a.search("install packages with uv")] == ["external"]
    assert a.inject(task="t", outcome="o", title=ASKED).learnings == ()
    moved = a.learnings.move(a.search("install packages with uv")[0].id, to="me").learning
    assert moved.trust == "external"
    assert a.inject(task="t", outcome="o", title=ASKED).learnings == ()


def test_an_entry_about_the_person_is_proposed_for_their_ring(opening: Opening) -> None:
    a = opening("a")
    a.journal.add(text="Prefers uv to pip for Python packages.", topic="Package manager", type="user")
    a.journal.add(text="The importer is done.", topic="Importer")
    a.cycle()
    a.cycle()
    (item,) = a.inbox.waiting()
    assert (item.kind, item.detail["title"]) == ("about-you", "Package manager")
    a.inbox.resolve(item.number, "accept")
    b = opening("b")
    assert "Prefers uv to pip" in b.brief().text
    assert found(b, "which package manager for Python") == [("Package manager", "me")]


def test_an_insight_of_three_projects_is_proposed_for_the_persons_ring(opening: Opening) -> None:
    for name in ("a", "b"):
        opening(name).learn(learning(UV))
        opening(name).learn(learning(FLAKY if name == "a" else MIGRATIONS))
        opening(name).cycle()
        assert opening(name).inbox.waiting() == [], "two projects are not enough"
    c = opening("c")
    kept = c.learn(learning(UV)).learning
    c.cycle()
    (item,) = c.inbox.waiting()
    assert (item.kind, item.subject) == ("known-elsewhere", kept.id)
    assert FLAKY["title"] not in repr(item)
    c.inbox.resolve(item.number, "accept")
    assert found(opening("d"), "install packages with uv") == [(UV["title"], "me")]
    c.inbox.take_back(item.number)
    assert c.learnings.get(kept.id).status == "active"
    assert found(opening("d"), "install packages with uv") == []


def test_a_cycle_while_the_clock_was_ahead_ends_no_proposals(opening: Opening, clock: ScriptedClock) -> None:
    for name in ("a", "b"):
        opening(name).learn(learning(UV))
    c = opening("c")
    clock.advance(days=1400)
    c.cycle()
    clock.advance(days=-1400)
    c.cycle()
    clock.advance(hours=1)
    kept = c.learn(learning(UV)).learning
    c.cycle()
    assert [item.subject for item in c.inbox.waiting()] == [kept.id]


def test_a_ring_that_cannot_be_read_is_left_out_and_named(
    opening: Opening, share: Any, tmp_path: Path, environ: dict[str, str]
) -> None:
    share("gone")
    a = opening("a")
    a.learn(learning())
    assert found(a, "stripe webhooks") == [(WEBHOOKS["title"], "project")]
    assert a.status().rings["gone"].startswith("left out: it has no place in your register")
    assert WEBHOOKS["title"] in Hooks(tmp_path / "a", environ).fire("UserPromptSubmit", prompt="Stripe webhooks order")


def test_a_damaged_or_locked_ring_never_stops_a_session(
    opening: Opening, engine: str, tmp_path: Path, environ: dict[str, str]
) -> None:
    a = opening("a")
    a.learn(learning())
    me = a.ring("me")
    me.learn(learning(UV))
    hooks = Hooks(tmp_path / "a", environ)
    with me.context.db.write(me.context.space):  # another process writes for long
        assert WEBHOOKS["title"] in hooks.fire("UserPromptSubmit", prompt="Stripe webhooks order")
    if engine == "postgres":
        return
    a.close()
    (me.project.data / "memory.db").write_bytes(b"no database" * 1000)
    for name in ("memory.db-wal", "memory.db-shm"):
        (me.project.data / name).unlink(missing_ok=True)
    hooks.session = "s-2"
    assert WEBHOOKS["title"] in hooks.fire("UserPromptSubmit", prompt="Stripe webhooks order")
    again = opening("a")
    assert again.status().rings["me"].startswith("left out: ")
    assert found(again, "stripe webhooks") == [(WEBHOOKS["title"], "project")]


def test_a_slow_ring_takes_only_its_share_of_a_hooks_time(opening: Opening, tmp_path: Path) -> None:
    from recollect.hosts.hook import time_limit

    a = opening("a")
    a.learn(learning(UV), to="me")
    with time_limit(2):
        assert a.context.rings.ask(a.context, lambda _: threading.Event().wait(5)) == []
    assert "2 seconds" in a.context.rings.left_out["me"]
    later = opening("a").context
    with time_limit(2):
        assert later.rings.ask(later, lambda _: True) == [], "the next prompt does not wait for it again"
    assert later.rings.ask(later, lambda _: True) == [("me", True)], "a command asks it"


def test_a_repository_cannot_choose_rings(opening: Opening, tmp_path: Path) -> None:
    opening("a").close()
    file = tmp_path / "a" / "recollect.toml"
    file.write_text(file.read_text("utf-8") + '\n[rings]\nshared = ["b"]\n', "utf-8")
    with pytest.raises(BadInput, match="no repository may choose"):
        opening("a")


def test_an_environment_cannot_choose_rings(opening: Opening, environ: dict[str, str]) -> None:
    opening("a").close()
    environ["RECOLLECT_RINGS_SHARED"] = "b"
    with pytest.raises(BadInput, match="only your own file"):
        opening("a")


def test_a_ring_that_nobody_named_is_refused(opening: Opening) -> None:
    opening("b")
    with pytest.raises(BadInput, match="no ring"):
        opening("a").learn(learning(UV), to=opening("b").context.space)


def test_rings_on_a_server_are_spaces_of_one_store(opening: Opening, engine: str) -> None:
    a = opening("a")
    me = a.ring("me")
    assert me.context.space != a.context.space
    assert (me.context.db is a.context.db) == (engine == "postgres")
