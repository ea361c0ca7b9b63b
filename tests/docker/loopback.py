"""A machine that is reached by SSH, stood for by an OpenSSH server of the tests' own on the loopback."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.record.home import Home
from agent.sandbox.machines import DOCKER_SOCKET, Machine
from agent.sandbox.tunnel import Tunnel, folder_of
from agent.sandbox.tunnel_keeper import Places, Word
from tests.process.runner_runs import until

NAME = "gpu-box"
SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")


@dataclass
class Loopback:
    """The machine as its users see it; their SSH configuration, keys and known hosts are the test's own too."""

    root: Path
    port: int
    socket: str = DOCKER_SOCKET
    programs: Path = field(init=False)
    """First on the PATH of commands over there."""
    _server: "subprocess.Popen[bytes] | None" = None

    def __post_init__(self) -> None:
        self.programs = self.root / "bin"
        self.programs.mkdir(parents=True)
        for key in ("host_key", "user_key", "other_key"):
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.root / key)]
            subprocess.run(command, check=True)
        shutil.copy(self.root / "user_key.pub", self.root / "authorized")
        self.know("host_key")
        self.client("")
        (self.root / "sshd_config").write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {self.root}/host_key\nUsePAM no\nStrictModes no\n"
            f"AuthorizedKeysFile {self.root}/authorized\nPidFile none\nPasswordAuthentication no\n"
            f"SetEnv PATH={self.programs}:{os.environ['PATH']}\n"
        )

    def client(self, more: str) -> None:
        """The user's own configuration."""
        (self.root / "ssh_config").write_text(
            f"Host {NAME}\n  HostName 127.0.0.1\n  Port {self.port}\n  IdentityFile {self.root}/user_key\n"
            f"  IdentitiesOnly yes\n  UserKnownHostsFile {self.root}/known_hosts\n  {more}\n"
        )

    def know(self, key: str) -> None:
        """Have that key be the one that the user knows the machine by."""
        kind, public = (self.root / f"{key}.pub").read_text().split()[:2]
        (self.root / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {kind} {public}\n")

    def start(self) -> None:
        """Let people in."""
        Path("/run/sshd").mkdir(exist_ok=True)
        assert SSHD is not None
        with (self.root / "sshd.log").open("ab") as log:
            self._server = subprocess.Popen(
                [SSHD, "-D", "-e", "-f", str(self.root / "sshd_config")],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        until(self._listens, f"sshd listens: {(self.root / 'sshd.log').read_text()}", 20)

    def stop(self) -> None:
        """Let nobody in any more; who is in stays in."""
        if self._server is not None:
            self._server.kill()
            self._server.wait()
            self._server = None

    @property
    def machine(self) -> Machine:
        """As `hosts.toml` has it."""
        return Machine(name=NAME, ssh_options=("-F", str(self.root / "ssh_config")), socket=self.socket)

    @property
    def places(self) -> Places:
        """The files of the tunnel to it."""
        return Places(str(folder_of(self.machine)))

    def enter_in(self, home: Home, more: str = "") -> None:
        """Put it into a home's `hosts.toml`."""
        config = self.root / "ssh_config"
        (home.path / "hosts.toml").write_text(
            f'[{NAME}]\nssh_options = ["-F", "{config}"]\nsocket = "{self.socket}"\n{more}\n'
        )

    def word(self) -> Word:
        """How the tunnel stands."""
        return self.places.read()

    def cut(self) -> None:
        """End the connection, as a network does."""
        word = self.word()
        assert word.state == "up"
        os.kill(word.ssh, signal.SIGKILL)

    def _listens(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False


@contextmanager
def loopback(root: Path, socket_there: str = DOCKER_SOCKET) -> Iterator[Loopback]:
    """The machine, for as long as the block lasts."""
    if SSHD is None or os.geteuid() != 0:
        pytest.skip("no OpenSSH server can be started here: apt-get install openssh-server, as root")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    there = Loopback(root, port, socket_there)
    try:
        there.start()
        yield there
    finally:
        there.stop()
        _end_keeper(there.places)


@contextmanager
def opened(machine: Machine) -> Iterator[Tunnel]:
    """A tunnel, let go of afterwards."""
    tunnel = Tunnel(machine)
    try:
        tunnel.open()
        yield tunnel
    finally:
        tunnel.close()


def keeper_pid(places: Places) -> int:
    """The process that keeps a tunnel."""
    return int(places.keeper.read_text())


def _end_keeper(places: Places) -> None:
    with contextlib.suppress(OSError, ValueError):
        os.kill(keeper_pid(places), signal.SIGTERM)
    shutil.rmtree(places.folder, ignore_errors=True)
