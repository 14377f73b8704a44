"""`recollect inject`, which workers run for every task: it uses argparse, because loading click doubles its start-up.

The help page of `recollect inject` is made from the same table of options.
"""

from __future__ import annotations

import sys
from argparse import SUPPRESS, ArgumentParser, HelpFormatter

from recollect.cli.printing import put, read_stdin
from recollect.core.errors import BadInput, RecollectError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from recollect.memory import Memory

OPTIONS: dict[str, dict[str, Any]] = {
    "--task": {"help": "Id of the task that is about to start.", "required": True},
    "--outcome": {
        "help": "Id of the outcome it belongs to; learnings from that outcome are left out.",
        "required": True,
    },
    "--title": {"help": "What the task is about."},
    "--description": {"help": "More about it; - reads standard input."},
    "--learning": {"help": "Inject this learning instead of searching; may be repeated.", "action": "append"},
    "--max-learnings": {"help": "How many learnings at most.", "type": int},
    "--min-confidence": {"help": "Leave out learnings below this.", "type": float},
    "--budget": {"help": "How many tokens the block may take at most.", "type": int},
    "--full": {"help": "Print whole task instructions with the learnings in place.", "action": "store_true"},
    "--json": {"help": "Print the learnings and the block as JSON.", "action": "store_true"},
    "--project": {"help": "Folder of the project, instead of the current one."},
}


class _Arguments(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message}; see: recollect inject --help")


def main(arguments: list[str]) -> int:
    try:
        return run(read(arguments))
    except RecollectError as error:
        print(f"recollect: {error}", file=sys.stderr)
        return error.exit_code


def read(arguments: list[str]) -> dict[str, Any]:
    # A fixed width: to ask the terminal for its own, argparse loads `shutil`.
    parser = _Arguments(
        add_help=False,
        allow_abbrev=False,
        argument_default=SUPPRESS,
        formatter_class=lambda prog: HelpFormatter(prog, width=100),
    )
    for name, option in OPTIONS.items():
        parser.add_argument(name, **{**option, "required": False})
    given = vars(parser.parse_args(arguments))
    for name, option in OPTIONS.items():  # argparse would report these before an unknown option
        if option.get("required") and not given.get(name[2:]):
            parser.error(f"inject needs {name}")
    return given


def run(given: dict[str, Any]) -> int:
    from recollect.cli.printing import open_memory

    if given.get("description") == "-":
        given["description"] = read_stdin()
    with open_memory(given.get("project")) as memory:
        options = {name: value for name, value in given.items() if name not in ("learning", "full", "json", "project")}
        chosen = memory.inject(**{"title": "", **options}, learnings=tuple(given.get("learning", ())))
        text = _whole(memory, given, chosen.markdown) if given.get("full") else chosen.markdown
    if given.get("json"):
        import json

        from recollect.core.records import plain

        text = json.dumps({"learnings": plain(chosen.learnings), "markdown": text}, ensure_ascii=False, indent=2)
    put(text)
    return 0


def _whole(memory: Memory, given: dict[str, Any], section: str) -> str:
    """Whole task instructions, with the names of task and outcome if the memory knows them."""
    from recollect.text.frame import escape, task_instructions

    title, outcome = memory.work.called(task=given["task"], outcome=given["outcome"])
    return task_instructions(
        outcome=escape(outcome) or given["outcome"],
        task_title=given.get("title") or escape(title),
        description=given.get("description", ""),
        section=section,
    )
