"""How the files of a run are opened: WAL for the one writer, read-only for all others, numbered migrations."""

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from agent.errors import RecordError

_PATIENCE_S = 5.0


def open_writable(path: Path, *, patience_s: float = _PATIENCE_S) -> sqlite3.Connection:
    """A connection in WAL mode; transactions are explicit, and wait so long for those of others."""
    try:
        connection = sqlite3.connect(path, isolation_level=None, timeout=patience_s, check_same_thread=False)
        _use_wal(connection)
        connection.execute("PRAGMA synchronous = FULL")
    except sqlite3.Error as error:
        raise RecordError(
            f"cannot open {path.name}: {error}", hint=f"is {path.parent} writable, and the disk not full?"
        ) from error
    return connection


def open_readonly(path: Path) -> sqlite3.Connection:
    """A connection that cannot write; works on archived files in folders that cannot be written to."""
    if not path.exists():
        raise RecordError(f"there is no {path.name} in {path.parent.name}")
    address = path.absolute().as_uri()
    try:
        connection = sqlite3.connect(
            f"{address}?mode=ro", uri=True, isolation_level=None, timeout=5.0, check_same_thread=False
        )
        try:
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            # A WAL file whose folder we may not write to opens only as immutable.
            connection.close()
            connection = sqlite3.connect(
                f"{address}?immutable=1", uri=True, isolation_level=None, check_same_thread=False
            )
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        raise RecordError(f"{path.name} of {path.parent.name} is no event log: {error}") from error
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing, alone in the file; raises `RecordError` where it cannot be kept."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        finally:
            # Some errors, such as a full disk, have rolled it back by themselves.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        busy = error.sqlite_errorcode == sqlite3.SQLITE_BUSY if isinstance(error, sqlite3.OperationalError) else False
        hint = "another program holds the file; try again" if busy else "is the disk full?"
        raise RecordError(f"it cannot be kept: {error}", hint=hint) from error


def migrate(connection: sqlite3.Connection, migrations: Sequence[Callable[[sqlite3.Connection], None]]) -> None:
    """Bring a file up to date, each migration in a transaction of its own; raises `RecordError` where it fails."""
    try:
        for number in range(_version(connection), len(migrations)):
            _migrate(connection, number, migrations[number])
    except sqlite3.Error as error:
        raise RecordError(f"the record cannot be set up: {error}", hint="is the disk full?") from error


def _migrate(connection: sqlite3.Connection, number: int, migration: Callable[[sqlite3.Connection], None]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    # Another process may have opened the same new file and been quicker.
    if _version(connection) == number:
        migration(connection)
        connection.execute(f"PRAGMA user_version = {number + 1}")
    connection.execute("COMMIT")


def _use_wal(connection: sqlite3.Connection) -> None:
    """Turn the write-ahead log on; SQLite's own patience does not cover two that do so to a new file at once."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
