"""`recollect inject`: its own small argument reader, because a worker calls it for every task.

The table of options is also what the help page and the documentation test read.
"""

from __future__ import annotations

import sys

from recollect.cli.printing import put, read_stdin
from recollect.core.errors import BadInput, RecollectError
from recollect.core.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from recollect.memory import Memory


@record
class Option:
    name: str
    doc: str
    kind: type = str
    many: bool = False
    needed: bool = False


OPTIONS = (
    Option(name="--task", doc="Id of the task that is about to start.", needed=True),
    Option(name="--outcome", doc="Id of what the task belongs to; its own learnings are left out.", needed=True),
    Option(name="--title", doc="What the task is about."),
    Option(name="--description", doc="More about it; - reads standard input."),
    Option(name="--learning", doc="Inject this learning instead of searching; may be repeated.", many=True),
    Option(name="--max-learnings", doc="How many at most.", kind=int),
    Option(name="--min-confidence", doc="Leave out what is below.", kind=float),
    Option(name="--budget", doc="Tokens the block may take.", kind=int),
    Option(name="--full", doc="Print whole task instructions with the learnings in place.", kind=bool),
    Option(name="--json", doc="Print the learnings and the block as JSON.", kind=bool),
    Option(name="--project", doc="Folder of the project, instead of the current one."),
)


def main(arguments: list[str]) -> int:
    """Print the block for a task; nothing relevant prints nothing."""
    try:
        return run(read(arguments))
    except RecollectError as error:
        print(f"recollect: {error}", file=sys.stderr)
        return error.exit_code


def read(arguments: list[str]) -> dict[str, Any]:
    """Arguments to values, `--name value` or `--name=value`; anything unknown is refused."""
    known = {option.name: option for option in OPTIONS}
    given: dict[str, Any] = {}
    rest = list(arguments)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        option = known.get(name)
        if option is None:
            raise BadInput(f"inject does not know {name!r}; see: recollect inject --help")
        key = name[2:].replace("-", "_")
        if option.kind is bool:
            if equals:
                raise BadInput(f"{name} takes no value")
            given[key] = True
            continue
        if not equals:
            if not rest:
                raise BadInput(f"{name} needs a value")
            value = rest.pop(0)
        try:
            converted = option.kind(value)
        except ValueError:
            raise BadInput(f"{name} must be a number, not {value!r}") from None
        given[key] = [*given.get(key, []), converted] if option.many else converted
    return given


def run(given: dict[str, Any]) -> int:
    """Choose, remember, print."""
    from recollect.cli.printing import open_memory

    for option in OPTIONS:
        if option.needed and not given.get(option.name[2:]):
            raise BadInput(f"inject needs {option.name}; see: recollect inject --help")
    if given.get("description") == "-":
        given["description"] = read_stdin()
    with open_memory(given.get("project")) as memory:
        chosen = memory.inject(
            task=given["task"],
            outcome=given["outcome"],
            title=given.get("title", ""),
            description=given.get("description", ""),
            learnings=tuple(given.get("learning", ())),
            max_learnings=given.get("max_learnings"),
            min_confidence=given.get("min_confidence"),
            budget=given.get("budget"),
        )
        text = _whole(memory, given, chosen.markdown) if given.get("full") else chosen.markdown
    if given.get("json"):
        import json

        from recollect.core.records import plain

        text = json.dumps({"learnings": plain(chosen.learnings), "markdown": text}, ensure_ascii=False, indent=2)
    put(text)
    return 0


def _whole(memory: Memory, given: dict[str, Any], section: str) -> str:
    """Whole instructions; what the task and its outcome are called is known when somebody said it once."""
    from recollect.text.frame import escape, task_instructions

    title, outcome = memory.work.called(task=given["task"], outcome=given["outcome"])
    return task_instructions(
        outcome=escape(outcome) or given["outcome"],
        task_title=given.get("title") or escape(title),
        description=given.get("description", ""),
        section=section,
    )
