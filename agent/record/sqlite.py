"""How the files of a run are opened: WAL for the one writer, read-only for all others, numbered migrations."""

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from agent.errors import RecordError


def open_writable(path: Path) -> sqlite3.Connection:
    """A connection in WAL mode; transactions are explicit."""
    try:
        connection = sqlite3.connect(path, isolation_level=None, timeout=5.0, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
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


def migrate(connection: sqlite3.Connection, migrations: Sequence[Callable[[sqlite3.Connection], None]]) -> None:
    """Bring a file up to date, each migration in a transaction of its own."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    for number in range(version, len(migrations)):
        connection.execute("BEGIN IMMEDIATE")
        migrations[number](connection)
        connection.execute(f"PRAGMA user_version = {number + 1}")
        connection.execute("COMMIT")
