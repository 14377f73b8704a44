"""Power cuts: a file layer under SQLite that knows what a disk would still hold if the power went now.

What was written since a file's last sync may be there, in part or not at all, in any order. A cut does not stop the
writer: the state of the disk at that instant is put into a folder of its own, to be opened later. Run as a program:
PROJECT IMAGES SEED CUTS [SYNCHRONOUS].
"""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path

import apsw

from faults.processes import PERSON, a_learning
from recollect import Memory


class Disk:
    """What is durable, file by file, and what was written since."""

    def __init__(self, seed: int):
        self.durable: dict[str, bytes] = {}
        self.pending: dict[str, list[tuple[int, bytes]]] = {}
        self.chance = random.Random(seed)

    def synced(self, name: str) -> None:
        self.durable[name] = Path(name).read_bytes() if os.path.exists(name) else b""
        self.pending[name] = []

    def image(self, folder: Path) -> None:
        """The files as they might be found after a cut now."""
        folder.mkdir(parents=True)
        for name, data in self.durable.items():
            if not os.path.exists(name):
                continue  # deleted meanwhile: SQLite deletes a log only when the database holds all of it
            found = bytearray(data)
            for offset, piece in self.pending.get(name, []):
                if self.chance.random() < 0.5:
                    found.extend(b"\0" * (offset - len(found)))
                    found[offset : offset + len(piece)] = piece
            (folder / Path(name).name).write_bytes(found)


class CuttableFile(apsw.VFSFile):
    def __init__(self, shim: CuttableVFS, filename: str | apsw.URIFilename | None, flags: list[int]):
        super().__init__(shim.base_name, filename, flags)
        self.shim = shim
        self.file = filename.filename() if isinstance(filename, apsw.URIFilename) else (filename or "")
        self.watched = self.file.endswith((".db", "-wal"))

    def xWrite(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        if self.watched:
            self.shim.disk.durable.setdefault(self.file, b"")
            self.shim.disk.pending.setdefault(self.file, []).append((offset, bytes(data)))
            self.shim.moment()

    def xTruncate(self, newsize: int) -> None:
        super().xTruncate(newsize)
        if self.watched:
            self.shim.disk.synced(self.file)

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        if self.watched:
            self.shim.moment()
            self.shim.disk.synced(self.file)
            self.shim.moment()


class CuttableVFS(apsw.VFS):
    """Becomes the default, so that the store is opened as always."""

    def __init__(self, disk: Disk, images: Path, cuts: int, share: float):
        self.base_name = apsw.vfs_names()[0]
        self.disk = disk
        self.images = images
        self.cuts = cuts
        self.share = share
        self.promised: list[str] = []
        self.taken: list[dict[str, object]] = []
        super().__init__("cuttable", self.base_name, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return CuttableFile(self, name, flags)

    def moment(self) -> None:
        """Something reached the disk, or did not yet: a cut may come here."""
        if len(self.taken) < self.cuts and self.promised and self.disk.chance.random() < self.share:
            folder = self.images / str(len(self.taken))
            self.disk.image(folder)
            self.taken.append({"image": str(folder), "promised": len(self.promised)})


def main() -> None:
    project, images, seed, cuts, *synchronous = sys.argv[1:]
    with Memory.open(project, create=True, actor=PERSON):
        pass
    shim = CuttableVFS(Disk(int(seed)), Path(images), int(cuts), share=0.02)
    with Memory.open(project, actor=PERSON) as memory:
        connection = memory.context.db.connection()  # type: ignore[attr-defined]
        if synchronous:
            connection.execute(f"PRAGMA synchronous={synchronous[0]}")
        connection.execute("PRAGMA wal_autocheckpoint=60")
        shim.disk.synced(str(memory.project.database))
        number = 0
        while len(shim.taken) < shim.cuts:
            kept = memory.learn(a_learning(random.Random(f"{seed} {number}"))).learning
            shim.promised.append(kept.id)
            number += 1
    print(json.dumps({"promised": shim.promised, "cuts": shim.taken}))


if __name__ == "__main__":
    main()
