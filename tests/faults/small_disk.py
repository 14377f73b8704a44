"""Write learnings until the disk is full and say which were saved. Run as a program: PROJECT [BYTES PER FILE]."""

from __future__ import annotations

import json
import random
import resource
import sys

from faults.processes import PERSON, a_learning
from recollect import Memory
from recollect.core.errors import Trouble


def main() -> None:
    project, *limit = sys.argv[1:]
    with Memory.open(project, create=True, actor=PERSON) as memory:
        memory.learn(a_learning(random.Random("first")))
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit[0]), int(limit[0])))
    saved: list[str] = []
    trouble = ""
    try:
        with Memory.open(project, actor=PERSON) as memory:
            for number in range(2_000):
                saved.append(memory.learn(a_learning(random.Random(number))).learning.id)
    except Trouble as error:
        trouble = f"{type(error).__name__}: {error}"
    print(json.dumps({"saved": saved, "trouble": trouble}))


if __name__ == "__main__":
    main()
