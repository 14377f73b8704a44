"""The scripted server, seen through the real SDKs."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from urllib.parse import urlsplit

import anthropic
import openai
import pytest

from scripted import Fault, Reply, Request, ScriptedServer, ToolUse

ASKED = [{"role": "user", "content": "Which day is it?"}]
SUNDAY = "Sunday: the shop is closed, and so is the queue of parcels."


def claude(server: ScriptedServer) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="sk-test", base_url=server.url, max_retries=0, timeout=5)


def gpt(server: ScriptedServer) -> openai.OpenAI:
    return openai.OpenAI(api_key="sk-test", base_url=f"{server.url}/v1", max_retries=0, timeout=5)


def test_the_anthropic_sdk_reads_a_reply() -> None:
    with ScriptedServer([Reply(text=SUNDAY, input_tokens=7, output_tokens=11)]) as server, claude(server) as client:
        said = client.messages.create(model="m", max_tokens=50, system="Be short.", messages=ASKED)  # type: ignore[arg-type]
    assert [block.text for block in said.content if block.type == "text"] == [SUNDAY]
    assert (said.stop_reason, said.usage.input_tokens, said.usage.output_tokens) == ("end_turn", 7, 11)
    asked = server.asked[0]
    assert (asked.model, asked.system, asked.text, asked.stream) == ("m", "Be short.", "Which day is it?", False)
    assert "sk-test" in " ".join(asked.headers.values())


def test_the_anthropic_sdk_reads_a_stream_with_a_tool_in_it() -> None:
    tool = ToolUse(name="calendar", input={"day": "2026-03-01"})
    with (
        ScriptedServer([Reply(text=SUNDAY, tools=[tool])]) as server,
        claude(server) as client,
        client.messages.stream(model="m", max_tokens=50, messages=ASKED) as stream,  # type: ignore[arg-type]
    ):
        assert "".join(stream.text_stream) == SUNDAY
        last = stream.get_final_message()
    assert last.stop_reason == "tool_use"
    assert [(b.name, b.input) for b in last.content if b.type == "tool_use"] == [("calendar", {"day": "2026-03-01"})]


def test_tokens_are_counted_without_a_line_of_the_script() -> None:
    with ScriptedServer([]) as server, claude(server) as client:
        counted = client.messages.count_tokens(model="m", messages=ASKED)  # type: ignore[arg-type]
    assert counted.input_tokens > 2
    assert server.asked == []


def test_gemini_contents_are_a_reply_its_tools_a_count_and_a_fault() -> None:
    """As Gemini CLI asks for them; the program itself reads the stream in tests/host."""
    asked = {
        "systemInstruction": {"parts": [{"text": "Be short."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Which day is it?"}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "calendar", "response": {"output": "Sunday"}}}]},
        ],
    }
    tool = ToolUse(name="calendar", input={"day": "2026-03-01"})
    with ScriptedServer([Reply(text=SUNDAY, tools=[tool], output_tokens=9), Fault(status=429)]) as server:
        wire = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=5)
        answers = []
        for verb in ("generateContent", "countTokens", "generateContent"):
            wire.request("POST", f"/v1beta/models/gemini-x:{verb}", json.dumps(asked))
            answers.append(json.loads(wire.getresponse().read()))
        wire.close()
    said, counted, refused = answers
    call = {"id": "call_0001_0", "name": "calendar", "args": {"day": "2026-03-01"}}
    assert said["candidates"][0]["content"]["parts"] == [{"text": SUNDAY}, {"functionCall": call}]
    assert (said["candidates"][0]["finishReason"], said["usageMetadata"]["candidatesTokenCount"]) == ("STOP", 9)
    assert counted["totalTokens"] > 2
    assert refused["error"]["status"] == "RESOURCE_EXHAUSTED"
    first = server.asked[0]
    assert (first.model, first.system, first.stream) == ("gemini-x", "Be short.", False)
    assert (first.conversation, first.text) == ('Which day is it?\n{"output": "Sunday"}', '{"output": "Sunday"}')


def test_the_openai_sdk_reads_a_reply_and_its_tools() -> None:
    tool = ToolUse(name="calendar", input={"day": "2026-03-01"})
    with ScriptedServer([Reply(text=SUNDAY, tools=[tool])]) as server, gpt(server) as client:
        said = client.chat.completions.create(model="m", messages=[{"role": "system", "content": "Hm."}, *ASKED])  # type: ignore[list-item]
    choice = said.choices[0]
    assert (choice.message.content, choice.finish_reason) == (SUNDAY, "tool_calls")
    assert [json.loads(call.function.arguments) for call in choice.message.tool_calls or []] == [tool.input]  # type: ignore[union-attr]
    assert (server.asked[0].system, server.asked[0].text) == ("Hm.", "Which day is it?")


def test_the_openai_sdk_reads_a_stream_and_its_usage() -> None:
    with ScriptedServer([Reply(text=SUNDAY, output_tokens=9)]) as server, gpt(server) as client:
        chunks = list(
            client.chat.completions.create(
                model="m",
                messages=ASKED,  # type: ignore[arg-type]
                stream=True,
                stream_options={"include_usage": True},
            )
        )
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == SUNDAY
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == 9


@pytest.mark.parametrize("form", ["float", "base64", None])
def test_the_openai_sdk_reads_embeddings(form: str | None) -> None:
    more = {"encoding_format": form} if form else {}
    with ScriptedServer() as server, gpt(server) as client:
        made = client.embeddings.create(model="e", input=["red fox", "red fox", "blue whale"], **more)  # type: ignore[arg-type]
    one, same, other = (each.embedding for each in made.data)
    assert one == same != other


@pytest.mark.parametrize(("status", "error"), [(429, anthropic.RateLimitError), (503, anthropic.InternalServerError)])
def test_a_fault_arrives_as_the_error_of_its_status(status: int, error: type[Exception]) -> None:
    fault = Fault(status=status, message="not now", headers={"retry-after": "3"})
    with ScriptedServer([fault]) as server, claude(server) as client, pytest.raises(error, match="not now"):
        client.messages.create(model="m", max_tokens=50, messages=ASKED)  # type: ignore[arg-type]


def test_a_slow_reply_meets_the_callers_time_limit() -> None:
    with ScriptedServer([Reply(text=SUNDAY, delay=30)]) as server, pytest.raises(openai.APITimeoutError):
        gpt(server).with_options(timeout=0.05).chat.completions.create(model="m", messages=ASKED)  # type: ignore[arg-type]


@pytest.mark.parametrize("stream", [False, True])
def test_a_cut_connection_is_no_reply(stream: bool) -> None:
    def ask(client: openai.OpenAI) -> None:
        made = client.chat.completions.create(model="m", messages=ASKED, stream=stream)  # type: ignore[call-overload]
        _ = list(made) if stream else made

    with ScriptedServer([Reply(text=SUNDAY, cut_after=100)]) as server, gpt(server) as client:
        with pytest.raises(Exception) as caught:
            ask(client)
        assert "peer closed connection" in f"{caught.value} {caught.value.__cause__}"


def test_garbage_is_sent_as_it_is() -> None:
    with ScriptedServer([Fault(status=200, body=b"<html>\xff")]) as server:
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc)
        connection.request("POST", "/v1/messages?beta=true", "{}")
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, b"<html>\xff")
        connection.close()


def test_a_script_may_be_a_function_of_the_request() -> None:
    def script(request: Request) -> str:
        return request.text.upper()

    with ScriptedServer(script) as server, claude(server) as client:
        said = [client.messages.create(model="m", max_tokens=9, messages=ASKED) for _ in range(2)]  # type: ignore[arg-type]
    assert [each.content[0].text for each in said] == ["WHICH DAY IS IT?"] * 2  # type: ignore[union-attr]


def test_a_script_that_ran_out_says_so() -> None:
    with (
        ScriptedServer([]) as server,
        claude(server) as client,
        pytest.raises(anthropic.BadRequestError, match="line left"),
    ):
        client.messages.create(model="m", max_tokens=9, messages=ASKED)  # type: ignore[arg-type]


@pytest.fixture
def connection() -> Iterator[http.client.HTTPConnection]:
    with ScriptedServer(["fine"]) as server:
        made = http.client.HTTPConnection(urlsplit(server.url).netloc)
        yield made
        made.close()


def test_a_host_that_looks_whether_it_is_there_is_answered(connection: http.client.HTTPConnection) -> None:
    connection.request("HEAD", "/")
    assert connection.getresponse().status == 200


@pytest.mark.parametrize(("path", "body", "status"), [("/v1/other", "{}", 404), ("/v1/messages", "[1", 400)])
def test_what_is_no_request_is_refused(
    connection: http.client.HTTPConnection, path: str, body: str, status: int
) -> None:
    connection.request("POST", path, body)
    assert connection.getresponse().status == status
