"""The way to a Docker daemon: where it listens, whether it answers, and the SDK's client, imported when needed."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import SandboxUnavailable

if TYPE_CHECKING:
    from docker import DockerClient

DEFAULT_IMAGE = "mlrb:latest"
DEFAULT_SOCKET = Path("/var/run/docker.sock")
REQUEST_TIMEOUT_S = 60
_PATIENCE_S = 5.0

_NO_DAEMON_HINT = "start dockerd, or use --sandbox local, which isolates nothing"


def daemon_socket() -> Path | None:
    """The Unix socket that the daemon should listen on; None where `DOCKER_HOST` names something else."""
    host = os.environ.get("DOCKER_HOST", "")
    if not host:
        return DEFAULT_SOCKET
    scheme, found, path = host.partition("://")
    return Path(path) if found and scheme == "unix" else None


def _own_socket() -> Path:
    """The same; raises `SandboxUnavailable` where there is none."""
    path = daemon_socket()
    if path is None:
        raise SandboxUnavailable(
            f"DOCKER_HOST is {os.environ['DOCKER_HOST']!r}, and only unix:// sockets are supported",
            hint="forward the daemon's socket with ssh -L, or unset DOCKER_HOST",
        )
    return path


def unanswered(path: Path | None, hint: str = "is dockerd running?") -> SandboxUnavailable:
    """That no daemon answers there, with what helps: at the end of a tunnel that is another thing than here."""
    from agent.sandbox.tunnel_keeper import out_of_reach

    far = out_of_reach(path) if path is not None else None
    return far or SandboxUnavailable(f"no Docker daemon answers at {path}", hint=hint)


def require(image: str, daemon: Path | None = None, host: str = "") -> None:
    """Raise `SandboxUnavailable` where no daemon answers, or it has no such image: on this machine, or on the one of
    that name, whose daemon is reached at `daemon`."""
    path = daemon or _own_socket()
    if not docker_answers(path, _PATIENCE_S):
        raise unanswered(path, _NO_DAEMON_HINT)
    wanted = image or DEFAULT_IMAGE
    if image_is_there(wanted, path, _PATIENCE_S):
        return
    build = f"mlrb image build{f' --host {host}' if host else ''} makes it"
    pull = f"docker pull {wanted}{' over there' if host else ''}, or leave out --image"
    whose = repr(host) if host else "the Docker daemon"
    raise SandboxUnavailable(f"{whose} has no image {wanted!r}", hint=build if wanted == DEFAULT_IMAGE else pull)


def docker_answers(path: Path | None = None, timeout_s: float = 0.5) -> bool:
    """Whether a Docker daemon answers a ping; takes a millisecond and imports nothing."""
    return _get("/_ping", path, timeout_s).startswith(b"HTTP/1.1 200")


def is_podman(path: Path | None = None, timeout_s: float = _PATIENCE_S) -> bool:
    """Whether what listens there is Podman's Docker-compatible service."""
    return b"libpod-api-version" in _get("/_ping", path, timeout_s).lower()


def image_is_there(image: str, path: Path | None = None, timeout_s: float = 2.0) -> bool:
    """Whether the daemon has the image."""
    if not image or any(character.isspace() for character in image):
        return False
    return _get(f"/images/{image}/json", path, timeout_s).startswith(b"HTTP/1.1 200")


def _get(resource: str, path: Path | None, timeout_s: float) -> bytes:
    """The first bytes of the daemon's answer; empty where it gives none."""
    path = path or daemon_socket()
    if path is None:
        return b""
    request = f"GET {resource} HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n\r\n"
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(timeout_s)
            connection.connect(str(path))
            connection.sendall(request.encode())
            return connection.recv(1024)
    except OSError:
        return b""


@contextmanager
def client(path: Path | None = None) -> Iterator["DockerClient"]:
    """A client of the daemon, closed afterwards; raises `SandboxUnavailable` where none answers."""
    opened = open_client(path)
    try:
        yield opened
    finally:
        opened.close()


def open_client(path: Path | None = None) -> "DockerClient":
    """A client of the daemon, to be closed by the caller; raises `SandboxUnavailable` where none answers."""
    path = path or _own_socket()
    # The SDK costs half a second and 20 MB to import, so only what really needs it pays.
    import docker
    import requests

    try:
        opened = docker.DockerClient(base_url=f"unix://{path}", timeout=REQUEST_TIMEOUT_S)
        opened.ping()
    except (docker.errors.DockerException, requests.RequestException) as error:
        raise unanswered(path, _NO_DAEMON_HINT) from error
    return opened
