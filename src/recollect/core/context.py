"""The Context, which every room function is given, and the protocols of what it holds.

`store` and `models` implement the protocols, so that rooms know no engine. Also the records that go with them: who
acts, an event, a prompt and its completion.
"""

from __future__ import annotations

from recollect.core.errors import Forbidden
from recollect.core.records import check_choice, record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import date
    from pathlib import Path
    from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar

    from recollect.core.choices import Trust
    from recollect.core.clock import Clock
    from recollect.core.records import Ids
    from recollect.core.settings import Settings

    Row = tuple[Any, ...]
    P = ParamSpec("P")
    R = TypeVar("R")
else:
    Protocol, Row = object, tuple


class Tx(Protocol):
    """One transaction in one space. A statement without `:space` is refused."""

    @property
    def space(self) -> str: ...
    def rows(self, sql: str, **params: Any) -> list[Row]: ...
    def row(self, sql: str, **params: Any) -> Row | None: ...
    def value(self, sql: str, **params: Any) -> Any: ...
    def run(self, sql: str, **params: Any) -> int:
        """The number of rows changed."""

    def run_many(self, sql: str, many: Iterable[dict[str, Any]]) -> None:
        """The dicts are used without a copy."""

    def rows_many(self, sql: str, many: Iterable[dict[str, Any]]) -> list[Row]:
        """The statement returns one row for each dict."""

    def columns(self, table: str) -> Sequence[str]: ...

    def index(self, doc: int, strong: Iterable[str], others: Iterable[str]) -> None:
        """Put a passage's terms into the word index: `strong` from titles and the like, and all `others`."""

    def unindex(self, doc: int) -> None: ...
    def match(self, terms: Sequence[str], *, within: Sequence[str] = ()) -> list[tuple[Sequence[int], Sequence[int]]]:
        """For each term the passages of this space that have it as a strong term, and those that mention it; ascending.

        Passages with none of the terms `within` may be left out.
        """

    @property
    def keeps_vectors(self) -> bool: ...

    def vectors(self, model: int) -> Vectors:
        """Only `store/vectors.py` calls it."""

    def before_commit(self, action: Callable[[Tx, Counter[str]], None]) -> Counter[str]:
        """The counter that `action` will be given, once, just before commit."""


class Vectors(Protocol):
    """Unit vectors of the pieces of passages."""

    def put(self, entries: Sequence[tuple[int, str, Sequence[tuple[int, Any]]]]) -> None:
        """For each passage (number, kind): its pieces' vectors."""

    def reached(self) -> int:
        """The newest passage that has vectors; -1 when none has."""

    def nearest(self, vector: Any, *, limit: int, kinds: Sequence[str] = ()) -> list[tuple[int, int, float]]:
        """The pieces nearest to a vector as (passage, piece, cosine), best first."""

    def cosines(self, vector: Any, docs: Sequence[int]) -> list[tuple[int, int, float]]:
        """All pieces of some passages as (passage, piece, cosine), in no order."""


class Db(Protocol):
    """Rows. `write` is one writer per space, committed and on disk when the block ends."""

    @property
    def engine(self) -> str: ...
    @property
    def place(self) -> str:
        """The address of the rows, without a password, so that it can be shown."""

    @property
    def holds_vault(self) -> bool:
        """Whether the vault is rows of this database, as a server's is, and not a folder beside it."""

    @property
    def upgraded(self) -> bool:
        """Whether opening the store migrated it to this program's schema."""

    def read(self, space: str, *, searching: bool = False) -> AbstractContextManager[Tx]:
        """A consistent view. `searching`: a replica may answer that has everything written so far."""

    def write(self, space: str) -> AbstractContextManager[Tx]: ...
    def write_anew(self) -> None:
        """Rewrite the store's own files, so that deleted rows leave no bytes in them."""

    def faults(self) -> list[tuple[str, str]]:
        """Faults of the store's files as (what, detail): a `file` is damaged; `remake_indexes` mends `index` and
        `vector`."""

    def unreadable_texts(self) -> Sequence[tuple[str, str, str]]:
        """Rows whose text cannot be read, as (table, subject, what is wrong)."""

    def remake_indexes(self) -> None: ...
    def backup(self, space: str, target: Path, *, progress: Callable[[int, int], object] | None = None) -> None:
        """A verified copy of the store, or of a space on a server, as one file; others keep writing."""

    def tend_vectors(self, space: str, model: int, dimensions: int) -> str:
        """Maintain the vector index; the answer tells a person what was done, if it matters."""

    def tend_words(self) -> None:
        """Merge the segments of the word index: every write adds one, and every search reads them all."""

    def close(self) -> None: ...


