"""docs/rest.md is true: its commands run, in order, against a server, and its table names every route there is."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from declared import routes_of
from recollect import Memory
from recollect.api.app import make_app
from recollect.api.spaces import Spaces
from serving import serving

PAGE = (Path(__file__).parents[2] / "docs" / "rest.md").read_text("utf-8")


def test_the_tour_works_from_top_to_bottom(memory: Memory, tmp_path: Path) -> None:
    start, *blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    _, secret = memory.tokens.new("worker", scopes=tuple(re.findall(r"--scope (\w+)", start)))
    with serving(memory) as running:
        script = "set -e\n" + "\n".join(blocks).replace("http://127.0.0.1:7447", running.url)
        environ = {"PATH": "/usr/bin:/bin:/usr/local/bin", "TOKEN": secret}
        done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environ, capture_output=True, timeout=60)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    said = done.stdout.decode()
    assert said.count("another writer was first") == 1
    assert '"id":"log/2026-03-02#1"' in said
    assert '"wisdom":[]' in said


def test_the_table_names_every_route(memory: Memory) -> None:
    table = PAGE.partition("| noun | routes |")[2].partition("\n\n")[0]
    named = {name.partition("?")[0] for name in re.findall(r"`([^`]+)`", table)}
    for path, methods, _ in routes_of(make_app(Spaces(memory))):
        shown = re.sub(r":\w+\}", "}", path)
        if path.startswith("/api/") and path != "/api/openapi.json":
            tail = "…/" + shown.rpartition("/")[2]
            assert shown in named or tail in named, f"{methods} {shown} is not in docs/rest.md"


def test_the_problem_it_shows_is_one_that_is_told(memory: Memory) -> None:
    shown = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])
    fields = dict.fromkeys(("context", "observation", "implication", "action"), "x")
    with serving(memory) as running:
        assert running.client("api").post("/api/learnings", json={**fields, "title": ""}).json() == shown
