"""An SSH tunnel to a machine's Docker daemon, one a machine, shared by all runs of this user here."""

import contextlib
import fcntl
import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from agent.errors import SandboxUnavailable
from agent.record.lock import is_held
from agent.record.redact import without_secrets
from agent.sandbox import ssh
from agent.sandbox.engine import docker_answers
from agent.sandbox.machines import DOCKER_SOCKET, Machine
from agent.sandbox.tunnel_keeper import Places

OPEN_S = 40.0
_POLL_S = 0.02
_PING_S = 5.0
_SOURCES = Path(__file__).parents[2]
LOOK = (
    'if [ ! -S "$1" ]; then echo none; elif [ ! -r "$1" ] || [ ! -w "$1" ]; then echo closed;'
    ' elif grep -q "/${1##*/}$" /proc/net/unix; then echo listens; else echo dead; fi; id -un'
)
"""What a socket over there is: not there, closed to us, with somebody who listens, or without."""


class Tunnel:
    """A way to a machine that is held open; it goes when its last user has let go."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._places = Places(str(folder_of(machine)))
        self._users = -1

    @property
    def socket(self) -> Path:
        """Where the daemon over there answers, here."""
        return self._places.socket

    def open(self, *, given_up: threading.Event | None = None, patience_s: float = OPEN_S) -> None:
        """Have it up and the daemon answering; raises `SandboxUnavailable` with what is wrong. Blocks."""
        began_at = time.monotonic()
        deadline = began_at + patience_s
        try:
            self.join(deadline - began_at)
            self._places.wake.touch()
            while not self._answers(began_at):
                if given_up is not None and given_up.is_set():
                    raise SandboxUnavailable(f"{self.machine.name!r} was not waited for")
                if time.monotonic() > deadline:
                    raise ssh.trouble(self.machine, "")
                time.sleep(_POLL_S)
        except BaseException:
            self.close()
            raise

    def ensure(self) -> None:
        """Have a keeper look after it: one may have been ended from outside."""
        if self._users >= 0 and not is_held(self._places.keeper):
            _start_keeper(self._places, self.machine)

    def run(self, command: Sequence[str], timeout_s: float) -> "subprocess.CompletedProcess[str]":
        """Run a command over there; one that takes too long ends with 124."""
        return ssh.output_of(ssh.through(self._places.control, bounded(command, timeout_s)), timeout_s + ssh.CONNECT_S)

    def close(self) -> None:
        """Let go of it."""
        if self._users >= 0:
            os.close(self._users)
            self._users = -1

    def join(self, patience_s: float = OPEN_S) -> None:
        """Have it kept up from now on, whether or not the machine can be reached."""
        if self._users >= 0:
            return
        deadline = time.monotonic() + patience_s
        folder = Path(self._places.folder)
        make_own(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        self._users = os.open(self._places.users, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        while not _shared(self._users):
            if time.monotonic() > deadline:
                raise SandboxUnavailable(f"{folder} is held by something that is no tunnel", hint=f"rm -r {folder}")
            time.sleep(_POLL_S)

    def _answers(self, began_at: float) -> bool:
        """Whether the daemon does; raises what the keeper met since we asked."""
        self.ensure()
        word = self._places.read()
        if word.state == "failed" and word.at > began_at:
            raise SandboxUnavailable(word.message, hint=word.hint)
        if word.state != "up":
            return False
        if docker_answers(self.socket, _PING_S):
            return True
        # The connection may just have dropped; then its keeper says so in a moment.
        self._explain()
        return False

    def _explain(self) -> None:
        machine = self.machine
        looked = self.run(["sh", "-c", LOOK, "look", machine.socket], timeout_s=ssh.CONNECT_S)
        if looked.returncode != 0:
            return
        found, _, user = looked.stdout.strip().partition("\n")
        call = ssh.call(machine)
        match found:
            case "none":
                raise SandboxUnavailable(
                    f"{machine.name!r} is reached, but there is no Docker: nothing is at {machine.socket}",
                    hint=f"{call} sudo apt-get install docker.io, or name its socket in hosts.toml",
                )
            case "closed":
                raise SandboxUnavailable(
                    f"{user} may not use Docker on {machine.name!r}", hint=f"{call} sudo usermod -aG docker {user}"
                )
            case "dead":
                started = "sudo systemctl start docker" if machine.socket == DOCKER_SOCKET else "docker info"
                raise SandboxUnavailable(
                    f"{machine.name!r} is reached, but its Docker daemon does not run", hint=f"{call} {started}"
                )
            case "listens" if not docker_answers(self.socket, _PING_S):
                raise SandboxUnavailable(
                    f"{machine.name!r} is reached, but Docker's socket does not answer through SSH",
                    hint=f"have AllowStreamLocalForwarding yes in its sshd_config; or Docker hangs: {call} docker info",
                )


def bounded(command: Sequence[str], timeout_s: float) -> list[str]:
    """The command with a limit that holds where it runs: our giving up would not end it there."""
    return ["timeout", "--kill-after=1", f"{timeout_s:.0f}", *command]


def is_up(machine: Machine) -> bool:
    """Whether a tunnel to it is up right now; asks nobody over there."""
    places = Places(str(folder_of(machine)))
    return is_held(places.keeper) and places.read().state == "up"


def all_folders() -> Path:
    """Where the tunnels of this user are: on this machine, and short enough for the names of sockets.

    Not in the folder of a login session: that goes when the session ends, and runs don't.
    """
    return Path(f"/tmp/mlrb-{os.getuid()}")


def folder_of(machine: Machine) -> Path:
    """The folder of the tunnel to that machine; another way of getting there is another tunnel."""
    way = "\0".join((machine.target, machine.socket, *machine.ssh_options))
    return all_folders() / hashlib.sha256(way.encode()).hexdigest()[:12]


def _start_keeper(places: Places, machine: Machine) -> None:
    path = os.pathsep.join(part for part in (str(_SOURCES), os.environ.get("PYTHONPATH", "")) if part)
    keeper = [sys.executable, "-m", "agent.sandbox.tunnel_keeper", places.folder, msgspec.json.encode(machine).decode()]
    with Path(places.folder, "keeper.out").open("wb") as out:
        # It outlives runners and is not shielded as they are, so it gets no keys.
        environment = {**without_secrets(), "PYTHONPATH": path}
        subprocess.run(keeper, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd="/", check=True, env=environment)
    deadline = time.monotonic() + _PING_S
    while not is_held(places.keeper) and time.monotonic() < deadline:
        time.sleep(_POLL_S)


def make_own(folder: Path) -> None:
    """A folder in a place where everybody may write: nobody else's will do."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or not folder.is_dir() or folder.is_symlink():
        raise SandboxUnavailable(f"{folder} is not ours alone", hint=f"ls -ld {folder}; remove it")


def _shared(users: int) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
