"""Asking models: who pays, how often, within which budget; and the agent as a model that answers later."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import AGENT, PERSON, STRANGER, Opener
from recollect import Memory, ScriptedClock
from recollect.core.context import Completion, Prompt
from recollect.core.errors import BadInput, NoAnswer
from recollect.core.journal import NewEntry
from recollect.models.ask import OFFLINE, Ask, ModelAnswer, ask, check_answer, load_prompt, redact_answer
from recollect.models.budget import max_tokens_of
from recollect.models.embed import similarity_to
from recollect.models.scripted import ScriptedModels, ScriptedProvider
from recollect.store import journal
from recollect.text import nodes
from scripted import Fault, Request, ScriptedServer

SOURCE = "The queue was moved to PostgreSQL because a broker would need backups of its own."
ANSWER = "Queue in PostgreSQL: a broker needs backups"


def question(source: str = SOURCE, **more: object) -> Ask[str]:
    given = {"kind": "theme", "subject": "theme/queues", "sources": (source,), "offline": lambda: "twin", "accept": str}
    return Ask(**{**given, **more})  # type: ignore[arg-type]


class Counting:
    """A provider that says what it used, or fails as told."""

    name = "counting"

    def __init__(
        self, *lines: str | NoAnswer | Callable[[], str], tokens: tuple[int, int] = (10, 5), stop: Any = "end"
    ):
        self._lines = list(lines)
        self._tokens = tokens
        self._stop = stop
        self.asked: list[Prompt] = []

    def complete(self, prompt: Prompt) -> Completion:
        self.asked.append(prompt)
        line = self._lines.pop(0) if len(self._lines) > 1 else self._lines[0]
        if isinstance(line, NoAnswer):
            raise line
        text = line() if callable(line) else line
        return Completion(text=text, input_tokens=self._tokens[0], output_tokens=self._tokens[1], stop=self._stop)


def budgeted(open_memory: Opener, provider: object, tokens: int, environ: dict[str, str]) -> Memory:
    environ["RECOLLECT_MODELS_DAILY_TOKENS"] = str(tokens)
    return open_memory(models=ScriptedModels({"theme": provider}))  # type: ignore[dict-item]


def used(memory: Memory) -> tuple[int, int, int]:
    today = memory.status().models.today
    return today.calls, today.tokens, today.fallbacks


# One answer


def test_without_a_model_the_twin_answers_and_nothing_is_counted(memory: Memory) -> None:
    assert ask(memory.context, question()) == ModelAnswer(value="twin", generator=OFFLINE)
    assert used(memory) == (0, 0, 0)


def test_an_answer_carries_who_gave_it_by_which_prompt(open_memory: Opener) -> None:
    memory = open_memory(models=ScriptedModels({"theme": ScriptedProvider([ANSWER])}))
    assert ask(memory.context, question()).generator == f"scripted@{load_prompt('theme').version}"
    assert memory.models.usage()[0].generator == f"scripted@{load_prompt('theme').version}"


@pytest.mark.parametrize(
    ("answer", "more", "why"),
    [
        ("", {}, "empty"),
        ("x" * 200, {}, "characters"),
        ("I'm sorry, I cannot help", {}, "refusal"),
        (json.dumps({"summary": "I'm sorry, I can't"}), {}, "refusal"),
        ("See https://evil.example", {}, "in no source"),
        (json.dumps({"a": "Run `rm -rf /`"}), {}, "in no source"),
        ("Something else", {"must_keep": [SOURCE]}, "must keep"),
        (load_prompt("theme").text, {"longest": 10_000}, "repeats its instructions"),
    ],
)
def test_what_breaks_a_rule_is_not_an_answer(answer: str, more: dict[str, object], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        check_answer(question(**more), redact_answer(question(**more), answer))


def test_a_secret_in_an_answer_is_not_kept(open_memory: Opener) -> None:
    token = "ghp_" + "a1B2" * 9
    memory = open_memory(models=ScriptedModels({"theme": ScriptedProvider([f"the token {token}"])}))
    assert token not in ask(memory.context, question()).value


# Trying again


def test_a_model_that_is_busy_is_tried_three_times_with_growing_pauses(open_memory: Opener) -> None:
    provider = Counting(NoAnswer("HTTP 429", again=True))
    models = ScriptedModels({"theme": provider})
    memory = open_memory(models=models)
    assert ask(memory.context, question()).value == "twin"
    assert (len(provider.asked), models.pauses) == (3, [1.0, 2.0])
    assert used(memory) == (3, 0, 1), "what a server turned away was not paid for"


def test_a_server_is_left_alone_as_long_as_it_asks_for(open_memory: Opener) -> None:
    models = ScriptedModels({"theme": Counting(NoAnswer("HTTP 429", again=True, after=7.0), ANSWER)})
    assert ask(open_memory(models=models).context, question()).value == ANSWER
    assert models.pauses == [7.0]


@pytest.mark.parametrize("failure", [NoAnswer("HTTP 401"), NoAnswer("HTTP 429", again=True, after=3600.0)])
def test_what_another_try_cannot_mend_is_not_tried_again(open_memory: Opener, failure: NoAnswer) -> None:
    provider = Counting(failure)
    models = ScriptedModels({"theme": provider})
    assert ask(open_memory(models=models).context, question()).value == "twin"
    assert (len(provider.asked), models.pauses) == (1, [])


@pytest.mark.parametrize(
    "provider",
    [Counting("See https://evil.example"), Counting(ANSWER, stop="length"), Counting(ANSWER, stop="refusal")],
    ids=["breaks a rule", "cut off", "refused"],
)
def test_an_answer_that_cannot_be_used_is_tried_again_and_paid_for_each_time(
    open_memory: Opener, provider: Counting
) -> None:
    memory = open_memory(models=ScriptedModels({"theme": provider}))
    assert ask(memory.context, question()).value == "twin"
    assert used(memory) == (3, 45, 1)


def test_about_more_than_a_model_is_given_it_is_not_asked(open_memory: Opener) -> None:
    provider = Counting(ANSWER)
    memory = open_memory(models=ScriptedModels({"theme": provider}))
    assert ask(memory.context, question("x" * 200_001)).value == "twin"
    assert (provider.asked, used(memory)) == ([], (0, 0, 1))


# The budget


def test_a_call_that_could_pass_the_budget_is_not_made(open_memory: Opener, environ: dict[str, str]) -> None:
    provider = Counting(ANSWER)
    memory = budgeted(open_memory, provider, 100, environ)
    assert ask(memory.context, question()).value == "twin"
    assert (provider.asked, used(memory)) == ([], (0, 0, 1))


def test_the_budget_is_never_passed_and_is_fresh_the_next_day(
    open_memory: Opener, environ: dict[str, str], clock: ScriptedClock
) -> None:
    largest = max_tokens_of(
        Prompt(kind="theme", instructions=load_prompt("theme").text, data="x" * 60, max_tokens=1000, timeout=1)
    )
    provider = Counting("a b c", tokens=(400, 100))
    memory = budgeted(open_memory, provider, largest + 1200, environ)
    for number in range(9):
        ask(memory.context, question(f"source number {number}"))
    calls, tokens, fallbacks = used(memory)
    assert tokens == calls * 500 <= largest + 1200
    assert (calls + fallbacks, len(provider.asked)) == (9, calls)
    assert 0 < calls < 9
    clock.advance(days=1)
    assert ask(memory.context, question("tomorrow's source")).value == "a b c"


def test_a_call_nobody_can_tell_the_price_of_counts_with_all_it_could_use(open_memory: Opener) -> None:
    provider = Counting(NoAnswer("timed out", again=True, billed=True))
    memory = open_memory(models=ScriptedModels({"theme": provider}))
    ask(memory.context, question())
    assert used(memory)[1] == sum(map(max_tokens_of, provider.asked))


def test_a_process_that_died_while_asking_has_used_what_it_set_aside(open_memory: Opener, clock: ScriptedClock) -> None:
    class Killed(BaseException):
        pass

    def die() -> str:
        raise Killed

    first = open_memory(models=ScriptedModels({"theme": Counting(die)}))
    with pytest.raises(Killed):
        ask(first.context, question())
    assert used(first)[1] > 1000


def test_what_it_cost_is_computed_from_the_price(open_memory: Opener, environ: dict[str, str]) -> None:
    environ |= {"RECOLLECT_MODELS_PRICE_IN": "3", "RECOLLECT_MODELS_PRICE_OUT": "15"}
    memory = open_memory(models=ScriptedModels({"theme": Counting(ANSWER, tokens=(1000, 200))}))
    ask(memory.context, question())
    assert memory.status().models.all_time.cost == pytest.approx(0.006)


# Nobody pays twice, nobody waits for a lock


def test_two_who_ask_the_same_at_once_pay_once_and_get_the_same(open_memory: Opener) -> None:
    asking, may_answer = threading.Event(), threading.Event()

    def slow() -> str:
        asking.set()
        assert may_answer.wait(20)
        return ANSWER

    provider = Counting(slow)

    class Patient(ScriptedModels):
        def pause(self, seconds: float) -> None:
            may_answer.set()
            threading.Event().wait(0.05)

    one, other = (open_memory(models=Patient({"theme": provider})) for _ in range(2))  # type: ignore[dict-item]
    found: list[ModelAnswer[str]] = []
    first = threading.Thread(target=lambda: found.append(ask(one.context, question())))
    first.start()
    assert asking.wait(20)
    found.append(ask(other.context, question()))
    first.join()
    assert [answer.value for answer in found] == [ANSWER, ANSWER]
    assert len(provider.asked) == 1


def test_a_claim_that_expired_is_taken_over_and_counts_as_used(open_memory: Opener, clock: ScriptedClock) -> None:
    from recollect.models import budget
    from recollect.models.ask import make_prompt

    memory = open_memory(models=ScriptedModels({"theme": ScriptedProvider([ANSWER])}))
    asked = question()
    killed = budget.claimed(memory.context, asked.id, kind="theme", generator="dead", seconds=60)
    claim = killed.__enter__()  # never left: its process was killed
    assert claim is not None
    assert budget.reserve_tokens(claim, make_prompt(memory.context, asked))
    assert ask(memory.context, asked).value == "twin", "somebody is asking"
    clock.advance(seconds=61)
    assert ask(memory.context, asked).value == ANSWER
    by_generator = {each.generator.partition("@")[0]: each for each in memory.models.usage()}
    assert by_generator["dead"].tokens == max_tokens_of(make_prompt(memory.context, asked))


def test_a_writer_during_a_slow_call_waits_for_nothing_and_loses_nothing(open_memory: Opener) -> None:
    other = open_memory(AGENT)

    def write() -> str:
        other.journal.add(NewEntry(text="written while a model thinks", topic="meanwhile"))
        return ANSWER

    memory = open_memory(models=ScriptedModels({"theme": Counting(write)}))
    assert ask(memory.context, question()).value == ANSWER
    assert "written while a model thinks" in other.journal.show("2026-03-02")


# Prompts have versions


def long_day(memory: Memory) -> None:
    text = "\n".join(f"## topic {number}\n\nDecided on {number}.\n" for number in range(120))
    memory.context.vault.append("2026-03-02.md", text)


SUMMARY = "## Topics\n- all topics: decided, each on its own number"


def generator(memory: Memory) -> str:
    return nodes.parse("daily/2026-03-02", memory.journal.node("daily/2026-03-02")).generator


def test_a_model_that_comes_later_writes_what_was_summarised_without_it(open_memory: Opener) -> None:
    memory = open_memory()
    long_day(memory)
    memory.journal.compact()
    assert generator(memory) == nodes.OFFLINE
    later = open_memory(models=ScriptedModels({"daily": ScriptedProvider([SUMMARY])}))
    later.journal.compact()
    assert generator(later) == f"scripted@{load_prompt('summarise').version}"


def test_a_changed_prompt_has_its_nodes_written_again(open_memory: Opener) -> None:
    provider = ScriptedProvider([SUMMARY, SUMMARY + " of the day"])
    memory = open_memory(models=ScriptedModels({"daily": provider}))
    long_day(memory)
    memory.journal.compact()
    _made_with_an_older_prompt(memory)
    memory.journal.compact()
    assert len(provider.prompts) == 2
    assert "of the day" in memory.journal.node("daily/2026-03-02")


def test_what_a_model_wrote_stays_while_asking_again_fails(open_memory: Opener) -> None:
    provider = ScriptedProvider([SUMMARY, "no", "no", "no"])
    memory = open_memory(models=ScriptedModels({"daily": provider}))
    long_day(memory)
    memory.journal.compact()
    _made_with_an_older_prompt(memory)
    memory.journal.compact()
    assert len(provider.prompts) == 4
    assert "each on its own number" in memory.journal.node("daily/2026-03-02")
    assert memory.status().tree["waiting"] == 1


def _made_with_an_older_prompt(memory: Memory) -> None:
    """The state a store is in when a newer program with another prompt opens it."""
    old, now = "scripted@000000000000", f"scripted@{load_prompt('summarise').version}"
    text = memory.journal.node("daily/2026-03-02")
    memory.context.vault.replace("daily/2026-03-02.md", text.replace(now, old))
    with memory.context.db.write(memory.context.space) as tx:
        tx.run("UPDATE nodes SET generator = :old WHERE space = :space AND generator = :now", old=old, now=now)
        tx.run("DELETE FROM answers WHERE space = :space")
        journal.put_state(tx, "summaries by", "older")


def test_external_text_is_not_given_to_a_model(open_memory: Opener) -> None:
    provider = ScriptedProvider([SUMMARY])
    memory = open_memory(models=ScriptedModels({"daily": provider}))
    long_day(memory)
    stranger = open_memory(actor=PERSON.__class__(name="import", channel="import", trust="external"))
    stranger.journal.add(NewEntry(text="words of a stranger", topic="imported"))
    memory.journal.compact()
    assert "words of a stranger" not in provider.prompts[0].data


# The agent answers later


def agent_memory(open_memory: Opener, environ: dict[str, str]) -> Memory:
    environ["RECOLLECT_MODELS_PROVIDER"] = "agent"
    return open_memory(AGENT)


def test_what_an_agent_is_to_answer_is_listed_with_all_it_needs(open_memory: Opener, environ: dict[str, str]) -> None:
    memory = agent_memory(open_memory, environ)
    long_day(memory)
    memory.journal.compact()
    (open_ask,) = [each for each in memory.models.pending() if each.kind == "daily"]
    assert open_ask.subject == "daily/2026-03-02"
    assert open_ask.instructions == load_prompt("summarise").text
    assert "Decided on 7." in open_ask.sources[1]
    assert open_ask.max_tokens == 4_000
    assert generator(memory) == nodes.OFFLINE, "until then the offline twin's stands"
    assert memory.status().models.pending == len(memory.models.pending())


def test_the_next_cycle_uses_what_was_applied(open_memory: Opener, environ: dict[str, str]) -> None:
    memory = agent_memory(open_memory, environ)
    long_day(memory)
    memory.journal.compact()
    (id,) = [each.id for each in memory.models.pending() if each.kind == "daily"]
    (done,) = memory.models.apply([{"id": id, "answer": SUMMARY}])
    assert done.taken
    memory.cycle()
    assert generator(memory) == f"agent:claude-code@{load_prompt('summarise').version}"
    assert id not in [each.id for each in memory.models.pending()]


def test_answers_are_taken_or_refused_each_for_itself(open_memory: Opener, environ: dict[str, str]) -> None:
    memory = agent_memory(open_memory, environ)
    long_day(memory)
    memory.observe("DISCOVERY[blocker]: The staging database refuses connections from CI.", task="t")
    memory.journal.compact()
    ids = {each.kind: each.id for each in memory.models.pending()}
    done = memory.models.apply(
        [
            {"id": ids["daily"], "answer": SUMMARY},
            {"id": ids["extract"], "answer": {"title": "too little"}},
            {"id": "ask_0000", "answer": "x"},
            {"id": ids["daily"], "answer": SUMMARY},
            "nonsense",
        ]
    )
    assert [each.taken for each in done] == [True, False, False, False, False]
    assert ["tags" in done[1].reason, "stale" in done[2].reason, "before" in done[3].reason] == [True] * 3


def test_an_answer_about_what_has_changed_is_stale(open_memory: Opener, environ: dict[str, str]) -> None:
    memory = agent_memory(open_memory, environ)
    long_day(memory)
    memory.journal.compact()
    (id,) = [each.id for each in memory.models.pending() if each.kind == "daily"]
    memory.journal.add(NewEntry(text="one more thing", topic="late"))
    (done,) = memory.models.apply([{"id": id, "answer": SUMMARY}])
    assert (done.taken, "stale" in done.reason) == (False, True)
    memory.journal.compact()
    (fresh,) = [each for each in memory.models.pending() if each.kind == "daily"]
    assert fresh.id != id
    assert "one more thing" in fresh.sources[1]


def test_an_agents_words_replace_the_offline_learning_unless_somebody_edited_it(
    open_memory: Opener, environ: dict[str, str]
) -> None:
    from recollect import LearningEdit

    memory = agent_memory(open_memory, environ)
    for number, what in enumerate(("The staging database refuses connections", "The proxy drops idle sockets")):
        memory.observe(f"DISCOVERY[blocker]: {what}.", task=f"t{number}")
    edited = next(each for each in memory.learnings.page()[0] if "proxy" in each.title)
    memory.learnings.edit(edited.id, LearningEdit(title="Proxies drop idle sockets"))
    better = {
        "title": "Better words", "context": "c", "observation": "o", "implication": "i", "action": "a",
        "tags": ["one", "two"], "domain": "network",
    }  # fmt: skip
    memory.models.apply([{"id": each.id, "answer": better} for each in memory.models.pending()])
    memory.cycle()
    titles = {each.title: each.origin for each in memory.learnings.page()[0]}
    assert titles == {
        "Better words": f"observer:agent:claude-code@{load_prompt('extract').version}",
        "Proxies drop idle sockets": "observer:offline",
    }


GATEWAY = "The gateway closes idle connections after a minute, so clients have to send keep-alives."


def test_an_output_from_outside_is_not_put_to_an_agent(open_memory: Opener, environ: dict[str, str]) -> None:
    agent_memory(open_memory, environ)
    open_memory(STRANGER).observe(f"All done. {GATEWAY} " * 3, task="t-1")
    assert open_memory(PERSON).models.pending() == []


def test_what_an_agent_saw_in_an_output_is_an_agents_word_whoever_runs_the_cycle(
    open_memory: Opener, environ: dict[str, str]
) -> None:
    agent_memory(open_memory, environ).observe(
        f"All done. {GATEWAY} " * 3, task="t-1", outcome="launch", title="Proxies"
    )
    person = open_memory(PERSON)
    (asked,) = person.models.pending()
    seen = {"discoveries": [{"type": "constraint", "content": GATEWAY}]}
    assert [each.taken for each in person.models.apply([{"id": asked.id, "answer": seen}])] == [True]
    person.cycle()
    (kept,) = person.learnings.page()[0]
    assert (kept.trust, kept.source_task_id, kept.source_outcome_id) == ("agent", "t-1", "launch")
    assert asked.id not in [each.id for each in person.models.pending()]


def test_a_purged_text_is_in_no_open_ask(open_memory: Opener, environ: dict[str, str]) -> None:
    agent_memory(open_memory, environ).observe("DISCOVERY[blocker]: The codeword is heliotrope.", task="t")
    person = open_memory(PERSON)
    person.data.purge(text="heliotrope")
    assert person.models.pending() == []


def test_offline_forbids_every_call(open_memory: Opener, environ: dict[str, str], tmp_path: Path) -> None:
    trace = tmp_path / "called"
    environ |= {
        "RECOLLECT_MODELS_PROVIDER": "command",
        "RECOLLECT_MODELS_COMMAND": f"touch,{trace}",
        "RECOLLECT_OFFLINE": "1",
    }
    memory = open_memory(AGENT)
    memory.observe("DISCOVERY[blocker]: The staging database refuses connections from CI.", task="t")
    assert (trace.exists(), memory.status().models.configured, memory.models.check()) == (False, {}, [])


def test_check_tries_each_provider_once(open_memory: Opener, environ: dict[str, str]) -> None:
    environ |= {"RECOLLECT_MODELS_PROVIDER": "command", "RECOLLECT_MODELS_COMMAND": "echo,ready"}
    (found,) = open_memory().models.check()
    assert (found.name, found.ok, len(found.kinds)) == ("command:echo", True, 15)
    assert found.seconds is not None
    assert found.cost is None


# Vectors of an endpoint


def test_vectors_of_an_endpoint_are_counted_and_their_failure_costs_only_vectors(
    open_memory: Opener, environ: dict[str, str]
) -> None:
    lines: list[Fault | None] = [None, Fault(status=500)]

    def vectors(request: Request) -> list[list[float]] | Fault:
        return lines.pop(0) or [[1.0, float(len(text))] for text in request.inputs]

    with ScriptedServer(embeddings=vectors) as server:
        environ |= {
            "RECOLLECT_EMBED_USE": "openai",
            "RECOLLECT_EMBED_MODEL": "e",
            "RECOLLECT_EMBED_BASE_URL": f"{server.url}/v1",
        }
        memory = open_memory()
        memory.journal.add(NewEntry(text="The queue was moved to PostgreSQL", topic="queue"))
        compare = similarity_to(memory.context)
        assert compare is not None
        assert compare("one text", ["another text"])[0] > 0.9
        assert compare("a third text", ["a fourth one"]) == [0.0], "unsure means keep"
    (used,) = [each for each in memory.models.usage() if each.kind == "embedding"]
    assert used.calls == 2
    assert 0 < used.tokens < 100


def test_vectors_keep_to_the_budget(open_memory: Opener, environ: dict[str, str]) -> None:
    with ScriptedServer() as server:
        environ |= {
            "RECOLLECT_EMBED_USE": "openai",
            "RECOLLECT_EMBED_MODEL": "e",
            "RECOLLECT_EMBED_BASE_URL": f"{server.url}/v1",
            "RECOLLECT_MODELS_DAILY_TOKENS": "100",
        }
        memory = open_memory()
        memory.journal.add(NewEntry(text="The queue was moved to PostgreSQL", topic="queue"))
        assert "budget" in repr(memory.cycle().steps)
    assert server.requests == []
    assert memory.models.usage() == [], "what was never sent is no call"
