"""The help page of `recollect inject`, made from the same table its own reader uses."""

from __future__ import annotations

from typing import Any

import click

from recollect.cli.inject import OPTIONS, run


@click.command()
def inject(**given: Any) -> int:
    """Print the learnings that matter for a task, as Markdown, and remember that the task was shown them.

    Nothing relevant prints nothing and exits 0.
    """
    return run({name: value for name, value in given.items() if value})


for _option in OPTIONS:
    inject.params.append(
        click.Option(
            [_option.name],
            help=_option.doc,
            required=_option.needed,
            metavar="DIR" if _option.name == "--project" else None,
            is_flag=_option.kind is bool,
            multiple=_option.many,
            type=None if _option.kind is bool else _option.kind,
        )
    )
