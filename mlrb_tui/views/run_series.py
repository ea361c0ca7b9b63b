"""Every series of a run that can be plotted: read from its log in bounded time, then fed by new events."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from agent.record import events as ev
from agent.record import queries
from agent.record.log import EventReader
from agent.record.summary import preview
from agent.record.text import one_line
from agent.record.values import Gpu, Host
from mlrb_tui.views.curves import Curve, Curves, step_of
from mlrb_tui.views.metrics import Metric, in_order, of_training

KINDS = ("progress_seen", "metrics_seen", "gpu_sampled", "host_sampled", "model_answered")
_POINTS = {"progress_seen": 1_500, "metrics_seen": 1_000, "gpu_sampled": 400, "host_sampled": 400}
_ANSWERS = 400
_NAMED_SOURCES = 20
_CLOSER = 0.5
"""A stretch is read anew where it is at most that part of the log."""


@dataclass
class RunSeries:
    """The series of a run, or of a stretch of it."""

    first: int = 1
    last: int = 0
    """The last event taken in."""
    first_at: float = 0.0
    """When the run's first event happened: where its time axis starts."""
    thinned: bool = False
    """Some points were left out, so a closer look shows more."""
    training: Curves = field(default_factory=Curves)
    speeds: Curves = field(default_factory=Curves)
    samples: Curves = field(default_factory=Curves)
    labels: dict[str, str] = field(default_factory=dict)
    """What the sources of the training's figures are: their commands, or their files."""
    spent: tuple[float, int] | None = None
    """Dollars and tokens so far; None where they are not counted."""
    version: int = 0
    """Goes up with every change."""

    def take(self, event: ev.Event) -> None:
        """Take in the next event."""
        self.last = max(self.last, event.seq)
        match event.body:
            case ev.ProgressSeen() as body:
                self.training.take(event)
                self._speed(body, event.at)
            case ev.MetricsSeen():
                self.training.take(event)
            case ev.GpuSampled(gpus=gpus):
                for gpu in gpus:
                    self.samples.add("", None, event.at, _of_gpu(gpu))
            case ev.HostSampled(host=host):
                self.samples.add("", None, event.at, _of_host(host))
            case ev.ModelAnswered(usage=usage, cost_usd=cost) if self.spent is not None:
                self.spend(event.at, self.spent[0] + (cost or 0.0), self.spent[1] + usage.total_tokens)
            case ev.ToolCalled(call_id=call_id, summary=summary, tool=tool):
                self.labels[call_id] = one_line(preview(summary), 60) or one_line(tool, 20)
                return
            case _:
                return
        self.version += 1

    def take_all(self, events: Iterable[ev.Event], upto: int) -> None:
        """Take in the next events; there are no others up to that one."""
        for event in events:
            self.take(event)
        self.last = max(self.last, upto)

    def spend(self, at: float, cost_usd: float, tokens: int) -> None:
        """What was spent by then."""
        self.spent = (cost_usd, tokens)
        self.samples.add("", None, at, {"cost": cost_usd, "tokens": float(tokens)})

    def metrics(self) -> list[Metric]:
        """All there are, in the order of a list."""
        found = {of_training(curve.name): None for curve in self.training}
        found |= {Metric(curve.name, "speed"): None for curve in self.speeds}
        found |= {_sampled(curve.name): None for curve in self.samples}
        return in_order(found)

    def curves(self, metric: Metric) -> list[Curve]:
        """The curves of that figure, one for each training that told it."""
        kept = {"speed": self.speeds, "training": self.training, "evaluation": self.training}
        return kept.get(metric.group, self.samples).named(metric.name)

    def trainings(self) -> list[str]:
        """What told of a training, in the order in which they began; those that told of a loss, where any did."""
        sources = dict.fromkeys(curve.source for curve in self.training)
        with_loss = dict.fromkeys(curve.source for curve in self.training.named("loss"))
        return list(with_loss or sources)

    def began_at(self, source: str) -> float:
        """When that training told something first."""
        return min((curve.times[0] for curve in self.training if curve.source == source), default=0.0)

    def label(self, source: str) -> str:
        """The training's command, or its file."""
        return self.labels.get(source) or one_line(source, 60)

    def _speed(self, body: ev.ProgressSeen, at: float) -> None:
        progress = body.progress
        if progress.rate is not None:
            unit = one_line(progress.rate_unit, 20) or "speed"
            self.speeds.add(body.call_id, step_of(progress), at, {unit: progress.rate})


