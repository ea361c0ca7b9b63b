"""The guest's end of the stream to the host: lines in, frames out, never waiting for a slow reader."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

from .wire import Header, LineReader, frame

PLENTY_BYTES = 512 * 1024
"""With this much waiting to be sent, more output is left on disk until there is room."""
_READ_BYTES = 256 * 1024


class Channel:
    """Two descriptors that do not block, and what waits to go out."""

    def __init__(self, source: int, target: int, connection: socket.socket | None = None) -> None:
        self.source = source
        self.target = target
        self.closed = False
        self._connection = connection
        self._lines = LineReader()
        self._waiting = bytearray()
        os.set_blocking(source, False)
        os.set_blocking(target, False)

    def requests(self) -> Iterator[Header]:
        """The requests that have arrived; marks itself closed at the stream's end."""
        try:
            data = os.read(self.source, _READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.closed = True
            return
        yield from self._lines.feed(data)

    def send(self, header: Header, payload: bytes = b"") -> None:
        """Put a frame behind what is already waiting."""
        self._waiting += frame(header, payload)

    @property
    def wants_to_write(self) -> bool:
        """Whether something waits to go out."""
        return bool(self._waiting)

    @property
    def has_room(self) -> bool:
        """Whether more output should be sent now."""
        return len(self._waiting) < PLENTY_BYTES

    def flush(self) -> None:
        """Write as much as the reader takes."""
        while self._waiting:
            try:
                written = os.write(self.target, self._waiting)
            except BlockingIOError:
                return
            except OSError:
                self.closed = True
                return
            del self._waiting[:written]

    def close(self) -> None:
        """Let the connection go; the standard streams stay."""
        self.closed = True
        if self._connection is not None:
            self._connection.close()
