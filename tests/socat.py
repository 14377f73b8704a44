"""The little of socat that Claude Code's sandbox needs for its network bridge, where the real one is not installed."""

from __future__ import annotations

import os
import socket
import sys
import threading


def main(listening: str, target: str) -> None:
    """Carry each connection to one address over to another; addresses are written as socat has them."""
    kind, place = _address(listening)
    if kind.startswith("UNIX"):
        server = socket.socket(socket.AF_UNIX)
        server.bind(place)
    else:
        server = socket.create_server(("127.0.0.1", int(place.rpartition(":")[2])))
    server.listen()
    while True:
        here, _ = server.accept()
        try:
            there = _connected(target)
        except OSError:
            here.close()
            continue
        for one, other in ((here, there), (there, here)):
            threading.Thread(target=_carry, args=(one, other), daemon=True).start()


def _address(text: str) -> tuple[str, str]:
    kind, _, rest = text.partition(":")
    return kind.upper(), rest.split(",")[0]


def _connected(text: str) -> socket.socket:
    kind, place = _address(text)
    if kind.startswith("UNIX"):
        found = socket.socket(socket.AF_UNIX)
        found.connect(place)
        return found
    host, _, port = place.rpartition(":")
    return socket.create_connection((host, int(port)))


def _carry(one: socket.socket, other: socket.socket) -> None:
    try:
        while data := one.recv(65536):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
    except OSError:
        os.close(other.detach())


if __name__ == "__main__":
    main(*[argument for argument in sys.argv[1:] if not argument.startswith("-")][:2])
