"""Opening a memory for a command, and saying who is at the keyboard.

Trust comes from the channel: a terminal is a person's, unless a host's environment says that an agent types. A store
that came with a folder is nobody's memory yet: a repository may carry one that says what its author wants.
"""

from __future__ import annotations

import os
from pathlib import Path

from recollect.core.actor import Actor
from recollect.core.clock import clock_from
from recollect.hosts.running import running
from recollect.memory import Memory
from recollect.store import project as projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.store.project import Project


def actor_of(environ: Mapping[str, str]) -> Actor:
    """Who runs this process."""
    for host in running(environ):
        return Actor(name=host, channel="cli", trust="agent")
    return Actor(name=environ.get("USER") or environ.get("LOGNAME") or "person", channel="cli", trust="human")


def find_project(folder: str | None) -> Project:
    """The project of the folder a command runs in, or of `--project`; refused when its store came with the folder."""
    found = projects.find(Path(folder or "."), os.environ)
    if not projects.is_begun(found):
        from recollect.store import beginning  # not where a worker waits

        beginning.refuse_foreign(found)
        beginning.claim_new(found)
    return found


def open_memory(folder: str | None) -> Memory:
    """Its memory, on behalf of whoever runs this process."""
    return Memory.of(
        find_project(folder),
        actor=actor_of(os.environ),
        clock=clock_from(os.environ),
        environ=os.environ,
        replay=True,
    )
