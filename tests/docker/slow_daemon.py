"""A Docker daemon that comes to create a container only when it is told to: a socket in front of the real one."""

import contextlib
import re
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agent.sandbox.engine import DEFAULT_SOCKET

_CREATE = b"/containers/create"


@dataclass
class SlowDaemon:
    """Where it listens, and what it has seen."""

    path: Path
    asked: threading.Event = field(default_factory=threading.Event)
    """A container was asked for."""
    go_on: threading.Event = field(default_factory=threading.Event)
    """Set by a test: the wish may reach the real daemon."""
    sent: threading.Event = field(default_factory=threading.Event)
    answered: threading.Event = field(default_factory=threading.Event)
    answer: bytes = b""
    """The first line of what the real daemon said to the wish."""

    @property
    def address(self) -> str:
        """For `DOCKER_HOST`."""
        return f"unix://{self.path}"

    def serve(self, listener: socket.socket) -> None:
        """Take connections until the listener is closed."""
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            daemon = socket.socket(socket.AF_UNIX)
            daemon.connect(str(DEFAULT_SOCKET))
            for work in (self._forward, self._back):
                threading.Thread(target=work, args=(client, daemon), daemon=True).start()

    def _forward(self, client: socket.socket, daemon: socket.socket) -> None:
        while data := _received(client):
            if b"POST " in data and _CREATE in data:
                data = _whole(data, client)
                self.asked.set()
                self.go_on.wait()
                self.sent.set()
                daemon.sendall(data)
                # The wish is with the daemon, whether or not whoever wished is still there to hear the answer.
                self.answered.wait(30)
                continue
            with contextlib.suppress(OSError):
                daemon.sendall(data)
        with contextlib.suppress(OSError):
            daemon.shutdown(socket.SHUT_WR)

    def _back(self, client: socket.socket, daemon: socket.socket) -> None:
        while data := _received(daemon):
            if self.sent.is_set() and not self.answered.is_set():
                self.answer = data.splitlines()[0]
                self.answered.set()
            with contextlib.suppress(OSError):
                client.sendall(data)
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_WR)


@contextmanager
def slow_daemon() -> Iterator[SlowDaemon]:
    """It, for as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="slow-") as folder:
        slow = SlowDaemon(Path(folder) / "docker.sock")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(slow.path))
        listener.listen(16)
        threading.Thread(target=slow.serve, args=(listener,), daemon=True).start()
        try:
            yield slow
        finally:
            slow.go_on.set()
            listener.close()


def _received(source: socket.socket) -> bytes:
    try:
        return source.recv(1024**2)
    except OSError:
        return b""


def _whole(data: bytes, source: socket.socket) -> bytes:
    """The request with all of its body, which may come in a piece of its own."""
    while b"\r\n\r\n" not in data and (more := _received(source)):
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
    while length and len(body) < int(length[1]) and (more := _received(source)):
        data, body = data + more, body + more
    return data