def read(reader: EventReader, first: int = 1, last: int | None = None) -> RunSeries:
    """The series of that stretch of a log; costs about the same in a log of any length."""
    newest = reader.last_seq() if last is None else last
    found = RunSeries(first=first, last=newest, first_at=queries.time_of(reader, 1) or 0.0)
    for kind, count in _POINTS.items():
        events = queries.sampled(reader, kind, first=first, last=newest, count=count)
        found.thinned = found.thinned or _more_than(reader, kind, count, first, newest)
        for event in events:
            found.take(event)
    if last is None:
        # A sum needs its start.
        _read_spent(reader, newest, found)
    _name_sources(reader, newest, found)
    return found


def read_closer(reader: EventReader, first_at: float, last_at: float, known: RunSeries) -> RunSeries | None:
    """The series between two moments, more closely than they are known; None where that would show little more."""
    first, last = max(1, reader.seq_at(first_at)), min(known.last, reader.seq_at(last_at) + 1)
    if last - first > (known.last - known.first) * _CLOSER:
        return None
    return read(reader, first, last)


def take_new(reader: EventReader, series: Iterable[RunSeries], after: int, upto: int) -> None:
    """Feed what was written since, up to an event, to series that end there."""
    news = written_since(reader, after, upto)
    for each in series:
        each.take_all(news, upto)


def written_since(reader: EventReader, after: int, upto: int) -> list[ev.Event]:
    """The events that a plot is made from, in a stretch of the log."""
    return queries.between(reader, (*KINDS, "tool_called"), first=after + 1, last=upto)


def _more_than(reader: EventReader, kind: str, count: int, first: int, last: int) -> bool:
    """Whether there are more than `count` events of that kind in that stretch."""
    seqs = queries.newest_seqs(reader, (kind,), upto=last, count=count + 1)
    return len(seqs) > count and seqs[0] >= first


def _read_spent(reader: EventReader, last: int, found: RunSeries) -> None:
    """Cost and tokens: summed call by call, or as heartbeats tell them where the calls are many."""
    answers = queries.oldest(reader, "model_answered", after=0, upto=last, count=_ANSWERS + 1)
    found.spent = (0.0, 0)
    if len(answers) <= _ANSWERS:
        for event in answers:
            found.take(event)
        return
    for event in queries.sampled(reader, "heartbeat", first=1, last=last, count=_ANSWERS):
        if isinstance(event.body, ev.Heartbeat):
            summary = event.body.summary
            found.spend(event.at, summary.cost_usd, summary.usage.total_tokens)
    summary = reader.summary(last)
    found.spend(summary.at, summary.cost_usd, summary.usage.total_tokens)


def _name_sources(reader: EventReader, last: int, found: RunSeries) -> None:
    """Find the commands of the newest trainings."""
    wanted = {curve.source: curve.times[0] for curve in found.training}
    for source, began_at in list(wanted.items())[-_NAMED_SOURCES:]:
        for event in queries.newest(reader, "tool_called", upto=min(last, reader.seq_at(began_at)), count=10):
            if isinstance(event.body, ev.ToolCalled) and event.body.call_id == source:
                found.take(event)


def _of_gpu(gpu: Gpu) -> dict[str, float]:
    place = f"gpu {gpu.index}" + (f".{gpu.mig}" if gpu.mig is not None else "")
    told = {
        "memory": gpu.memory_used_bytes, "use": gpu.utilization_percent, "power": gpu.power_w,
        "temperature": gpu.temperature_c,
    }  # fmt: skip
    return {f"{place} {name}": float(value) for name, value in told.items() if value is not None}


def _of_host(host: Host) -> dict[str, float]:
    told = {"cpu": host.cpu_percent, "memory": host.memory_used_bytes, "disk free": host.disk_free_bytes}
    return {f"host {name}": float(value) for name, value in told.items() if value is not None}


def _sampled(name: str) -> Metric:
    if name.startswith("gpu "):
        return Metric(name, "gpu")
    return Metric(name, "host" if name.startswith("host ") else "spent")
