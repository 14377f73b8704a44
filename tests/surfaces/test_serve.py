"""`recollect serve` and `recollect host token` as a user runs them: real processes, real ports."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from shell import Shell


class Server:
    """A running `recollect serve` and what it said so far."""

    def __init__(self, shell: Shell, *arguments: str, **environ: str):
        self.output = shell.folder / "serve.txt"
        with self.output.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "recollect", "serve", *arguments],
                cwd=shell.folder,
                env={**shell.environ, **environ},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )

    @property
    def said(self) -> str:
        return self.output.read_text()

    def until(self, pattern: str) -> re.Match[str]:
        """Wait for a line of its output."""
        for _ in range(600):
            if found := re.search(pattern, self.said):
                return found
            assert self.process.poll() is None, self.said
            time.sleep(0.05)
        raise AssertionError(f"never said {pattern!r}: {self.said}")

    @property
    def url(self) -> str:
        return self.until(r"at (http://\S+);")[1]

    @property
    def page_host(self) -> str:
        """The name of the page, which only the terminal is told."""
        return self.until(r"sign in at http://(r-[0-9a-z]{10}\.localhost):\d+/sign-in with the code")[1]

    def browser(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers={"host": self.page_host}, follow_redirects=True)


@contextmanager
def running(shell: Shell, *arguments: str, stop: signal.Signals = signal.SIGTERM, **environ: str) -> Iterator[Server]:
    server = Server(shell, "--port", "0", *arguments, **environ)
    try:
        yield server
    finally:
        server.process.send_signal(stop)
        assert server.process.wait(20) == 0, server.said


def test_a_token_opens_the_server_until_it_is_revoked(shell: Shell) -> None:
    secret = shell.json("host", "token", "new", "worker")["secret"]
    shell.learn()
    with running(shell) as server:
        asked = {"authorization": f"Bearer {secret}"}
        assert httpx.get(f"{server.url}/api/learnings", headers=asked).json()["total"] == 1
        shell.said("host", "token", "revoke", "worker")
        assert httpx.get(f"{server.url}/api/learnings", headers=asked).status_code == 401
    assert [(one["name"], one["revoked_at"] is None) for one in shell.json("host", "token", "list")["tokens"]] == [
        ("worker", False)
    ]


def test_the_code_it_prints_opens_the_page(shell: Shell) -> None:
    with running(shell) as server, server.browser() as browser:
        code = server.until(r"with the code (\S+)")[1]
        assert "<h1>Home</h1>" in browser.post("/sign-in", data={"code": code}).text
        assert server.until(rf"(?s){code}.*with the code (\S+)")[1] != code


def test_the_page_keeps_its_name_and_only_its_owner_can_read_it(shell: Shell) -> None:
    with running(shell) as server:
        first = server.page_host
    with running(shell) as server:
        assert server.page_host == first
    kept = list(shell.home.rglob("page-name"))
    assert [file.stat().st_mode & 0o777 for file in kept] == [0o600]


def test_one_server_serves_every_space_of_the_user(shell: Shell) -> None:
    secrets = {"shop": shell.json("host", "token", "new", "worker")["secret"]}
    shell.learn()
    garden = shell.folder.parent / "garden"
    garden.mkdir()
    shell.said("init", "--space", "garden", "--timezone", "UTC", folder=garden)
    secrets["garden"] = shell.json("host", "token", "new", "worker", folder=garden)["secret"]
    shell.said("log", "add", "Planted the first bulbs.", "--topic", "bulbs", folder=garden)
    with running(shell) as server, server.browser() as browser:
        server.until("serving shop and 1 other space at")
        for space, secret in secrets.items():
            asked = {"authorization": f"Bearer {secret}"}
            assert httpx.get(f"{server.url}/api/status", headers=asked).json()["space"] == space
        assert f"served already at {server.url}" in told(shell, "--port", "0", folder=garden)
        code = server.until(r"with the code (\S+)")[1]
        listed = browser.post("/sign-in", data={"code": code}).text
        assert "<h1>Spaces</h1>" in listed
        for space in secrets:
            assert f'href="/s/{space}/"' in listed
            assert "<h1>Home</h1>" in browser.get(f"/s/{space}/").text
        for _ in range(200):
            if "bulbs" in browser.get("/s/garden/journal/root").text:
                break
            time.sleep(0.05)
        assert "bulbs" in browser.get("/s/garden/journal/root").text, "the cycle of each space runs"


def test_a_clients_text_reaches_the_terminal_without_control_characters(shell: Shell) -> None:
    """The terminal shows the sign-in code, so nothing that a token's holder sends may draw on it."""
    name = "\x1b[2J\x1b[31msign in at http://evil\x07\x1b]0;pwn\x07"
    secret = shell.json("host", "token", "new", "worker")["secret"]
    asked = {"authorization": f"Bearer {secret}", "accept": "application/json, text/event-stream"}
    sent: list[Any] = [
        {"method": "prompts/get", "params": {"name": name}},
        {"method": "tools/call", "params": {"name": name, "arguments": {}}},
        {"method": "resources/read", "params": {"uri": f"recollect://{name}"}},
        {"method": "tools/call", "params": {"name": {"x": name}}},
        {"method": name},
        {"method": 7, "params": name},
    ]
    with running(shell, "--no-cycle") as server:
        before = server.said
        for body in sent:
            answer = httpx.post(f"{server.url}/mcp", headers=asked, json={"jsonrpc": "2.0", "id": 1, **body})
            assert answer.status_code in (200, 400, 404), body
            assert "error" in answer.text.lower(), body
            assert "pydantic" not in answer.text, answer.text
            assert "JSONRPC" not in answer.text, answer.text
        broken = httpx.post(f"{server.url}/mcp", headers={**asked, "content-type": "application/json"}, content=b"{")
        assert (broken.status_code, broken.json()["error"]["message"]) == (400, "the message is not JSON")
        added = server.said.removeprefix(before)
    assert "\x1b" not in added
    assert "\x07" not in added
    assert "Traceback" not in added
    assert "╭" not in added


