"""Tunnels that nobody looks after: a keeper that stands still or has no users, a connection without a keeper."""

import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent.record.lock import is_held
from agent.sandbox.guest.processes import look
from agent.sandbox.tunnel import all_folders
from agent.sandbox.tunnel_keeper import Places


@dataclass(frozen=True)
class StaleTunnel:
    """What is there of it."""

    folder: Path
    pids: tuple[int, ...]
    detail: str


def stale_tunnels() -> Iterator[StaleTunnel]:
    """Those of this user; looks, and changes nothing."""
    root = all_folders()
    for folder in sorted(root.iterdir()) if root.is_dir() else ():
        places = Places(str(folder))
        if _used(places):
            continue
        pids = tuple(pid for pid in (_keeper(places), places.read().ssh) if pid and look(pid) is not None)
        stopped = [pid for pid in pids if (process := look(pid)) is not None and process.state == "T"]
        if is_held(places.keeper) and not stopped:
            # It goes by itself in some seconds.
            continue
        ours = tuple(pid for pid in pids if str(folder) in _command(pid))
        if ours:
            yield StaleTunnel(folder, ours, "it stands still" if stopped else "nothing looks after it")


def _used(places: Places) -> bool:
    """Whether somebody holds it open; asked with a shared lock of an instant, which keeps no user out."""
    try:
        descriptor = os.open(places.users, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _keeper(places: Places) -> int:
    try:
        return int(places.keeper.read_text())
    except (OSError, ValueError):
        return 0


def _command(pid: int) -> str:
    try:
        return os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" "))
    except OSError:
        return ""
