"""Connections to a PostgreSQL server: its address, its errors as ours, and a pool of connections.

psycopg_pool keeps the connections; this module decides how long to wait for one, says why none came, and finds out what
became of a commit whose answer was lost. Knows nothing about spaces, rows or words.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolTimeout

from recollect.core.context import Row
from recollect.core.errors import (
    NOT_DONE,
    BadInput,
    FateUnknown,
    NoSpace,
    RecollectError,
    StoreBusy,
    StoreDamaged,
    StoreUnreachable,
)

# Failures that a retry will not change, by the server's message while connecting (libpq passes on no code).
HOPELESS = (
    "password authentication failed",
    "no password supplied",
    "does not exist",
    "no pg_hba.conf entry",
    "authentication failed",
    "no such database",
    "no such user",
    "permission denied",
    "certificate",
    "server does not support SSL",
)


_CONNECTION = {
    "connect_timeout": "5",
    "application_name": "recollect",
    "client_encoding": "UTF8",
    "keepalives_idle": "5",
    "keepalives_interval": "3",
    "keepalives_count": "3",
    "tcp_user_timeout": "14000",
}


class Address:
    """A connection address, for libpq and for people."""

    def __init__(self, url: str):
        try:
            parts = conninfo_to_dict(url)
        except psycopg.ProgrammingError:  # its message may quote the password
            raise BadInput(
                "store.url is not an address such as postgresql://user@host:5432/database; "
                "a password with special characters must be percent-encoded"
            ) from None
        self.parts = {name: str(value) for name, value in parts.items()}
        self._secrets = [self.parts[name] for name in ("password", "sslpassword") if self.parts.get(name)]
        # Of several hosts the one that takes writes. A host behind a cut network is given up after 14 seconds.
        several = {"target_session_attrs": "read-write"} if "," in self.parts.get("host", "") else {}
        self.conninfo = make_conninfo(**{**_CONNECTION, **several, **self.parts})

    def of_replicas(self) -> str:
        """The address that finds a replica among several hosts; the primary where there is none."""
        return make_conninfo(self.conninfo, target_session_attrs="prefer-standby")

    @property
    def shown(self) -> str:
        """Without a password."""
        host = self.parts.get("host") or self.parts.get("hostaddr") or "localhost"
        port = f":{self.parts['port']}" if self.parts.get("port", "").strip(",") else ""
        user = f"{self.parts['user']}@" if self.parts.get("user") else ""
        return f"postgresql://{user}{host}{port}/{self.parts.get('dbname', '')}"

    def without_secrets(self, text: str) -> str:
        """The server's message on one line."""
        line = " ".join(text.split())
        for secret in self._secrets:
            line = line.replace(secret, "***")
        return line


@contextmanager
def translated(place: str) -> Iterator[None]:
    try:
        yield
    except RecollectError:
        raise
    except (psycopg.errors.LockNotAvailable, psycopg.errors.QueryCanceled):
        raise StoreBusy(f"{place} was busy for too long{NOT_DONE}. Try again") from None
    except (psycopg.errors.DiskFull, psycopg.errors.OutOfMemory):
        raise NoSpace(f"{place} has no space left{NOT_DONE}. Free some space and try again") from None
    except psycopg.errors.InsufficientPrivilege as error:
        said = error.diag.message_primary
        raise StoreUnreachable(
            f"{place}: {said}. An administrator runs: recollect store db init --admin ADDRESS"
        ) from None
    except psycopg.errors.ReadOnlySqlTransaction:
        raise StoreUnreachable(f"{place} only takes reads (a standby?); point store.url at the primary") from None
    except (psycopg.errors.DataCorrupted, psycopg.errors.IndexCorrupted, psycopg.errors.UndefinedTable) as error:
        raise StoreDamaged(
            f"{place} is damaged ({error.diag.message_primary}). Nothing was deleted. Restore it from your backup"
        ) from None
    except psycopg.OperationalError as error:
        raise lost(place, error) from None
    except (psycopg.DataError, UnicodeEncodeError) as error:
        raise BadInput(f"this text cannot be stored ({str(error).splitlines()[0]})") from None


