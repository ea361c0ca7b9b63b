"""Small pictures out of characters: thin bars, sparklines, a braille curve."""

import itertools
import math
from collections.abc import Sequence

from mlrb_tui.views.rows import Row, Span

_EIGHTHS = "▁▂▃▄▅▆▇█"
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


def bar(part: float, width: int, tone: str = "bar") -> Row:
    """A thin bar of `width` columns, filled to `part` (0 to 1)."""
    width = max(0, width)
    filled = min(width, round(max(0.0, min(1.0, part)) * width))
    return tuple(span for span in (Span("━" * filled, tone), Span("─" * (width - filled), "faint")) if span.text)


def spark(values: Sequence[float], width: int, *, low: float | None = None, high: float | None = None) -> str:
    """The values as one line of eighth blocks, the newest at the right."""
    shown = [value for value in resampled(values, width) if math.isfinite(value)]
    if not shown or width <= 0:
        return ""
    bottom = min(shown) if low is None else low
    top = max(shown) if high is None else high
    span = (top - bottom) or 1.0
    steps = [int(max(0.0, min(1.0, (value - bottom) / span)) * 7.999) for value in shown]
    if top == bottom:
        steps = [3] * len(shown)
    return "".join(_EIGHTHS[step] for step in steps)


def resampled(values: Sequence[float], count: int) -> list[float]:
    """At most `count` values: each the mean of its share."""
    if len(values) <= count or count <= 0:
        return list(values)[:count] if count > 0 else []
    edges = [index * len(values) // count for index in range(count + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in itertools.pairwise(edges)]


def curve(values: Sequence[float], width: int, height: int, *, low: float, high: float) -> list[str]:
    """The values as a curve of braille dots, `width` by `height` characters; two by four dots each."""
    if width <= 0 or height <= 0:
        return []
    grid = [[0] * width for _ in range(height)]
    dots = resampled([value for value in values if math.isfinite(value)], width * 2)
    span = (high - low) or 1.0
    previous: int | None = None
    for index, value in enumerate(dots):
        x = index if len(dots) > width else round(index * (width * 2 - 1) / max(1, len(dots) - 1))
        y = round((1.0 - max(0.0, min(1.0, (value - low) / span))) * (height * 4 - 1))
        for dot in _between(previous, y):
            grid[dot // 4][x // 2] |= _DOTS[dot % 4][x % 2]
        previous = y
    return ["".join(chr(0x2800 + cell) for cell in line) for line in grid]


def _between(previous: int | None, y: int) -> range:
    """The dots that join this point with the one before it."""
    if previous is None or abs(previous - y) <= 1:
        return range(y, y + 1)
    return range(previous + 1, y + 1) if previous < y else range(y, previous)
