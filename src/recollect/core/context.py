"""The Context, which every room function is given, and the protocols of what it holds.

The protocols say what a room may ask of a database, vault, repository or model; `store` and `models` implement them, so
that rooms know no engine. Also the records that go with them: who acts, an event, a prompt and its completion.
"""

from __future__ import annotations

from recollect.core.errors import BadInput, Forbidden
from recollect.core.records import record

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
    """One transaction in one space. Every statement names `:space`, or is refused."""

    @property
    def space(self) -> str: ...
    def rows(self, sql: str, **params: Any) -> list[Row]: ...
    def row(self, sql: str, **params: Any) -> Row | None: ...
    def value(self, sql: str, **params: Any) -> Any: ...
    def run(self, sql: str, **params: Any) -> int:
        """Execute and give the number of rows changed."""

    def run_many(self, sql: str, many: Iterable[dict[str, Any]]) -> None:
        """Execute a statement for many rows; the dicts are used without a copy."""

    def rows_many(self, sql: str, many: Iterable[dict[str, Any]]) -> list[Row]:
        """The same for a statement that returns a row each time."""

    def columns(self, table: str) -> Sequence[str]:
        """The columns of a table in this store."""

    def index(self, doc: int, strong: Iterable[str], others: Iterable[str]) -> None:
        """Put a passage's terms into the word index: `strong` from titles and the like, and all `others`."""

    def unindex(self, doc: int) -> None: ...
    def match(self, terms: Sequence[str], *, within: Sequence[str] = ()) -> list[tuple[Sequence[int], Sequence[int]]]:
        """For each term the passages of this space that have it as a strong term, and those that mention it; ascending.

        Passages with none of the terms `within` may be left out.
        """

    @property
    def keeps_vectors(self) -> bool:
        """Whether this store can hold vectors."""

    def vectors(self, model: int) -> Vectors:
        """The vectors of this space that a model made; only `store/vectors.py` calls it."""

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
        """Whether opening the store brought it to this program's schema."""

    def read(self, space: str, *, searching: bool = False) -> AbstractContextManager[Tx]:
        """A consistent view. `searching`: a replica may answer that has everything written so far."""

    def write(self, space: str) -> AbstractContextManager[Tx]: ...
    def write_anew(self) -> None:
        """Rewrite the store's own files, so that deleted rows leave no bytes in them."""

    def faults(self) -> list[tuple[str, str]]:
        """What is wrong with the store's own files, as (what, detail): a damaged `file`, or an `index` or `vector` that
        `remake_indexes` makes again."""

    def unreadable_texts(self) -> Sequence[tuple[str, str, str]]:
        """Rows with a text that is not text, as (table, subject, what is wrong)."""

    def remake_indexes(self) -> None: ...
    def backup(self, space: str, target: Path, *, progress: Callable[[int, int], object] | None = None) -> None:
        """A verified copy of the store, or of a space on a server, as one file; others keep writing."""

    def tend_vectors(self, space: str, model: int, dimensions: int) -> str:
        """Maintain the vector index; says what was done when a person may want to know."""

    def tend_words(self) -> None:
        """Merge the segments of the word index: every write adds one, and every search reads them all."""

    def close(self) -> None: ...


class Vault(Protocol):
    """Text files by relative path. Nothing acknowledged is lost, nothing is half-written."""

    def read(self, path: str) -> str | None: ...
    def append(self, path: str, text: str, *, after: str | None = None) -> str:
        """Append and give the file's stamp then; with `after` (a stamp) refuse when the file changed since.

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

    def line_end(self, path: str) -> str:
        """What ends the lines of a file as it is stored."""


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
    """Which provider answers which kind of ask; None means the offline rules do."""

    def provider(self, kind: str) -> Provider | None: ...
    def pause(self, seconds: float) -> None:
        """Let time pass before a model is tried again."""

    def embedder(self) -> Embedder | None:
        """The embedder; None means that search works on words alone."""

    def loaded_embedder(self) -> Embedder | None:
        """The same, but only when this process has loaded it already: loading takes long."""


class Embedder(Protocol):
    """Texts to unit vectors (float32 arrays). `name` tells one model's vectors from another's."""

    @property
    def name(self) -> str: ...
    @property
    def loaded(self) -> bool:
        """Whether the model is in memory."""

    def embed(self, texts: Sequence[str]) -> list[Any]: ...


class Provider(Protocol):
    """A model that answers a prompt. `name` is stored with every answer."""

    @property
    def name(self) -> str: ...
    def complete(self, prompt: Prompt) -> Completion:
        """Raises NoAnswer, whose message never holds a key."""


PROJECT, ME = "project", "me"
"""The nearest ring and the farthest; those between have the names of their spaces."""
FARTHER = 0.9
"""What a hit's relevance counts for each ring between it and the project; chosen: of two that are alike the nearer."""


