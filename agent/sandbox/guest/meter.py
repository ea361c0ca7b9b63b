"""What a sandbox uses now: from its control group where it has one of its own, else summed over its processes."""

from __future__ import annotations

import os
import time

from . import group
from .group import Use
from .processes import Process, descendants, table


class Meter:
    """Samples use; CPU and speeds are means since the sample before."""

    def __init__(self, own_group: bool, workdir: str) -> None:
        self._own_group = own_group
        self._workdir = workdir
        self._moved: dict[tuple[int, int], tuple[int, int]] = {}
        self._ended = (0, 0)
        self._last = (time.monotonic(), self._use(self._mine()), self._network())

    def sample(self) -> dict[str, object]:
        """CPU in percent of one core, memory, its limit, processes but for the guest's own, disk, speeds, kills."""
        mine = self._mine()
        now, used, network = time.monotonic(), self._use(mine), self._network()
        then, before, network_before = self._last
        self._last = (now, used, network)
        passed_s = max(now - then, 1e-3)
        return {
            "cpu_percent": round(max(0.0, used.cpu_s - before.cpu_s) / passed_s * 100, 1),
            "memory_used_bytes": used.memory_bytes,
            "memory_limit_bytes": used.limit_bytes,
            "processes": sum(process.alive for process in mine),
            "io_read_bytes_s": _speed(before.read_bytes, used.read_bytes, passed_s),
            "io_write_bytes_s": _speed(before.write_bytes, used.write_bytes, passed_s),
            "net_received_bytes_s": _speed(network_before[0], network[0], passed_s),
            "net_sent_bytes_s": _speed(network_before[1], network[1], passed_s),
            "oom_kills": self.oom_kills(),
            **self._disk(),
        }

    def oom_kills(self) -> int | None:
        """Processes that the kernel ended because memory ran out; a group of one's own is needed to tell."""
        return group.oom_kills() if self._own_group else None

    def _mine(self) -> list[Process]:
        return descendants(os.getpid(), table())

    def _use(self, mine: list[Process]) -> Use:
        found = group.use() if self._own_group else None
        if found is not None:
            return found
        # Time of processes that have ended is added to their parent's; the guest's own account holds it.
        ended = os.times()
        read, written = self._moved_by(mine)
        return Use(
            cpu_s=sum(process.cpu_s for process in mine) + ended.children_user + ended.children_system,
            memory_bytes=sum(process.memory_bytes for process in mine),
            read_bytes=read,
            write_bytes=written,
        )

    def _moved_by(self, mine: list[Process]) -> tuple[int, int]:
        """What processes have read and written, those that have ended as far as they were seen."""
        now = {process.key: moved for process in mine if (moved := _moved(process.pid)) is not None}
        gone = [moved for key, moved in self._moved.items() if key not in now]
        self._ended = (self._ended[0] + sum(r for r, _ in gone), self._ended[1] + sum(w for _, w in gone))
        self._moved = now
        return self._ended[0] + sum(r for r, _ in now.values()), self._ended[1] + sum(w for _, w in now.values())

    def _network(self) -> tuple[int | None, int | None]:
        """Bytes received and sent; without a network of its own these would be the machine's."""
        if not self._own_group:
            return None, None
        received = sent = 0
        for line in _lines("/proc/net/dev")[2:]:
            name, _, rest = line.partition(":")
            numbers = rest.split()
            if name.strip() != "lo" and len(numbers) > 8:
                received, sent = received + int(numbers[0]), sent + int(numbers[8])
        return received, sent

    def _disk(self) -> dict[str, object]:
        try:
            found = os.statvfs(self._workdir)
        except OSError:
            return {}
        return {
            "disk_free_bytes": found.f_bavail * found.f_frsize,
            "disk_total_bytes": found.f_blocks * found.f_frsize,
        }


def _speed(before: int | None, now: int | None, passed_s: float) -> float | None:
    return None if before is None or now is None else round(max(0, now - before) / passed_s, 1)


def _moved(pid: int) -> tuple[int, int] | None:
    fields = dict(line.split(": ") for line in _lines(f"/proc/{pid}/io") if ": " in line)
    try:
        return int(fields["read_bytes"]), int(fields["write_bytes"])
    except (KeyError, ValueError):
        return None


def _lines(path: str) -> list[str]:
    try:
        with open(path) as file:
            return file.read().splitlines()
    except OSError:
        return []
