"""What `/proc` says of processes: which there are, who started whom, and how to end them."""

from __future__ import annotations

import os
import signal
from collections.abc import Collection, Iterable
from dataclasses import dataclass

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Process:
    """A process at the moment that it was looked at."""

    pid: int
    parent: int
    state: str
    started: int
    """In clock ticks since boot: together with `pid` it names a process for good."""
    cpu_s: float
    memory_bytes: int

    @property
    def key(self) -> tuple[int, int]:
        """What names it even after its number was given to another."""
        return self.pid, self.started

    @property
    def alive(self) -> bool:
        """False for a zombie, which only waits for its parent to ask."""
        return self.state not in "ZX"


def look(pid: int) -> Process | None:
    """The process of that number, if there is one."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            line = file.read()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    # The name stands in brackets and may itself hold brackets and spaces.
    fields = line[line.rindex(b")") + 2 :].split()
    return Process(
        pid=pid,
        parent=int(fields[1]),
        state=fields[0].decode(),
        started=int(fields[19]),
        cpu_s=(int(fields[11]) + int(fields[12])) / TICKS_PER_S,
        memory_bytes=int(fields[21]) * PAGE_BYTES,
    )


def table() -> dict[int, Process]:
    """All processes that can be seen."""
    seen = (look(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return {process.pid: process for process in seen if process is not None}


def descendants(root: int, among: dict[int, Process], without: Collection[tuple[int, int]] = ()) -> list[Process]:
    """All that `root` started, directly or not; `without` leaves some out with all that they started."""
    children: dict[int, list[Process]] = {}
    for process in among.values():
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    waiting = [root]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child.key not in without:
                found.append(child)
                waiting.append(child.pid)
    return found


def send(processes: Iterable[Process], number: signal.Signals) -> None:
    """Send a signal to each that is still the same process."""
    for process in processes:
        now = look(process.pid)
        if now is None or now.started != process.started:
            continue
        try:
            os.kill(process.pid, number)
        except (ProcessLookupError, PermissionError):
            continue
