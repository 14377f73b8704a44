"""Providers against a scripted server, through the real SDKs, and commands as real processes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from recollect.core.context import Completion, Prompt, Provider
from recollect.core.errors import BadInput, NoAnswer
from recollect.core.settings import EmbedSettings, ModelSettings, Settings, merged
from recollect.models.configured import ConfiguredModels
from scripted import Fault, Reply, ScriptedServer

PROMPT = Prompt(kind="extract", instructions="Be short.", data="<source>\nx\n</source>", max_tokens=50, timeout=5.0)
KEY = "sk-proj-Zx81kQ0vTn4Lw7Rb2Yd5Fh"
WIRES = ("anthropic", "openai")
Make = Callable[..., Provider]


def provider(wire: str, server: ScriptedServer, **more: object) -> Provider:
    base = server.url if wire == "anthropic" else f"{server.url}/v1"
    settings = ModelSettings(provider=wire, model="m-1", base_url=base, key_env="MY_KEY", **more)  # type: ignore[arg-type]
    return made(settings, {"MY_KEY": KEY})


def made(settings: ModelSettings, environ: Mapping[str, str]) -> Provider:
    found = ConfiguredModels(settings, EmbedSettings(), environ).provider("extract")
    assert found is not None
    return found


def command(*argv: str, environ: Mapping[str, str] | None = None) -> Provider:
    return made(ModelSettings(provider="command", command=argv), environ or {"PATH": os.environ["PATH"]})


def python(code: str) -> Provider:
    return command(sys.executable, "-c", code)


@pytest.mark.parametrize("wire", WIRES)
def test_an_answer_comes_back_with_what_it_used(wire: str) -> None:
    with ScriptedServer([Reply(text="Fine.", input_tokens=12, output_tokens=3)]) as server:
        said = provider(wire, server).complete(PROMPT)
    assert said == Completion(text="Fine.", input_tokens=12, output_tokens=3)
    (asked,) = server.asked
    assert (asked.system, asked.text, asked.model) == ("Be short.", PROMPT.data, "m-1")
    assert KEY in " ".join(asked.headers.values())
    assert asked.body["max_tokens"] == 50


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(("stop", "said"), [("max_tokens", "length"), ("refusal", "refusal")])
def test_an_answer_that_stopped_early_says_so(wire: str, stop: str, said: str) -> None:
    with ScriptedServer([Reply(text="No.", stop=stop)]) as server:
        assert provider(wire, server).complete(PROMPT).stop == said


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("status", "again"), [(400, False), (401, False), (403, False), (404, False), (429, True), (500, True), (529, True)]
)
def test_only_some_failures_are_worth_another_try(wire: str, status: int, again: bool) -> None:
    with ScriptedServer([Fault(status=status)]) as server, pytest.raises(NoAnswer) as caught:
        provider(wire, server).complete(PROMPT)
    assert (caught.value.again, caught.value.billed) == (again, False)
    assert f"HTTP {status}" in str(caught.value)
    assert len(server.asked) == 1, "the SDK does not try again behind our back"


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(("header", "after"), [("7", 7.0), ("soon", None), ("-1", None), ("nan", None)])
def test_a_server_may_ask_to_be_left_alone(wire: str, header: str, after: float | None) -> None:
    fault = Fault(status=429, headers={"retry-after": header})
    with ScriptedServer([fault]) as server, pytest.raises(NoAnswer) as caught:
        provider(wire, server).complete(PROMPT)
    assert caught.value.after == after


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "line",
    [
        Reply(text="cut off", cut_after=20),
        Fault(status=200, body=b"<html>"),
        Fault(status=200, body=b"{}"),
        Fault(status=200, body=b'{"choices": [], "content": null}'),
        Fault(status=200, body=b""),
    ],
    ids=["cut", "html", "empty object", "nothing in it", "no body"],
)
def test_what_is_no_answer_may_have_been_billed(wire: str, line: Reply | Fault) -> None:
    with ScriptedServer([line]) as server, pytest.raises(NoAnswer) as caught:
        provider(wire, server).complete(PROMPT)
    assert (caught.value.again, caught.value.billed) == (True, True)


@pytest.mark.parametrize("wire", WIRES)
def test_a_server_that_is_not_there_was_not_paid(wire: str) -> None:
    with ScriptedServer() as server:
        gone = provider(wire, server)
    with pytest.raises(NoAnswer) as caught:
        gone.complete(PROMPT)
    assert (caught.value.again, caught.value.billed) == (True, False)


@pytest.mark.parametrize("wire", WIRES)
def test_the_time_limit_holds_for_the_whole_call(wire: str) -> None:
    with ScriptedServer([Reply(text="late", delay=60)]) as server:
        started = time.monotonic()
        with pytest.raises(NoAnswer, match=r"seconds|Timeout") as caught:
            provider(wire, server).complete(Prompt(**{**vars(PROMPT), "timeout": 0.3}))
        assert time.monotonic() - started < 10
    assert (caught.value.again, caught.value.billed) == (True, True)


@pytest.mark.parametrize("wire", WIRES)
def test_a_key_never_comes_back_in_an_error(wire: str) -> None:
    with ScriptedServer([Fault(status=401, message=f"Incorrect API key provided: {KEY}")]) as server:
        asked = provider(wire, server)
        with pytest.raises(NoAnswer) as caught:
            asked.complete(PROMPT)
    shown = f"{caught.value!r} {caught.value} {caught.value.__cause__!r} {asked!r} {vars(asked)!r}"
    assert KEY not in shown
    assert caught.value.__suppress_context__


def test_a_server_of_ones_own_is_not_sent_the_key_of_another() -> None:
    environ = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    for wire in WIRES:
        with ScriptedServer(["fine"]) as server:
            made(ModelSettings(provider=wire, model="m", base_url=f"{server.url}/v1"), environ).complete(PROMPT)
        assert KEY not in " ".join(server.asked[0].headers.values())


@pytest.mark.parametrize("wire", WIRES)
def test_without_a_key_nothing_is_sent(wire: str) -> None:
    with ScriptedServer(["fine"]) as server, pytest.raises(NoAnswer, match="MY_KEY is not set"):
        made(ModelSettings(provider=wire, model="m", base_url=server.url, key_env="MY_KEY"), {}).complete(PROMPT)
    assert server.requests == []


def test_a_command_may_print_the_key() -> None:
    with ScriptedServer(["fine"]) as server:
        settings = ModelSettings(provider="openai", model="m", base_url=f"{server.url}/v1", key_command=("echo", KEY))
        made(settings, {}).complete(PROMPT)
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("argv", "said"),
    [(("false",), "exit code 1"), (("no-such-program",), "could not be run"), (("true",), "printed nothing")],
)
def test_a_key_command_that_fails_says_so(argv: tuple[str, ...], said: str) -> None:
    settings = ModelSettings(provider="anthropic", model="m", key_command=argv)
    with pytest.raises(NoAnswer, match=said):
        made(settings, {}).complete(PROMPT)


# Commands


def test_a_command_gets_the_prompt_on_its_input_and_answers_on_its_output() -> None:
    said = command("cat").complete(PROMPT)
    assert said.text == "Be short.\n<source>\nx\n</source>"
    assert (said.input_tokens, said.output_tokens) == (None, None)


def test_no_shell_reads_the_arguments() -> None:
    assert command("echo", "$HOME; id", "`id`").complete(PROMPT).text == "$HOME; id `id`"


def test_a_command_runs_in_an_empty_folder_without_a_hosts_marks() -> None:
    environ = {"PATH": os.environ["PATH"], "CLAUDECODE": "1", "KEPT": "yes"}
    code = "import os; print(os.listdir('.'), os.environ.get('CLAUDECODE'), os.environ['KEPT'])"
    assert command(sys.executable, "-c", code, environ=environ).complete(PROMPT).text == "[] None yes"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise SystemExit(3)", "exit code 3"),
        ("import time; time.sleep(60)", "within 0.5 seconds"),
        ("while True: print('x' * 10000)", "more than"),
        ("import os, time; os.close(1); os.close(2); time.sleep(60)", "did not exit"),
    ],
)
def test_a_command_that_misbehaves_is_no_answer(code: str, said: str) -> None:
    with pytest.raises(NoAnswer, match=said):
        python(code).complete(Prompt(**{**vars(PROMPT), "timeout": 0.5 if "within" in said else 20.0}))


def test_what_a_command_started_ends_with_it(tmp_path: Path) -> None:
    trace = tmp_path / "pid"
    code = (
        "import subprocess, sys; p = subprocess.Popen(['sleep', '600'], stdout=subprocess.DEVNULL);"
        f"open({str(trace)!r}, 'w').write(str(p.pid)); print('done')"
    )
    assert python(code).complete(PROMPT).text == "done"
    deadline = time.monotonic() + 10
    while _alive(int(trace.read_text())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(int(trace.read_text()))


def _alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_command_that_is_not_there_says_so() -> None:
    with pytest.raises(NoAnswer, match="no-such-program could not be started"):
        command("no-such-program").complete(PROMPT)


def test_a_command_that_does_not_read_its_input_can_still_answer() -> None:
    large = Prompt(**{**vars(PROMPT), "data": "x" * 1_000_000})
    assert command("echo", "fine").complete(large).text == "fine"


# Choosing


def test_nothing_is_configured_by_default() -> None:
    assert ConfiguredModels(ModelSettings(), EmbedSettings(), {"ANTHROPIC_API_KEY": KEY}).provider("daily") is None


def test_one_kind_of_job_may_have_a_model_of_its_own() -> None:
    given = {"models": {"provider": "anthropic", "model": "big", "jobs": {"daily": {"model": "small"}}}}
    settings = merged(Settings(), given, "test").models
    chosen = ConfiguredModels(settings, EmbedSettings(), {})
    names = {kind: made.name for kind in ("daily", "weekly") if (made := chosen.provider(kind))}
    assert names == {"daily": "anthropic:small", "weekly": "anthropic:big"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"provider": "gpt"},
        {"provider": "openai"},
        {"provider": "command"},
        {"jobs": {"dayly": {"model": "m"}}},
        {"jobs": {"daily": {"modle": "m"}}},
        {"jobs": {"daily": {"model": 5}}},
        {"jobs": ["daily"]},
        {"provider": "agent", "seconds": -1.0},
    ],
)
def test_settings_that_cannot_hold_are_refused(wrong: dict[str, object]) -> None:
    settings = merged(Settings(), {"models": wrong}, "test").models
    with pytest.raises(BadInput, match="models"):
        ConfiguredModels(settings, EmbedSettings(), {}).provider("daily")


@pytest.mark.parametrize("name", ["provider", "base_url", "command", "key_command", "key_env", "jobs"])
def test_a_repository_chooses_no_model_before_it_is_trusted(name: str) -> None:
    value: object = ["x"] if "command" in name else {"daily": {"model": "m"}} if name == "jobs" else "x"
    with pytest.raises(BadInput, match="recollect host trust"):
        merged(Settings(), {"models": {name: value}}, "recollect.toml", trusted=lambda: False)


def test_offline_no_provider_and_no_endpoint_is_given() -> None:
    embed = EmbedSettings(use="openai", model="e", base_url="http://127.0.0.1:9/v1")
    chosen = ConfiguredModels(ModelSettings(provider="agent"), embed, {}, offline=True)
    assert (chosen.provider("daily"), chosen.embedder()) == (None, None)


# Vectors


def test_an_endpoint_gives_unit_vectors_in_order() -> None:
    with ScriptedServer() as server:
        embed = EmbedSettings(use="openai", model="e-1", base_url=f"{server.url}/v1")
        embedder = ConfiguredModels(ModelSettings(), embed, {}).embedder()
        assert embedder is not None
        texts = [f"word{n % 5} common" for n in range(70)]
        vectors = embedder.embed(texts)
    assert embedder.name == f"e-1@{server.url.removeprefix('http://')}"
    assert len(vectors) == 70
    assert len(server.requests) == 2, "long lists go in batches"
    assert float(vectors[0] @ vectors[5]) == pytest.approx(1.0)
    assert float(vectors[0] @ vectors[1]) < 0.99


@pytest.mark.parametrize("vectors", [[[1.0]], [[1.0], [1.0, 2.0]], [[1.0], [float("nan")]]])
def test_vectors_that_cannot_be_are_no_answer(vectors: list[list[float]]) -> None:
    with ScriptedServer(embeddings=lambda _: vectors) as server:
        embed = EmbedSettings(use="openai", model="e", base_url=f"{server.url}/v1")
        embedder = ConfiguredModels(ModelSettings(), embed, {}).embedder()
        assert embedder is not None
        with pytest.raises(NoAnswer):
            embedder.embed(["one", "two"])
