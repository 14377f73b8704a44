"""Real agent programs in a scratch project, talking to a scripted model on loopback: nothing of ours is replaced."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import npm
from scripted import ScriptedServer
from shell import Shell

LIMIT = 120


def claude(shell: Shell, server: ScriptedServer, *arguments: str) -> str:
    """What Claude Code prints, run without a terminal."""
    return _said(["claude", *arguments], shell, claude_environ(shell, server))


def claude_environ(shell: Shell, server: ScriptedServer) -> dict[str, str]:
    return {
        **shell.environ,
        "PATH": npm.path(),
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": "scripted",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def codex(shell: Shell, server: ResponsesServer, *arguments: str) -> str:
    """What `codex exec` prints; hooks are trusted for this run, as a user would in its hooks dialogue."""
    home = shell.home / ".codex"
    home.mkdir(exist_ok=True)
    provider = f'name = "scripted"\nbase_url = "{server.url}/v1"\nwire_api = "responses"\nenv_key = "SCRIPTED_KEY"\n'
    (home / "config.toml").write_text(
        'model = "gpt-5"\nmodel_provider = "scripted"\nmodel_auto_compact_token_limit = 20000\n'
        f"[model_providers.scripted]\n{provider}request_max_retries = 0\nstream_max_retries = 0\n"
        f'[projects."{shell.folder}"]\ntrust_level = "trusted"\n'
    )
    environ = {**shell.environ, "PATH": npm.path(), "SCRIPTED_KEY": "scripted"}
    options = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
    return _said(["codex", "exec", *arguments[:-1], *options, arguments[-1]], shell, environ)


def gemini(shell: Shell, server: ScriptedServer, *arguments: str) -> str:
    """What Gemini CLI prints; the folder is trusted and our tools are allowed, as a user would in its dialogues."""
    home = shell.home / ".gemini"
    (home / "policies").mkdir(parents=True, exist_ok=True)
    quiet = {"privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False}}
    (home / "settings.json").write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}, **quiet}))
    rule = 'mcpName = "recollect"\ntoolName = "*"\ndecision = "allow"\npriority = 100\n'
    (home / "policies" / "allowed.toml").write_text(f"[[rule]]\n{rule}")
    environ = {
        **shell.environ,
        "PATH": npm.path(),
        "GOOGLE_GEMINI_BASE_URL": server.url,
        "GEMINI_API_KEY": "scripted",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_CLI_NO_RELAUNCH": "true",
    }
    # Without a model's name it asks a small one, for JSON, which of the others is to answer.
    return _said(["gemini", "--model", "gemini-2.5-pro", *arguments], shell, environ)


def _said(command: list[str], shell: Shell, environ: dict[str, str]) -> str:
    done = subprocess.run(
        command, cwd=shell.folder, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT
    )
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    return done.stdout.decode()


class ResponsesServer:
    """The little of OpenAI's Responses API that Codex needs: each request is answered with a message or a call."""

    def __init__(self, script: Callable[[str], str | dict[str, Any]], *, tokens: int = 10):
        self.requests: list[dict[str, Any]] = []
        usage = {"input_tokens": tokens, "output_tokens": 5, "total_tokens": tokens + 5}
        asked = self.requests

        def answer(body: dict[str, Any]) -> bytes:
            said = script(json.dumps(body["input"]))
            item: dict[str, Any] = {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed"}
            if isinstance(said, str):
                item["content"] = [{"type": "output_text", "text": said, "annotations": []}]
            else:
                item = {"type": "function_call", "call_id": f"call_{len(asked)}", **said}
            events = [
                {"type": "response.created", "response": {"id": "resp_1"}},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}},
            ]
            return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._send(b'{"models": []}', "application/json")

            def do_POST(self) -> None:
                asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self._send(answer(asked[-1]), "text/event-stream")

            def _send(self, body: bytes, type: str) -> None:
                self.send_response(200)
                self.send_header("content-type", type)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Silent."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> ResponsesServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
