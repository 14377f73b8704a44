"""The memory tool of Anthropic's API (`memory_20250818`) over this memory, for the SDK's tool runner.

`/memories` is a view of what is kept: logs can be appended to, learnings are files to make, edit and delete (which
archives them), everything else is made from those and can only be read. What is not allowed is a tool error that says
what to do instead. Paths name things and are never opened, so none leads out.
"""

from __future__ import annotations

from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaMemoryTool20250818Command,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from recollect.core.actor import Actor
from recollect.core.errors import RecollectError
from recollect.hosts import memories
from recollect.memory import Memory

ACTOR = Actor(name="memory-tool", channel="memory-tool", trust="agent")


class MemoryTool(BetaAbstractMemoryTool):
    """Give it to `client.beta.messages.tool_runner(tools=[MemoryTool(memory)], …)`."""

    def __init__(self, memory: Memory, **options: Any):
        super().__init__(**options)
        self._memory = memory.acting_as(ACTOR)

    def execute(self, command: BetaMemoryTool20250818Command) -> str:
        try:
            return str(super().execute(command))
        except RecollectError as problem:
            raise ToolError(str(problem)) from problem
        except (AttributeError, TypeError, NotImplementedError) as problem:
            # The SDK does not check what the model sends.
            raise ToolError(f"this command cannot be read: {problem}") from problem

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return memories.view(self._memory, command.path, command.view_range)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return memories.create(self._memory, command.path, command.file_text)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return memories.str_replace(self._memory, command.path, command.old_str, command.new_str)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return memories.insert(self._memory, command.path, command.insert_line, command.insert_text)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return memories.delete(self._memory, command.path)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return memories.rename(self._memory, command.old_path, command.new_path)
