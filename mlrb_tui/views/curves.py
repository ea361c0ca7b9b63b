"""Every figure of a training as a series over its steps: out of printed lines and out of metrics files."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from agent.record import events as ev
from agent.record.values import Progress

MOST_POINTS = 2_000
MOST_CURVES = 200


@dataclass
class Curve:
    """One figure of one training; when there are too many points, every other one is dropped."""

    source: str
    """The call that printed it, or the file that it stands in."""
    name: str
    steps: list[float] = field(default_factory=list)
    """The training's own steps, or 1, 2, 3 … where it tells none."""
    times: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    _stride: int = 1
    _skipped: int = 0

    @property
    def of_evaluation(self) -> bool:
        """Whether it was measured on data that is not trained on."""
        return self.name.startswith("eval_")

    def add(self, step: float | None, at: float, value: float) -> None:
        """Take in the next point."""
        if step is None:
            step = self.steps[-1] + 1 if self.steps else 1.0
        if self.steps and step == self.steps[-1]:
            self.times[-1], self.values[-1] = at, value
            return
        if self.steps and step < self.steps[-1] and value == self.values[-1]:
            # A bar that starts anew still shows the last figure of the one before.
            return
        self._skipped += 1
        if self._skipped < self._stride and self.values:
            return
        self._skipped = 0
        self.steps.append(step)
        self.times.append(at)
        self.values.append(value)
        if len(self.values) > MOST_POINTS:
            for kept in (self.steps, self.times, self.values):
                kept[:] = kept[::2]
            self._stride *= 2


class Curves:
    """All curves of a run, fed event by event."""

    def __init__(self) -> None:
        self._curves: dict[tuple[str, str], Curve] = {}
        self._last: dict[tuple[str, str], float] = {}

    def __iter__(self) -> Iterator[Curve]:
        return iter(self._curves.values())

    def of(self, source: str) -> dict[str, Curve]:
        """One training's curves by name."""
        return {name: curve for (whose, name), curve in self._curves.items() if whose == source}

    def take(self, event: ev.Event) -> bool:
        """Take in an event; says whether anything changed."""
        match event.body:
            case ev.ProgressSeen(call_id=call_id, progress=progress):
                return self._add(call_id, step_of(progress), event.at, progress.values)
            case ev.MetricsSeen(path=path, values=values, training_step=step):
                return self._add(path, step, event.at, values)
            case _:
                return False

    def _add(self, source: str, step: float | None, at: float, values: dict[str, float]) -> bool:
        changed = False
        for name, value in values.items():
            key = (source, name)
            # A bar repeats what was last measured until it is measured anew.
            if name.startswith("eval_") and self._last.get(key) == value:
                continue
            curve = self._curves.get(key)
            if curve is None:
                if len(self._curves) >= MOST_CURVES:
                    continue
                curve = self._curves[key] = Curve(source, name)
            curve.add(step, at, value)
            self._last[key] = value
            changed = True
        return changed


def step_of(progress: Progress) -> float | None:
    """Where on its axis a training's figures belong: its step, counted through all its epochs."""
    if progress.step is None:
        return None
    if progress.epoch is None or not progress.total or progress.total == progress.epochs:
        return float(progress.step)
    return float((progress.epoch - 1) * progress.total + progress.step)