class Vault(Protocol):
    """Text files by relative path. Nothing acknowledged is lost, nothing is half-written."""

    def read(self, path: str) -> str | None: ...
    def append(self, path: str, text: str, *, after: str | None = None) -> str:
        """Append and give the file's new stamp; with `after` (a stamp) refuse when the file changed since.

        The stamp is empty when another process wrote at the same time.
        """

    def replace(self, path: str, text: str, *, expect: str | None = None) -> None:
        """Write the whole file; with `expect` (a content hash, "" for absent) refuse when the file changed since."""

    def delete(self, path: str, *, expect: str | None = None) -> None: ...
    def paths(self, prefix: str = "") -> list[str]: ...
    def pieces(self, path: str) -> Iterator[str]:
        """The text in pieces of bounded size, none when absent: for files that may not fit into memory."""

    def stamps(self, folder: str = "", *, names: Sequence[str] | None = None) -> dict[str, str]:
        """The names in a folder, or some of them, each with a stamp that changes with the file.

        The stamp is empty for anything but a regular file.
        """

    def folder_stamp(self, folder: str) -> str:
        """A stamp that changes when a file in the folder is made, replaced or deleted."""

    def inside(self, tx: Tx) -> Vault:
        """The same files for reading while a transaction is open: transactions do not nest."""


class RepositoryFiles(Vault, Protocol):
    """The repository's own files, read with Unix line ends."""

    def line_end(self, path: str) -> str: ...


class Git(Protocol):
    """Questions to a repository; paths are the worktree's. Raises NoHistory where no answer can be trusted."""

    def active_days(self) -> tuple[date, ...]:
        """Days with a commit, ascending."""

    def line_days(self, path: str, text: str) -> tuple[date | None, ...]:
        """For each line of a file's working copy, the day it was added; None before a commit."""

    def committed(self, path: str) -> str | None:
        """A file as HEAD has it; None when HEAD does not have it."""

    def day_removed(self, path: str, line: re.Pattern[str], *, least: int) -> date | None:
        """The last day on which a commit removed at least so many lines of a kind."""

    def moved(self, path: str, others: Sequence[str]) -> list[tuple[str, str, str]]:
        """The sections that left a file for another one in one commit: that file, the title and the text."""


class Models(Protocol):
    """The provider of each kind of question; None means the offline rules."""

    def provider(self, kind: str) -> Provider | None: ...
    def pause(self, seconds: float) -> None:
        """Wait before a retry."""

    def embedder(self) -> Embedder | None:
        """None means that search works on words alone."""

    def loaded_embedder(self) -> Embedder | None:
        """The embedder if this process has loaded it already: loading takes long."""


class Embedder(Protocol):
    """Texts to unit vectors (float32 arrays). `name` tells one model's vectors from another's."""

    @property
    def name(self) -> str: ...
    @property
    def loaded(self) -> bool: ...

    def embed(self, texts: Sequence[str]) -> list[Any]: ...


class Provider(Protocol):
    """A model that answers a prompt. `name` is stored with every answer."""

    @property
    def name(self) -> str: ...
    def complete(self, prompt: Prompt) -> Completion:
        """Raises NoAnswer, whose message never holds a key."""


