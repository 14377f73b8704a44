"""Replies as bytes: Anthropic messages, OpenAI chat completions, Gemini contents, whole or as a stream; embeddings.

Pure: a request and a reply in, JSON or the events of a stream out. Knows nothing about sockets.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import struct
from collections.abc import Iterator, Sequence
from typing import Any

from recollect.text.tokens import tokens
from scripted.script import Fault, Reply, Request

DIMENSIONS = 64
_PIECES = re.compile(r"\s*\S+|\s+$")
_ANTHROPIC_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_GEMINI_ERRORS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 429: "RESOURCE_EXHAUSTED"}
_GEMINI_STOPS = {"end_turn": "STOP", "tool_use": "STOP", "max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}
_OPENAI_STOPS = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}


def whole(request: Request, reply: Reply, number: int) -> bytes:
    """The reply as one JSON object."""
    make = {"anthropic": _message, "gemini": _contents}.get(request.wire, _completion)
    return json.dumps(make(request, reply, number)).encode()


def events(request: Request, reply: Reply, number: int) -> Iterator[bytes]:
    """The reply as server-sent events."""
    if request.wire == "anthropic":
        for event in _message_events(request, reply, number):
            yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
        return
    chunks = _contents_chunks if request.wire == "gemini" else _completion_chunks
    for chunk in chunks(request, reply, number):
        yield f"data: {json.dumps(chunk)}\n\n".encode()
    if request.wire == "openai":
        yield b"data: [DONE]\n\n"


def error(request: Request, fault: Fault) -> bytes:
    if fault.body is not None:
        return fault.body
    if request.wire == "anthropic":
        kind = _ANTHROPIC_ERRORS.get(fault.status, "api_error")
        return json.dumps({"type": "error", "error": {"type": kind, "message": fault.message}}).encode()
    if request.wire == "gemini":
        status = _GEMINI_ERRORS.get(fault.status, "INTERNAL")
        return json.dumps({"error": {"code": fault.status, "message": fault.message, "status": status}}).encode()
    return json.dumps({"error": {"message": fault.message, "type": "scripted", "param": None, "code": None}}).encode()


def counted(request: Request) -> bytes:
    """The answer to Anthropic's count_tokens and Gemini's countTokens."""
    return json.dumps({"totalTokens" if request.wire == "gemini" else "input_tokens": _asked(request)}).encode()


def embeddings(request: Request, vectors: Sequence[Sequence[float]]) -> bytes:
    """One vector per input, as numbers or as the base64 that OpenAI's SDK asks for."""
    packed = request.body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": at, "embedding": _base64(vector) if packed else list(vector)}
        for at, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": sum(map(tokens, request.inputs)), "total_tokens": sum(map(tokens, request.inputs))}
    return json.dumps({"object": "list", "data": data, "model": request.model, "usage": usage}).encode()


def hashed_words(request: Request) -> list[list[float]]:
    """A unit vector per input in which texts that share words are alike; the same on every machine."""
    return [_hashed(text) for text in request.inputs]


def _hashed(text: str) -> list[float]:
    vector = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.casefold()) or [""]:
        seed = hashlib.sha256(word.encode("utf-8", "replace")).digest()
        vector[seed[0] % DIMENSIONS] += 1.0
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector]


