"""Alarms about the sandbox's machine: disk or memory nearly full, processes ended for want of memory."""

from dataclasses import dataclass

from agent.record import events as ev
from agent.record.alarm_settings import Alarm
from agent.record.values import Host
from agent.runner.alarms.base import Conditions, Heard, Moment, Trouble, said_bytes

_CLEAR_SHARE = 0.9
"""Raised at a threshold, cleared somewhat below it: a figure that jitters there must not raise it again and again."""


@dataclass
class DiskNearlyFull:
    """The disk with the work folder has little room left."""

    conditions: Conditions
    alarm: Alarm = "disk"
    _host: Host | None = None
    _raised: bool = False

    def hear(self, heard: Heard, at: float) -> None:
        """Samples."""
        if isinstance(heard, ev.HostSampled):
            self._host = heard.host

    def trouble(self, moment: Moment) -> Trouble | None:
        """The newest sample beside the threshold."""
        host = self._host
        if host is None or host.disk_free_bytes is None or not host.disk_total_bytes:
            return None
        free, total = host.disk_free_bytes, host.disk_total_bytes
        percent = free / total * 100
        self._raised = percent < self.conditions.settings.disk_free_percent / (_CLEAR_SHARE if self._raised else 1.0)
        if not self._raised:
            return None
        return Trouble(
            f"the disk is nearly full: {said_bytes(free)} of {said_bytes(total)} are free",
            "old checkpoints and caches can go; a full disk fails whatever writes next",
        )


@dataclass
class MemoryNearlyFull:
    """The sandbox is close to its memory limit, where the kernel begins to end its processes."""

    conditions: Conditions
    alarm: Alarm = "memory"
    _host: Host | None = None
    _raised: bool = False

    def hear(self, heard: Heard, at: float) -> None:
        """Samples; whatever was too large ends with its command."""
        if isinstance(heard, ev.HostSampled):
            self._host = heard.host

    def trouble(self, moment: Moment) -> Trouble | None:
        """The newest sample beside the threshold."""
        host = self._host
        if host is None or host.memory_used_bytes is None or not host.memory_limit_bytes:
            return None
        used, limit = host.memory_used_bytes, host.memory_limit_bytes
        percent = used / limit * 100
        self._raised = percent >= self.conditions.settings.memory_percent * (_CLEAR_SHARE if self._raised else 1.0)
        if not self._raised:
            return None
        return Trouble(
            f"memory is nearly full: {said_bytes(used)} of {said_bytes(limit)}",
            "at the limit the kernel ends a process: smaller batches, fewer data workers?",
        )


@dataclass
class OutOfMemory:
    """The kernel has ended processes of the sandbox because its memory ran out; cleared by a command that goes well."""

    conditions: Conditions
    alarm: Alarm = "out_of_memory"
    _counted: int = 0
    """As samples count them."""
    _told: int = 0
    """As commands tell them; both see the same, one before the other."""
    _settled: int = 0

    def hear(self, heard: Heard, at: float) -> None:
        """Samples, and how commands end."""
        match heard:
            case ev.HostSampled(host=host) if host.oom_kills is not None:
                self._counted = max(self._counted, host.oom_kills)
            case ev.ToolFinished(oom_kills=kills) if kills:
                self._told += kills
            case ev.ToolFinished(exit_code=0):
                self._settled = max(self._counted, self._told)

    def trouble(self, moment: Moment) -> Trouble | None:
        """Since the last command that went well."""
        count = max(self._counted, self._told) - self._settled
        if count <= 0:
            return None
        what = "a process" if count == 1 else f"{count} processes"
        return Trouble(
            f"out of memory: the kernel ended {what} of the sandbox",
            "smaller batches or models, or a task with a higher memory limit",
        )