PROJECT, ME = "project", "me"  # the nearest ring and the farthest; those between are named after their spaces
FARTHER = 0.9  # factor on a hit's relevance for each ring between; chosen: of two equal hits the nearer one wins


class Rings(Protocol):
    """The other rings of a memory: shared spaces and the person's own, the nearest first.

    A ring that is missing, broken, locked or slow is left out; `left_out` says why.
    """

    @property
    def names(self) -> Sequence[str]: ...
    @property
    def has_me(self) -> bool:
        """Whether the person's own ring, begun or not, differs from this memory."""

    @property
    def left_out(self) -> Mapping[str, str]: ...
    def ask(self, ctx: Context, work: Callable[[Context], R]) -> list[tuple[str, R]]: ...

    def named(self, ctx: Context, name: str) -> Context:
        """A ring to write to; the person's own is created if missing."""

    def project(self, name: str) -> Any:
        """The ring must have been asked before."""

    def close(self) -> None: ...
    def count_elsewhere(self, says: Callable[[Tx], Sequence[bool]]) -> list[int]:
        """For each question, the number of the user's other projects where it holds; empty without other projects. Only
        these numbers leave a project."""


class NoRings:
    """For a memory that reads only its own space, such as a token holder's."""

    names: Sequence[str] = ()
    has_me = False
    left_out: Mapping[str, str] = {}

    def ask(self, ctx: Context, work: Callable[[Context], R]) -> list[tuple[str, R]]:
        return []

    def named(self, ctx: Context, name: str) -> Context:
        raise Forbidden(f"ring {name[:80]!r} is out of reach here: this caller may use one space only")

    def count_elsewhere(self, says: Callable[[Tx], Sequence[bool]]) -> list[int]:
        return []

    def project(self, name: str) -> Any:
        raise Forbidden(f"ring {name[:80]!r} is out of reach here")

    def close(self) -> None: ...


@record
class Context:
    db: Db
    vault: Vault
    worktree: RepositoryFiles
    git: Git
    models: Models
    clock: Clock
    wall_clock: Clock  # for leases and claims; in a replay `clock` is the time of the record
    ids: Ids
    settings: Settings
    space: str
    clone: str  # which copy of the repository the worktree is: a space may have several, on several machines
    actor: Actor
    rings: Rings = NoRings()

    def read(self, ask: Callable[Concatenate[Tx, P], R], *args: P.args, **options: P.kwargs) -> R:
        with self.db.read(self.space) as tx:
            return ask(tx, *args, **options)

    def write(self, change: Callable[Concatenate[Tx, P], R], *args: P.args, **options: P.kwargs) -> R:
        with self.db.write(self.space) as tx:
            return change(tx, *args, **options)

    def as_one_change(self) -> Context:
        """The same, but all changes made with it share one id, so they are undone together."""
        change = self.ids("change")
        return replace(self, ids=lambda kind: change if kind == "change" else self.ids(kind))

    def trusted_as(self, trust: Trust) -> Context:
        return replace(self, actor=replace(self.actor, trust=trust))


TRUSTS: tuple[Trust, ...] = ("human", "agent", "external")


@record
class Actor:
    """The channel decides the trust, never the text."""

    name: str
    channel: str
    trust: Trust

    def __post_init__(self) -> None:
        check_choice(self.trust, "trust", TRUSTS)


def lowest(*trusts: Trust) -> Trust:
    """Derived text is as trustworthy as its least trusted source."""
    return max(trusts, key=TRUSTS.index)


@record
class Event:
    """One change to one thing. Events of one transaction share `change`, so they are undone together."""

    seq: int
    change: str
    at: int
    subject: str
    what: str
    who: str
    channel: str
    trust: Trust
    old: dict[str, Any]
    new: dict[str, Any]
    reason: str


@record
class Prompt:
    """Instructions and data are never mixed in one text."""

    kind: str
    instructions: str
    data: str
    max_tokens: int
    timeout: float


@record
class Completion:
    """The counts are None when the provider does not report them."""

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    stop: Literal["end", "length", "refusal"] = "end"