class Rings(Protocol):
    """The other rings of a memory: shared spaces and the person's own, the nearest first.

    A ring that is missing, broken, locked or slow is left out; `left_out` says why.
    """

    @property
    def names(self) -> Sequence[str]: ...
    @property
    def has_me(self) -> bool:
        """Whether the person's own ring, begun or not, is another one than this memory."""

    @property
    def left_out(self) -> Mapping[str, str]: ...
    def ask(self, ctx: Context, work: Callable[[Context], R]) -> list[tuple[str, R]]:
        """What a function answers for each ring that can be read."""

    def named(self, ctx: Context, name: str) -> Context:
        """A ring to write to; the person's own begins with it."""

    def project(self, name: str) -> Any:
        """The project of a ring that was asked before."""

    def close(self) -> None: ...
    def count_elsewhere(self, says: Callable[[Tx], Sequence[bool]]) -> list[int]:
        """Of some questions, in how many other projects of the user each holds; none where there is no other project.
        Nothing but these numbers leaves a project."""


class NoRings:
    """A memory that reads nothing but its own space, as a token's holder does."""

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
    """Everything a room may touch, and on whose behalf."""

    db: Db
    vault: Vault
    worktree: RepositoryFiles
    git: Git
    models: Models
    clock: Clock
    wall_clock: Clock  # leases and claims expire by it; `clock` is the time of the change, in a replay the record's
    ids: Ids
    settings: Settings
    space: str
    clone: str  # which copy of the repository the worktree is: a space may have several, on several machines
    actor: Actor
    rings: Rings = NoRings()

    def read(self, ask: Callable[Concatenate[Tx, P], R], *args: P.args, **options: P.kwargs) -> R:
        """What a function of a transaction answers, in a read transaction of its own."""
        with self.db.read(self.space) as tx:
            return ask(tx, *args, **options)

    def as_one_change(self) -> Context:
        """The same, but every change made with it has one id: they are undone together."""
        change = self.ids("change")
        return Context(**{**vars(self), "ids": lambda kind: change if kind == "change" else self.ids(kind)})

    def trusted_as(self, trust: Trust) -> Context:
        """The same actor with another trust."""
        actor = type(self.actor)(**{**vars(self.actor), "trust": trust})
        return Context(**{**vars(self), "actor": actor})


TRUSTS: tuple[Trust, ...] = ("human", "agent", "external")


@record
class Actor:
    """Who writes, through which channel. The channel decides the trust, never the text."""

    name: str
    channel: str
    trust: Trust

    def __post_init__(self) -> None:
        if self.trust not in TRUSTS:
            raise BadInput(f"trust must be one of {', '.join(TRUSTS)}, not {self.trust!r}")


def lowest(*trusts: Trust) -> Trust:
    """Derived text is as trustworthy as its worst source."""
    return max(trusts, key=TRUSTS.index)


@record
class Event:
    """One change to one thing. Events of one transaction share `change`, so that undo takes them back together."""

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
    """The instructions for a model and the data they are about; the two are never mixed in one text."""

    kind: str
    instructions: str
    data: str
    max_tokens: int
    timeout: float


@record
class Completion:
    """A model's answer. The counts are None when the provider does not report them."""

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    stop: Literal["end", "length", "refusal"] = "end"