def _base64(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode("ascii")


def _stop(reply: Reply) -> str:
    return reply.stop or ("tool_use" if reply.tools else "end_turn")


def _asked(request: Request) -> int:
    return tokens(f"{request.system}\n{request.conversation}")


def _used(request: Request, reply: Reply) -> tuple[int, int]:
    said = reply.text + "".join(json.dumps(dict(tool.input)) for tool in reply.tools)
    asked = _asked(request) if reply.input_tokens is None else reply.input_tokens
    return asked, max(tokens(said), 1) if reply.output_tokens is None else reply.output_tokens


def _message(request: Request, reply: Reply, number: int) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text or not reply.tools else []
    content += [
        {"type": "tool_use", "id": f"toolu_{number:04}_{at}", "name": tool.name, "input": dict(tool.input)}
        for at, tool in enumerate(reply.tools)
    ]
    asked, said = _used(request, reply)
    return {
        "id": f"msg_{number:04}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": content,
        "stop_reason": _stop(reply),
        "stop_sequence": None,
        "usage": {
            "input_tokens": asked,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": said,
        },
    }


def _message_events(request: Request, reply: Reply, number: int) -> Iterator[dict[str, Any]]:
    message = _message(request, reply, number)
    blocks, usage = message["content"], message["usage"]
    begun = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": begun}
    for at, block in enumerate(blocks):
        empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        yield {"type": "content_block_start", "index": at, "content_block": empty}
        yield {"type": "ping"}
        if block["type"] == "text":
            for piece in _pieces(block["text"]):
                yield {"type": "content_block_delta", "index": at, "delta": {"type": "text_delta", "text": piece}}
        else:
            given = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            yield {"type": "content_block_delta", "index": at, "delta": given}
        yield {"type": "content_block_stop", "index": at}
    stopped = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stopped, "usage": usage}
    yield {"type": "message_stop"}


def _completion(request: Request, reply: Reply, number: int) -> dict[str, Any]:
    calls = _calls(reply, number)
    said: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
    if reply.stop == "refusal":
        said |= {"content": None, "refusal": reply.text}
    if calls:
        said["tool_calls"] = calls
    return {
        "id": f"chatcmpl-{number:04}",
        "object": "chat.completion",
        "created": 0,
        "model": request.model,
        "choices": [{"index": 0, "message": said, "logprobs": None, "finish_reason": _OPENAI_STOPS[_stop(reply)]}],
        "usage": _usage(request, reply),
    }


def _completion_chunks(request: Request, reply: Reply, number: int) -> Iterator[dict[str, Any]]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**head, "choices": [choice]}

    head = {"id": f"chatcmpl-{number:04}", "object": "chat.completion.chunk", "created": 0, "model": request.model}
    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(reply.text):
        yield chunk({"content": piece})
    for at, call in enumerate(_calls(reply, number)):
        yield chunk({"tool_calls": [{"index": at, **call}]})
    yield chunk({}, _OPENAI_STOPS[_stop(reply)])
    if (request.body.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": _usage(request, reply)}


def _calls(reply: Reply, number: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{number:04}_{at}",
            "type": "function",
            "function": {"name": tool.name, "arguments": json.dumps(dict(tool.input))},
        }
        for at, tool in enumerate(reply.tools)
    ]


def _usage(request: Request, reply: Reply) -> dict[str, int]:
    asked, said = _used(request, reply)
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def _contents(request: Request, reply: Reply, number: int) -> dict[str, Any]:
    parts = [{"text": reply.text}] if reply.text or not reply.tools else []
    return _candidate(request, reply, number, [*parts, *_function_calls(reply, number)], last=True)


def _contents_chunks(request: Request, reply: Reply, number: int) -> Iterator[dict[str, Any]]:
    for piece in _pieces(reply.text):
        yield _candidate(request, reply, number, [{"text": piece}], last=False)
    yield _candidate(request, reply, number, _function_calls(reply, number) or [{"text": ""}], last=True)


def _candidate(
    request: Request, reply: Reply, number: int, parts: list[dict[str, Any]], *, last: bool
) -> dict[str, Any]:
    asked, said = _used(request, reply)
    stop = {"finishReason": _GEMINI_STOPS[_stop(reply)]} if last else {}
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, **stop}],
        "usageMetadata": {"promptTokenCount": asked, "candidatesTokenCount": said, "totalTokenCount": asked + said},
        "modelVersion": request.model,
        "responseId": f"response-{number:04}",
    }


def _function_calls(reply: Reply, number: int) -> list[dict[str, Any]]:
    return [
        {"functionCall": {"id": f"call_{number:04}_{at}", "name": tool.name, "args": dict(tool.input)}}
        for at, tool in enumerate(reply.tools)
    ]


def _pieces(text: str) -> list[str]:
    """A text in the pieces a stream brings it in."""
    words = _PIECES.findall(text)
    return ["".join(words[at : at + 4]) for at in range(0, len(words), 4)]