def lost(place: str, error: psycopg.Error) -> StoreUnreachable:
    reason = (error.diag.message_primary or str(error)).splitlines()[0]
    return StoreUnreachable(f"the connection to {place} broke ({reason}){NOT_DONE}. Try again")


def unreachable(place: str, said: str) -> StoreUnreachable | StoreBusy:
    reason = said.rpartition("FATAL: ")[2].strip().removeprefix("connection is bad: ")
    if "too many" in reason or "remaining connection slots" in reason:
        return StoreBusy(f"{place} takes no more connections ({reason}); try again, or put a pooler in front of it")
    if "password" in reason:
        return StoreUnreachable(f"{place} refused the password; check store.url, RECOLLECT_STORE or ~/.pgpass")
    if "does not exist" in reason:
        return StoreUnreachable(
            f"{place}: {reason}. An administrator makes it with: recollect store db init --admin ADDRESS"
        )
    return StoreUnreachable(
        f"{place} cannot be reached ({reason}); check that the server runs and the address is right"
    )


STATISTICS = "pg_stat_get_bgwriter_stat_reset_time()::text"  # since when this server counts: since it last crashed
FIRST_WAIT = 0.05  # seconds: a local server answers a new connection in a few milliseconds, a remote one in about 100
LONGEST_WAIT = 1.0  # seconds between two tries while the server is away

logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # a command's standard error is for our messages


