"""Which samples of a sandbox's use are worth an event."""

from agent.record.values import Host

KEEP_EVERY_S = 30.0
_CPU_POINTS = 5.0
_MEMORY_SHARE = 0.02


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
    if before.processes != now.processes or before.memory_limit_bytes != now.memory_limit_bytes:
        return True
    if _moved(before.cpu_percent, now.cpu_percent, _CPU_POINTS):
        return True
    whole = max(before.memory_used_bytes or 0, now.memory_used_bytes or 0)
    return _moved(before.memory_used_bytes, now.memory_used_bytes, whole * _MEMORY_SHARE)


def _moved(before: float | None, now: float | None, by: float) -> bool:
    if before is None or now is None:
        return (before is None) != (now is None)
    return abs(now - before) > by
