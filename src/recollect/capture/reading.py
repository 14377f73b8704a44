"""Reading in what the repository's own files say, so that search finds it: one file at a time, for this clone.

Knows nothing about which files there are and how they are cut into passages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recollect.core.context import Context, Tx
from recollect.core.passage import Passage
from recollect.store import passages, readings


def read_in(tx: Tx, ctx: Context, source: str, stamp: str, found: Sequence[Passage], known: Iterable[str]) -> None:
    """Make what is searched of a source (`known`) equal to what was found in it; what another clone has too stays.

    Where two clones say different things under one id, what was read last is found.
    """
    ids = [passage.id for passage in found]
    readings.put(tx, ctx.clone, source, stamp=stamp, ids=ids, at=ctx.clock.now())
    for id in set(known) - {*ids, *readings.held_elsewhere(tx, ctx.clone, source=source)}:
        passages.remove(tx, id)
    for passage in found:
        passages.put(tx, passage)
