"""Raw findings files: one work unit's JSON, read without ever trusting it and written in the same form.

    {"workId": "…", "timestamp": "…", "findings": [{"category", "source", "description", "proposedRule"?,
     "disposition"?}]}

Bytes in, a `WorkFile` or the reason why not out. Knows nothing about folders.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from recollect.core.clock import parse_time
from recollect.core.errors import BadInput
from recollect.core.finding import FINDING_LIMIT, Finding, NewFinding, SkippedFile, WorkFile, check_work_id

SIZE_LIMIT = 5_000_000
COUNT_LIMIT = 10_000
_TEXTS = {
    "category": "category",
    "source": "source",
    "proposedRule": "proposed_rule",
    "disposition": "disposition",
}


def read_work_file(path: str, data: bytes) -> WorkFile | SkippedFile:
    """A valid file's findings. An item that is no finding is passed over and the others are kept."""
    try:
        return _read(path, data)
    except BadInput as problem:
        return SkippedFile(path=path, reason=str(problem))


def _read(path: str, data: bytes) -> WorkFile:
    if len(data) > SIZE_LIMIT:
        raise BadInput(f"larger than {SIZE_LIMIT // 1_000_000} MB")
    if not data.strip():
        raise BadInput("empty")
    try:
        body = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except UnicodeDecodeError:
        raise BadInput("not UTF-8") from None
    except RecursionError:
        raise BadInput("nested too deeply") from None
    except msgspec.MsgspecError as problem:
        raise BadInput(f"not JSON: {problem}") from None
    if not isinstance(body, Mapping):
        raise BadInput("not a JSON object")
    missing = [name for name in ("workId", "timestamp", "findings") if body.get(name) is None]
    if missing:
        raise BadInput(f"without {', '.join(missing)}")
    if not isinstance(body["timestamp"], str) or not body["timestamp"].strip():
        raise BadInput("timestamp is not text")
    try:
        parse_time(body["timestamp"].strip())
    except BadInput:
        raise BadInput(f"timestamp {body['timestamp'][:40]!r} is no time such as 2026-03-01T12:00:00Z") from None
    if not isinstance(body["findings"], list):
        raise BadInput("findings is not a list")
    if len(body["findings"]) > COUNT_LIMIT:
        raise BadInput(f"more than {COUNT_LIMIT:,} findings")
    work_id = check_work_id(body["workId"])
    items = [_finding(work_id, number, item) for number, item in enumerate(body["findings"], start=1)]
    return WorkFile(
        path=path,
        work_id=work_id,
        timestamp=body["timestamp"].strip(),
        findings=tuple(item for item in items if item is not None),
        sha=hashlib.sha256(data).hexdigest(),
    )


def without_repeats(files: list[WorkFile]) -> tuple[list[WorkFile], list[SkippedFile]]:
    """One file per work id: the one named after it, else the first by name."""
    chosen: dict[str, WorkFile] = {}
    for file in sorted(files, key=lambda file: (not _named_after(file), file.path)):
        chosen.setdefault(file.work_id, file)
    kept = [file for file in files if chosen[file.work_id] is file]
    repeats = [
        SkippedFile(path=file.path, reason=f"work id {file.work_id} is already in {chosen[file.work_id].path}")
        for file in files
        if chosen[file.work_id] is not file
    ]
    return kept, repeats


def write_work_file(work_id: str, timestamp: str, items: list[dict[str, Any]]) -> str:
    """The file's text; `items` are kept as they are, so that what another program added survives."""
    body = {"workId": check_work_id(work_id), "timestamp": timestamp, "findings": items}
    return msgspec.json.format(msgspec.json.encode(body), indent=2).decode() + "\n"


def raw_item(finding: NewFinding) -> dict[str, Any]:
    item = {"category": finding.category, "source": finding.source, "description": finding.description}
    if finding.proposed_rule:
        item["proposedRule"] = finding.proposed_rule
    if finding.disposition:
        item["disposition"] = finding.disposition
    return item


def _named_after(file: WorkFile) -> bool:
    return file.path.rpartition("/")[2] == f"{file.work_id}.json"


def _finding(work_id: str, number: int, item: Any) -> Finding | None:
    if not isinstance(item, Mapping) or not isinstance(item.get("description"), str):
        return None
    description = item["description"].replace("\x00", "").strip()
    if not description:
        return None
    texts = {ours: item[theirs] for theirs, ours in _TEXTS.items() if isinstance(item.get(theirs), str)}
    texts = {name: text.replace("\x00", "").strip()[:FINDING_LIMIT] for name, text in texts.items()}
    return Finding(work_id=work_id, number=number, description=description[:FINDING_LIMIT], **texts)
