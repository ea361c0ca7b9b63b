"""The processes below the guest: whose session each belongs to, and their ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection

from .processes import Process, descendants, table

MARK = "MLRB_SESSION"
"""The variable that tells a session's processes from others, once their shell has ended; session 0 has none."""


class Household:
    """Knows the shells of all sessions, and takes in the end of every process below the guest."""

    def __init__(self, ended: Callable[[int, int], None]) -> None:
        self._ended = ended
        self._shells: dict[int, int] = {}
        self._several = False
        self.childless = False
        """Whether the guest has no child left, and so nothing that a command started can be alive."""
        self.running: set[int] = set()
        """Sessions whose command runs."""

    def adopt(self, pid: int, session: int) -> None:
        """A shell of that session was started."""
        self._shells[pid] = session
        self._several = self._several or session > 0

    def reap(self) -> None:
        """Take in every process that has ended: the commands' own, and orphans that became the guest's."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.childless = True
                return
            self.childless = False
            if pid == 0:
                return
            self._shells.pop(pid, None)
            self._ended(pid, os.waitstatus_to_exitcode(status))

    def own(self, session: int, before: Collection[tuple[int, int]] = ()) -> list[Process]:
        """What lives and belongs to that session, but for what was there before and all that that started."""
        seen = table()
        below = descendants(os.getpid(), seen, before)
        if self._several:
            below = [process for process in below if self._session_of(process, seen) == session]
        return [process for process in below if process.alive]

    def _session_of(self, process: Process, seen: dict[int, Process]) -> int:
        """By the shell that it descends from; where that has ended, by the mark that it was born with."""
        at: Process | None = process
        while at is not None:
            if at.pid in self._shells:
                return self._shells[at.pid]
            at = seen.get(at.parent)
        return _marked(process.pid)


def _marked(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            variables = file.read().split(b"\0")
    except OSError:
        return 0
    start = f"{MARK}=".encode()
    found = [variable[len(start) :] for variable in variables if variable.startswith(start)]
    return int(found[0]) if found and found[0].isdigit() else 0
