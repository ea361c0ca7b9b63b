"""A command's output on disk: appended to while it runs, read at any offset, bounded."""

from __future__ import annotations

import os
import tempfile

MOST_IN_MEMORY_BYTES = 4 * 1024**2


class Spool:
    """Output in a file without a name, so that no command can reach it.

    It keeps `limit_bytes`; what comes after is counted and not kept, and one line at the end says so. On a full disk
    some more is kept in memory until there is room; then the keeping ends in the same way, and the command goes on.
    """

    def __init__(self, folder: str, limit_bytes: int) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self._limit_bytes = limit_bytes
        self._full = False
        self._on_disk_bytes = 0
        self._in_memory = bytearray()
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
        self._in_memory += data
        self._settle()
        excess = len(self._in_memory) - MOST_IN_MEMORY_BYTES
        if excess > 0:
            del self._in_memory[-excess:]
            self._full = True
        self.kept_bytes = self._on_disk_bytes + len(self._in_memory)

    def _settle(self) -> None:
        """Bring to the disk what it takes."""
        try:
            while self._in_memory:
                written = os.pwrite(self._file.fileno(), self._in_memory, self._on_disk_bytes)
                self._on_disk_bytes += written
                del self._in_memory[:written]
        except OSError:
            return

    def read(self, offset: int, size: int) -> bytes:
        """Up to `size` bytes from `offset` on; empty at the end."""
        if offset >= self._on_disk_bytes:
            start = offset - self._on_disk_bytes
            return bytes(self._in_memory[start : start + size])
        return os.pread(self._file.fileno(), min(size, self._on_disk_bytes - offset), offset)

    def close(self) -> None:
        """Let the file go."""
        self._file.close()
