"""A container whose freezer gives up at first is frozen all the same, and one that has ended is not waited for."""

import http.server
import json
import socketserver
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.errors import SandboxLost
from agent.sandbox.base import SandboxPlan
from agent.sandbox.docker import DockerSandbox

_GIVES_UP = {"message": "OCI runtime pause failed: unable to freeze: unknown"}


class _Daemon(socketserver.ThreadingUnixStreamServer):
    """Speaks as dockerd does where the kernel's freezer gives up so many times."""

    def __init__(self, path: Path, *, gives_up: int, status: str) -> None:
        super().__init__(str(path), _Handler)
        self.gives_up, self.status = gives_up, status
        self.asked = 0


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Daemon

    def do_GET(self) -> None:
        """How the container stands."""
        self._answer(200, {"State": {"Status": self.server.status}})

    def do_POST(self) -> None:
        """Freeze it."""
        self.server.asked += 1
        if self.server.asked <= self.server.gives_up:
            self._answer(500, _GIVES_UP)
        else:
            self._answer(204, None)

    def _answer(self, status: int, body: object) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is said."""


@contextmanager
def daemon(*, gives_up: int, status: str = "running") -> Iterator[tuple[_Daemon, DockerSandbox]]:
    """One that listens, and a sandbox that believes it."""
    with tempfile.TemporaryDirectory(prefix="freeze-") as path:
        folder = Path(path)
        with _Daemon(folder / "docker.sock", gives_up=gives_up, status=status) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                plan = SandboxPlan(run="f" * 8, workspace=folder, folder=folder)
                yield server, DockerSandbox(plan, folder / "docker.sock")
            finally:
                server.shutdown()


async def test_freezer_that_gives_up_is_asked_again() -> None:
    with daemon(gives_up=3) as (server, sandbox):
        await sandbox.freeze()
        assert server.asked == 4


async def test_container_that_has_ended_is_not_asked_again() -> None:
    with daemon(gives_up=100, status="exited") as (server, sandbox):
        with pytest.raises(SandboxLost, match="unable to freeze"):
            await sandbox.freeze()
        assert server.asked == 1
