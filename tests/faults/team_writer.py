"""One agent of a team, as a process of its own: learns, edits and logs, and prints what was acknowledged.

Usage: team_writer.py PROJECT NAME COUNT SHARED. `SHARED` is a learning that everybody edits: each edit reads it, adds
one to the number in its domain, and is refused when somebody was faster.
"""

from __future__ import annotations

import sys
import time

from recollect import Actor, LearningEdit, Memory, NewLearning, Stale, Trouble


def main() -> None:
    project, name, count, shared = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    actor = Actor(name=name, channel="cli", trust="agent")
    memory = _persistently(lambda: Memory.open(project, actor=actor))
    for number in range(count):
        word = f"{name}n{number}"
        new = NewLearning(
            title=f"{word} alpha{word}",
            context=f"beta{word}",
            observation=f"gamma{word} delta{word}",
            implication=f"epsilon{word}",
            action=f"zeta{word} eta{word}",
        )
        kept = _persistently(lambda new=new: memory.learn(new).learning.id)
        print("learned", kept, flush=True)
        _persistently(lambda word=word: memory.context.vault.append("2026-03-01.md", f"{word}\n"))
        print("logged", word, flush=True)
        _persistently(lambda: _count_up(memory, shared))
        print("counted", word, flush=True)
    memory.close()


def _count_up(memory: Memory, shared: str) -> None:
    while True:
        found = memory.learnings.get(shared)
        try:
            memory.learnings.edit(shared, LearningEdit(domain=str(int(found.domain or 0) + 1)), expect=found.version)
            return
        except Stale:
            continue


def _persistently(action):  # type: ignore[no-untyped-def]
    """What an agent does when told to try again."""
    while True:
        try:
            return action()
        except Trouble as trouble:
            print("trouble", trouble, file=sys.stderr, flush=True)
            time.sleep(0.05)


main()
