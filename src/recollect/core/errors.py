"""Every error Recollect raises on purpose.

    RecollectError
    ├── BadInput              what was given cannot be used; nothing was stored            exit 2
    │   ├── Rejected          understood, but below the quality gate; says how to rephrase  exit 2
    │   └── NotInitialised    no project here yet                                           exit 2
    ├── NotFound              no such id                                                    exit 1
    ├── Refused               the rules do not allow it: a cycle, a wrong state             exit 1
    │   ├── Forbidden         this caller may not do it                                     exit 1
    │   ├── Proposed          nothing changed; the change waits in the inbox for a person   exit 1
    │   ├── NoHistory         git cannot say: no repository, shallow, no commit yet         exit 1
    │   └── Stale             another writer was first; your text is untouched              exit 1
    └── Trouble               the environment: a person has to look                         exit 3
        ├── StoreBusy         another process kept the store locked for too long
        │   └── SessionBusy   another process reads this session's transcript
        ├── StoreDamaged      the database does not read back; nothing was deleted
        ├── StoreNewer        written by a newer Recollect
        ├── StoreUnreachable  server, folder or permission missing
        │   └── FateUnknown   the write may or may not be stored; look before you repeat it
        ├── NoSpace           the disk is full; the write did not happen
        └── NoAnswer          a model, or what leads to it, failed; the offline twin answers

The command line shows the message and exits with `exit_code`; the HTTP surface maps the class to a status. Messages are
written for the person who has to act: what happened, then what to do.
"""

from __future__ import annotations

from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "BadInput",
    "FateUnknown",
    "Forbidden",
    "NoAnswer",
    "NoHistory",
    "NoSpace",
    "NotFound",
    "NotInitialised",
    "Proposed",
    "RecollectError",
    "Refused",
    "Rejected",
    "SessionBusy",
    "Stale",
    "StoreBusy",
    "StoreDamaged",
    "StoreNewer",
    "StoreUnreachable",
    "Trouble",
]

NO_ACCESS = (
    "In a sandbox use the MCP tools, or leave it to the hooks: both run outside it. Otherwise check the permissions"
)
"""What to do where a command may not write."""
NOT_DONE = "; this write did not happen"
"""How the store ends the message of a write that left no trace. Writes before it are not meant."""


class RecollectError(Exception):
    """Anything Recollect raises on purpose; every surface shows its message."""

    exit_code = 3


class BadInput(RecollectError):
    """Seen by the caller who gave the input."""

    exit_code = 2


class Rejected(BadInput):
    """Seen by the author of what is well formed and is not kept: it teaches nothing, or tells of the future."""


class NotInitialised(BadInput):
    """Seen by a caller who opens a memory where `recollect init` never ran."""


class NotFound(RecollectError):
    """Seen by a caller who named an id that does not exist in this space."""

    exit_code = 1


class Refused(RecollectError):
    """Seen by a caller who asked for a change that the rules do not allow."""

    exit_code = 1


class Forbidden(Refused):
    """Seen by an agent or a program that asks for what it may not do."""


class Proposed(Refused):
    """Seen by a caller from outside whose change to a more trusted record waits for a person."""


class NoHistory(Refused):
    """Seen by a caller who asks for an age that git cannot give; ages are never guessed."""


class Stale(Refused):
    """Seen by the second of two editors; the first one's text stays."""


class Trouble(RecollectError):
    """Seen by the person who runs the machine."""


class StoreBusy(Trouble):
    """Seen when a lock outlasted the busy timeout."""


class SessionBusy(StoreBusy):
    """Seen when two hooks of one session run at once; the store itself can be written."""


class StoreDamaged(Trouble):
    """Seen when the store does not read back; the original is kept."""


class StoreNewer(Trouble):
    """Seen by an older program on a newer store; nothing was touched."""


class StoreUnreachable(Trouble):
    """Seen when the place of the store cannot be read or written."""


class FateUnknown(StoreUnreachable):
    """Seen when it is unknown whether a write is stored: the answer to a commit, or of a disk, was lost."""


class NoSpace(Trouble):
    """Seen when the disk is full; what was acknowledged before is safe."""


class NoAnswer(Trouble):
    """Seen by `ask()`, which tries again or does without; by a person only in `recollect model check`.

    `again` says that another try may help, `after` how many seconds the server wants to be left alone, and `billed`
    that the call may have been paid for although nothing came of it. The message never holds a key.
    """

    def __init__(self, message: str, *, again: bool = False, after: float | None = None, billed: bool = False):
        super().__init__(message)
        self.again = again
        self.after = after
        self.billed = billed


def reason_of(error: RecollectError) -> str:
    """The reason of a failed write, without the store's claim that nothing happened."""
    return str(error).partition(NOT_DONE)[0]


def not_searchable(what: str, error: RecollectError) -> str:
    """The warning about something whose text is saved although its rows could not be written."""
    return f"{what} was saved but is not searchable yet: {reason_of(error)}. Repair that, then run: recollect cycle"


@contextmanager
def after(done: str, then: str) -> Iterator[None]:
    """A block that follows a write which stays: when the environment fails in it, the message says what was done.

    The store's own message would say that the write did not happen, and mean only the last one.
    """
    try:
        yield
    except Trouble as trouble:
        raise type(trouble)(f"{done}, but not all of the rest was written: {reason_of(trouble)}. {then}") from None
