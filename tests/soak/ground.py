"""Where a soak takes place: a home of its own, a Docker daemon of its own where that may be, a reader that follows."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent.record import index
from agent.record.home import Home
from agent.sandbox.choose import docker_answers
from agent.sandbox.engine import DEFAULT_IMAGE, DEFAULT_SOCKET, image_is_there
from tests.docker.private_daemon import PrivateDaemon, may_run_daemons, private_daemon
from tests.soak import material
from tests.soak.command import Commands
from tests.soak.schedule import Place

_LOCAL: tuple[Place, ...] = ("local",) * 8
_HALF_DOCKER: tuple[Place, ...] = ("local", "docker") * 4
_HALF_OF_THAT_PRIVATE: tuple[Place, ...] = ("local", "docker", "local", "private") * 2


@dataclass(frozen=True)
class Ground:
    """The place, and how it is reached."""

    root: Path
    home: Home
    environment: dict[str, str]
    places: tuple[Place, ...]
    """One for each run that goes on at a time."""
    daemon: PrivateDaemon | None = None
    why_less: str = ""
    """Why there is less Docker than there could be."""

    @property
    def daemons(self) -> list[str]:
        """The addresses of all Docker daemons that may hold something of ours."""
        own = [self.daemon.address] if self.daemon is not None else []
        return [f"unix://{DEFAULT_SOCKET}", *own] if "docker" in self.places else own

    @property
    def complaints(self) -> Path:
        """What commands said on stderr."""
        return self.root / "commands.out"

    def commands(self, place: Place) -> Commands:
        """How commands are run there."""
        more = {"DOCKER_HOST": self.daemon.address} if place == "private" and self.daemon is not None else {}
        return Commands({**self.environment, **more}, self.complaints)


@contextlib.contextmanager
def prepared(root: Path) -> Iterator[Ground]:
    """All of it; the daemon is gone afterwards, the folder stays."""
    home = Home(root / "home").ensure()
    index.create(home.index)
    path = os.pathsep.join([os.getcwd(), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {"MLRB_HOME": str(home.path), "MLRB_TASKS": str(material.write_task(root)), "PYTHONPATH": path}
    if not (docker_answers(DEFAULT_SOCKET) and image_is_there(DEFAULT_IMAGE, DEFAULT_SOCKET)):
        yield Ground(root, home, environment, _LOCAL, why_less="no Docker daemon answers that has our image")
    elif not may_run_daemons():
        yield Ground(root, home, environment, _HALF_DOCKER, why_less="we may not start a daemon to restart")
    else:
        with private_daemon() as daemon:
            yield Ground(root, home, environment, _HALF_OF_THAT_PRIVATE, daemon)


@contextlib.contextmanager
def follower(ground: Ground) -> Iterator[Path]:
    """A reader that follows every run's log meanwhile; what it saw is in the file."""
    seen = ground.root / "seen.txt"
    seen.touch()
    command = [sys.executable, "-m", "tests.soak.follower", str(ground.home.runs), str(seen)]
    with subprocess.Popen(command, env={**os.environ, **ground.environment}) as process:
        try:
            yield seen
        finally:
            died = process.poll() is not None
            process.terminate()
            if died:
                raise RuntimeError("the follower ended by itself")
