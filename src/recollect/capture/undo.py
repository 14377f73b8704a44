"""Taking back the last change, whether it was made to a learning or to a decision."""

from __future__ import annotations

from recollect.capture import decide, edit
from recollect.core.context import Context
from recollect.core.decision import Decision
from recollect.core.errors import Refused
from recollect.core.learning import Learning


def undo(ctx: Context) -> list[Learning] | list[Decision]:
    """The newest change that was not undone yet. Undoing again goes one further back."""
    with ctx.db.read(ctx.space) as tx:
        learnings, decisions = edit.last_undoable(tx), decide.last_undoable(tx)
    if not learnings and not decisions:
        raise Refused("there is nothing to undo")
    later = learnings and (not decisions or learnings[-1].seq > decisions[-1].seq)
    return edit.undo(ctx) if later else decide.undo(ctx)
