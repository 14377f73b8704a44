"""Where a server is and what it says: an address that shows no password, and the server's errors as ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from recollect.core.errors import (
    NOT_DONE,
    BadInput,
    NoSpace,
    RecollectError,
    StoreBusy,
    StoreDamaged,
    StoreUnreachable,
)

# What no second try will change, by what the server says while connecting (libpq hands over no code).
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


class Address:
    """A connection address: what libpq is given, and what a person may be shown."""

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
        self.conninfo = make_conninfo(
            **{"connect_timeout": "5", "application_name": "recollect", "client_encoding": "UTF8", **self.parts}
        )

    @property
    def shown(self) -> str:
        """Without a password, whatever was given."""
        host = self.parts.get("host") or self.parts.get("hostaddr") or "localhost"
        port = f":{self.parts['port']}" if self.parts.get("port") else ""
        user = f"{self.parts['user']}@" if self.parts.get("user") else ""
        return f"postgresql://{user}{host}{port}/{self.parts.get('dbname', '')}"

    def without_secrets(self, text: str) -> str:
        """One line of what the server said."""
        line = " ".join(text.split())
        for secret in self._secrets:
            line = line.replace(secret, "***")
        return line


@contextmanager
def translated(place: str) -> Iterator[None]:
    """The server's errors as ours, each with what to do."""
    try:
        yield
    except RecollectError:
        raise
    except (psycopg.errors.LockNotAvailable, psycopg.errors.QueryCanceled):
        raise StoreBusy(f"{place} was busy for too long{NOT_DONE}. Try again") from None
    except (psycopg.errors.DiskFull, psycopg.errors.OutOfMemory):
        raise NoSpace(f"{place} has no room left{NOT_DONE}. Free some and try again") from None
    except psycopg.errors.InsufficientPrivilege as error:
        said = error.diag.message_primary
        raise StoreUnreachable(f"{place}: {said}. An administrator runs: recollect db init --admin ADDRESS") from None
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
        return StoreUnreachable(f"{place}: {reason}. An administrator makes it with: recollect db init --admin ADDRESS")
    return StoreUnreachable(
        f"{place} cannot be reached ({reason}); check that the server runs and the address is right"
    )
