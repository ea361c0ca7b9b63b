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
_EVALS_WITHIN = 20_000


Slot = tuple[int, int | None]
"""Which GPU of a machine, or which slice of it."""


class Series:
    """Values in order of time; when there are too many, every other one is dropped."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.times: list[float] = []
        self.last: float | None = None
        self.low: float | None = None
        self.thinned = False
        """Not every value is kept, so `low` may not be the lowest there was."""
        self._stride = 1
        self._skipped = 0

    def add(self, value: float, at: float = 0.0) -> None:
        """Take in the next value, measured at that time."""
        if value != value or value in (float("inf"), float("-inf")):
            return
        self.last = value
        self.low = value if self.low is None else min(self.low, value)
        self._skipped += 1
        if self._skipped < self._stride:
            return
        self._skipped = 0
        self.values.append(value)
        self.times.append(at)
        if len(self.values) > _MOST:
            self.values, self.times = self.values[::2], self.times[::2]
            self._stride *= 2


@dataclass
class Readings:
    """What the panels plot, as of one moment."""

    cpu: Series = field(default_factory=Series)
    memory: Series = field(default_factory=Series)
    gpu_memory: dict[Slot, Series] = field(default_factory=dict)
    gpu_busy: dict[Slot, Series] = field(default_factory=dict)
    rate: Series = field(default_factory=Series)
    rate_unit: str = ""
    loss: Series = field(default_factory=Series)
    evals: Series = field(default_factory=Series)
    """The loss on data that is not trained on."""
    values: dict[str, float] = field(default_factory=dict)
    """The last value of each name that the training command printed."""
    diverged: tuple[str, ...] = ()
    """The names whose last value was NaN or infinite."""
    training: str = ""
    """The call whose losses these are, or the file that they stand in."""
    written: bool = False
    """Whether it is a file."""
    prints: bool = False
    """Whether the newest call has printed a loss: what it writes into files as well is then no second training."""
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
            case ev.ToolCalled():
                self.prints = False
                return False
            case ev.ProgressSeen(call_id=call_id, progress=found):
                self._progress(call_id, found, event.at)
            case ev.MetricsSeen(path=path, values=values, diverged=diverged) if not self.prints:
                self._progress(path, Progress(values=values, diverged=diverged), event.at, written=True)
            case ev.CheckpointSeen(path=path, size_bytes=size):
                others = [each for each in self.checkpoints if each[0] != path]
                self.checkpoints = [*others, (path, size, event.at)][-8:]
            case _:
                return False
        return True

    def _gpu(self, gpu: Gpu) -> None:
        if gpu.memory_used_bytes is not None:
            self.gpu_memory.setdefault(gpu.slot, Series()).add(gpu.memory_used_bytes)
        if gpu.utilization_percent is not None:
            self.gpu_busy.setdefault(gpu.slot, Series()).add(gpu.utilization_percent)

    def _progress(self, source: str, progress: Progress, at: float, *, written: bool = False) -> None:
        if _tells_loss(progress) and source != self.training:
            self.training, self.loss, self.evals, self.values = source, Series(), Series(), {}
            # Files say nothing of speed: what is printed beside them does.
            self.rate = self.rate if written else Series()
            self.written = written
            self.diverged = ()
        self.prints = self.prints or (_tells_loss(progress) and not written)
        if source == self.training or not self.training:
            self.values.update(progress.values)
            self.diverged = still_diverged(self.diverged, progress)
            self._losses(progress.values, at)
        if progress.rate is not None and (source == self.training or self.written or not self.training):
            self.rate.add(progress.rate, at)
            self.rate_unit = progress.rate_unit or self.rate_unit

    def _losses(self, values: dict[str, float], at: float) -> None:
        if "loss" in values:
            self.loss.add(values["loss"], at)
        # A bar repeats what was measured last until it is measured anew.
        if "eval_loss" in values and values["eval_loss"] != self.evals.last:
            self.evals.add(values["eval_loss"], at)


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
    last = _newest_of(reader, "progress_seen", upto)
    called = queries.newest(reader, "tool_called", upto=upto)
    readings.prints = last is not None and _has_loss(last) and (not called or last.seq > called[-1].seq)
    if not readings.prints:
        written = _newest_of(reader, "metrics_seen", upto)
        if written is not None and _has_loss(written) and (last is None or written.seq > last.seq):
            last = written
    if last is None:
        return
    kind, source = ev.kind_of(last.body), _source(last)
    first = _beginning(reader, last.seq, source) if kind == "progress_seen" else 1
    found = queries.sampled(reader, kind, first=first, last=last.seq, count=_READ)
    evals = queries.mentioning(reader, kind, '"eval_loss":', first=max(first, last.seq - _EVALS_WITHIN), last=last.seq)
    both = {event.seq: event for event in (*found, *evals)}
    prints = readings.prints
    for seq in sorted(both):
        if _source(both[seq]) == source:
            readings.take(both[seq])
        readings.prints = prints
    all_of_them = queries.newest(reader, kind, after=first - 1, upto=last.seq, count=_READ + 1)
    readings.loss.thinned = len(all_of_them) > _READ


def _newest_of(reader: EventReader, kind: str, upto: int) -> ev.Event | None:
    """The newest event of that kind that tells a loss, as far as that is near; else the newest."""
    recent = queries.newest(reader, kind, upto=upto, count=_LOOK_BACK)
    return next((event for event in reversed(recent) if _has_loss(event)), recent[-1] if recent else None)


def _source(event: ev.Event) -> str:
    match event.body:
        case ev.ProgressSeen(call_id=source) | ev.MetricsSeen(path=source):
            return source
        case _:
            return ""


def _beginning(reader: EventReader, seq: int, call_id: str) -> int:
    """Where that call began, as far as that is near; else the start of the log."""
    for event in reversed(queries.newest(reader, "tool_called", upto=seq, count=20)):
        if isinstance(event.body, ev.ToolCalled) and event.body.call_id == call_id:
            return event.seq
    return 1


def _has_loss(event: ev.Event) -> bool:
    match event.body:
        case ev.ProgressSeen(progress=progress):
            return _tells_loss(progress)
        case ev.MetricsSeen():
            return _tells_loss(event.body)
        case _:
            return False


def _tells_loss(told: Progress | ev.MetricsSeen) -> bool:
    return "loss" in told.values or "loss" in told.diverged
