"""A command's output on disk: appended to while it runs, read at any offset, bounded."""

from __future__ import annotations

import os
import tempfile


class Spool:
    """Output in a file without a name, so that no command can reach it.

    It keeps `limit_bytes`; what comes after is counted and not kept, and one line at the end says so. A full disk
    ends the keeping in the same way: the command goes on.
    """

    def __init__(self, folder: str, limit_bytes: int) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self._limit_bytes = limit_bytes
        self._full = False
        self.written_bytes = 0
        """All that the command wrote."""
        self.kept_bytes = 0
        """What can be read back, the note at its end included."""

    def append(self, data: bytes) -> None:
        """Keep `data`, as far as there is room."""
        self.written_bytes += len(data)
        if self._full:
            return
        room = self._limit_bytes - self.kept_bytes
        self._write(data[:room])
        if len(data) > room:
            self._fill(f"the first {self._limit_bytes:,} bytes of output are kept, what follows is not")

    def _fill(self, why: str) -> None:
        self._full = True
        self._write(f"\n[{why}]\n".encode())

    def _write(self, data: bytes) -> None:
        try:
            while data:
                written = os.pwrite(self._file.fileno(), data, self.kept_bytes)
                self.kept_bytes += written
                data = data[written:]
        except OSError:
            self._full = True

    def read(self, offset: int, size: int) -> bytes:
        """Up to `size` bytes from `offset` on; empty at the end."""
        return os.pread(self._file.fileno(), min(size, max(0, self.kept_bytes - offset)), offset)

    def close(self) -> None:
        """Let the file go."""
        self._file.close()
