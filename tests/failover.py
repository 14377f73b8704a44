# ruff: noqa: E501
"""A team that loses its server, for real: three PostgreSQL nodes with Patroni and etcd, 16 agents that never stop writing.

    python tests/failover.py [ROUNDS]        (as root; needs the packages patroni and etcd-server)

Each node lives in a network namespace of its own behind a bridge, so that a network can be cut. A round kills the
leader (Patroni and PostgreSQL, SIGKILL), cuts the leader's network, kills the leader's PostgreSQL alone, cuts the
synchronous replica's network, and switches over as an upgrade does. Then everything that was acknowledged is looked for.
Prints the counts as JSON; fails when something acknowledged is missing, doubled, or a lease was held twice.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg

from recollect import Actor, LearningEdit, Memory, NewDecision, NewEntry, NewLearning, Stale, Trouble
from recollect.store import db, project
from recollect.store.postgres_setup import initialise
from servers import NOBODY, reachable_install

NODES, SPACES, AGENTS = 3, 4, 16
BRIDGE, NET = "rchabr", "10.77.0"
SETTLE = 90  # seconds within which a cluster has a leader and a synchronous replica again
PAUSE = 4  # seconds of undisturbed work between two faults


class Node:
    """A machine: Patroni, and the PostgreSQL that it runs."""

    def __init__(self, folder: Path, number: int):
        self.name, self.address, self.folder = f"rcha{number}", f"{NET}.{10 + number}", folder / f"node{number}"
        self.folder.mkdir()
        self.config = self.folder / "patroni.json"
        self.config.write_text(json.dumps(self._settings()))
        for path in (self.folder, self.config):
            shutil.chown(path, NOBODY)
        self.patroni: subprocess.Popen[bytes] | None = None

    def _settings(self) -> dict[str, Any]:
        trusted = [f"host all all {NET}.0/24 trust", f"host replication all {NET}.0/24 trust", "local all all trust"]
        return {
            "scope": "team",
            "name": self.name,
            "restapi": {"listen": f"{self.address}:8008", "connect_address": f"{self.address}:8008"},
            "etcd3": {"hosts": f"{NET}.1:23790"},
            "bootstrap": {
                "dcs": {
                    "ttl": 20,  # the least that Patroni takes
                    "loop_wait": 3,
                    "retry_timeout": 4,
                    "synchronous_mode": True,
                    "postgresql": {"use_pg_rewind": True, "parameters": {"wal_log_hints": "on"}},
                },
                "initdb": [{"encoding": "UTF8"}, "no-locale", {"auth": "trust"}],
                "pg_hba": trusted,
            },
            "postgresql": {
                "listen": f"{self.address}:5432",
                "connect_address": f"{self.address}:5432",
                "data_dir": str(self.folder / "data"),
                "bin_dir": str(reachable_install() / "bin"),
                "pgpass": str(self.folder / "pgpass"),
                "authentication": {"superuser": {"username": "postgres"}, "replication": {"username": "postgres"}},
                "parameters": {
                    "shared_buffers": "64MB",
                    "max_connections": 100,
                    "unix_socket_directories": str(self.folder),
                    "hot_standby_feedback": "on",
                },
                "pg_hba": trusted,
            },
        }

    def start(self) -> None:
        as_nobody = ("setpriv", "--reuid", NOBODY, "--regid", "nogroup", "--clear-groups")
        with (self.folder / "log").open("ab") as log:
            self.patroni = subprocess.Popen(
                ["ip", "netns", "exec", self.name, *as_nobody, "patroni", self.config],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                env={"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8"},
            )

    def kill_postgres(self) -> None:
        with suppress(OSError, ValueError, IndexError):
            os.kill(int((self.folder / "data" / "postmaster.pid").read_text().splitlines()[0]), signal.SIGKILL)

    def kill(self) -> None:
        if self.patroni:
            self.patroni.kill()
            self.patroni.wait()
        self.kill_postgres()

    def network(self, state: str) -> None:
        _run("ip", "link", "set", f"v{self.name}", state)


class Cluster:
    def __init__(self, folder: Path):
        self.nodes = [Node(folder, number) for number in range(1, NODES + 1)]
        hosts = ",".join(node.address for node in self.nodes)
        self.url = f"postgresql://postgres@{hosts}/team"

    def members(self) -> dict[str, str]:
        """The role of each node that answers, as the cluster sees it."""
        for node in self.nodes:
            with suppress(OSError, ValueError):
                with urllib.request.urlopen(f"http://{node.address}:8008/cluster", timeout=1) as answer:
                    found = json.load(answer)["members"]
                return {each["name"]: each["role"] for each in found if each["state"] in ("running", "streaming")}
        return {}

    def wait(self, test: Callable[[dict[str, str]], bool]) -> float:
        """Seconds until the cluster is as wanted."""
        began = time.monotonic()
        while time.monotonic() - began < SETTLE:
            if test(self.members()):
                return time.monotonic() - began
            time.sleep(0.5)
        raise AssertionError(f"the cluster did not settle: {self.members()}")

    def serving(self, began: float) -> float:
        """Seconds since `began` until a client could write."""
        while time.time() - began < SETTLE:
            with suppress(psycopg.OperationalError):
                psycopg.connect(f"{self.url}?target_session_attrs=read-write&connect_timeout=2").close()
                return time.time() - began
            time.sleep(0.2)
        raise AssertionError("no host takes writes")

    def whole(self) -> float:
        return self.wait(lambda roles: len(roles) == NODES and {"leader", "sync_standby"} <= set(roles.values()))

    def node(self, role: str) -> Node:
        found = {role: name for name, role in self.members().items()}[role]
        return next(node for node in self.nodes if node.name == found)


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Bridge, namespaces, etcd, three nodes; gone afterwards."""
    etcd = None
    made = Cluster(folder)
    try:
        _run("ip", "link", "add", BRIDGE, "type", "bridge")
        _run("ip", "address", "add", f"{NET}.1/24", "dev", BRIDGE)
        _run("ip", "link", "set", BRIDGE, "up")
        for node in made.nodes:
            _run("ip", "netns", "add", node.name)
            _run("ip", "link", "add", f"v{node.name}", "type", "veth", "peer", "name", "eth0", "netns", node.name)
            _run("ip", "link", "set", f"v{node.name}", "master", BRIDGE, "up")
            _run("ip", "-n", node.name, "address", "add", f"{node.address}/24", "dev", "eth0")
            _run("ip", "-n", node.name, "link", "set", "eth0", "up")
            _run("ip", "-n", node.name, "link", "set", "lo", "up")
        address = f"http://{NET}.1:23790"
        etcd = subprocess.Popen(
            ["etcd", "--data-dir", folder / "etcd", "--listen-client-urls", address, "--advertise-client-urls", address,
             "--listen-peer-urls", "http://127.0.0.1:23800"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for node in made.nodes:
            node.start()
        made.whole()
        yield made
    finally:
        for node in made.nodes:
            node.kill()
        if etcd:
            etcd.kill()
            etcd.wait()
        for node in made.nodes:
            subprocess.run(["ip", "netns", "delete", node.name], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["ip", "link", "delete", BRIDGE], check=False, stderr=subprocess.DEVNULL)


# Agents


def agent(root: str, name: str, stop: str) -> None:
    """Writes until the file `stop` is there, and prints what was acknowledged and how long each call failed."""
    chance = random.Random(name)
    number = 0

    def persistently(what: str, action: Callable[[], Any]) -> Any:
        began, troubles = time.time(), 0
        while True:
            try:
                answer = action()
                break
            except Trouble as trouble:
                troubles += 1
                print("trouble", json.dumps([what, type(trouble).__name__, str(trouble)[:200]]), flush=True)
                time.sleep(0.2)
        if troubles or time.time() - began > 2:
            print("slow", json.dumps([what, began, time.time(), troubles]), flush=True)
        return answer

    actor = Actor(name=name, channel="cli", trust="agent")
    memory = persistently("open", lambda: Memory.open(root, actor=actor))
    print("ready", flush=True)
    while not Path(stop).exists():
        number += 1
        word = f"{name}n{number}"
        new = NewLearning(
            title=f"{word} alpha{word}",
            context=f"beta{word}",
            observation=f"gamma{word} delta{word}",
            implication=f"epsilon{word}",
            action=f"zeta{word} eta{word}",
        )
        print("learned", persistently("learn", lambda new=new: memory.learn(new).learning.id), word, flush=True)
        entry = NewEntry(text=f"entry{word} was written")
        print("logged", persistently("log", lambda entry=entry: memory.journal.add(entry).id), word, flush=True)
        choice = NewDecision(decision=f"Use choice{word} for the shop", confidence=0.8, category="shop")
        print(
            "decided",
            persistently("decide", lambda choice=choice: memory.decisions.record(choice).decision.id),
            word,
            flush=True,
        )
        found = persistently("search", lambda word=word: [hit.id for hit in memory.search(f"gamma{word} delta{word}")])
        print("found" if found else "missed", word, flush=True)
        persistently("count", lambda: _count_up(memory))
        print("counted", word, flush=True)
        if chance.random() < 0.3:
            lease = persistently("lease", lambda: db.take_lease(memory.context, "failover", seconds=20))
            if lease:
                held = time.time()
                time.sleep(0.3)
                with suppress(Trouble):
                    db.renew_lease(memory.context, lease, seconds=20)
                    print("leased", lease.fence, held, time.time(), flush=True)
                persistently("release", lambda lease=lease: db.release_lease(memory.context, lease))
        time.sleep(chance.uniform(0.2, 0.8))
    memory.close()


def _count_up(memory: Memory) -> None:
    while True:
        shared = memory.learnings.page(sort="oldest", limit=1)[0][0]
        with suppress(Stale):
            memory.learnings.edit(
                shared.id, LearningEdit(domain=str(int(shared.domain or 0) + 1)), expect=shared.version
            )
            return


Fault = tuple[str, float, float, float]
"""Its name, when it began, seconds until a client could write, seconds until the cluster was whole."""


def _suffered(fault: Fault, slow: list[list[Any]]) -> dict[str, Any]:
    """A fault beside the longest call that it met, with the repeats of an agent that was shown an error."""
    name, began, back, whole = fault
    met = [call for call in slow if call[2] > began and call[1] < began + whole]
    what, first, last, troubles = max(met, key=lambda call: call[2] - call[1], default=["", 0.0, 0.0, 0])
    return {
        "fault": name, "writable after": back, "whole after": whole, "longest call": round(last - first, 1),
        "of": what, "it ended after": round(last - began, 1) if met else 0.0, "errors shown in it": troubles,
    }  # fmt: skip


def checked(memory: Memory, said: list[list[str]]) -> Counter[str]:
    """What is missing, doubled or wrong in one space."""
    bad: Counter[str] = Counter()
    of = {
        verb: [line[1:] for line in said if line[0] == verb]
        for verb in ("learned", "logged", "decided", "counted", "leased")
    }
    learnings: dict[str, str] = {}
    while page := memory.learnings.page(limit=500, offset=len(learnings))[0]:
        learnings |= {each.id: each.title for each in page}
    decisions: dict[str, str] = {}
    while page := memory.decisions.page(limit=500, offset=len(decisions))[0]:
        decisions |= {each.id: each.decision for each in page}
    log = "\n".join(memory.journal.show(each.day) for each in memory.journal.days())
    for id, word in of["learned"]:
        bad["learning missing"] += id not in learnings or word not in learnings[id]
    for id, word in of["decided"]:
        bad["decision missing"] += id not in decisions or word not in decisions[id]
    for id, word in of["logged"]:
        bad["entry missing"] += f"entry{word} was" not in memory.journal.entry(id).text
        bad["entry doubled"] += log.count(f"entry{word} was written\n") > 1
    titles, texts = Counter(learnings.values()), Counter(decisions.values())
    bad["learning doubled"] += sum(count - 1 for count in titles.values())
    bad["decision doubled"] += sum(count - 1 for count in texts.values())
    counted = int(memory.learnings.page(sort="oldest", limit=1)[0][0].domain or 0)
    bad["edits lost"] += max(0, len(of["counted"]) - counted)
    leases = sorted((int(fence), float(began), float(ended)) for fence, began, ended in of["leased"])
    for (fence, _, ended), (next_fence, began, _) in pairwise(leases):
        bad["lease held twice"] += next_fence == fence or began < ended
    bad["differences"] += len(memory.data.verify())
    return bad


def main(rounds: int) -> int:
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    for program in ("patroni", "etcd", "ip", "setpriv"):
        if not shutil.which(program) or os.geteuid():
            print(
                f"failover: skipped; it needs root and {program} (Debian: apt-get install patroni etcd-server iproute2)"
            )
            return 0
    folder = Path(tempfile.mkdtemp(prefix="rcha-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        with cluster(folder) as team:
            return campaign(team, folder, rounds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def campaign(team: Cluster, folder: Path, rounds: int) -> int:
    initialise(team.url, admin=team.url.replace("/team", "/postgres"))
    environ = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "RECOLLECT_HOME": str(folder / "home"),
        "RECOLLECT_STORE": team.url, "RECOLLECT_EMBED_USE": "off", "RECOLLECT_STORE_READ_FROM": "replica",
        "RECOLLECT_STORE_BUSY_SECONDS": "60", "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }  # fmt: skip
    os.environ.update(environ)
    roots = [folder / f"shop{number}" for number in range(SPACES)]
    shared = {"context": "c", "observation": "o", "implication": "i", "action": "a"}
    for root in roots:
        root.mkdir()
        project.create(root, environ)
        with Memory.open(root) as memory:
            memory.learn(NewLearning(title=f"Shared counter of {root.name}", domain="0", **shared))
    stop, running = folder / "stop", []
    for number in range(AGENTS):
        out = (folder / f"agent{number}").open("wb")
        command = [sys.executable, __file__, "agent", str(roots[number % SPACES]), f"a{number}", str(stop)]
        running.append(subprocess.Popen(command, env=environ, stdout=out, stderr=out))
    while not all("ready" in (folder / f"agent{number}").read_text() for number in range(AGENTS)):
        time.sleep(0.5)
    faults: list[Fault] = []
    try:
        for _ in range(rounds):
            for name, fault in FAULTS.items():
                time.sleep(PAUSE)
                began = time.time()
                back = fault(team)
                faults.append((name, began, round(back, 1), round(time.time() - began, 1)))
                print(f"{name}: a leader after {back:.1f} s, whole after {time.time() - began:.1f} s", flush=True)
        time.sleep(PAUSE)
    finally:
        stop.touch()
        for each in running:
            with suppress(subprocess.TimeoutExpired):
                each.wait(120)
            each.kill()
    return reported(team, folder, roots, faults, [each.returncode for each in running])


def reported(team: Cluster, folder: Path, roots: list[Path], faults: list[Fault], codes: list[int]) -> int:
    said = {
        number: [line.split() for line in (folder / f"agent{number}").read_text().splitlines()]
        for number in range(AGENTS)
    }
    bad: Counter[str] = Counter()
    for number, root in enumerate(roots):
        with Memory.open(root) as memory:
            bad += checked(memory, [line for key, lines in said.items() if key % SPACES == number for line in lines])
    bad["agents that failed"] = sum(code != 0 for code in codes)
    bad["searches that missed what was written before"] = sum(
        line[0] == "missed" for lines in said.values() for line in lines
    )
    whole = [line for number in range(AGENTS) for line in (folder / f"agent{number}").read_text().splitlines()]
    slow = [json.loads(line[5:]) for line in whole if line.startswith("slow ")]
    troubles = Counter(json.loads(line[8:])[1] for line in whole if line.startswith("trouble "))
    figures = {
        "faults": [_suffered(fault, slow) for fault in faults],
        "acknowledged": Counter(line.split()[0] for line in whole if line.split()[0] in ("learned", "logged", "decided", "counted", "found", "leased")),
        "errors that agents were shown": troubles,
        "longest call in seconds": round(max((ended - began for _, began, ended, _ in slow), default=0.0), 1),
        "wrong": {name: count for name, count in bad.items() if count},
    }  # fmt: skip
    print(json.dumps(figures, indent=1))
    for line in whole:
        if line.split()[0] not in (
            "learned",
            "logged",
            "decided",
            "counted",
            "found",
            "leased",
            "slow",
            "trouble",
            "missed",
            "ready",
        ):
            print(line)
    return 1 if figures["wrong"] else 0


# Faults: each gives the seconds until a client could write again, and ends when the cluster is whole


def _elsewhere(team: Cluster, before: Node, role: str = "leader") -> None:
    team.wait(lambda roles: any(each == role and name != before.name for name, each in roles.items()))


def leader_killed(team: Cluster) -> float:
    leader, began = team.node("leader"), time.time()
    leader.kill()
    seconds = team.serving(began)
    _elsewhere(team, leader)
    leader.start()
    team.whole()
    return seconds


def leader_cut_off(team: Cluster) -> float:
    leader, began = team.node("leader"), time.time()
    leader.network("down")
    try:
        seconds = team.serving(began)
        _elsewhere(team, leader)
    finally:
        leader.network("up")
    team.whole()
    return seconds


def postgres_killed(team: Cluster) -> float:
    began = time.time()
    team.node("leader").kill_postgres()
    seconds = team.serving(began)
    team.whole()
    return seconds


def replica_cut_off(team: Cluster) -> float:
    replica, began = team.node("sync_standby"), time.time()
    replica.network("down")
    try:
        _elsewhere(team, replica, "sync_standby")
        seconds = time.time() - began
    finally:
        replica.network("up")
    team.whole()
    return seconds


def switched_over(team: Cluster) -> float:
    leader, next_one, began = team.node("leader"), team.node("sync_standby"), time.time()
    body = json.dumps({"leader": leader.name, "candidate": next_one.name}).encode()
    with suppress(OSError):
        urllib.request.urlopen(
            urllib.request.Request(f"http://{leader.address}:8008/switchover", body), timeout=30
        ).read()
    _elsewhere(team, leader)
    seconds = team.serving(began)
    team.whole()
    return seconds


FAULTS: dict[str, Callable[[Cluster], float]] = {
    "leader killed": leader_killed,
    "leader's network cut": leader_cut_off,
    "leader's PostgreSQL killed": postgres_killed,
    "replica's network cut": replica_cut_off,
    "switched over": switched_over,
}


if __name__ == "__main__":
    if sys.argv[1:2] == ["agent"]:
        agent(*sys.argv[2:])
    else:
        sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 1))