class Connections:
    """A pool of at most `limit` connections, one per thread that is in a transaction."""

    def __init__(
        self, address: Address, *, busy_seconds: float, connect_seconds: float, limit: int, replicas: bool = False
    ):
        self.address = address
        self.place = address.shown
        self._busy_seconds = busy_seconds
        self._connect_seconds = connect_seconds
        self._limit = limit
        self._reached = False
        self._failure = ""  # what the server said when it last refused a connection
        self._inside = threading.local()
        self._pool = ConnectionPool(
            address.of_replicas() if replicas else address.conninfo,
            connection_class=self._noting_failures(),
            kwargs={"autocommit": True, "prepare_threshold": None},
            configure=lambda connection: connection.adapters.register_loader("numeric", _NumberLoader),
            min_size=0,
            max_size=limit,
            num_workers=1,
            reconnect_timeout=0,  # the next `_take` tries again, so nothing is tried behind the caller's back
            open=False,
        )

    def _noting_failures(self) -> type[psycopg.Connection[Row]]:
        """A connection class that records why the server refused; the pool itself only times out."""
        pool = self

        class Connection(psycopg.Connection[Row]):
            @classmethod
            def connect(cls, *given: Any, **more: Any) -> Any:
                try:
                    made = super().connect(*given, **more)
                except psycopg.OperationalError as error:
                    pool._failure = pool.address.without_secrets(str(error))
                    raise
                pool._failure, pool._reached = "", True
                return made

        return Connection

    def close(self) -> None:
        self._pool.close()

    @contextmanager
    def plain(self) -> Iterator[psycopg.Connection[Row]]:
        """For schema and verify: a connection outside any transaction."""
        with self._connection() as connection, translated(self.place):
            yield connection

    @contextmanager
    def transaction(self, begin: str) -> Iterator[psycopg.Connection[Row]]:
        """A connection in the transaction that `begin` opens; commits if the block ends without an error.

        After an error the pool rolls it back.
        """
        with self._connection(begin) as connection, translated(self.place):
            yield connection
            self._commit(connection)

    def _commit(self, connection: psycopg.Connection[Row]) -> None:
        try:
            said = connection.execute("COMMIT").statusmessage
        except psycopg.OperationalError as error:
            if connection.pgconn.transaction_status != TransactionStatus.UNKNOWN:
                raise
            number = self._inside.number
            if number is None or not self._was_committed(number):
                raise lost(self.place, error) from None
            return
        # A transaction in which a statement failed "commits" without an error, as a rollback.
        assert said == "COMMIT", "an error inside a transaction was swallowed; nothing was stored"

    def _was_committed(self, number: str) -> bool:
        """Whether a transaction whose connection broke during the commit was committed; the server remembers.

        A server that crashed, or a replica that took its place, may give the number of a lost transaction again. So the
        commit counts as ours only if the server's statistics are as old as before: a crash resets them.
        """
        xid, _, begun = number.partition(" ")
        deadline = time.monotonic() + self._busy_seconds
        while time.monotonic() < deadline:
            with suppress(psycopg.OperationalError), psycopg.connect(self.address.conninfo) as connection:
                try:
                    fate = connection.execute(f"SELECT pg_xact_status(%s::text::xid8), {STATISTICS}", (xid,)).fetchone()
                except psycopg.errors.InvalidParameterValue:
                    return False  # a number still to come: the server crashed before it kept anything of ours
                if fate == ("committed", begun):
                    return True
                if fate and fate[0] == "aborted":
                    return False
                if fate and fate[0] == "committed":
                    break  # ours, or another's under the same number
            time.sleep(FIRST_WAIT)  # the server has not noticed the broken connection yet
        raise FateUnknown(
            f"The connection to {self.place} broke while a change was being committed, so it is stored either whole or "
            "not at all. Give it again: what was stored is recognised"
        )

    @contextmanager
    def _connection(self, begin: str = "") -> Iterator[psycopg.Connection[Row]]:
        assert not getattr(self._inside, "busy", False), "transactions do not nest; pass the open one down"
        self._inside.busy = True
        try:
            connection = self._begun(begin)
            try:
                yield connection
            finally:
                self._pool.putconn(connection)
        finally:
            self._inside.busy = False

    def _begun(self, begin: str) -> psycopg.Connection[Row]:
        """A connection with its transaction open. One that died while idle is replaced."""
        deadline = time.monotonic() + self._busy_seconds
        while True:
            connection = self._take()
            try:
                self._inside.number = _last_value(connection.execute(begin.encode())) if begin else None
                return connection
            except psycopg.errors.LockNotAvailable:
                self._pool.putconn(connection)
                raise StoreBusy(f"Another writer kept {self.place} busy for too long; try again") from None
            except (psycopg.OperationalError, psycopg.errors.ReadOnlySqlTransaction) as error:
                connection.close()  # a primary that became a replica keeps its connections
                self._pool.putconn(connection)
                if time.monotonic() > deadline:
                    raise lost(self.place, error) from None
                time.sleep(FIRST_WAIT)

    def _take(self) -> psycopg.Connection[Row]:
        """A connection from the pool, with growing pauses while the server starts, restarts or is full."""
        self._pool.open()
        began, pause = time.monotonic(), FIRST_WAIT
        while True:
            try:
                return self._pool.getconn(timeout=pause)
            except PoolTimeout:
                # If only replicas answer, one of them is about to take writes.
                known = self._reached or "session is read-only" in self._failure
                late = time.monotonic() + pause > began + (self._busy_seconds if known else self._connect_seconds)
                if self._failure and (late or any(words in self._failure for words in HOPELESS)):
                    raise unreachable(self.place, self._failure) from None
                if late:
                    raise StoreBusy(
                        f"All {self._limit} connections of this process to {self.place} stayed in use. Try again, or "
                        "raise store.connections"
                    ) from None
                pause = min(pause * 2, LONGEST_WAIT)


class _NumberLoader(Loader):
    """Sums of integers arrive as NUMERIC; SQLite gives integers, so do we."""

    def load(self, data: bytes | bytearray | memoryview) -> int | float:
        text = bytes(data)
        return int(text) if text.lstrip(b"-").isdigit() else float(text)


def _last_value(cursor: psycopg.Cursor[Row]) -> str | None:
    while cursor.nextset():
        pass
    row = cursor.fetchone() if cursor.description else None
    return str(row[0]) if row else None
