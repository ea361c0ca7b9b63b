"""Curves as they are plotted: over steps or time, smoothed, cut to a window, thinned to what can be drawn."""

import bisect
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from mlrb_tui.views.curves import Curve

Axis = Literal["step", "time"]
WEIGHTS = (0.0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.99)
"""How much of the average so far each further point keeps; 0 is no smoothing."""


class Point(NamedTuple):
    """What a track holds at one place."""

    x: float
    at: float
    step: float | None
    """The training's own step, where it told one."""
    raw: float
    smooth: float


class Track:
    """One curve over one axis, in the order in which it was told."""

    def __init__(self, curve: Curve, axis: Axis, began: float, weight: float) -> None:
        self.source = curve.source
        self.xs = list(curve.steps) if axis == "step" else [at - began for at in curve.times]
        self._curve = curve
        self.raw = curve.values
        self.smooth = ema(curve.values, weight) if weight else curve.values
        self._order = sorted(range(len(self.xs)), key=self.xs.__getitem__)
        self._sorted = [self.xs[index] for index in self._order]

    @property
    def sorted_xs(self) -> list[float]:
        """Where its points are, from left to right."""
        return self._sorted

    def point(self, x: float) -> Point | None:
        """The last point at or before that place."""
        index = bisect.bisect_right(self._sorted, x) - 1
        return self._at(self._order[index]) if index >= 0 else None

    def inside(self, low: float, high: float) -> list[float]:
        """The values that lie in a window; the lines of a smoothed track stay within them."""
        start, stop = bisect.bisect_left(self._sorted, low), bisect.bisect_right(self._sorted, high)
        return [self.raw[index] for index in self._order[start:stop]]

    def _at(self, index: int) -> Point:
        step = self._curve.steps[index] if self._curve.has_steps else None
        return Point(self.xs[index], self._curve.times[index], step, self.raw[index], self.smooth[index])


def ema(values: Sequence[float], weight: float) -> list[float]:
    """The exponential moving average, corrected for its start at zero, as TensorBoard draws it; NaN stays NaN.

    `weight` from 0 (the values as they are) to below 1.
    """
    average, share, found = 0.0, 1.0, []
    for value in values:
        if math.isnan(value):
            found.append(math.nan)
            continue
        average = average * weight + (1 - weight) * value
        share *= weight
        found.append(average / (1 - share))
    return found


Line = list[tuple[float, float]]
"""Points that are joined, as shares of both axes."""


def lines(xs: Sequence[float], ys: Sequence[float]) -> Iterator[Line]:
    """The stretches of shares of both axes that are joined; cut at what has no place (NaN) and where steps start anew.

    What leaves the window sideways is cut at its edge.
    """
    line: Line = []
    before: tuple[float, float] | None = None
    for x, y in zip(xs, ys, strict=True):
        if math.isnan(y):
            before = None
        elif before is not None and x >= before[0]:
            line += _clipped(before, (x, y), joins=bool(line))
            before = (x, y)
            if x <= 1:
                continue
        else:
            yield from (line,) if line else ()
            before = (x, y)
            line = [before] if 0 <= x <= 1 else []
            continue
        yield from (line,) if line else ()
        line = []
    yield from (line,) if line else ()


def _clipped(before: tuple[float, float], after: tuple[float, float], *, joins: bool) -> Line:
    """What of the way from one point to the next lies within the window, without the first where it is there."""
    x0, x1 = before[0], after[0]
    if x1 < 0 or x0 >= 1:
        return []
    ends = [_edge(before, after, 0.0) if x0 < 0 else before, _edge(before, after, 1.0) if x1 > 1 else after]
    return ends[1:] if joins else ends


def _edge(before: tuple[float, float], after: tuple[float, float], x: float) -> tuple[float, float]:
    (x0, y0), (x1, y1) = before, after
    return x, y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def thinned(line: Line, columns: int) -> Line:
    """At most four points a column of dots, those that matter: its first, lowest, highest and last."""
    if len(line) <= columns * 4:
        return line
    found: Line = []
    start = 0
    for index in range(1, len(line) + 1):
        if index == len(line) or int(line[index][0] * columns) != int(line[start][0] * columns):
            share = line[start:index]
            kept = {0, len(share) - 1}
            kept.add(min(range(len(share)), key=lambda at: share[at][1]))
            kept.add(max(range(len(share)), key=lambda at: share[at][1]))
            found += [share[at] for at in sorted(kept)]
            start = index
    return found


@dataclass(frozen=True)
class Window:
    """The stretch of the x axis that is shown."""

    low: float
    high: float

    @property
    def span(self) -> float:
        """Its width."""
        return self.high - self.low

    def zoomed(self, factor: float, around: float) -> "Window":
        """Narrower by that factor, with this place where it is on the screen."""
        span = self.span / factor
        share = (around - self.low) / self.span if self.span else 0.5
        return Window(around - share * span, around - share * span + span)

    def moved(self, by: float) -> "Window":
        """Moved to the right by a part of its width."""
        return Window(self.low + by * self.span, self.high + by * self.span)

    def within(self, whole: "Window") -> "Window":
        """No wider than the whole, and not beside it."""
        span = min(self.span, whole.span)
        low = max(whole.low, min(self.low, whole.high - span))
        return Window(low, low + span)
