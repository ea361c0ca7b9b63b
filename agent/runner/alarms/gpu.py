"""Alarms about GPUs: idle while a command runs, busy without a word, lost or faulty."""

from dataclasses import dataclass, field

from agent.record import events as ev
from agent.record.alarm_settings import Alarm
from agent.record.values import Gpu
from agent.runner.alarms.base import Conditions, Heard, Moment, RunningCommand, Trouble, said_s


@dataclass
class GpuIdle:
    """A command runs, and none of the run's GPUs has done anything for long."""

    conditions: Conditions
    alarm: Alarm = "gpu_idle"
    _command: RunningCommand = field(default_factory=RunningCommand)
    _idle_since: float | None = None
    _count: int = 0

    def hear(self, heard: Heard, at: float) -> None:
        """Samples and commands."""
        self._command.hear(heard, at)
        if isinstance(heard, ev.GpuSampled):
            busy = [_works(gpu, self.conditions.settings.gpu_idle_percent) for gpu in heard.gpus]
            self._count = len(busy)
            if any(busy) or None in busy or not busy:
                self._idle_since = None
            elif self._idle_since is None:
                self._idle_since = at

    def trouble(self, moment: Moment) -> Trouble | None:
        """Idle since a while that the running command has lasted as well."""
        if not self._command.running or self._idle_since is None or moment.summary.state == "paused":
            return None
        idle_s = moment.now - max(self._idle_since, self._command.since)
        if idle_s < self.conditions.settings.gpu_idle_s:
            return None
        which = "the GPU has" if self._count == 1 else f"all {self._count} GPUs have"
        return Trouble(
            f"{which} been idle for {said_s(idle_s)} while a command runs",
            "is the command on the CPU, or does it wait for data? interrupt it, or tell the agent",
        )


@dataclass
class GpuSilent:
    """A GPU works hard and the command that keeps it busy has not printed anything for long."""

    conditions: Conditions
    alarm: Alarm = "gpu_silent"
    _command: RunningCommand = field(default_factory=RunningCommand)
    _busy_since: float | None = None

    def hear(self, heard: Heard, at: float) -> None:
        """Samples, commands and their output."""
        self._command.hear(heard, at)
        if isinstance(heard, ev.GpuSampled):
            if not any(_works(gpu, self.conditions.settings.gpu_idle_percent) for gpu in heard.gpus):
                self._busy_since = None
            elif self._busy_since is None:
                self._busy_since = at

    def trouble(self, moment: Moment) -> Trouble | None:
        """Busy and silent at once for that long."""
        if not self._command.running or self._busy_since is None or moment.summary.state == "paused":
            return None
        silent_s = moment.now - max(self._busy_since, self._command.output_at)
        if silent_s < self.conditions.settings.gpu_silent_s:
            return None
        return Trouble(
            f"the GPU is busy and the command has printed nothing for {said_s(silent_s)}",
            "it may be fine, or in a loop: nobody can tell its progress; ask the agent to print some",
        )


@dataclass
class GpuTrouble:
    """A GPU fell off the bus, or has reported an error or memory that is broken."""

    conditions: Conditions
    alarm: Alarm = "gpu_trouble"
    _first: dict[tuple[int, int | None], Gpu] = field(default_factory=dict)
    _now: tuple[Gpu, ...] = ()

    def hear(self, heard: Heard, at: float) -> None:
        """Samples."""
        if isinstance(heard, ev.GpuSampled):
            self._now = heard.gpus
            for gpu in heard.gpus:
                self._first.setdefault(gpu.slot, gpu)

    def trouble(self, moment: Moment) -> Trouble | None:
        """What the newest sample says that the first did not."""
        said = [found for gpu in self._now if (found := self._wrong(gpu))]
        return Trouble("; ".join(said), "see `dmesg` on that machine; it may need a reset") if said else None

    def _wrong(self, gpu: Gpu) -> str:
        before = self._first[gpu.slot].ecc_errors
        if gpu.lost:
            return f"gpu {gpu.index} is lost: it answers no more"
        if gpu.xid is not None:
            return f"gpu {gpu.index} reported Xid {gpu.xid}"
        if before is not None and gpu.ecc_errors is not None and gpu.ecc_errors > before:
            return f"gpu {gpu.index} has {gpu.ecc_errors - before} memory errors that could not be corrected"
        return ""


def _works(gpu: Gpu, percent: float) -> bool | None:
    """Whether it does something for this run; None where it does not tell."""
    if gpu.utilization_percent is None:
        return None
    return gpu.utilization_percent >= percent and gpu.own_processes != 0
