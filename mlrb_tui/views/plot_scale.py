"""The axes of a plot: where a value stands on one, linear or logarithmic, and which values are written beside it."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

_STEPS = (1.0, 2.0, 5.0, 10.0)
_SECONDS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400, 604_800)
_LEAST_SPAN = 1e-12
_LARGEST = 1e300


@dataclass(frozen=True)
class Scale:
    """A stretch of values, as shares of an axis from 0 to 1."""

    low: float
    high: float
    log: bool = False

    def share(self, value: float) -> float:
        """Where that value stands; below 0 or above 1 outside the stretch, NaN where it has no place at all."""
        if not math.isfinite(value) or (self.log and value <= 0):
            return math.nan
        low, high = self._ends
        value = _bounded(value)
        return ((math.log10(value) if self.log else value) - low) / (high - low)

    def value(self, share: float) -> float:
        """The value at that share of the axis."""
        low, high = self._ends
        found = low + share * (high - low)
        return float(10**found) if self.log else found

    @property
    def _ends(self) -> tuple[float, float]:
        return (math.log10(self.low), math.log10(self.high)) if self.log else (self.low, self.high)


def fitted(values: Iterable[float], *, log: bool = False, from_zero: bool = False, top: float | None = None) -> Scale:
    """The stretch that holds all these values, with a little room; 0 to 1 where there are none.

    Logarithmic only where a value is above zero.
    """
    shown = [_bounded(value) for value in values if math.isfinite(value)]
    positive = [value for value in shown if value > 0]
    if log and positive:
        low, high = min(positive), max(positive)
        return Scale(low / 1.1, high * 1.1, log=True) if high > low * 1.0001 else Scale(low / 2, high * 2, log=True)
    if not shown:
        return Scale(0.0, 1.0)
    low, high = min(shown), max(shown)
    low = min(0.0, low) if from_zero else low
    high = high if top is None else max(top, high)
    room = (high - low) * 0.03 if high - low > _LEAST_SPAN * max(1.0, abs(high)) else max(abs(high) * 0.1, 0.5)
    return Scale(low if from_zero and low == 0 else low - room, high if high == top else high + room)


def _bounded(value: float) -> float:
    """No larger than what can still be subtracted."""
    return max(-_LARGEST, min(_LARGEST, value))


def ticks(scale: Scale, count: int, base: float = 10.0) -> list[float]:
    """At most `count` round values within the stretch; `base` 1000 keeps to what bytes are counted in."""
    if scale.log:
        return _log_ticks(scale, count)
    span = scale.high - scale.low
    if count < 2 or span <= 0:
        return []
    power = 10.0 ** math.floor(math.log10(span / count))
    step = next((power * each for each in _STEPS if span / (power * each) <= count), power * 10)
    return _multiples(scale, step)


def time_ticks(scale: Scale, count: int) -> list[float]:
    """At most `count` round moments, in seconds."""
    span = scale.high - scale.low
    if count < 2 or span <= 0:
        return []
    step = next((each for each in _SECONDS if span / each <= count), None)
    return _multiples(scale, float(step)) if step is not None else ticks(scale, count)


def _multiples(scale: Scale, step: float) -> list[float]:
    first = math.ceil(scale.low / step - 1e-9)
    last = math.floor(scale.high / step + 1e-9)
    return [index * step for index in range(first, last + 1) if abs(index * step) <= _LARGEST]


def _log_ticks(scale: Scale, count: int) -> list[float]:
    low, high = math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high))
    decades = [10.0**power for power in range(low, high + 1)]
    fine = [decade * each for decade in decades for each in (1.0, 2.0, 5.0)]
    for found in (fine, decades):
        inside = [value for value in found if scale.low <= value <= scale.high]
        if 2 <= len(inside) <= count:
            return inside
    inside = [value for value in decades if scale.low <= value <= scale.high]
    if len(inside) > count:
        return inside[:: -(-len(inside) // max(1, count))]
    # Less than a decade: round values of an ordinary axis, set where they belong.
    return ticks(Scale(scale.low, scale.high), count)


def step_label(value: float) -> str:
    """A training's step beside its axis."""
    return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"


def labels(values: Iterable[float], said: Callable[[float], str]) -> list[str]:
    """What is written beside each tick."""
    return [said(0.0 if abs(value) < _LEAST_SPAN else value) for value in values]
