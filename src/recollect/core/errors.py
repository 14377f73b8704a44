"""Every error Recollect raises on purpose.

    RecollectError
    ├── BadInput              what was given cannot be used; nothing was stored            exit 2
    │   ├── Rejected          understood, but below the quality gate; says how to rephrase  exit 2
    │   └── NotInitialised    no project here yet                                           exit 2
    ├── NotFound              no such id                                                    exit 1
    ├── Refused               the answer is no: a cycle, a wrong state, a lease held        exit 1
    │   ├── NoHistory         git cannot say: no repository, shallow, no commit yet         exit 1
    │   └── Stale             somebody changed it first; your text is untouched             exit 1
    └── Trouble               the environment: a person has to look                         exit 3
        ├── StoreBusy         another process kept the store locked for too long
        │   └── SessionBusy   another process reads this session's transcript
        ├── StoreDamaged      the database does not read back; nothing was deleted
        ├── StoreNewer        written by a newer Recollect
        ├── StoreUnreachable  server, folder or permission missing
        ├── NoSpace           the disk is full; the write did not happen
        └── NoAnswer          a model, or what leads to it, failed; the offline twin answers

The command line shows the message and exits with `exit_code`; the HTTP surface maps the class to a status. Messages are
written for the person who has to act: what happened, then what to do.
"""

from __future__ import annotations

__all__ = [
    "BadInput",
    "NoAnswer",
    "NoHistory",
    "NoSpace",
    "NotFound",
    "NotInitialised",
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


class RecollectError(Exception):
    """Anything Recollect raises on purpose; every surface shows its message."""

    exit_code = 3


class BadInput(RecollectError):
    """Seen by whoever gave the input."""

    exit_code = 2


class Rejected(BadInput):
    """Seen by the author of a text that did not pass the quality gate."""


class NotInitialised(BadInput):
    """Seen by whoever opens a memory where `recollect init` never ran."""


class NotFound(RecollectError):
    """Seen by whoever named an id that does not exist in this space."""

    exit_code = 1


class Refused(RecollectError):
    """Seen by whoever asked for a change that the rules do not allow."""

    exit_code = 1


class NoHistory(Refused):
    """Seen by whoever asks for an age where git cannot give one; never guessed."""


class Stale(Refused):
    """Seen by the second of two editors; the first one's text stays."""


class Trouble(RecollectError):
    """Seen by the person who runs the machine."""


class StoreBusy(Trouble):
    """Seen when a lock outlasted the busy timeout."""


class SessionBusy(StoreBusy):
    """Seen when two hooks of one session come at once; the store itself can be written."""


class StoreDamaged(Trouble):
    """Seen when the store does not read back; the original is kept."""


class StoreNewer(Trouble):
    """Seen by an older program on a newer store; nothing was touched."""


class StoreUnreachable(Trouble):
    """Seen when the place of the store cannot be read or written."""


class NoSpace(Trouble):
    """Seen when the disk is full; what was acknowledged before is safe."""


class NoAnswer(Trouble):
    """Seen by `ask()`, which tries again or does without; by a person only in `recollect models check`.

    `again` says that another try may help, `after` how many seconds the server wants to be left alone, and `billed`
    that the call may have been paid for although nothing came of it. The message never holds a key.
    """

    def __init__(self, message: str, *, again: bool = False, after: float | None = None, billed: bool = False):
        super().__init__(message)
        self.again = again
        self.after = after
        self.billed = billed
