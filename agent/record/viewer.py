"""Who looks at a run and from where: one program that is open, and whether it still is."""

import getpass
import os
import socket
from functools import cache
from pathlib import Path
from typing import Self

from msgspec import Struct

from agent.record.text import storable

_STARTED, _STATE = 19, 0
"""Fields of `/proc/PID/stat`, counted from behind the command's name."""
_ENDED = -1


class Viewer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One program that may steer: an app for as long as it is open, or a single command."""

    viewer: str
    """Random, so that nobody else has it."""
    who: str = ""
    origin: str = "cli"
    """`app` or `cli`."""
    host: str = ""
    terminal: str = ""
    """`pts/3`; empty where there is none."""
    pid: int = 0
    started: int = 0
    """In clock ticks since the machine came up: a pid alone may be another process by now. 0 is not known."""
    boot: str = ""
    pid_space: str = ""
    """Which table of processes the pid belongs to; containers have their own."""

    @classmethod
    def here(cls, origin: str) -> Self:
        """This very process."""
        pid = os.getpid()
        return cls(
            viewer=os.urandom(6).hex(), who=storable(user_name()), origin=origin, host=socket.gethostname(),
            terminal=_terminal(), pid=pid, started=_started(pid), boot=_boot(), pid_space=_pid_space(),
        )  # fmt: skip

    @property
    def place(self) -> str:
        """Where it is, in a few words: `app on pts/3`."""
        name = "app" if self.origin == "app" else "command"
        return f"{name} on {self.terminal}" if self.terminal else name

    @property
    def said(self) -> str:
        """Who and where, as a message names them."""
        return f"{self.who or 'someone'} ({self.place})"

    @property
    def is_gone(self) -> bool:
        """Whether its process is known to be gone; False where that cannot be seen from here."""
        if self.boot != _boot():
            # SQLite shares a run's files within one kernel: another boot is one that is over.
            return True
        return self.pid_space == _pid_space() and not _lives(self.pid, self.started)

    def is_same_person(self, other: "Viewer") -> bool:
        """Whether both are the same user of the same machine."""
        return (self.who, self.host) == (other.who, other.host)


def user_name() -> str:
    """Who sits here, as the system knows them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "someone"


def _terminal() -> str:
    for descriptor in (0, 1, 2):
        try:
            return os.ttyname(descriptor).removeprefix("/dev/")
        except OSError:
            continue
    return ""


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


@cache
def _pid_space() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _lives(pid: int, started: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    found = _started(pid)
    if found == _ENDED:
        return False
    # Where `/proc` hides other users' processes, that one answers is all there is to see.
    return not found or not started or found == started


def _started(pid: int) -> int:
    """When a process began; 0 where that cannot be read, `_ENDED` where it has ended and only waits to be buried."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return _ENDED if fields[_STATE] in ("Z", "X") else int(fields[_STARTED])
