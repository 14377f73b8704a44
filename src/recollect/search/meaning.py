"""Search by meaning: the nearest passages to a question, and the vectors of passages that have none yet.

A passage without vectors is found by its words, so search degrades and never fails. Vectors are made in batches, each
committed by itself; an interrupted run continues after its last batch. No transaction is open while the model works.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from recollect.core.clock import DAY
from recollect.core.context import Context, Embedder
from recollect.core.errors import NoAnswer, Refused, Trouble
from recollect.core.records import record
from recollect.models.budget import embed
from recollect.store import db, passages, vectors
from recollect.store.vectors import Embedded, UnembeddedPassage
from recollect.text.sentences import WHOLE, pieces

if TYPE_CHECKING:
    from recollect.core.context import Tx
    from recollect.store.passages import Narrow

NEAREST = 200  # pieces that are looked up; a passage has about three, so some 60 candidates
FEW = 2_000  # filtered passages up to which all are compared, exactly
FARTHER = 10  # times as many pieces are looked up where a filter leaves more than that, but not all
CHARACTERS = 4_000  # of a query that are embedded; the model's window of 256 tokens holds fewer


@record
class Meaning:
    """The vector of a question. `beside_words` says whether words count too."""

    model: str
    vector: Any
    beside_words: bool

    def nearest(self, tx: Tx, wanted: Narrow) -> list[int]:
        """Passages, nearest first; more are looked up where a filter drops most of them."""
        limit = NEAREST
        if wanted.trusts or wanted.since is not None or wanted.until is not None:
            few = passages.few(tx, wanted, most=FEW)
            if few is not None:
                found = vectors.cosines(tx, self.model, self.vector, sorted(few))
                near = {doc: max(some.values()) for doc, some in found.items()}
                return sorted(near, key=lambda doc: (-near[doc], doc))
            limit = NEAREST * FARTHER
        pieces = vectors.nearest(tx, self.model, self.vector, limit=limit, kinds=wanted.kinds)
        return list(dict.fromkeys(doc for doc, _, _ in pieces))

    def closeness(self, tx: Tx, docs: Sequence[int]) -> dict[int, tuple[float, float]]:
        """How near the nearest piece of each passage is, and its whole; a passage without vectors is left out.

        Squared cosines, at least 0: the difference between .6 and .7 tells more than that between .1 and .2.
        """
        found = vectors.cosines(tx, self.model, self.vector, docs)
        return {
            doc: (max(0.0, *some.values()) ** 2, max(0.0, some.get(WHOLE, 0.0)) ** 2) for doc, some in found.items()
        }


def meaning_of(ctx: Context, text: str, *, required: bool) -> Meaning | None:
    """The meaning of a text; None without an embedder or vectors, which is an error when `required`."""
    embedder = ctx.models.embedder()
    known = embedder is not None and ctx.read(vectors.known, embedder.name)
    if embedder is None or not known:
        if not required:
            return None
        if embedder is None:
            raise Refused(
                "semantic search needs an embedder: set embed.use to auto, pip install 'recollect-memory[embeddings]'"
            )
        earlier = next(iter(ctx.read(vectors.models)), None)
        so_far = (
            f"The vectors here are of {earlier.model}, not of {embedder.name}" if earlier else "Nothing has vectors yet"
        )
        raise Refused(f"{so_far}, so search by meaning is not possible. Run: recollect model embed")
    return Meaning(model=embedder.name, vector=embedder.embed([text[:CHARACTERS]])[0], beside_words=not required)


BATCH = 64  # passages of one transaction
AT_ONCE = 4  # passages that are embedded while a capture waits
LEASE_SECONDS = 120  # more than a batch takes
MANY = 1000  # new vectors after which the vector index is maintained at once, not only once a day
UNUSED_DAYS = 30  # after which a model's vectors are dropped: until then two people may use two models
DROPPED = 2000  # passages whose vectors are deleted in one transaction

NO_EMBEDDER = "none: everything works on words alone"
NO_ROOM = "the server has no pgvector 0.8, so everything works on words alone"


@record
class Refreshed:
    """How many passages got vectors and how many wait; `why_not` when none can, or another process is at it."""

    made: int = 0
    waiting: int = 0
    why_not: str = ""
    note: str = ""


def refresh(ctx: Context, *, most: int | None = None, progress: Callable[[int], object] | None = None) -> Refreshed:
    """Embed passages without vectors, oldest first: all of them, or `most`."""
    embedder = ctx.models.embedder()
    with ctx.db.read(ctx.space) as tx:
        if embedder is None or not tx.keeps_vectors:
            return Refreshed(why_not=NO_ROOM if embedder else NO_EMBEDDER)
    lease = db.take_lease(ctx, "vectors", seconds=LEASE_SECONDS)
    if lease is None:
        return Refreshed(why_not="another process is at it")
    made = 0
    try:
        while most is None or made < most:
            done = _next_batch(ctx, embedder, BATCH if most is None else min(BATCH, most - made), lease)
            if not done:
                break
            made += done
            if progress is not None:
                progress(done)
        note = _maintain_index(ctx, embedder, lease, made)
    except Refused:  # the lease expired and another process took it
        note = "another process went on with it"
    except NoAnswer as failure:  # an endpoint; the next run tries again
        note = str(failure)
    finally:
        db.release_lease(ctx, lease)
    with ctx.db.read(ctx.space) as tx:
        return Refreshed(made=made, waiting=vectors.counts(tx, embedder.name)[1], note=note)


def at_once(ctx: Context, embedder: Embedder) -> None:
    """Embed what was just captured with a model that is loaded, unless many passages wait."""
    with suppress(Trouble):  # the capture itself is saved; the next cycle embeds it
        with ctx.db.read(ctx.space) as tx:
            found = vectors.waiting(tx, embedder.name, limit=AT_ONCE + 1) if tx.keeps_vectors else []
        if 0 < len(found) <= AT_ONCE:
            made = _embedded(ctx, embedder, found)
            ctx.write(vectors.put, embedder.name, made, at=ctx.clock.now())


def _next_batch(ctx: Context, embedder: Embedder, size: int, lease: db.Lease) -> int:
    found = ctx.read(vectors.waiting, embedder.name, limit=size)
    if not found:
        return 0
    made = _embedded(ctx, embedder, found)
    with ctx.db.write(ctx.space) as tx:
        db.check_lease(tx, lease)
        vectors.put(tx, embedder.name, made, at=ctx.clock.now())
    db.renew_lease(ctx, lease, seconds=LEASE_SECONDS)
    return len(found)


def _embedded(ctx: Context, embedder: Embedder, found: Sequence[UnembeddedPassage]) -> list[Embedded]:
    cut = [pieces(title=one.title, who=one.who, text=one.text) for one in found]
    made = iter(embed(ctx, embedder, [text for some in cut for _, text in some]))
    return [
        Embedded(doc=one.doc, kind=one.kind, hash=one.hash, pieces=[(number, next(made)) for number, _ in some])
        for one, some in zip(found, cut, strict=True)
    ]


def _maintain_index(ctx: Context, embedder: Embedder, lease: db.Lease, made: int) -> str:
    """Once a day, and after many new vectors: drop unused models' vectors and maintain the vector index."""
    now = ctx.clock.now()
    models = {one.model: one for one in ctx.read(vectors.models)}
    ours = models.get(embedder.name)
    if ours is None or (made < MANY and now - ours.used_at < DAY):
        return ""
    ctx.write(vectors.in_use, embedder.name, at=now)
    unused = [name for name, one in models.items() if one is not ours and one.used_at < now - UNUSED_DAYS * DAY]
    while unused:
        with ctx.db.write(ctx.space) as tx:
            db.check_lease(tx, lease)
            if vectors.drop(tx, unused[-1], most=DROPPED):
                unused.pop()
        db.renew_lease(ctx, lease, seconds=LEASE_SECONDS)
    return ctx.db.tend_vectors(ctx.space, ours.number, ours.dimensions)
