"""Follows who steers a run, as a screen does it: an idle look costs microseconds and writes nothing."""

import contextlib
import sqlite3
from pathlib import Path

from agent.errors import RecordError
from agent.record.lease import Change, Standing, read_changes, read_standing
from agent.record.sqlite import open_readonly


class LeaseWatch:
    """Looks at the lease in a run's inbox; owned by one thread at a time."""

    def __init__(self, inbox: Path) -> None:
        self._inbox = inbox
        self._connection: sqlite3.Connection | None = None
        self._version = -1
        self._last_change: int | None = None
        self.standing = Standing()
        """As of the last look."""

    def look(self) -> list[Change]:
        """What has happened to control since the last look; nothing at the first."""
        try:
            if self._connection is None:
                self._connection = open_readonly(self._inbox)
            return self._read(self._connection)
        except (RecordError, sqlite3.Error):
            # No inbox, or one that an older program made: nobody has steered with a lease there.
            self.close()
            return []

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection, self._version = None, -1

    def _read(self, connection: sqlite3.Connection) -> list[Change]:
        version = connection.execute("PRAGMA data_version").fetchone()[0]
        if version == self._version:
            return []
        first = self._last_change is None
        changes = read_changes(connection, self._last_change or 0)
        self.standing = read_standing(connection)
        self._last_change = changes[-1].change_id if changes else self._last_change or 0
        self._version = version
        return [] if first else changes


def standing_of(inbox: Path) -> Standing:
    """Who steers a run, now."""
    watch = LeaseWatch(inbox)
    watch.look()
    watch.close()
    return watch.standing
