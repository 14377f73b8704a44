"""One search over everything: kinds, times, trust, threads, ids, phrases, slips of the hand, meaning."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from conftest import STRANGER, Opener
from embedders import WordEmbedder
from recollect import BadInput, Memory, NewDecision, NewFinding, NotFound, Refused, ScriptedClock
from recollect.capture import documents
from recollect.core.journal import NewEntry
from recollect.models.scripted import ScriptedModels
from recollect.search import meaning
from refusals import taken
from samples import learning


def log(memory: Memory, text: str, **more: str) -> str:
    return memory.journal.add(NewEntry(text=text, **more)).id  # type: ignore[arg-type]


def ids(memory: Memory, query: str, **options: object) -> list[str]:
    return [hit.id for hit in memory.search(query, **options)]


def logs_read_in(memory: Memory) -> int:
    return documents.refresh_logs(memory.context)


def project(memory: Memory) -> Path:
    return Path(memory.project.root)


@pytest.fixture
def document(memory: Memory) -> Path:
    file = project(memory) / "docs" / "deploy.md"
    file.parent.mkdir()
    file.write_text("Opening words.\n\n# Deploys\n\nHow we ship.\n\n## Rollbacks\n\nThe zebra fleet takes over.\n")
    return file


# Everything is found


def test_every_kind_is_found_by_one_search(memory: Memory, document: Path) -> None:
    kept = memory.learn(learning(title="Zebra learning")).learning
    entry = log(memory, "The zebra entry was written.", topic="notes")
    decided = memory.decisions.record(
        NewDecision(decision="Adopt the zebra queue", confidence=0.8, category="process")
    ).decision
    finding = memory.themes.add("wu-1", NewFinding(description="Zebra finding", category="ops", source="review"))
    memory.staging.stage("Always feed the zebra before a release", "It bites otherwise.")
    memory.cycle()
    found = {hit.kind: hit.id for hit in reversed(memory.search("zebra", limit=50))}
    assert found["learning"] == kept.id
    assert found["log"] == entry
    assert found["decision"] == decided.id
    assert found["finding"] == finding.id
    assert found["staged"].startswith("staged/")
    assert found["doc"] == "doc/docs/deploy.md#rollbacks"
    assert {hit.kind for hit in memory.search("zebra", kinds=("node",))} == {"node"}


def test_kinds_narrow(memory: Memory) -> None:
    kept = memory.learn(learning(title="Zebra learning")).learning
    entry = log(memory, "The zebra entry was written.")
    assert ids(memory, "zebra", kinds=("learning",)) == [kept.id]
    assert ids(memory, "zebra", kinds=("log",)) == [entry]
    assert set(ids(memory, "zebra", kinds=("log", "learning"))) == {kept.id, entry}


def test_filters_of_learnings_leave_other_kinds_alone(memory: Memory) -> None:
    memory.learn(learning(title="Zebra learning", confidence=0.4))
    entry = log(memory, "The zebra entry was written.")
    assert ids(memory, "zebra") == [entry]
    assert ids(memory, "zebra", domain="nowhere") == []


def test_trust_narrows_and_is_shown(open_memory: Opener) -> None:
    own, foreign = open_memory(), open_memory(STRANGER)
    mine = log(own, "The zebra was fed.")
    theirs = log(foreign, "The zebra was sold.")
    assert ids(own, "zebra", trusts=("external",)) == [theirs]
    assert mine in ids(own, "zebra", trusts=("agent",))
    assert next(hit for hit in own.search("zebra") if hit.id == theirs).trust == "external"


def test_many_of_another_kind_do_not_hide_the_few(memory: Memory) -> None:
    for number in range(300):
        log(memory, f"zebra {number}", session=f"s{number % 7}")
    kept = memory.learn(learning(observation="A long story that names a zebra once", title="Odd")).learning
    assert ids(memory, "zebra", kinds=("learning",)) == [kept.id]


# Times


def test_since_and_until_include_their_days(memory: Memory, clock: ScriptedClock) -> None:
    days = []
    for _ in range(3):
        days.append(log(memory, "The zebra was fed."))
        clock.advance(days=1)
    assert sorted(ids(memory, "zebra", since="2026-03-03")) == days[1:]
    assert sorted(ids(memory, "zebra", until="2026-03-03")) == days[:2]
    assert ids(memory, "zebra", since="2026-03-03", until="2026-03-03") == days[1:2]


@pytest.mark.parametrize("when", ["yesterday", "in February", "in week 9", "on 2026-02-28", "2026-W09", "3 days ago"])
def test_a_time_in_the_question_puts_what_was_written_then_first(
    memory: Memory, clock: ScriptedClock, when: str
) -> None:
    clock.advance(days=-40)
    log(memory, "The zebra was fed.")
    clock.advance(days=38)
    then = log(memory, "The zebra was fed again and again, a long story that has many more words than the other one.")
    clock.advance(days=3 if when == "3 days ago" else 1)
    assert ids(memory, f"zebra fed {when}")[0] == then


@pytest.mark.parametrize(
    "query",
    ["2026-02-28", "yesterday", "What happened yesterday?", "28 February 2026", "on Saturday"],
)
def test_a_query_of_only_a_time_lists_what_was_written_then(memory: Memory, clock: ScriptedClock, query: str) -> None:
    clock.advance(days=-30)
    log(memory, "The ostrich was fed.")
    clock.advance(days=28)
    then = [log(memory, "The zebra was fed.")]
    clock.advance(hours=1)
    then.append(log(memory, "The zebra slept."))
    clock.advance(days=1)
    log(memory, "Yesterday the zebra happened to be ill.")
    assert ids(memory, query) == then[::-1]
    assert ids(memory, query, limit=1, offset=1) == then[:1]
    assert ids(memory, f"zebra ill {query}") != then[::-1], "with words of its own it is a search"


def test_a_day_that_a_long_text_mentions_is_not_what_it_asks_for(memory: Memory, clock: ScriptedClock) -> None:
    about = log(memory, "The parser reads quoted keys of the settings file and keeps their escapes.")
    clock.advance(days=10)
    then = log(memory, "The parser of the settings file was renamed; quoted keys were read before.")
    day = then.removeprefix("log/").partition("#")[0]
    asked = "keys of the settings file: the parser keeps escapes of quoted keys since the change of"
    assert ids(memory, f"{asked} {day}, unlike every other reader of such files")[0] == about
    assert ids(memory, f"file keys {day}")[0] == then


def test_a_note_of_the_named_month_comes_before_better_matches_of_other_times(
    memory: Memory, clock: ScriptedClock
) -> None:
    clock.advance(days=-20)
    then = log(memory, "Before the deploy somebody had to read through a long list of what could possibly go wrong.")
    clock.advance(days=30)
    for _ in range(2):
        log(memory, "deploy", topic="deploy")
        clock.advance(days=60)
    assert ids(memory, "deploy in February", kinds=("log",))[0] == then


def test_a_named_time_is_searched_even_where_many_others_match_better(memory: Memory, clock: ScriptedClock) -> None:
    clock.advance(days=-20)
    then = log(memory, "Before the deploy somebody had to read through a long list of what could possibly go wrong.")
    clock.advance(days=30)
    for number in range(80):
        log(memory, f"deploy {number}", session=f"s{number}")
    assert ids(memory, "deploy in February", kinds=("log",))[0] == then


@pytest.mark.parametrize(("when", "wanted"), [("since March", 1), ("before March", 0), ("after week 9", 1)])
def test_a_time_may_be_open_at_one_end(memory: Memory, clock: ScriptedClock, when: str, wanted: int) -> None:
    clock.advance(days=-30)
    early = log(memory, "The zebra was fed.")
    clock.advance(days=120)
    late = log(memory, "The zebra was fed.")
    clock.advance(days=60)
    assert ids(memory, f"zebra {when}", kinds=("log",))[0] == (early, late)[wanted]


# Threads


def test_a_short_answer_is_found_by_the_words_of_its_question(memory: Memory) -> None:
    log(memory, "Which database does the billing service use?", topic="Ada", session="one")
    answer = log(memory, "Still the old one, sadly.", topic="Bob", session="one")
    log(memory, "The billing page has a new colour.", topic="Eve", session="two")
    assert answer in ids(memory, "database billing service")


def test_a_long_neighbour_lends_less_than_a_short_one(memory: Memory) -> None:
    """However often it says the word: what stands beside a long text is about some of it at most."""
    last = {}
    for times in (1, 50):
        log(memory, "The gateway quagga broke. " * times, session=f"s{times}")
        last[log(memory, "Thanks, that will do.", session=f"s{times}")] = times
    words = {last.get(hit.id): hit.signals["words"] for hit in memory.search("quagga", explain=True) if hit.signals}
    assert words[1] > words[50] > 0


def test_what_opens_a_conversation_comes_before_what_repeats_it(memory: Memory) -> None:
    text = "The zebra queue is ours now."
    written = [log(memory, text, topic="Ada", session="talk") for _ in range(3)]
    hits = memory.search("zebra queue", explain=True)
    assert [hit.id for hit in hits] == written
    openings = [hit.signals["opening"] for hit in hits if hit.signals]
    assert openings[0] > 0
    assert openings == pytest.approx([openings[0], openings[0] / 2, openings[0] / 3])


def test_entries_outside_a_conversation_have_no_opening(memory: Memory) -> None:
    log(memory, "The zebra queue is ours now.", topic="Ada")
    (hit,) = memory.search("zebra queue", explain=True)
    assert hit.signals is not None
    assert "opening" not in hit.signals


def test_sessions_that_write_in_turn_are_not_mixed_up(memory: Memory) -> None:
    log(memory, "The zebra escaped.", topic="a", session="one")
    log(memory, "Nothing to report.", topic="b", session="two")
    answer = log(memory, "We caught it.", topic="a", session="one")
    assert [one.id for one in memory.texts.around(answer)] == ["log/2026-03-02#1", answer]
    assert "log/2026-03-02#2" not in ids(memory, "zebra escaped")


# Ids and phrases


def test_an_exact_id_comes_first(memory: Memory) -> None:
    kept = memory.learn(learning(confidence=0.3)).learning
    memory.learn(learning(title="About learnings", context=f"it mentions {kept.id} often " * 5))
    assert ids(memory, f"what does {kept.id} say?")[0] == kept.id


def test_an_exact_id_is_found_whatever_its_status_but_filters_that_were_asked_for_hold(memory: Memory) -> None:
    kept = memory.learn(learning(confidence=0.3)).learning.id
    memory.learnings.archive(kept)
    assert ids(memory, kept) == ids(memory, kept, status="archived") == [kept]
    for asked in ({"min_confidence": 0.95}, {"status": "superseded"}, {"domain": "nowhere"}, {"kinds": ("log",)}):
        assert ids(memory, kept, **asked) == []  # type: ignore[arg-type]


def test_a_quoted_phrase_comes_first(memory: Memory) -> None:
    log(memory, "The fleet took blue, blue took fleet.", topic="took blue fleet")
    exact = log(memory, "Many words about something else entirely. " * 12 + "Then the Blue\nFleet took over at night.")
    assert ids(memory, "who said blue fleet took over")[0] != exact
    assert ids(memory, 'who said "blue fleet took over"')[0] == exact


def test_a_phrase_that_a_long_text_quotes_does_not_come_first(memory: Memory) -> None:
    task = "The deploy of the billing worker crashes after the nightly queue migration was reverted"
    wanted = log(memory, f"{task}.", session="one")
    log(memory, "The linter printed no such file.", session="two")
    assert ids(memory, f'{task} and prints "no such file"')[0] == wanted


def test_what_holds_the_words_of_a_phrase_does_not_crowd_out_what_holds_the_others(memory: Memory) -> None:
    for number in range(70):
        log(memory, f"Fleet {number} is painted blue.", session=f"s{number}")
    wanted = log(memory, "The kubernetes upgrade is done.", session="other")
    assert ids(memory, 'the kubernetes upgrade of the "blue fleet"')[0] == wanted


@pytest.mark.parametrize("typo", ["kuberntes", "kubernettes", "kubernetse", "jubernetes", "kubernetez"])
def test_one_slip_in_a_rare_word_still_finds_it(memory: Memory, typo: str) -> None:
    entry = log(memory, "The kubernetes upgrade is done.")
    log(memory, "Something else happened.")
    assert ids(memory, f"{typo} upgrade")[0] == entry
    assert ids(memory, typo)[0] == entry


def test_a_known_word_is_not_respelt(memory: Memory) -> None:
    log(memory, "The marker was set.", session="one")
    other = log(memory, "The market was closed.", session="two")
    assert ids(memory, "market") == [other]


# Scores


def test_scores_are_explained_by_what_they_are_made_of(memory: Memory) -> None:
    memory.learn(learning())
    log(memory, "My stripe webhooks came late.", topic="stripe")
    for hit in memory.search("did my stripe webhooks come late?", explain=True):
        assert hit.signals is not None
        assert sum(hit.signals.values()) == pytest.approx(hit.score, abs=1e-3)
    assert all(hit.signals is None for hit in memory.search("stripe"))


def test_priors_can_be_turned_off(memory: Memory, clock: ScriptedClock) -> None:
    memory.learn(learning(confidence=0.9))
    clock.advance(days=10)
    with_both, without = (
        memory.search("stripe", explain=True, recency=on, confidence=on)[0].signals for on in (True, False)
    )
    assert with_both is not None
    assert without is not None
    assert min(with_both["recency"], with_both["confidence"]) > 0
    assert not without.keys() & {"recency", "confidence"}


def test_what_is_newer_wins_between_equals(memory: Memory, clock: ScriptedClock) -> None:
    old = log(memory, "The zebra was fed.")
    clock.advance(days=60)
    new = log(memory, "The zebra was fed.")
    assert ids(memory, "zebra") == [new, old]
    assert ids(memory, "zebra", recency=False) == [old, new]


def test_the_order_is_the_same_every_time(memory: Memory) -> None:
    for number in range(30):
        log(memory, f"zebra number {number}", session=f"s{number % 3}")
    assert ids(memory, "zebra", limit=30) == ids(memory, "zebra", limit=30)
    assert ids(memory, "zebra", limit=5) == ids(memory, "zebra", limit=30)[:5]


# Meaning


def test_without_an_embedder_words_do_and_semantic_is_refused(open_memory: Opener) -> None:
    memory = open_memory(models=ScriptedModels({}, embedder=None))
    entry = log(memory, "The zebra was fed.")
    assert ids(memory, "zebra") == ids(memory, "zebra", strategy="hybrid", semantic_weight=0.9) == [entry]
    assert ids(memory, "zebra", strategy="bm25", semantic_weight=1.0) == [entry]
    for asked in ({"strategy": "semantic"}, {"semantic_weight": 1.0}):
        with pytest.raises(Refused, match=r"to auto, pip install 'recollect-memory\[embeddings\]'"):
            memory.search("zebra", **asked)


def test_before_anything_is_embedded_words_do_and_semantic_says_what_to_run(open_memory: Opener) -> None:
    embedder = WordEmbedder()
    memory = open_memory(models=ScriptedModels({}, embedder=embedder))
    entry = log(memory, "The zebra was fed.")
    assert ids(memory, "zebra") == [entry]
    assert embedder.asked == []
    with pytest.raises(Refused, match=r"Nothing has vectors yet.*recollect model embed"):
        memory.search("zebra", strategy="semantic")


def test_meaning_finds_what_shares_no_stem(open_memory: Opener) -> None:
    """The scripted embedder knows words as written, stop words too; ours has stems. So "has been" is meaning here."""
    memory = open_memory(models=ScriptedModels({}, embedder=WordEmbedder()))
    near = log(memory, "has been been has")
    log(memory, "The zebra was fed.")
    memory.data.embed()
    assert ids(memory, "has been", strategy="semantic", kinds=("log",)) == [near]
    assert ids(memory, "has been", strategy="bm25") == []
    assert ids(memory, "has been", kinds=("log",)) == [near]


def test_semantic_weight_shifts_the_balance(open_memory: Opener) -> None:
    memory = open_memory(models=ScriptedModels({}, embedder=WordEmbedder()))
    log(memory, "has been been has zebra")
    memory.data.embed()

    def signals(weight: float) -> tuple[float, float]:
        (hit,) = memory.search("zebra has been", semantic_weight=weight, explain=True)
        assert hit.signals is not None
        return hit.signals.get("words", 0), hit.signals.get("meaning", 0)

    assert signals(0.0)[1] == 0 < signals(0.0)[0]
    assert signals(1.0)[0] == 0 < signals(1.0)[1]
    assert signals(0.25)[0] > signals(0.5)[0] > 0
    assert signals(0.25)[1] < signals(0.5)[1]


def test_without_any_weight_meaning_makes_no_hits(open_memory: Opener) -> None:
    memory = open_memory(models=ScriptedModels({}, embedder=WordEmbedder()))
    log(memory, "has been been has")
    memory.data.embed()
    assert ids(memory, "has been", semantic_weight=0.0) == []


@pytest.mark.parametrize("few", [2_000, 10], ids=["all that are wanted are compared", "more pieces are looked at"])
def test_a_narrow_time_loses_nothing_to_what_is_nearer_but_older(
    open_memory: Opener, clock: ScriptedClock, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    memory = open_memory(models=ScriptedModels({}, embedder=WordEmbedder()))
    for number in range(220):
        log(memory, "has been", topic=f"t{number}")
    clock.advance(days=1)
    late = [log(memory, f"has been there with {number} others") for number in range(12)]
    memory.data.embed()
    monkeypatch.setattr(meaning, "FEW", few)
    found = ids(memory, "has been", strategy="semantic", since="2026-03-03", kinds=("log",), limit=20)
    assert sorted(found) == sorted(late)


def test_what_is_not_embedded_yet_is_found_by_its_words(open_memory: Opener) -> None:
    memory = open_memory(models=ScriptedModels({}, embedder=WordEmbedder()))
    log(memory, "The zebra was fed.")
    memory.data.embed()
    late = log(memory, "A giraffe came too.")
    assert ids(memory, "giraffe")[0] == late


OPTIONS_THAT_CANNOT_BE: tuple[dict[str, Any], ...] = (
    {"kinds": ("poem",)},
    {"trusts": ("nobody",)},
    {"strategy": "magic"},
    {"semantic_weight": 1.5},
    {"semantic_weight": "much"},
    {"semantic_weight": float("nan")},
    {"since": "2026-02-30"},
    {"until": "soon"},
)


def test_options_that_cannot_be_are_refused(memory: Memory) -> None:
    assert taken(partial(memory.search, "zebra"), OPTIONS_THAT_CANNOT_BE) == []


# Documents


def test_a_document_is_found_by_section_and_followed(memory: Memory, document: Path) -> None:
    assert ids(memory, "zebra fleet")[0] == "doc/docs/deploy.md#rollbacks"
    document.write_text("# Deploys\n\nThe giraffe fleet takes over.\n")
    assert ids(memory, "zebra") == []
    assert ids(memory, "giraffe") == ["doc/docs/deploy.md#deploys"]
    document.unlink()
    assert ids(memory, "giraffe") == []


def test_an_unchanged_document_is_not_read_again(memory: Memory, document: Path) -> None:
    from recollect.capture.documents import refresh

    assert refresh(memory.context) == 1
    assert refresh(memory.context) == 0


def test_documents_agree_with_their_files(memory: Memory, document: Path) -> None:
    memory.cycle()
    assert memory.data.verify() == ()
    document.write_text("# Other\n\nText.\n")
    assert memory.data.verify() == ()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_log_that_is_edited_by_hand_is_followed(memory: Memory) -> None:
    log(memory, "The zebra was fed.")
    file = memory.project.vault / "2026-03-02.md"
    with file.open("a") as opened:
        opened.write("\n## Giraffes\n\nA giraffe came too.\n")
    assert ids(memory, "giraffe", kinds=("log",))[0] == "log/2026-03-02#2"
    assert logs_read_in(memory) == 0
    kept = file.read_text()
    file.unlink()
    assert ids(memory, "giraffe", kinds=("log",))[0] == "log/2026-03-02#2"
    assert logs_read_in(memory) == 0
    file.write_text(kept)
    assert ids(memory, "giraffe", kinds=("log",))[0] == "log/2026-03-02#2"
    memory.cycle()
    assert "giraffe" in memory.journal.node("daily/2026-03-02").lower()
    assert logs_read_in(memory) == 0
    assert memory.data.verify() == ()


def test_a_purged_text_is_forgotten_by_search_and_its_document_named(memory: Memory, document: Path) -> None:
    assert ids(memory, "zebra")
    done = memory.data.purge(text="zebra fleet")
    assert ids(memory, "zebra fleet", kinds=("doc",)) == []
    assert any("docs/deploy.md" in place for place in done.out_of_reach)
    assert "zebra fleet" in document.read_text()


@pytest.mark.parametrize("engine", ["sqlite"])
def test_a_purged_word_of_a_heading_is_in_no_id(memory: Memory, document: Path) -> None:
    document.write_text("# About zyzzogeton4711\n\nText.\n")
    assert ids(memory, "about zyzzogeton4711")
    memory.staging.stage("Pin the zyzzogeton4711 version because upgrades change its keys")
    assert memory.data.purge(text="zyzzogeton4711").found == ()


# The whole, and what stands beside it


def test_get_gives_the_whole_of_any_id(memory: Memory, document: Path) -> None:
    kept = memory.learn(learning()).learning
    entry = log(memory, "First line.\n\nSecond line.", topic="notes")
    decided = memory.decisions.record(
        NewDecision(decision="Adopt the zebra queue", confidence=0.8, category="process")
    ).decision
    finding = memory.themes.add("wu-1", NewFinding(description="Zebra finding", category="ops", source="review"))
    staged = memory.staging.stage("Always feed the zebra before a release", "It bites otherwise.")
    memory.cycle()
    whole = {id: memory.texts.get(id) for id in (kept.id, entry, decided.id, finding.id, staged.id, "root")}
    assert f"Action: {kept.action}" in whole[kept.id].text
    assert whole[entry].text == "First line.\n\nSecond line."
    assert "zebra queue" in whole[decided.id].text
    assert whole[finding.id].text == "Zebra finding"
    assert whole[staged.id].text == "It bites otherwise."
    assert "First line" in memory.texts.get("daily/2026-03-02").text
    assert memory.texts.get("doc/docs/deploy.md#rollbacks").text == "The zebra fleet takes over."
    assert memory.texts.get("doc/docs/deploy.md").text == document.read_text()


@pytest.mark.parametrize(
    "id",
    [
        "",
        "nothing",
        "learn_none",
        "dec_none",
        "log/2026-03-01#9",
        "daily/1999-01-01",
        "doc/x.md#y",
        "doc/../etc/passwd",
    ],
)
def test_what_is_not_there_is_said_to_be_missing(memory: Memory, id: str) -> None:
    with pytest.raises(NotFound):
        memory.texts.get(id)
    with pytest.raises(NotFound):
        memory.texts.around(id)


def test_around_shows_the_thread_in_order(memory: Memory) -> None:
    written = [log(memory, f"Entry {number}", session="one") for number in range(5)]
    found = memory.texts.around(written[2], before=1, after=2)
    assert [(one.id, one.step) for one in found] == list(zip(written[1:], (-1, 0, 1, 2), strict=True))
    assert [one.id for one in memory.texts.around(written[0], before=0, after=1)] == written[:2]


def test_what_stands_in_no_thread_has_neighbours_in_time(memory: Memory, clock: ScriptedClock) -> None:
    kept = []
    for word in ("alpha", "bravo", "charlie"):
        kept.append(memory.learn(learning(title=word, observation=word, action=word)).learning.id)
        clock.advance(hours=1)
    assert [one.id for one in memory.texts.around(kept[1])] == kept


@pytest.mark.parametrize("wrong", [{"before": -1}, {"after": 101}, {"before": "3"}])
def test_around_refuses_odd_numbers(memory: Memory, wrong: dict[str, object]) -> None:
    entry = log(memory, "Entry")
    assert [one.id for one in memory.texts.around(entry, before=0, after=0)] == [entry]
    with pytest.raises(BadInput, match="between 0 and 100"):
        memory.texts.around(entry, **wrong)  # type: ignore[arg-type]


def test_a_word_that_is_also_an_id_is_a_word_in_a_sentence(memory: Memory) -> None:
    entry = log(memory, "The root cause of the readiness failure was a missing probe.")
    memory.cycle()
    assert ids(memory, "root")[0] == "root"
    assert ids(memory, "root cause of the readiness failure")[0] == entry


def test_the_end_of_a_long_text_is_read_as_its_beginning_is(memory: Memory) -> None:
    entry = log(memory, "Stripe webhooks arrive out of order.")
    padding = " ".join(f"nonsense{number}" for number in range(150))
    assert ids(memory, f"{padding} Stripe webhooks out of order") == [entry]


def test_hits_that_a_filter_holds_back_do_not_hide_those_it_lets_through(memory: Memory) -> None:
    for number in range(120):
        memory.learn(learning(title=f"Orders table {number}", observation=f"Row{number} x{number}", domain="database"))
    wanted = memory.learn(learning(title="Orders table", observation="The header scrolls away", domain="ui")).learning
    assert ids(memory, "orders table", domain="ui") == [wanted.id]


def test_the_order_is_the_same_a_second_later(memory: Memory, clock: ScriptedClock) -> None:
    for number in range(60):
        memory.learn(learning(title=f"Alpha {number}", observation=f"Saw{number} y{number}"))
        clock.advance(ms=7)
    before = ids(memory, "alpha")
    clock.advance(seconds=1)
    assert ids(memory, "alpha") == before


def test_a_staged_entry_that_somebody_writes_or_deletes_by_hand_is_followed(memory: Memory) -> None:
    file = memory.project.root / "memory" / "learnings.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text("# Learnings\n\n## Never feed the hippo\n\nWhen the hippo sleeps, leave it alone.\n")
    assert ids(memory, "hippo") == ["staged/never-feed-the-hippo"]
    file.write_text("# Learnings\n")
    assert ids(memory, "hippo") == []


def test_a_log_that_we_wrote_ourselves_is_not_read_again_for_a_search(memory: Memory) -> None:
    log(memory, "The refund webhook moved to the queue.")
    assert logs_read_in(memory) == 0
    memory.context.vault.append(f"{memory.journal.days()[0].day}.md", "\n## By hand\n\nQuokkas were seen.\n")
    assert (logs_read_in(memory), logs_read_in(memory)) == (1, 0)


# Scripts without spaces


@pytest.mark.parametrize(
    ("query", "wanted"), [("猫", {0, 1}), ("猫 食", {0, 1}), ("狗", {2}), ("鸟", set())], ids=ascii
)
def test_one_character_finds_what_holds_it_wherever_it_stands(memory: Memory, query: str, wanted: set[int]) -> None:
    titles = ("猫食必须每天更换", "家里有一只黑猫", "狗")
    kept = [memory.learn(learning(title=title), anyway=True).learning.id for title in titles]
    assert set(ids(memory, query)) == {kept[number] for number in wanted}


def test_a_question_about_unknown_things_is_less_likely_met(memory: Memory) -> None:
    """The same words of it match; but what a memory never heard of is most likely not what it is about."""
    log(memory, "The stripe webhooks arrived out of order.", topic="billing")
    met, strange = (
        memory.search(query, strategy="bm25")[0].relevance
        for query in ("stripe webhooks order", "stripe webhooks order violin lessons kitchen")
    )
    assert strange < met / 2
