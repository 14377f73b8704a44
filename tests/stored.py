"""Everything a memory wrote anywhere: what a secret is looked for in."""

from __future__ import annotations

from recollect import Memory

TABLES = (
    "outcomes learnings learning_tags learning_sources tasks discoveries injections escalations answers leases events "
    "passages terms"
).split()


def everything_stored(memory: Memory) -> bytes:
    """The bytes of every file below the project and in the user's state folder, and every row of the space."""
    files = b""
    for root in (memory.project.root, memory.project.state):
        for path in sorted(root.rglob("*")):
            if path.is_file() and ".git" not in path.relative_to(root).parts:
                files += path.read_bytes()
    with memory.context.db.read(memory.context.space) as tx:
        rows = [tx.rows(f"SELECT * FROM {table} WHERE space = :space") for table in TABLES]
    return files + repr(rows).encode("utf-8", "backslashreplace")
