"""A little room held on the record's disk: let go of when that is full, so that the record can still say so."""

import os
import shutil
from pathlib import Path

HELD_BYTES = 256 * 1024
"""Enough for an alert, a pause and the write-ahead log that they go through."""


class Ballast:
    """A file that holds room."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def take(self) -> bool:
        """Hold the room; False where there is not that much, and as much again, left."""
        if self._path.exists():
            return True
        try:
            if shutil.disk_usage(self._path.parent).free < 2 * HELD_BYTES:
                return False
            # Written, not only allocated: some file systems promise room that they do not have.
            self._path.write_bytes(os.urandom(HELD_BYTES))
        except OSError:
            self.release()
            return False
        return True

    def release(self) -> None:
        """Let go of it."""
        self._path.unlink(missing_ok=True)
