"""The lock that says a runner lives."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.errors import RunHeld

# A viewer's glance holds a shared lock for microseconds; a runner that starts then must not give up.
_PATIENCE_S = 2.0


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Hold the run's lock; raises `RunHeld` where another runner has it.

    The kernel drops the lock when the process ends, however it ends; a pid file would stay.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        deadline = time.monotonic() + _PATIENCE_S
        while not _try_exclusive(descriptor):
            if time.monotonic() > deadline:
                raise RunHeld(f"a runner already holds {path.parent.name}", hint="mlrb watch shows it")
            time.sleep(0.01)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether a runner lives that holds this lock."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _try_exclusive(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
