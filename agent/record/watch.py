"""All runs, looked at again and again: what has not changed since the last look costs next to nothing."""

import os
import sqlite3
from pathlib import Path

import msgspec

from agent.errors import RecordError
from agent.record.home import Home, RunFolder
from agent.record.lock import is_held
from agent.record.sqlite import open_readonly
from agent.record.values import RunSummary

# A runner's clock is anchored at its start, so two of them may differ by a little.
_OVERLAP_S = 60.0


class RunsWatch:
    """Follows the index and the run folders; owned by one thread at a time."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._known: dict[str, RunSummary] = {}
        self._shown: dict[str, RunSummary] = {}
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._newest = 0.0
        self._ids: list[str] = []
        self._ids_at = -1
        self._decoder = msgspec.json.Decoder(RunSummary)

    def look(self) -> list[RunSummary]:
        """Every run as it is now, in no order; dead ones are `lost`."""
        self._read_index()
        shown: dict[str, RunSummary] = {}
        for run in self._run_ids():
            summary = self._known.get(run) or self._of_folder(run)
            shown[run] = summary if summary.state == "ended" else self._as_it_is(run, summary)
        self._shown = shown
        return list(shown.values())

    def close(self) -> None:
        """Let go of the index."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _run_ids(self) -> list[str]:
        changed_at = os.stat(self._home.runs).st_mtime_ns
        if changed_at != self._ids_at:
            self._ids, self._ids_at = self._home.run_ids(), changed_at
        return self._ids

    def _read_index(self) -> None:
        """Take in the rows that changed; all of them where the file is another one."""
        try:
            if not self._opened():
                return
            assert self._connection is not None
            rows = self._connection.execute(
                "SELECT run, at, summary FROM runs WHERE at >= ?", (self._newest - _OVERLAP_S,)
            ).fetchall()
        except (RecordError, sqlite3.Error):
            # The index is derived: without it, folders are read.
            self.close()
            return
        for run, at, raw in rows:
            self._newest = max(self._newest, at)
            try:
                self._known[run] = self._decoder.decode(raw)
            except msgspec.MsgspecError:
                self._known.pop(run, None)

    def _opened(self) -> bool:
        """Whether the index is there and open; a new file is read from its start."""
        file = _identity(self._home.index)
        if file is None:
            self.close()
            return False
        if self._connection is None or file != self._file:
            self.close()
            self._connection, self._file, self._newest = open_readonly(self._home.index), file, 0.0
            self._known.clear()
        return True

    def _of_folder(self, run: str) -> RunSummary:
        """A run that the index lacks: read once, and again only while it lives."""
        before = self._shown.get(run)
        folder = RunFolder(self._home.runs / run)
        settled = before is not None and before.state == "ended" and before.outcome != "lost"
        if before is not None and (settled or not is_held(folder.lock)) and before.seq:
            return before
        # Imported where a log has to be read: a first look at runs that have all ended does without.
        from agent.record.index import of_folder

        return of_folder(folder)

    def _as_it_is(self, run: str, summary: RunSummary) -> RunSummary:
        """A run that the index calls live: the lock tells. A verdict of `lost` is kept until the row changes."""
        before = self._shown.get(run)
        folder = RunFolder(self._home.runs / run)
        if before is not None and before.outcome == "lost" and before.at >= summary.at and not is_held(folder.lock):
            return before
        if is_held(folder.lock):
            return summary
        from agent.record.index import refreshed

        return refreshed(folder, summary)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
