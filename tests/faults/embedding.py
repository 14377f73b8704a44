"""Embeds what waits in a project and is killed by its own embedder before a batch. Run as a program."""

from __future__ import annotations

import os
import signal
import sys

from embedders import WordEmbedder
from recollect import Memory
from recollect.models.scripted import ScriptedModels


def main() -> None:
    folder, batches = sys.argv[1], int(sys.argv[2])
    embedder = WordEmbedder()
    left = iter(range(batches))

    def count() -> None:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    embedder.on_embed = count  # type: ignore[method-assign]
    with Memory.open(folder, models=ScriptedModels({}, embedder=embedder)) as memory:
        memory.data.embed()


if __name__ == "__main__":
    main()
