"""Every figure of a training as a series over its steps: out of printed lines and out of metrics files."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from agent.record import events as ev
from agent.record.values import Progress

MOST_POINTS = 2_000
MOST_CURVES = 2_000
_MOST_STEPS = 1 << 53
"""Beyond it a float no longer tells one step from the next."""


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
    """NaN where what was printed is no number, or infinite."""
    has_steps: bool = False
    """Whether the steps are the training's own."""
    _stride: int = 1
    _skipped: int = 0

    @property
    def of_evaluation(self) -> bool:
        """Whether it was measured on data that is not trained on."""
        return self.name.startswith("eval_")

    def add(self, step: float | None, at: float, value: float) -> None:
        """Take in the next point."""
        if not math.isfinite(value):
            value = math.nan
        if step is None:
            step = self.steps[-1] + 1 if self.steps else 1.0
        else:
            self.has_steps = True
        if self.steps and step == self.steps[-1]:
            self.times[-1], self.values[-1] = at, value
            return
        if self.steps and step < self.steps[-1] and value == self.values[-1]:
            # A bar that starts anew still shows the last figure of the one before.
            return
        self._skipped += 1
        # Where numbers stop, or come back, is what one looks for: that point is never dropped here.
        turns = bool(self.values) and math.isnan(value) != math.isnan(self.values[-1])
        if self._skipped < self._stride and self.values and not turns:
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

    def named(self, name: str) -> list[Curve]:
        """The curves of that name, one for each source, the oldest first."""
        return [curve for (_, whose), curve in self._curves.items() if whose == name]

    def take(self, event: ev.Event) -> bool:
        """Take in an event; says whether anything changed."""
        match event.body:
            case ev.ProgressSeen(call_id=call_id, progress=progress):
                values = {**dict.fromkeys(progress.diverged, math.nan), **progress.values}
                return self.add(call_id, step_of(progress), event.at, values)
            case ev.MetricsSeen(path=path, values=values, diverged=diverged, training_step=step):
                values = {**dict.fromkeys(diverged, math.nan), **values}
                return self.add(path, _whole(step), event.at, values)
            case _:
                return False

    def add(self, source: str, step: float | None, at: float, values: Mapping[str, float]) -> bool:
        """Take in what one source told at one moment; says whether anything changed."""
        changed = False
        for name, value in values.items():
            key = (source, name)
            # A bar repeats what was last measured until it is measured anew.
            if name.startswith("eval_") and self._last.get(key) == value:
                continue
            curve = self._curves.get(key)
            if curve is None:
                if len(self._curves) >= MOST_CURVES:
                    # The oldest makes room: what trains now is what one looks at.
                    oldest = next(iter(self._curves))
                    del self._curves[oldest]
                    self._last.pop(oldest, None)
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
        return _whole(progress.step)
    return _whole((progress.epoch - 1) * progress.total + progress.step)


def _whole(step: int | None) -> float | None:
    """The step as a float; None where it is none, or so large that it can only be something else."""
    return None if step is None or abs(step) > _MOST_STEPS else float(step)
