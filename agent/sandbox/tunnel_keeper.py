"""`python -m agent.sandbox.tunnel_keeper FOLDER MACHINE`: keeps one SSH tunnel up for as long as somebody uses it.

Whoever uses a tunnel holds a shared lock on its `users` file, and the keeper holds its `keeper` file: the kernel
drops both however a process ends. A connection that drops is made anew, less and less often while that fails.
"""

import contextlib
import ctypes
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NoReturn

import msgspec
from msgspec import Struct

from agent.errors import RunHeld, SandboxUnavailable
from agent.record.lock import hold
from agent.sandbox import ssh
from agent.sandbox.machines import Machine

LINGER_S = 10.0
"""How long a tunnel that nobody uses stays, for the next command to find it."""
_LOOK_EVERY_S = 0.1
_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 15.0
_UP_WITHIN_S = 3 * ssh.CONNECT_S
"""Name look-up, jump hosts and a slow login together."""
_PR_SET_PDEATHSIG = 1


class Word(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a tunnel stands, as its keeper last said."""

    state: str = "connecting"
    """`connecting`, `up` or `failed`."""
    at: float = 0.0
    """By the machine's monotonic clock, which no one sets back."""
    ssh: int = 0
    """The process of the connection."""
    ups: int = 0
    """How often it came up."""
    message: str = ""
    hint: str = ""
    machine: str = ""
    call: str = ""
    """How that machine is reached by hand."""


class Places(Struct, frozen=True):
    """The files of a tunnel."""

    folder: str

    @property
    def socket(self) -> Path:
        """Leads to the Docker daemon over there."""
        return Path(self.folder, "docker.sock")

    @property
    def control(self) -> Path:
        """The connection itself, for more commands over there."""
        return Path(self.folder, "ctl")

    @property
    def keeper(self) -> Path:
        """Locked by the keeper."""
        return Path(self.folder, "keeper")

    @property
    def users(self) -> Path:
        """Locked, shared, by each user."""
        return Path(self.folder, "users")

    @property
    def wake(self) -> Path:
        """Touched by whoever does not want to wait for the next attempt."""
        return Path(self.folder, "wake")

    @property
    def said(self) -> Path:
        """What ssh complained of in the present connection."""
        return Path(self.folder, "ssh.out")

    @property
    def word(self) -> Path:
        """How it stands."""
        return Path(self.folder, "word.json")

    def read(self) -> Word:
        """How it stands; as if nobody had said anything yet where that can't be read."""
        try:
            return msgspec.json.decode(self.word.read_bytes(), type=Word)
        except (OSError, msgspec.MsgspecError):
            return Word()


def out_of_reach(socket: Path) -> SandboxUnavailable | None:
    """Why nothing answers at the near end of a tunnel; None where that socket is none."""
    word = Places(str(socket.parent)).read()
    if not word.machine:
        return None
    if word.state == "up":
        # A network that swallows everything is noticed by its keep-alives only.
        return SandboxUnavailable(
            f"Docker on {word.machine!r} does not answer through the tunnel", hint=f"{word.call} docker info"
        )
    why = f": {word.message}" if word.message else ""
    return SandboxUnavailable(
        f"{word.machine!r} is out of reach{why}", hint=word.hint or f"what runs there goes on; try {word.call} true"
    )


class Keeper:
    """Makes the connection, watches it, makes it again."""

    def __init__(self, places: Places, machine: Machine) -> None:
        self._places = places
        self._machine = machine
        self._ssh: subprocess.Popen[bytes] | None = None
        self._ups = 0
        self._used_at = time.monotonic()

    def keep(self) -> None:
        """Return when nobody has used the tunnel for a while."""
        pause_s = _FIRST_PAUSE_S
        # A second keeper of the same tunnel is not needed.
        with contextlib.suppress(RunHeld), hold(self._places.keeper):
            while True:
                self._say("connecting")
                try:
                    self._connect()
                except SandboxUnavailable as error:
                    self._say("failed", error)
                    if self._waited(pause_s):
                        return
                    pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)
                    continue
                pause_s = _FIRST_PAUSE_S
                self._ups += 1
                self._say("up")
                if self._until(self._has_dropped):
                    return

    def leave(self, number: int, frame: FrameType | None) -> NoReturn:
        """End with the connection, asked to by a signal."""
        self._end_ssh()
        sys.exit(128 + number)

    def _connect(self) -> None:
        places = self._places
        self._end_ssh()
        for stale in (places.control, places.socket):
            stale.unlink(missing_ok=True)
        with places.said.open("wb") as said:
            self._ssh = subprocess.Popen(
                ssh.master(self._machine, places.control), stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                env=ssh.environment(), preexec_fn=_ends_with_parent,
            )  # fmt: skip
        deadline = time.monotonic() + _UP_WITHIN_S
        # The control socket is there once the host has let us in.
        while not places.control.exists():
            if self._ssh.poll() is not None or time.monotonic() > deadline:
                self._end_ssh()
                raise ssh.trouble(self._machine, places.said.read_text(errors="replace"))
            time.sleep(_LOOK_EVERY_S / 4)
        asked = ssh.output_of(ssh.forward(places.control, places.socket, self._machine.socket), ssh.CONNECT_S)
        if asked.returncode != 0:
            raise ssh.trouble(self._machine, asked.stderr)

    def _has_dropped(self) -> bool:
        return self._ssh is None or self._ssh.poll() is not None

    def _waited(self, pause_s: float) -> bool:
        """Wait before the next attempt, unless somebody is in a hurry; whether nobody is left who would use it."""
        woken_at, ends_at = _touched(self._places.wake), time.monotonic() + pause_s
        return self._until(lambda: time.monotonic() > ends_at or _touched(self._places.wake) != woken_at, linger_s=0.0)

    def _until(self, comes_true: Callable[[], bool], *, linger_s: float = LINGER_S) -> bool:
        """Wait until that, or until nobody has used the tunnel for `linger_s`: then true, and nobody can come again."""
        self._used_at = time.monotonic()
        users = os.open(self._places.users, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            while not comes_true():
                if not _alone(users):
                    self._used_at = time.monotonic()
                elif time.monotonic() - self._used_at >= linger_s:
                    # Whoever comes now waits for this lock, which goes with us, and starts a keeper of its own.
                    self._end_ssh()
                    self._places.socket.unlink(missing_ok=True)
                    users = -1
                    return True
                else:
                    fcntl.flock(users, fcntl.LOCK_UN)
                time.sleep(_LOOK_EVERY_S)
            return False
        finally:
            if users >= 0:
                os.close(users)

    def _end_ssh(self) -> None:
        if self._ssh is not None:
            self._ssh.kill()
            self._ssh.wait()
            self._ssh = None

    def _say(self, state: str, error: SandboxUnavailable | None = None) -> None:
        word = Word(
            state=state, at=time.monotonic(), ssh=self._ssh.pid if self._ssh is not None else 0, ups=self._ups,
            message=error.message if error is not None else "", hint=error.hint if error is not None else "",
            machine=self._machine.name, call=ssh.call(self._machine),
        )  # fmt: skip
        fresh = self._places.word.with_suffix(".new")
        fresh.write_bytes(msgspec.json.encode(word))
        fresh.rename(self._places.word)


def _alone(users: int) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _touched(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _ends_with_parent() -> None:
    """No connection outlives its keeper, however that ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def main(arguments: list[str]) -> int:
    """Keep the tunnel, as a process that belongs to nobody: a run that is killed with all it started spares it."""
    if os.fork():
        # Nothing of the parent's may be flushed or run twice.
        os._exit(0)
    os.setsid()
    folder, machine = arguments
    keeper = Keeper(Places(folder), msgspec.json.decode(machine, type=Machine))
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, keeper.leave)
    keeper.keep()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
