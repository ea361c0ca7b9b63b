"""A socket in front of the Docker daemon whose connections can be cut, at once and without a word."""

import contextlib
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.sandbox.engine import DEFAULT_SOCKET


class Relay:
    """Hands on what comes, both ways."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(16)
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def address(self) -> str:
        """For `DOCKER_HOST`."""
        return f"unix://{self.path}"

    def cut(self) -> int:
        """Break every connection off, in the middle of whatever it carries; how many there were."""
        with self._lock:
            ends, self._open = self._open, set()
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        return len(ends) // 2

    def close(self) -> None:
        """Take no more."""
        self._listener.close()
        self.cut()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                daemon = socket.socket(socket.AF_UNIX)
                daemon.connect(str(DEFAULT_SOCKET))
            except OSError:
                return
            with self._lock:
                self._open |= {client, daemon}
            for source, target in ((client, daemon), (daemon, client)):
                threading.Thread(target=self._hand_on, args=(source, target), daemon=True).start()

    def _hand_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(64 * 1024):
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)
        with self._lock:
            self._open.discard(source)


@contextmanager
def relay() -> Iterator[Relay]:
    """It, for as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="relay-") as folder:
        made = Relay(Path(folder) / "docker.sock")
        try:
            yield made
        finally:
            made.close()
