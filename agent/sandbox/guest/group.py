"""What the kernel says of the container's own control group, in its second version or its first."""

from __future__ import annotations

import os
from dataclasses import dataclass

_GROUP = "/sys/fs/cgroup"
_NO_LIMIT_BYTES = 1 << 60


@dataclass(frozen=True)
class Use:
    """What a sandbox has used up to now; None is not known."""

    cpu_s: float
    memory_bytes: int
    limit_bytes: int | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None


def use() -> Use | None:
    """The group's use; None where there is no group that can be read."""
    return _second_version() or _first_version()


def oom_kills() -> int | None:
    """How many processes of the group the kernel has ended because memory ran out."""
    second = _field("memory.events", "oom_kill")
    return second if second is not None else _field("memory/memory.oom_control", "oom_kill")


def _second_version() -> Use | None:
    used = _number("memory.current")
    cpu_us = _field("cpu.stat", "usage_usec")
    if used is None or cpu_us is None:
        return None
    cache = _field("memory.stat", "inactive_file") or 0
    words = _text("io.stat").split()
    return Use(
        cpu_us / 1e6,
        max(0, used - cache),
        _limit(_number("memory.max")),
        _sum(words, "rbytes="),
        _sum(words, "wbytes="),
    )


def _first_version() -> Use | None:
    used = _number("memory/memory.usage_in_bytes")
    cpu_ns = _number("cpuacct/cpuacct.usage")
    if used is None or cpu_ns is None:
        return None
    cache = _field("memory/memory.stat", "total_inactive_file") or 0
    limit = _limit(_number("memory/memory.limit_in_bytes"))
    moved = [line.split() for line in _text("blkio/blkio.throttle.io_service_bytes").splitlines()]
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
