"""Which samples of a sandbox's use are worth an event."""

from agent.record.values import Host
from agent.telemetry.gpu import moved

KEEP_EVERY_S = 30.0
_CPU_POINTS = 5.0
_MEMORY_SHARE = 0.02
_DISK_SHARE = 0.01
_SLOW_BYTES_S = 1024.0**2
_SPEEDS = ("io_read_bytes_s", "io_write_bytes_s", "net_received_bytes_s", "net_sent_bytes_s")


class HostSamples:
    """Lets a sample through where it differs notably from the last one kept, or that one is old."""

    def __init__(self) -> None:
        self._kept: Host | None = None
        self._kept_at = 0.0

    def is_news(self, host: Host, now: float) -> bool:
        """Whether to keep this sample; remembers it if so."""
        if self._kept is not None and now - self._kept_at < KEEP_EVERY_S and not differs(self._kept, host):
            return False
        self._kept, self._kept_at = host, now
        return True


def differs(before: Host, now: Host) -> bool:
    """Whether a person would see the difference."""
    if (before.processes, before.memory_limit_bytes, before.oom_kills) != (
        now.processes, now.memory_limit_bytes, now.oom_kills,
    ):  # fmt: skip
        return True
    whole = max(before.memory_used_bytes or 0, now.memory_used_bytes or 0)
    disk = now.disk_total_bytes or before.disk_total_bytes or 0
    return (
        moved(before.cpu_percent, now.cpu_percent, _CPU_POINTS)
        or moved(before.memory_used_bytes, now.memory_used_bytes, whole * _MEMORY_SHARE)
        or moved(before.disk_free_bytes, now.disk_free_bytes, disk * _DISK_SHARE)
        or any(_speed_moved(getattr(before, name), getattr(now, name)) for name in _SPEEDS)
    )


def _speed_moved(before: float | None, now: float | None) -> bool:
    """Speeds jump about: only one that has doubled or halved is news, and a trickle never."""
    return moved(before, now, max(_SLOW_BYTES_S, max(before or 0.0, now or 0.0) / 2))
