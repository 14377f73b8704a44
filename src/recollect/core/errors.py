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
        ├── StoreOutdated     written by an older one, and an upgrade takes too long for a hook
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
    "StoreOutdated",
    "StoreUnreachable",
    "Trouble",
]

NO_ACCESS = (
    "In a sandbox use the MCP tools, or leave it to the hooks: both run outside it. Otherwise check the permissions"
)
NOT_DONE = "; this write did not happen"  # ends the store's message about one write; earlier writes are not meant


class RecollectError(Exception):
    exit_code = 3


class BadInput(RecollectError):
    exit_code = 2


class Rejected(BadInput):
    """Seen by the author of a text that teaches nothing or tells of the future; it is not stored."""


class NotInitialised(BadInput): ...


class NotFound(RecollectError):
    exit_code = 1


class Refused(RecollectError):
    exit_code = 1


class Forbidden(Refused): ...


class Proposed(Refused):
    """Seen by a caller from outside who changes a more trusted record."""


class NoHistory(Refused):
    """Seen by a caller who asks for an age: ages are never guessed."""


class Stale(Refused): ...


class Trouble(RecollectError): ...


class StoreBusy(Trouble): ...


class SessionBusy(StoreBusy):
    """Seen when two hooks of one session run at once."""


class StoreOutdated(Trouble):
    """Seen by hooks, which leave the upgrade of a large store to a cycle in the background."""


class StoreDamaged(Trouble): ...


class StoreNewer(Trouble): ...


class StoreUnreachable(Trouble): ...


class FateUnknown(StoreUnreachable):
    """Seen when the answer to a commit, or of a disk, was lost."""


class NoSpace(Trouble):
    """Earlier writes that were acknowledged are safe."""


class NoAnswer(Trouble):
    """Seen by `ask()`, which tries again or does without; by a person only in `recollect model check`.

    `again` says that another try may help, `after` how many seconds the server asks to wait, and `billed` that the call
    may have been paid for although it failed. The message never holds a key.
    """

    def __init__(self, message: str, *, again: bool = False, after: float | None = None, billed: bool = False):
        super().__init__(message)
        self.again = again
        self.after = after
        self.billed = billed


def reason_of(error: RecollectError) -> str:
    """The reason of a failed write, without the claim that nothing was written."""
    return str(error).partition(NOT_DONE)[0]


def not_searchable(what: str, error: RecollectError) -> str:
    """The warning about text that is saved although its rows could not be written."""
    return f"{what} was saved but is not searchable yet: {reason_of(error)}. Repair that, then run: recollect cycle"


@contextmanager
def after(done: str, then: str) -> Iterator[None]:
    """A block after a write: when the block fails, the message says what was done before.

    The store's own message would say that nothing was written, and mean only the last write.
    """
    try:
        yield
    except Trouble as trouble:
        raise type(trouble)(f"{done}, but not all of the rest was written: {reason_of(trouble)}. {then}") from None
