"""The Model Context Protocol as far as a memory needs it: one message in, one answer out, or none.

Both transports call `answer`. It imports nothing heavy: a client asks for the list of tools before its first request to
a model, and an agent that gets the list late works without it. What a call needs is loaded by the first call.
"""

from __future__ import annotations

from recollect import __version__
from recollect.core.errors import BadInput, NotFound, RecollectError
from recollect.core.records import plain
from recollect.mcp.pages import INSTRUCTIONS, LISTED_PROMPTS, NO_MEMORY, PROMPTS, RESOURCES, TEMPLATES, page_of
from recollect.mcp.schema import checked
from recollect.mcp.tools import BEGIN, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from recollect.memory import Memory

    Acting = Callable[[bool], Memory]
    """Provides the memory on behalf of the caller, or refuses a call that writes."""

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, NO_RESOURCE = -32700, -32600, -32601, -32602, -32002
NOT_A_MESSAGE = 'a message is {"jsonrpc": "2.0", "method": …, "params": {…}, "id": …}'


class ProtocolError(Exception):
    """Seen by the client, not by its model: a request that the protocol does not know."""

    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


def answer(message: Any, acting: Acting, *, begun: bool = True) -> dict[str, Any] | None:
    """Answer a decoded message; None for a notification. `begun`: there is a memory here."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or not _is_id(message.get("id")):
        return failure(INVALID_REQUEST, NOT_A_MESSAGE)
    id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if id is None or (method is None and ("result" in message or "error" in message)):
        return None  # a notification, or an answer to a question that was never asked
    if not isinstance(method, str) or not isinstance(params, dict):
        return failure(INVALID_REQUEST, NOT_A_MESSAGE, id)
    try:
        return {"jsonrpc": "2.0", "id": id, "result": _result(method, params, acting, begun)}
    except ProtocolError as wrong:
        return failure(wrong.code, str(wrong), id)


def failure(code: int, message: str, id: str | int | None = None) -> dict[str, Any]:
    """The answer to what is not a request, or to a request that cannot be done."""
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


def _is_id(id: object) -> bool:
    return id is None or (isinstance(id, str | int) and not isinstance(id, bool))


def _result(method: str, params: dict[str, Any], acting: Acting, begun: bool) -> dict[str, Any]:
    match method:
        case "initialize":
            return _initialized(params.get("protocolVersion"), begun)
        case "ping":
            return {}
        case "tools/list":
            return {"tools": [tool.listed() for tool in (TOOLS.values() if begun else (BEGIN,))]}
        case "tools/call":
            return _called(_text(params, "name"), params.get("arguments") or {}, acting)
        case "resources/list":
            return {"resources": list(RESOURCES) if begun else []}
        case "resources/templates/list":
            return {"resourceTemplates": list(TEMPLATES) if begun else []}
        case "resources/read":
            return _read(_text(params, "uri"), acting)
        case "prompts/list":
            return {"prompts": LISTED_PROMPTS if begun else []}
        case "prompts/get":
            return _prompted(_text(params, "name"), params.get("arguments") or {}, acting)
    raise ProtocolError(NO_METHOD, f"no method {method[:80]!r}")


def _initialized(version: object, begun: bool) -> dict[str, Any]:
    return {
        "protocolVersion": version if version in VERSIONS else VERSIONS[-1],
        "capabilities": {"tools": {"listChanged": True}, "resources": {}, "prompts": {}},
        "serverInfo": {"name": "recollect", "title": "Recollect", "version": __version__},
        "instructions": INSTRUCTIONS if begun else NO_MEMORY,
    }


def _called(name: str, given: object, acting: Acting) -> dict[str, Any]:
    try:
        tool = BEGIN if name == BEGIN.name else TOOLS.get(name)
        if tool is None:
            raise BadInput(f"Unknown tool {name[:80]!r}; the tools are {', '.join(TOOLS)}")
        arguments = checked(tool, given)
        memory = acting(tool.effect != "reads")
        if isinstance(arguments.get("id"), str):  # of whichever ring has it
            memory, arguments["id"] = memory.holding(arguments["id"])
        said = tool.run(memory, **arguments)
    except RecollectError as problem:
        return _told(str(problem), error=name != BEGIN.name)
    except Exception as surprise:  # noqa: BLE001 — a server that ends takes its tools from every later request
        said = f"Recollect failed ({type(surprise).__name__}: {surprise}). `recollect doctor` may say why"
        return _told(said, error=True)
    return _told(said.text(), plain(said))


def _told(text: str, structured: object = None, *, error: bool = False) -> dict[str, Any]:
    told: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": error}
    return told if structured is None else {**told, "structuredContent": structured}


def _read(uri: str, acting: Acting) -> dict[str, Any]:
    try:
        body = page_of(uri, acting)
    except (NotFound, BadInput) as missing:
        raise ProtocolError(NO_RESOURCE, str(missing)) from None
    except RecollectError as problem:
        raise ProtocolError(INVALID_PARAMS, str(problem)) from None
    return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": body}]}


def _prompted(name: str, given: object, acting: Acting) -> dict[str, Any]:
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise ProtocolError(INVALID_PARAMS, f"no prompt {name[:80]!r}; the prompts are {', '.join(PROMPTS)}")
    try:
        text = prompt.run(acting(False), **checked(prompt, given))
    except RecollectError as problem:
        raise ProtocolError(INVALID_PARAMS, str(problem)) from None
    return {"description": prompt.about, "messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


def _text(params: dict[str, Any], name: str) -> str:
    if isinstance(value := params.get(name), str):
        return value
    raise ProtocolError(INVALID_PARAMS, f"params need {name}, a text")
