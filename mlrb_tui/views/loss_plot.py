"""The loss of a training over its time as a curve, and that of its evaluation in the same picture."""

import math
from collections.abc import Callable, Iterator, Sequence

from mlrb_tui.views.rows import Row, Span, cells, row
from mlrb_tui.views.scores import figure
from mlrb_tui.views.series import Series

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_DECADE = 10.0
Grid = list[list[int]]


def is_wide(*series: Series) -> bool:
    """Whether the values span so much that only a logarithm shows both ends."""
    values = [value for each in series for value in each.values]
    return bool(values) and min(values) > 0 and max(values) >= _DECADE * min(values)


def plot(train: Series, evals: Series, width: int, height: int) -> list[Row]:
    """Both as `height` rows of braille dots with an axis; on a logarithmic one where they span a decade."""
    values = [*train.values, *evals.values]
    times = [*train.times, *evals.times]
    scale = math.log if is_wide(train, evals) else float
    low, high = scale(min(values)), scale(max(values))
    names = {0: max(values), height - 1: min(values)}
    if height >= 5:
        middle = (low + high) / 2
        names[height // 2] = math.exp(middle) if scale is math.log else middle
    labels = [figure(names[y]) if y in names and (low < high or not y) else "" for y in range(height)]
    wide = max(cells(label) for label in labels) + 1
    room = width - wide - 1
    axis = _Axis(min(times), max(times), low, high, room, height, scale)
    lines = _painted(axis.drawn(train), axis.drawn(evals))
    return [
        row(Span(f"{label:>{wide - 1}} ", "dim"), Span("┤" if label else "│", "faint"), *line)
        for label, line in zip(labels, lines, strict=True)
    ]


class _Axis:
    """Where a moment and a value stand, in dots: two a column, four a row."""

    def __init__(
        self, first: float, last: float, low: float, high: float, width: int, height: int,
        scale: Callable[[float], float],
    ) -> None:  # fmt: skip
        self._first, self._span = first, (last - first) or 1.0
        self._low, self._rise = low, (high - low) or 1.0
        self._width, self._height = max(0, width), height
        self._scale = scale

    def drawn(self, series: Series) -> Grid:
        """The series as cells of dots, each point joined with the one before."""
        grid = [[0] * self._width for _ in range(self._height)]
        if not self._width:
            return grid
        for x, y in _joined(self._columns(series.times, series.values)):
            grid[y // 4][x // 2] |= _DOTS[y % 4][x % 2]
        return grid

    def _columns(self, times: Sequence[float], values: Sequence[float]) -> dict[int, int]:
        """The height of each column of dots that has a point: the mean of those in it."""
        found: dict[int, list[float]] = {}
        for at, value in zip(times, values, strict=True):
            x = round((at - self._first) / self._span * (self._width * 2 - 1))
            found.setdefault(x, []).append(self._scale(value))
        most = self._height * 4 - 1
        return {x: round((1 - (sum(s) / len(s) - self._low) / self._rise) * most) for x, s in sorted(found.items())}


def _joined(columns: dict[int, int]) -> Iterator[tuple[int, int]]:
    """The dots of a line through those points."""
    before: tuple[int, int] | None = None
    for x, y in columns.items():
        if before is None:
            yield x, y
        else:
            steps = max(x - before[0], abs(y - before[1]))
            for step in range(1, steps + 1):
                part = step / steps
                yield round(before[0] + part * (x - before[0])), round(before[1] + part * (y - before[1]))
        before = x, y


def _painted(train: Grid, evals: Grid) -> Iterator[list[Span]]:
    """Rows of both; a cell that has dots of the training has its colour."""
    for under, over in zip(train, evals, strict=True):
        spans: list[Span] = []
        for below, above in zip(under, over, strict=True):
            tone, text = "eval" if above and not below else "spark", chr(0x2800 + (below | above))
            if spans and spans[-1].tone == tone:
                spans[-1] = Span(spans[-1].text + text, tone)
            else:
                spans.append(Span(text, tone))
        yield spans