def test_started_by_an_agent_it_prints_no_code(shell: Shell) -> None:
    with running(shell, CLAUDECODE="1") as server:
        server.until("claude-code started this, so nobody can sign in")
        assert httpx.get(f"{server.url}/health").status_code == 200
        assert "code" not in server.said.replace("claude-code", "")


def test_an_agent_makes_no_token(shell: Shell) -> None:
    done = shell.run("host", "token", "new", "mine", CLAUDECODE="1")
    assert (done.returncode, b"only a person" in done.stderr) == (1, True)


def test_it_does_the_cycle_by_itself(shell: Shell) -> None:
    shell.said("log", "add", "Moved the webhook.", "--topic", "refunds")
    with running(shell):
        until = time.monotonic() + 120  # a cycle takes its time on a busy machine
        while not (shell.data / "memory" / "ROOT.md").exists() and time.monotonic() < until:
            time.sleep(0.05)
    assert "refunds" in (shell.data / "memory" / "ROOT.md").read_text()


def test_without_a_cycle_it_leaves_the_files_alone(shell: Shell) -> None:
    shell.said("log", "add", "Moved the webhook.", "--topic", "refunds")
    with running(shell, "--no-cycle", stop=signal.SIGINT) as server:
        assert httpx.get(f"{server.url}/health").status_code == 200
    assert not (shell.data / "memory" / "ROOT.md").exists()


def told(shell: Shell, *arguments: str, code: int = 3, **environ: Any) -> str:
    """The one line of a server that did not start."""
    done = shell.run("serve", *arguments, **environ)
    assert done.returncode == code, done.stderr.decode()
    assert done.stderr.count(b"\n") == 1
    return done.stderr.decode()


def test_a_port_in_use_is_one_clear_line(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in told(shell, "--port", str(port))


def test_a_second_server_is_told_where_the_first_is(shell: Shell) -> None:
    with running(shell) as server:
        assert f"served already at {server.url} (process {server.process.pid})" in told(shell, "--port", "0")
        same = told(shell, "--port", server.url.rpartition(":")[2])
        assert f"begun in {shell.folder}; page: http://r-" in same
        assert "cannot listen" not in same


def test_a_missing_store_is_one_clear_line(shell: Shell) -> None:
    nowhere = "postgresql://nobody@127.0.0.1:1/none"
    assert "cannot be reached" in told(shell, RECOLLECT_STORE=nowhere, RECOLLECT_STORE_CONNECT_SECONDS="0.1")
    assert "begin with: recollect init" in told(shell, code=2, folder=shell.home)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_another_address_needs_a_flag_and_says_what_it_means(shell: Shell, host: str) -> None:
    said = told(shell, "--host", host, code=2)
    assert "can be reached by other machines" in said
    assert "--expose" in said


def test_exposed_it_answers_to_the_names_it_was_given(shell: Shell) -> None:
    with running(shell, "--host", "0.0.0.0", "--expose", "--allow-host", "memory.example.org") as server:
        port = server.url.rpartition(":")[2]
        for host, status in (("memory.example.org", 200), (f"localhost:{port}", 200), ("evil.example", 421)):
            assert httpx.get(f"http://127.0.0.1:{port}/health", headers={"host": host}).status_code == status
        pages = {"memory.example.org": 200, server.page_host: 200, "localhost": 421, "0.0.0.0": 421}
        for host, status in pages.items():
            assert httpx.get(f"http://127.0.0.1:{port}/sign-in", headers={"host": host}).status_code == status, host


def test_nothing_of_a_web_server_is_loaded_by_other_commands(shell: Shell) -> None:
    script = "import sys; from recollect.cli.command import run; run(['status']); print(sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=shell.folder, env=shell.environ, capture_output=True, text=True, check=True
    )
    assert not {"fastapi", "uvicorn", "starlette", "jinja2"} & set(eval(done.stdout.splitlines()[-1]))
    assert os.path.exists(shell.data)
