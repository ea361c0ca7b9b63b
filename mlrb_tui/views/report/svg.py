"""Curves as inline SVG: coloured by the page's own variables, so that dark and light are one drawing."""

import math
from collections.abc import Iterator, Sequence
from html import escape

from mlrb_tui.views.report.plots import Line, Plot

WIDTH, HEIGHT = 560, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 10, 10, 24
_TICKS = 4
_MOST_POINTS = 700
"""A curve of more is thinned to the highest and lowest of each stretch: a peak stays a peak."""


def svg_of(plot: Plot, end: float = 0.0) -> str:
    """The plot as an `<svg>` element, in a space of `WIDTH` by `HEIGHT`; its axis reaches to hour `end` at least."""
    seen = [value for line in plot.lines for value in line.values if math.isfinite(value)]
    end = max(end, last_hour(plot)) or 1.0
    low, high = _range(seen, from_zero=plot.metric.from_zero)
    step = nice_step(high - low)
    parts = [*_grid(plot, low, high, step), *_hours(end)]
    for index, line in enumerate(plot.lines):
        parts += _curve(line, index, end, low, high)
    label = escape(f"{plot.title} over time", quote=True)
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">' + "".join(parts) + "</svg>"
    )  # fmt: skip


def last_hour(plot: Plot) -> float:
    """When its last point was seen, in hours."""
    return max((line.hours[-1] for line in plot.lines if line.hours), default=0.0)


def nice_step(span: float) -> float:
    """A step of 1, 2 or 5 times a power of ten, with about four of them in the span."""
    if not math.isfinite(span) or span <= 0:
        return 1.0
    rough = span / _TICKS
    magnitude = 10.0 ** math.floor(math.log10(rough))
    return next((magnitude * factor for factor in (1, 2, 5) if magnitude * factor >= rough), magnitude * 10)


def _range(values: Sequence[float], *, from_zero: bool) -> tuple[float, float]:
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    if from_zero:
        low = min(0.0, low)
    if not math.isfinite(high - low):
        # Halves, since the span of the two would overflow.
        return low / 2, high / 2
    if high - low <= abs(high) * 1e-12:
        margin = abs(high) * 0.1 or 1.0
        return low - (0.0 if from_zero and low == 0 else margin), high + margin
    margin = (high - low) * 0.04
    return low - (0.0 if from_zero and low == 0 else margin), high + margin


def _grid(plot: Plot, low: float, high: float, step: float) -> Iterator[str]:
    first = math.ceil(low / step)
    for index in range(_TICKS * 3):
        value = (first + index) * step
        if value > high:
            return
        y = _y(value, low, high)
        yield f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        said = escape(plot.metric.said(value))
        yield f'<text x="{_LEFT - 6}" y="{y + 3.5:.1f}" text-anchor="end">{said}</text>'


def _hours(end: float) -> Iterator[str]:
    unit, name = (1.0, "h") if end >= 2 else (1 / 60, "min") if end >= 2 / 60 else (1 / 3600, "s")
    step = nice_step(end / unit)
    for index in range(_TICKS * 3):
        value = index * step
        if value * unit > end:
            return
        x = _x(value * unit, end)
        yield f'<text x="{x:.1f}" y="{HEIGHT - 7}" text-anchor="middle">{value:g} {name}</text>'


def _curve(line: Line, index: int, end: float, low: float, high: float) -> Iterator[str]:
    """The line, broken where what was printed is no number; a point that stands alone is a dot."""
    for piece in _pieces(line):
        points = [(_x(hour, end), _y(value, low, high)) for hour, value in _thinned(piece)]
        if len(points) == 1:
            yield f'<circle class="dot c{index}" cx="{points[0][0]:.1f}" cy="{points[0][1]:.1f}" r="2"/>'
        else:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            yield f'<polyline class="curve c{index}" points="{path}"/>'


def _pieces(line: Line) -> list[list[tuple[float, float]]]:
    pieces: list[list[tuple[float, float]]] = [[]]
    for point in zip(line.hours, line.values, strict=True):
        if math.isfinite(point[1]):
            pieces[-1].append(point)
        elif pieces[-1]:
            pieces.append([])
    return [piece for piece in pieces if piece]


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    if len(points) <= _MOST_POINTS:
        return points
    share = math.ceil(len(points) / (_MOST_POINTS // 2))
    kept: list[tuple[float, float]] = []
    for start in range(0, len(points), share):
        stretch = points[start : start + share]
        extremes = {min(stretch, key=lambda point: point[1]), max(stretch, key=lambda point: point[1])}
        kept += sorted(extremes)
    return kept


def _x(hour: float, end: float) -> float:
    return _LEFT + max(0.0, min(1.0, hour / end)) * (WIDTH - _LEFT - _RIGHT)


def _y(value: float, low: float, high: float) -> float:
    return _TOP + (1.0 - max(0.0, min(1.0, (value - low) / ((high - low) or 1.0)))) * (HEIGHT - _TOP - _BOTTOM)
