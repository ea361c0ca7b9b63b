"""Ends processes until none of them is left, however they fork meanwhile."""

import os
import select
import signal
from collections.abc import Callable

from agent.sandbox.guest.processes import Process, send

_ROUNDS = 200
_ROUND_S = 0.05


def end_all(find: Callable[[], list[Process]]) -> tuple[int, list[Process]]:
    """End what `find` finds, again and again until it finds nothing; how many ended, and which are still there."""
    seen: set[tuple[int, int]] = set()
    for _ in range(_ROUNDS):
        left = find()
        if not left:
            break
        seen.update(process.key for process in left)
        # Nothing can fork once it stands; only then does a round of KILL reach all.
        send(left, signal.SIGSTOP)
        send(find(), signal.SIGKILL)
        _wait_for_end(left)
    left = find()
    return len(seen - {process.key for process in left}), left


def _wait_for_end(processes: list[Process]) -> None:
    """Wait until they have ended, each a moment at most: KILL takes effect when a process is next scheduled."""
    for process in processes:
        try:
            handle = os.pidfd_open(process.pid)
        except OSError:
            continue
        try:
            select.select([handle], [], [], _ROUND_S)
        finally:
            os.close(handle)
