"""Plain HTTP to the Docker daemon's socket, for what must be quick: the SDK costs half a second to import."""

import http.client
import json
import socket
from pathlib import Path

from agent.errors import SandboxUnavailable
from agent.sandbox.engine import REQUEST_TIMEOUT_S, daemon_socket, unanswered


class _Daemon(http.client.HTTPConnection):
    """HTTP to a Unix socket."""

    def __init__(self, path: Path, timeout_s: float) -> None:
        super().__init__("docker", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        """Reach the daemon."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def ask_daemon(
    method: str, resource: str, path: Path | None, timeout_s: float = REQUEST_TIMEOUT_S, body: object = None
) -> tuple[int, bytes]:
    """The status and body of its answer; raises `SandboxUnavailable` where there is none."""
    path = path or daemon_socket()
    if path is None:
        raise SandboxUnavailable("only a Docker daemon on a unix:// socket can be asked", hint="see DOCKER_HOST")
    connection = _Daemon(path, timeout_s)
    try:
        if body is None:
            connection.request(method, resource)
        else:
            connection.request(method, resource, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise unanswered(path) from error
    finally:
        connection.close()


def reason(status: int, body: bytes) -> str:
    """Why it did not do it, in its own words."""
    try:
        said = json.loads(body)["message"]
    except (ValueError, KeyError, TypeError):
        said = ""
    return str(said or f"status {status}")
