"""A vault with one of its folders somewhere else: findings of another tool are worked on where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recollect.core.context import Tx, Vault


class MountedVault:
    """See the protocol `Vault`. Paths below `name/` live in `there`, all others in `base`."""

    def __init__(self, base: Vault, name: str, there: Vault):
        self._base, self._prefix, self._there = base, f"{name}/", there

    def read(self, path: str) -> str | None:
        vault, path = self._place(path)
        return vault.read(path)

    def append(self, path: str, text: str, *, after: str | None = None) -> str:
        vault, path = self._place(path)
        return vault.append(path, text, after=after)

    def replace(self, path: str, text: str, *, expect: str | None = None) -> None:
        vault, path = self._place(path)
        vault.replace(path, text, expect=expect)

    def delete(self, path: str, *, expect: str | None = None) -> None:
        vault, path = self._place(path)
        vault.delete(path, expect=expect)

    def paths(self, prefix: str = "") -> list[str]:
        if f"{prefix}/".startswith(self._prefix):
            inner = f"{prefix}/"[len(self._prefix) :].rstrip("/")
            return [self._prefix + path for path in self._there.paths(inner)]
        here = [path for path in self._base.paths(prefix) if not path.startswith(self._prefix)]
        return here if prefix else sorted(here + [self._prefix + path for path in self._there.paths()])

    def pieces(self, path: str) -> Iterator[str]:
        vault, path = self._place(path)
        return vault.pieces(path)

    def stamps(self, folder: str = "", *, names: Sequence[str] | None = None) -> dict[str, str]:
        vault, folder = self._place(f"{folder}/")
        return vault.stamps(folder.rstrip("/"), names=names)

    def folder_stamp(self, folder: str) -> str:
        vault, folder = self._place(f"{folder}/")
        return vault.folder_stamp(folder.rstrip("/"))

    def inside(self, tx: Tx) -> MountedVault:
        return MountedVault(self._base.inside(tx), self._prefix.rstrip("/"), self._there.inside(tx))

    def _place(self, path: str) -> tuple[Vault, str]:
        if path.startswith(self._prefix):
            return self._there, path[len(self._prefix) :]
        return self._base, path
