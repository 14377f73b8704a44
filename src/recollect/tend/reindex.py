"""Telling an external index that the tree changed. Its failure is a warning: the tree itself is up to date."""

from __future__ import annotations

import shlex
import subprocess

LIMIT_SECONDS = 60.0


def reindex(command: str, folder: str) -> str:
    """Run the configured command in the project's folder; gives a warning, or nothing."""
    if not command:
        return ""
    try:
        words = shlex.split(command)
        done = subprocess.run(words, cwd=folder, capture_output=True, timeout=LIMIT_SECONDS, check=False)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return f"the re-index command failed ({error}); the tree is up to date all the same"
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()[:200]
        return f"the re-index command ended with {done.returncode} ({said}); the tree is up to date all the same"
    return ""
