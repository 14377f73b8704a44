"""Connections to a server: taken for one transaction, given back, replaced when they die.

Knows nothing about spaces, rows or words: what a transaction begins with is passed in.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg
from psycopg.adapt import Loader
from psycopg.pq import TransactionStatus

from recollect.core.context import Row
from recollect.core.errors import FateUnknown, StoreBusy, StoreUnreachable
from recollect.store.postgres_address import HOPELESS, Address, lost, translated, unreachable

FIRST_WAIT = 0.05
LONGEST_WAIT = 1.0


class Connections:
    """As many as `limit` to one address, one per thread that is in a transaction."""

    def __init__(self, address: Address, *, busy_seconds: float, connect_seconds: float, limit: int):
        self.address = address
        self.place = address.shown
        self._busy_seconds = busy_seconds
        self._connect_seconds = connect_seconds
        self._limit = limit
        self._free = threading.BoundedSemaphore(limit)
        self._idle: list[psycopg.Connection[Row]] = []
        self._reached = False
        self._inside = threading.local()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def plain(self) -> Iterator[psycopg.Connection[Row]]:
        """A connection outside any transaction; for the store's own plumbing (schema, verify)."""
        with self._connection() as connection, translated(self.place):
            yield connection

    @contextmanager
    def transaction(self, begin: str) -> Iterator[psycopg.Connection[Row]]:
        """A connection in the transaction that `begin` opens, committed when the block ends without an error."""
        with self._connection(begin) as connection, translated(self.place):
            try:
                yield connection
            except BaseException:
                _roll_back(connection)
                raise
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
        """What became of a transaction whose connection broke while it was committed; the server remembers."""
        deadline = time.monotonic() + self._busy_seconds
        with suppress(psycopg.Error, StoreUnreachable, StoreBusy):
            connection = self._connect()
            try:
                while time.monotonic() < deadline:
                    try:
                        found = connection.execute("SELECT pg_xact_status(%s::text::xid8)", (number,)).fetchone()
                    except psycopg.errors.InvalidParameterValue:
                        return False  # a number still to come: the server crashed before it kept anything of ours
                    if found in (("committed",), ("aborted",)):
                        return found == ("committed",)
                    time.sleep(FIRST_WAIT)  # the server has not noticed yet that nobody waits for its answer
            finally:
                connection.close()
        raise FateUnknown(
            f"the connection to {self.place} broke while a change was being committed; it is stored whole or not at "
            "all. Look before you repeat it"
        ) from None

    @contextmanager
    def _connection(self, begin: str = "") -> Iterator[psycopg.Connection[Row]]:
        assert not getattr(self._inside, "busy", False), "transactions do not nest; pass the open one down"
        if not self._free.acquire(timeout=self._busy_seconds):
            raise StoreBusy(
                f"all {self._limit} connections of this process to {self.place} stayed in use; try again, "
                "or raise store.connections"
            )
        self._inside.busy = True
        try:
            connection = self._begun(begin)
            try:
                yield connection
            finally:
                if connection.pgconn.transaction_status == TransactionStatus.IDLE:
                    self._idle.append(connection)
                else:
                    connection.close()
        finally:
            self._inside.busy = False
            self._free.release()

    def _begun(self, begin: str) -> psycopg.Connection[Row]:
        """A connection with its transaction open. One that died while idle is replaced; nothing was lost with it."""
        deadline = time.monotonic() + self._busy_seconds
        while True:
            connection = self._spare() or self._connect()
            if not begin:
                return connection
            try:
                self._inside.number = _last_value(connection.execute(begin.encode()))
                return connection
            except psycopg.errors.LockNotAvailable:
                connection.close()
                raise StoreBusy(f"another writer kept {self.place} busy for too long; try again") from None
            except psycopg.OperationalError as error:
                connection.close()
                if time.monotonic() > deadline:
                    raise lost(self.place, error) from None

    def _spare(self) -> psycopg.Connection[Row] | None:
        """An idle connection. Not looked at before it is taken: another thread may be faster."""
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _connect(self) -> psycopg.Connection[Row]:
        """A new connection, tried again with growing pauses while the server starts, restarts or is full."""
        seconds = self._busy_seconds if self._reached else self._connect_seconds
        deadline = time.monotonic() + seconds
        pause = FIRST_WAIT
        while True:
            try:
                connection: psycopg.Connection[Row] = psycopg.connect(
                    self.address.conninfo, autocommit=True, prepare_threshold=None
                )
            except psycopg.OperationalError as error:
                said = self.address.without_secrets(str(error))
                if any(words in said for words in HOPELESS) or time.monotonic() + pause > deadline:
                    raise unreachable(self.place, said) from None
                time.sleep(pause)
                pause = min(pause * 2, LONGEST_WAIT)
                continue
            connection.adapters.register_loader("numeric", _NumberLoader)
            self._reached = True
            return connection


class _NumberLoader(Loader):
    """Sums of integers come as NUMERIC; SQLite gives integers, so do we."""

    def load(self, data: bytes | bytearray | memoryview) -> int | float:
        text = bytes(data)
        return int(text) if text.lstrip(b"-").isdigit() else float(text)


def _last_value(cursor: psycopg.Cursor[Row]) -> str | None:
    """What the last of several statements gave; None for one that gives nothing."""
    while cursor.nextset():
        pass
    row = cursor.fetchone() if cursor.description else None
    return str(row[0]) if row else None


def _roll_back(connection: psycopg.Connection[Row]) -> None:
    if connection.pgconn.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
        try:
            connection.execute("ROLLBACK")
        except psycopg.OperationalError:
            connection.close()  # the server rolls back what it lost
