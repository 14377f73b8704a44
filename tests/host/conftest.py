"""Host tests live in the present: a session's events come one after the other, in processes that we do not start."""

from __future__ import annotations

from pathlib import Path

import pytest

from shell import Shell


@pytest.fixture
def bare(tmp_path: Path) -> Shell:
    """A command line in a folder without a project, with the machine's clock."""
    shell = Shell(tmp_path)
    del shell.environ["RECOLLECT_NOW"]
    return shell
