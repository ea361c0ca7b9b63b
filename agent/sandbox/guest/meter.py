"""What a sandbox uses now: from its control group where it has one of its own, else summed over its processes."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from .processes import descendants, table

_GROUP = "/sys/fs/cgroup"
_NO_LIMIT_BYTES = 1 << 60


@dataclass(frozen=True)
class _Use:
    cpu_s: float
    memory_bytes: int
    limit_bytes: int | None


class Meter:
    """Samples use; CPU is the mean since the sample before."""

    def __init__(self, own_group: bool) -> None:
        self._own_group = own_group
        self._last = (time.monotonic(), self._use().cpu_s)

    def sample(self) -> dict[str, object]:
        """CPU in percent of one core, memory, its limit, and the number of processes but for the guest's own."""
        use = self._use()
        now = time.monotonic()
        then, cpu_s = self._last
        self._last = (now, use.cpu_s)
        return {
            "cpu_percent": round(max(0.0, use.cpu_s - cpu_s) / max(now - then, 1e-3) * 100, 1),
            "memory_used_bytes": use.memory_bytes,
            "memory_limit_bytes": use.limit_bytes,
            "processes": sum(process.alive for process in descendants(os.getpid(), table())),
        }

    def _use(self) -> _Use:
        use = (_second_version() or _first_version()) if self._own_group else None
        return use or self._processes()

    def _processes(self) -> _Use:
        mine = descendants(os.getpid(), table())
        # Time of processes that have ended is added to their parent's; the guest's own account holds it.
        ended = os.times()
        return _Use(
            cpu_s=sum(process.cpu_s for process in mine) + ended.children_user + ended.children_system,
            memory_bytes=sum(process.memory_bytes for process in mine),
            limit_bytes=None,
        )


def _second_version() -> _Use | None:
    used = _number("memory.current")
    cpu_us = _field("cpu.stat", "usage_usec")
    if used is None or cpu_us is None:
        return None
    cache = _field("memory.stat", "inactive_file") or 0
    return _Use(cpu_us / 1e6, max(0, used - cache), _limit(_number("memory.max")))


def _first_version() -> _Use | None:
    used = _number("memory/memory.usage_in_bytes")
    cpu_ns = _number("cpuacct/cpuacct.usage")
    if used is None or cpu_ns is None:
        return None
    cache = _field("memory/memory.stat", "total_inactive_file") or 0
    return _Use(cpu_ns / 1e9, max(0, used - cache), _limit(_number("memory/memory.limit_in_bytes")))


def _limit(value: int | None) -> int | None:
    return value if value is not None and value < _NO_LIMIT_BYTES else None


def _number(name: str) -> int | None:
    text = _text(name).strip()
    return int(text) if text.isdigit() else None


def _field(name: str, field: str) -> int | None:
    for line in _text(name).splitlines():
        key, _, value = line.partition(" ")
        if key == field and value.isdigit():
            return int(value)
    return None


def _text(name: str) -> str:
    try:
        with open(os.path.join(_GROUP, name)) as file:
            return file.read()
    except OSError:
        return ""
