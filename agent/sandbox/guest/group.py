"""What the kernel says of the container's own control group, in its second version or its first."""

from __future__ import annotations

import os
from dataclasses import dataclass

GROUP = "/sys/fs/cgroup"
_NO_LIMIT_BYTES = 1 << 60


@dataclass(frozen=True)
class Use:
    """What a sandbox has used up to now; None is not known."""

    cpu_s: float
    memory_bytes: int
    limit_bytes: int | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None


def use(group: str = GROUP) -> Use | None:
    """The group's use; None where there is no group that can be read."""
    return _second_version(group) or _first_version(group)


def oom_kills(group: str = GROUP) -> int | None:
    """How many processes of the group the kernel has ended because memory ran out."""
    second = _field(group, "memory.events", "oom_kill")
    return second if second is not None else _field(group, "memory/memory.oom_control", "oom_kill")


def _second_version(group: str) -> Use | None:
    used = _number(group, "memory.current")
    cpu_us = _field(group, "cpu.stat", "usage_usec")
    if used is None or cpu_us is None:
        return None
    cache = _field(group, "memory.stat", "inactive_file") or 0
    words = _text(group, "io.stat").split()
    return Use(
        cpu_us / 1e6,
        max(0, used - cache),
        _limit(_number(group, "memory.max")),
        _sum(words, "rbytes="),
        _sum(words, "wbytes="),
    )


def _first_version(group: str) -> Use | None:
    used = _number(group, "memory/memory.usage_in_bytes")
    cpu_ns = _number(group, "cpuacct/cpuacct.usage")
    if used is None or cpu_ns is None:
        return None
    cache = _field(group, "memory/memory.stat", "total_inactive_file") or 0
    limit = _limit(_number(group, "memory/memory.limit_in_bytes"))
    moved = [line.split() for line in _text(group, "blkio/blkio.throttle.io_service_bytes").splitlines()]
    read, written = (
        sum(int(parts[2]) for parts in moved if len(parts) == 3 and parts[1] == word and parts[2].isdigit())
        for word in ("Read", "Write")
    )
    return Use(cpu_ns / 1e9, max(0, used - cache), limit, read, written)


def _sum(words: list[str], start: str) -> int:
    found = (word[len(start) :] for word in words if word.startswith(start))
    return sum(int(number) for number in found if number.isdigit())


def _limit(value: int | None) -> int | None:
    return value if value is not None and value < _NO_LIMIT_BYTES else None


def _number(group: str, name: str) -> int | None:
    text = _text(group, name).strip()
    return int(text) if text.isdigit() else None


def _field(group: str, name: str, field: str) -> int | None:
    for line in _text(group, name).splitlines():
        key, _, value = line.partition(" ")
        if key == field and value.isdigit():
            return int(value)
    return None


def _text(group: str, name: str) -> str:
    try:
        with open(os.path.join(group, name)) as file:
            return file.read()
    except OSError:
        return ""
