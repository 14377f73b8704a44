"""Decisions, findings and themes from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from recollect.cli.command import recollect
from recollect.core.errors import RecollectError


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    for name in ("CLAUDECODE", "AI_AGENT", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RECOLLECT_NOW", "2026-03-02T09:00:00Z")
    runner = CliRunner()

    def command(*arguments: str, stdin: str | None = None) -> Result:
        return runner.invoke(recollect, arguments, input=stdin)

    assert command("init").exit_code == 0
    return command


def decide(run, *more: str) -> dict[str, object]:  # type: ignore[no-untyped-def]
    done = run("decide", "Use PostgreSQL for the team store", "--confidence", "0.8", "--category", "architecture",
               *more, "--json")  # fmt: skip
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


def test_decide_takes_everything_the_page_shows(run) -> None:  # type: ignore[no-untyped-def]
    kept = decide(
        run, "--stakes", "high", "--reason", "analysis:One lock per space", "--reason", "It is known here",
        "--pattern", "Measure before choosing", "--tag", "storage", "--context", "Two agents write at once",
        "--bridge", "structure=one port", "function=one product", "--component", "evidence=0.9", "analogy=0.0",
        "--review-in", "2w", "--agent", "planner",
    )  # fmt: skip
    assert kept["reasons"] == [
        {"kind": "analysis", "text": "One lock per space"},
        {"kind": "analysis", "text": "It is known here"},
    ]
    assert kept["bridge"] == {"structure": "one port", "function": "one product"}
    assert kept["components"] == {"evidence": 0.9, "analogy": 0.0}
    assert kept["review_at"] == "2026-03-16T09:00:00Z"
    shown = run("decision", "show", kept["id"])
    assert "Reason (analysis): One lock per space" in shown.output


def test_a_decision_without_quotes_is_explained(run) -> None:  # type: ignore[no-untyped-def]
    done = run("decide", "Use", "PostgreSQL", "--confidence", "0.8", "--category", "a")
    assert isinstance(done.exception, RecollectError)
    assert done.exception.exit_code == 2
    assert "quotes" in str(done.exception)


def test_a_status_update_is_sent_to_the_log(run) -> None:  # type: ignore[no-untyped-def]
    done = run("decide", "Merged PR 482", "--confidence", "0.8", "--category", "a")
    assert "recollect log add" in str(done.exception)


def test_a_decision_is_reviewed_aged_and_taken_back(run, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    id = str(decide(run, "--pattern", "Measure before choosing")["id"])
    assert id in run("decision", "due", "--all").output
    assert run("decision", "review", id, "--outcome", "success", "--lesson", "It held").exit_code == 0
    assert "nothing waits" in run("decision", "due", "--all").output
    assert run("decision", "edit", id, "--context", "More").output == f"{id} is now at version 3\n"
    monkeypatch.setenv("RECOLLECT_NOW", "2026-07-02T09:00:00Z")
    assert "## Wisdom" in run("decision", "list", "--levels").output
    assert json.loads(run("decision", "wisdom", "--json").output)["wisdom"][0]["decisions"] == 1
    assert id in run("decision", "list").output
    assert id in run("decision", "list", "--levels", "--query", "postgresql").output
    assert run("decision", "preserve", id).output == f"{id} is shown in full at any age\n"
    assert "preserved" in run("decision", "list", "--levels").output
    assert run("decision", "preserve", id, "--off").output == f"{id} shrinks with age\n"
    assert run("decision", "reverse", id, "--reason", "Too dear").output == f"{id} is reversed\n"
    assert "over-confident" not in run("decision", "calibration").output
    assert json.loads(run("decision", "calibration", "--json").output)["windows"]["30"]["decisions"] == 0


def test_rpc_answers_what_it_reads(run) -> None:  # type: ignore[no-untyped-def]
    batch = [
        {"jsonrpc": "2.0", "id": 1, "method": "cstp.getWisdom"},
        {"jsonrpc": "2.0", "method": "cstp.compact"},
        {"jsonrpc": "2.0", "id": 2, "method": "cstp.none"},
    ]
    answers = json.loads(run("rpc", stdin=json.dumps(batch)).output)
    assert [(answer["id"], "error" in answer) for answer in answers] == [(1, False), (2, True)]
    assert run("rpc", stdin=json.dumps(batch[1])).output == ""


def test_findings_gather_into_themes(run) -> None:  # type: ignore[no-untyped-def]
    for n in range(5):
        done = run(
            "theme",
            "finding",
            "add",
            f"Build cache misses the lockfile hash in job {n}",
            "--work",
            f"wu-{n}",
            "--rule",
            "Hash it",
        )
        assert done.output == f"saved finding/wu-{n}#1\n"
    assert "5 raw files in 1 theme" in run("theme", "run").output
    assert "nothing due" in run("theme", "run").output
    (theme,) = json.loads(run("theme", "list", "--json").output)["themes"]
    assert "## Related Work Units" in run("theme", "show", theme["name"]).output
    assert run("theme", "rename", theme["name"], "speedy-builds").exit_code == 0
    assert "speedy-builds" in run("theme", "list").output
    assert "from finding/wu-1#1" in run("learn", "promote", "finding/wu-1#1").output
    assert "rule: Hash it" in run("theme", "finding", "show", "finding/wu-1#1").output
    assert "skipped" not in run("status").output
    Path(run("open").output.strip(), "memory/learnings/odd.json").write_text("{}")
    assert "skipped     odd.json: without workId, timestamp, findings" in run("status").output
