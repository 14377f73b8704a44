"""Many agents on one PostgreSQL store: nothing acknowledged is lost, nobody overwrites anybody."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recollect import Memory
from recollect.store import project
from recollect.store.postgres_setup import initialise
from samples import learning
from servers import NOBODY, Server, own_server

WRITER = Path(__file__).with_name("team_writer.py")


class Team:
    """A project whose store is a server, and writers on it."""

    def __init__(self, root: Path, environ: dict[str, str], url: str):
        self.root = root
        self.environ = {**environ, "RECOLLECT_STORE": url, "PYTHONPATH": os.pathsep.join(sys.path)}
        root.mkdir()
        project.create(root, self.environ)
        with self.open() as memory:
            self.shared = memory.learn(learning(domain="0")).learning.id

    def open(self) -> Memory:
        return Memory.open(self.root, environ=self.environ)

    def writer(self, name: str, count: int) -> subprocess.Popen[str]:
        command = [sys.executable, str(WRITER), str(self.root), name, str(count), self.shared]
        return subprocess.Popen(command, env=self.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _acknowledged(writers: list[subprocess.Popen[str]]) -> tuple[dict[str, list[str]], str]:
    said: dict[str, list[str]] = {"learned": [], "logged": [], "counted": []}
    trouble = ""
    for writer in writers:
        out, err = writer.communicate(timeout=120)
        assert writer.returncode == 0, err
        trouble += err
        for line in out.splitlines():
            verb, _, what = line.partition(" ")
            said[verb].append(what)
    return said, trouble


def _everything_is_there(memory: Memory, said: dict[str, list[str]]) -> None:
    found, _ = memory.learnings.page(limit=1000)
    assert set(said["learned"]) <= {each.id for each in found}
    lines = (memory.context.vault.read("2026-03-01.md") or "").splitlines()
    assert set(said["logged"]) <= set(lines)


def test_eight_processes_write_at_once_and_nothing_is_lost(
    tmp_path: Path, environ: dict[str, str], postgres_url: str
) -> None:
    team = Team(tmp_path / "project", environ, postgres_url)
    said, trouble = _acknowledged([team.writer(f"w{number}", 8) for number in range(8)])
    with team.open() as memory:
        _everything_is_there(memory, said)
        assert memory.learnings.get(team.shared).domain == str(len(said["counted"])) == "64"
        assert len((memory.context.vault.read("2026-03-01.md") or "").splitlines()) == 64
        for id in said["learned"][:5]:
            word = memory.learnings.get(id).title.split()[0]
            assert memory.search(word)[0].learning.id == id
    assert trouble == ""


def test_a_server_that_crashes_under_load_costs_nothing_that_was_acknowledged(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    with own_server(durable=True) as server:
        url = server.new_database("team")
        initialise(url)
        team = Team(tmp_path / "project", environ, url)
        writers = [team.writer(f"w{number}", 40) for number in range(4)]
        for _ in range(3):
            time.sleep(0.7)
            server.restart("immediate")
        said, _ = _acknowledged(writers)
        with team.open() as memory:
            _everything_is_there(memory, said)
            # A commit whose answer was lost is repeated by the writer, so there may be more, never fewer.
            assert int(memory.learnings.get(team.shared).domain or 0) >= len(said["counted"]) == 160


@contextmanager
def _pgbouncer(server: Server) -> Iterator[str]:
    """A pooler in transaction mode in front of a server, with fewer connections than clients."""
    folder = server.folder / "pooler"
    folder.mkdir()
    (folder / "users.txt").write_text('"postgres" ""\n')
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\n* = host={server.folder} port=5432\n[pgbouncer]\npool_mode = transaction\n"
        f"default_pool_size = 2\nmax_client_conn = 100\nauth_type = trust\nlisten_addr =\nlisten_port = 6432\n"
        f"unix_socket_dir = {folder}\nauth_file = {folder}/users.txt\nlogfile = {folder}/log\npidfile = {folder}/pid\n"
    )
    user = NOBODY if os.geteuid() == 0 else None
    if user:
        for path in (folder, *folder.iterdir()):
            shutil.chown(path, user)
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program is not None, "pgbouncer is missing; `make tools` installs it"
    running = subprocess.Popen(
        [program, "-q", folder / "pgbouncer.ini"], user=user, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 10
        while not (folder / ".s.PGSQL.6432").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        yield f"postgresql://postgres@/{{database}}?host={folder}&port=6432"
    finally:
        running.kill()
        running.wait()


def test_a_pooler_in_transaction_mode_may_stand_in_between(tmp_path: Path, environ: dict[str, str]) -> None:
    with own_server() as server:
        initialise(server.new_database("team"))
        with _pgbouncer(server) as pooled:
            url = pooled.format(database="team")
            team = Team(tmp_path / "project", environ, url)
            said, trouble = _acknowledged([team.writer(f"w{number}", 5) for number in range(5)])
            with team.open() as memory:
                _everything_is_there(memory, said)
                assert memory.learnings.get(team.shared).domain == "25"
                assert memory.search("gammaw0n0")[0].learning.id in said["learned"]
            assert trouble == ""
