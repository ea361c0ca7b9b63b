"""The series that the panels draw: bounded, down-sampled from the log, then fed by new events."""

from dataclasses import dataclass, field

from agent.record import events as ev
from agent.record import queries
from agent.record.log import EventReader
from agent.record.summary import still_diverged
from agent.record.values import Gpu, Progress

_MOST = 480
_READ = 90
_LOOK_BACK = 60


class Series:
    """Values in order of time; when there are too many, every other one is dropped."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.last: float | None = None
        self.low: float | None = None
        self.thinned = False
        """Not every value is kept, so `low` may not be the lowest there was."""
        self._stride = 1
        self._skipped = 0

    def add(self, value: float) -> None:
        """Take in the next value."""
        if value != value or value in (float("inf"), float("-inf")):
            return
        self.last = value
        self.low = value if self.low is None else min(self.low, value)
        self._skipped += 1
        if self._skipped < self._stride:
            return
        self._skipped = 0
        self.values.append(value)
        if len(self.values) > _MOST:
            self.values = self.values[::2]
            self._stride *= 2


@dataclass
class Readings:
    """What the panels plot, as of one moment."""

    cpu: Series = field(default_factory=Series)
    memory: Series = field(default_factory=Series)
    gpu_memory: dict[int, Series] = field(default_factory=dict)
    gpu_busy: dict[int, Series] = field(default_factory=dict)
    rate: Series = field(default_factory=Series)
    rate_unit: str = ""
    loss: Series = field(default_factory=Series)
    values: dict[str, float] = field(default_factory=dict)
    """The last value of each name that the training command printed."""
    diverged: tuple[str, ...] = ()
    """The names whose last value was NaN or infinite."""
    training: str = ""
    """The call whose losses these are."""
    checkpoints: list[tuple[str, int, float]] = field(default_factory=list)
    """Path, size and time of the last few."""

    def take(self, event: ev.Event) -> bool:
        """Take in an event; says whether anything changed."""
        match event.body:
            case ev.HostSampled(host=host):
                if host.cpu_percent is not None:
                    self.cpu.add(host.cpu_percent)
                if host.memory_used_bytes is not None:
                    self.memory.add(host.memory_used_bytes)
            case ev.GpuSampled(gpus=gpus):
                for gpu in gpus:
                    self._gpu(gpu)
            case ev.ProgressSeen():
                self._progress(event.body)
            case ev.CheckpointSeen(path=path, size_bytes=size):
                others = [each for each in self.checkpoints if each[0] != path]
                self.checkpoints = [*others, (path, size, event.at)][-8:]
            case _:
                return False
        return True

    def _gpu(self, gpu: Gpu) -> None:
        if gpu.memory_used_bytes is not None:
            self.gpu_memory.setdefault(gpu.index, Series()).add(gpu.memory_used_bytes)
        if gpu.utilization_percent is not None:
            self.gpu_busy.setdefault(gpu.index, Series()).add(gpu.utilization_percent)

    def _progress(self, body: ev.ProgressSeen) -> None:
        progress = body.progress
        if _tells_loss(progress) and body.call_id != self.training:
            self.training, self.loss, self.rate, self.values = body.call_id, Series(), Series(), {}
            self.diverged = ()
        if body.call_id == self.training or not self.training:
            self.values.update(progress.values)
            self.diverged = still_diverged(self.diverged, progress)
        if "loss" in progress.values:
            self.loss.add(progress.values["loss"])
        if progress.rate is not None and (body.call_id == self.training or not self.training):
            self.rate.add(progress.rate)
            self.rate_unit = progress.rate_unit or self.rate_unit


def read(reader: EventReader, upto: int) -> Readings:
    """The readings as of event `upto`."""
    readings = Readings()
    for kind in ("host_sampled", "gpu_sampled"):
        for event in queries.sampled(reader, kind, first=1, last=upto, count=_READ):
            readings.take(event)
    for event in queries.newest(reader, "checkpoint_seen", upto=upto, count=16):
        readings.take(event)
    _read_training(reader, upto, readings)
    return readings


def _read_training(reader: EventReader, upto: int, readings: Readings) -> None:
    recent = queries.newest(reader, "progress_seen", upto=upto, count=_LOOK_BACK)
    last = next((event for event in reversed(recent) if _has_loss(event)), recent[-1] if recent else None)
    if last is None or not isinstance(last.body, ev.ProgressSeen):
        return
    call_id = last.body.call_id
    first = _beginning(reader, last.seq, call_id)
    found = queries.sampled(reader, "progress_seen", first=first, last=last.seq, count=_READ)
    for event in found:
        if isinstance(event.body, ev.ProgressSeen) and event.body.call_id == call_id:
            readings.take(event)
    all_of_them = queries.newest(reader, "progress_seen", after=first - 1, upto=last.seq, count=_READ + 1)
    readings.loss.thinned = len(all_of_them) > _READ


def _beginning(reader: EventReader, seq: int, call_id: str) -> int:
    """Where that call began, as far as that is near; else the start of the log."""
    for event in reversed(queries.newest(reader, "tool_called", upto=seq, count=20)):
        if isinstance(event.body, ev.ToolCalled) and event.body.call_id == call_id:
            return event.seq
    return 1


def _has_loss(event: ev.Event) -> bool:
    return isinstance(event.body, ev.ProgressSeen) and _tells_loss(event.body.progress)


def _tells_loss(progress: Progress) -> bool:
    return "loss" in progress.values or "loss" in progress.diverged
