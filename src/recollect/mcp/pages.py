"""Resources (ROOT, INDEX, a learning, a day) and prompts (hand-off, review) of the MCP server."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from pydantic import Field

from recollect.core.errors import BadInput, NotFound, RecollectError
from recollect.distil.page import headline
from recollect.mcp.reading import read
from recollect.memory import Memory
from recollect.text.frame import escape, one_line

MARKDOWN = "text/markdown"

HANDOFF = """\
Write a hand-off for whoever continues this work, then keep it.

1. `log` one entry of type project: what was asked, what was done, what was decided and why, what is left open and where
   to begin. Name files, commands and errors exactly. Anything the user told you to do differently is an entry of its
   own, of type feedback.
2. `decide` each choice that later work has to live with and that is not recorded yet.
3. `remember` what would have saved you time, if it is specific and will come up again. Leave out what is in the code or
   the documentation already.
4. `rate` each learning that this work was shown and that made a difference or misled you.

Then tell the user in a few lines what you kept, with the ids."""

REVIEW = """\
Say what came of these decisions. For each, look at what happened since: `get` shows it whole, `recall` what the journal
says. Tell the user for each one whether it was a success, partial, a failure or abandoned, what shows it, and what it
teaches; they settle it with `recollect review ID OUTCOME`. If you cannot tell, say so.

"""


def add_pages(server: MCPServer[Any], memory: Memory) -> None:
    """Give the server its resources and prompts."""

    def body(id: str) -> str:
        try:
            return read(memory, id).body
        except (NotFound, BadInput) as problem:
            raise ResourceNotFoundError(str(problem)) from problem
        except RecollectError as problem:
            raise ResourceError(str(problem)) from problem

    @server.resource("recollect://root", title="ROOT.md", mime_type=MARKDOWN)
    def root() -> str:
        """Everything that happened, on one page."""
        return body("root")

    @server.resource("recollect://index", title="INDEX.md", mime_type=MARKDOWN)
    def index() -> str:
        """The themes that findings of earlier work gathered into."""
        return body("index")

    @server.resource("recollect://learning/{id}", title="A learning", mime_type=MARKDOWN)
    def learning(id: str) -> str:
        """One learning with its confidence, by its id `learn_…`."""
        return body(id if id.startswith("learn_") else f"learn_{id}")

    @server.resource("recollect://log/{day}", title="A day", mime_type=MARKDOWN)
    def log(day: str) -> str:
        """The raw log of a day such as 2026-03-01."""
        return body(f"log/{day}")

    @server.prompt(title="Hand off")
    def handoff() -> str:
        """Leave the work so that the next session can continue it."""
        return HANDOFF

    @server.prompt(title="Review decisions")
    def review(
        agent: Annotated[str | None, Field(description="Only decisions of this agent.")] = None,
    ) -> str:
        """Say what came of the decisions that wait for an outcome."""
        waiting = memory.decisions.review_queue(agent=agent)
        lines = [f"- {each.decision.id}: {escape(one_line(headline(each.decision)))}" for each in waiting]
        return REVIEW + ("\n".join(lines) or "No decision waits for an outcome.")
