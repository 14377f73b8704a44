"""What other tools keep, made for tests in their own formats: Claude Code's auto memory, claude-mem, basic-memory."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

from recollect.core.clock import parse_time

WRITTEN = parse_time("2026-02-11T10:00:00Z")

CLAUDE_CODE = {
    "MEMORY.md": """\
# Project memory

- [Who the user is](user_role.md) — backend engineer, new to React
- [Integration tests](feedback_tests.md) — no mocked database
- [Freeze](project_freeze.md) — merge freeze from 5 March

## Build

Run `make check` before pushing; it takes a minute.
""",
    "user_role.md": """\
---
name: Who the user is
description: Backend engineer, ten years of Go, new to React
type: user
---

Ten years of Go; this is the first time they touch the frontend. Explain React by backend analogies.
""",
    "feedback_tests.md": """\
---
name: Integration tests hit a real database
description: Never mock the database in integration tests
metadata:
  type: feedback
---

Integration tests must hit a real database, not mocks.

**Why:** A mocked migration passed last quarter and broke production.
**How to apply:** Whenever a test touches the store.
""",
    "project_freeze.md": """\
---
name: Merge freeze
description: No merges after 2026-03-05
type: project
---

Merge freeze begins 2026-03-05 for the mobile release cut.
""",
    "reference_board.md": """\
---
name: Pipeline bugs board
description: Where pipeline bugs are tracked
type: reference
---

Pipeline bugs are tracked on the board INGEST.
""",
}

NOTES = {
    "Authentication Design.md": """\
---
title: Authentication Design
type: note
tags: [auth, security]
permalink: authentication-design
created: 2026-01-20
---

# Authentication Design

The team compared sessions with tokens; see [[API Security|the requirements]].

## Observations
- [decision] Using JWT tokens for stateless authentication #security
- [gotcha] Safari drops third-party cookies; always set SameSite=None on the refresh cookie #browsers (found in QA)
- [status] Deployed to staging
- [ ] write the runbook

## Relations
- implements [[API Security Requirements]]
""",
    "daily/2026-01-21.md": "Talked to the payments team about [[Refunds]]. #meeting\n",
    "empty.md": "---\ntitle: Nothing yet\n---\n",
}


def make(folder: Path, files: dict[str, str]) -> Path:
    """Files below a folder, all last changed on 11 February 2026."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        os.utime(file, (WRITTEN / 1000, WRITTEN / 1000))
    return folder


_CLAUDE_MEM = """
CREATE TABLE schema_versions (id INTEGER PRIMARY KEY, version INTEGER UNIQUE NOT NULL, applied_at TEXT NOT NULL);
CREATE TABLE sdk_sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL, memory_session_id TEXT UNIQUE,
  project TEXT NOT NULL, platform_source TEXT NOT NULL DEFAULT 'claude', user_prompt TEXT, started_at TEXT NOT NULL,
  started_at_epoch INTEGER NOT NULL, completed_at TEXT, completed_at_epoch INTEGER,
  status TEXT NOT NULL DEFAULT 'active'
);
CREATE TABLE observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, text TEXT,
  type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,
  files_modified TEXT, prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0, created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL, content_hash TEXT, merged_into_project TEXT
);
CREATE TABLE session_summaries (
  id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, request TEXT,
  investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT,
  prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0, created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL, merged_into_project TEXT
);
CREATE TABLE user_prompts (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_db_id INTEGER, content_session_id TEXT NOT NULL,
  prompt_number INTEGER NOT NULL, prompt_text TEXT NOT NULL, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL
);
"""

OBSERVATIONS: tuple[dict[str, Any], ...] = (
    {
        "type": "bugfix",
        "title": "Refund webhook was booked twice",
        "subtitle": "Retries of the refund webhook in the billing service",
        "narrative": "The handler had no idempotency check, so a retried delivery was booked twice. "
        "Always compare the event id with the ledger before booking.",
        "facts": ["The duplicate was found in ledger entry 4411"],
        "concepts": ["problem-solution", "webhooks"],
        "files_modified": ["src/billing/webhooks.py"],
    },
    {
        "type": "decision",
        "title": "Queue between webhook and ledger",
        "narrative": "A queue was chosen over direct booking because bursts time out the handler.",
        "facts": [],
    },
    {"type": "change", "title": "Renamed the exporter module", "narrative": "It is called ledger_export now."},
    {"type": "sensitive", "title": "A client's name", "narrative": "Not for further use."},
    {"type": "discovery", "text": "The staging database is reset every Sunday night."},
    {"type": "discovery", "project": "elsewhere", "title": "Another project", "narrative": "Not ours."},
)
SUMMARIES: tuple[dict[str, Any], ...] = (
    {
        "request": "Fix the double booking of refunds",
        "investigated": "The delivery log and the ledger",
        "learned": "Deliveries are retried for three days",
        "completed": "The handler is idempotent",
        "next_steps": "Alert on duplicates",
        "files_edited": ["src/billing/webhooks.py"],
    },
)


def claude_mem(file: Path, *, project: str = "project") -> Path:
    """A database as claude-mem 13 lays it out."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(file) as db:
        db.executescript(_CLAUDE_MEM)
        for table, rows in (("observations", OBSERVATIONS), ("session_summaries", SUMMARIES)):
            for number, row in enumerate(rows):
                values = {
                    "memory_session_id": f"session-{number}",
                    "project": project,
                    "created_at": "2026-02-10T09:00:00Z",
                    "created_at_epoch": parse_time("2026-02-10T09:00:00Z") + number * 1000,
                    **{name: json.dumps(value) if isinstance(value, list) else value for name, value in row.items()},
                }
                marks = ", ".join(f":{name}" for name in values)
                db.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", values)
        db.execute(
            "INSERT INTO user_prompts (content_session_id, prompt_number, prompt_text, created_at, created_at_epoch)"
            " VALUES ('c', 1, 'please fix the refunds', '2026-02-10', 0)"
        )
    db.close()
    return file
