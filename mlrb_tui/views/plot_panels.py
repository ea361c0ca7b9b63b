"""Pictures out of tracks: one panel for each kind of figure, one x axis and one cursor for all of them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mlrb_tui.views import words
from mlrb_tui.views.metrics import Metric
from mlrb_tui.views.plot_scale import Scale, fitted, labels, step_label, ticks, time_ticks
from mlrb_tui.views.plot_tracks import Axis, Track, Window, lines, thinned
from mlrb_tui.views.rows import Row, Span, cells, cut_row, row

TONES = ("info", "warn", "accent", "ok", "strong", "bad", "info", "warn", "accent")
"""Of the first series, the second …; its sign tells it from the others where the colour does not."""
SIGNS = "123456789"
_LEAST_HEIGHT = 6
_NAN = "×"
_MOST_TICKS = 8
_SIGNS_A_LINE = 3


@dataclass(frozen=True)
class Stroke:
    """One series as it is drawn: a metric of a run."""

    sign: str
    tone: str
    label: str
    metric: Metric
    tracks: Sequence[Track]


@dataclass(frozen=True)
class DrawnLine:
    """Points that are joined, as shares of both axes."""

    points: tuple[tuple[float, float], ...]
    tone: str
    sign: str


@dataclass(frozen=True)
class Mark:
    """One character on the canvas, at shares of both axes."""

    x: float
    y: float
    text: str
    tone: str


@dataclass(frozen=True)
class Picture:
    """One pair of axes and what is drawn on them."""

    width: int
    height: int
    lines: tuple[DrawnLine, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    """Shares of the axis with what is written there, each label of the same width."""
    x_labels: bool
    """Whether a line of labels stands below; panels above another one go without."""

    @property
    def left(self) -> int:
        """The columns before the canvas."""
        return (cells(self.y_ticks[0][1]) if self.y_ticks else 0) + 1

    @property
    def columns(self) -> int:
        """The width of the canvas."""
        return max(1, self.width - self.left)

    @property
    def rows(self) -> int:
        """The height of the canvas."""
        return max(1, self.height - 1 - self.x_labels)


@dataclass(frozen=True)
class Panel:
    """A heading, a picture, and what lies over it."""

    heading: Row
    picture: Picture
    marks: tuple[Mark, ...]
    scale: Scale


@dataclass(frozen=True)
class Look:
    """How a plot is looked at."""

    axis: Axis = "step"
    log: bool = False
    smooth: bool = False


def grouped(strokes: Sequence[Stroke]) -> list[list[Stroke]]:
    """The strokes by the axis that they share, in the order in which they were chosen."""
    groups: dict[str, list[Stroke]] = {}
    for stroke in strokes:
        groups.setdefault(stroke.metric.axis, []).append(stroke)
    return list(groups.values())


def panels(strokes: Sequence[Stroke], window: Window, look: Look, width: int, height: int) -> tuple[list[Panel], int]:
    """As many panels as there is room for, and how many there is none for."""
    groups = grouped(strokes)
    if not groups:
        return [], 0
    fit = max(1, min(len(groups), height // _LEAST_HEIGHT))
    scales = [_scale(group, window, look) for group in groups[:fit]]
    heights = [(height + index) // fit for index in range(fit)]
    y_ticks = [
        _y_ticks(group[0].metric, scale, tall) for group, scale, tall in zip(groups, scales, heights, strict=False)
    ]
    wide = max((cells(label) for each in y_ticks for _, label in each), default=0)
    found = []
    for index, (group, scale, tall) in enumerate(zip(groups, scales, heights, strict=False)):
        padded = tuple((at, " " * (wide - cells(label)) + label) for at, label in y_ticks[index])
        last = index == fit - 1
        found.append(_panel(group, scale, window, look, Picture(
            width, tall - 1, (), _x_ticks(window, look.axis, width - wide - 1), padded, last,
        )))  # fmt: skip
    return found, len(groups) - fit


def _panel(group: Sequence[Stroke], scale: Scale, window: Window, look: Look, empty: Picture) -> Panel:
    drawn: list[DrawnLine] = []
    marks: list[Mark] = []
    for index, stroke in enumerate(group):
        own = [_stroked(track, stroke, scale, window, look, empty.columns) for track in stroke.tracks]
        faint = [line for back, _ in own for line in back]
        front = [line for _, lines_of_it in own for line in lines_of_it]
        drawn = [*faint, *drawn, *front]
        if len(group) > 1:
            marks += _signs(front, stroke, index / len(group))
        marks += _not_finite(stroke, window)
    picture = Picture(
        empty.width, empty.height, tuple(drawn), empty.x_ticks, empty.y_ticks, empty.x_labels
    )  # fmt: skip
    return Panel(_heading(group, scale, window, look), picture, tuple(marks), scale)


def _stroked(
    track: Track, stroke: Stroke, scale: Scale, window: Window, look: Look, columns: int
) -> tuple[list[DrawnLine], list[DrawnLine]]:
    """What lies behind (the values as they were told), and in front."""
    xs = [(x - window.low) / window.span if window.span else 0.5 for x in track.xs]
    smoothed = look.smooth and stroke.metric.smooths

    def drawn(values: Sequence[float], tone: str, sign: str) -> list[DrawnLine]:
        ys = [_inside(scale.share(value)) for value in values]
        return [DrawnLine(tuple(thinned(line, columns * 2)), tone, sign) for line in lines(xs, ys)]

    if smoothed:
        return drawn(track.raw, "dim", "."), drawn(track.smooth, stroke.tone, stroke.sign)
    return [], drawn(track.raw, stroke.tone, stroke.sign)


def _inside(share: float) -> float:
    """Kept on the canvas: a smoothed value in the window may come from values outside it."""
    return share if math.isnan(share) else max(0.0, min(1.0, share))


def _scale(group: Sequence[Stroke], window: Window, look: Look) -> Scale:
    metric = group[0].metric
    values = [
        value for stroke in group for track in stroke.tracks for value in track.inside(window.low, window.high)
    ]  # fmt: skip
    return fitted(values, log=look.log, from_zero=metric.from_zero, top=100.0 if metric.kind == "use" else None)


def _y_ticks(metric: Metric, scale: Scale, height: int) -> list[tuple[float, str]]:
    values = ticks(scale, max(2, min(_MOST_TICKS, height // 3)))
    return [(scale.share(value), label) for value, label in zip(values, labels(values, _said(metric)), strict=True)]


def _said(metric: Metric) -> Callable[[float], str]:
    return metric.said if metric.unit or metric.group in ("speed", "spent") else lambda value: f"{value:.6g}"


def _x_ticks(window: Window, axis: Axis, columns: int) -> tuple[tuple[float, str], ...]:
    scale = Scale(window.low, window.high)
    count = max(2, min(_MOST_TICKS, columns // 12))
    # Half a step is none.
    values = time_ticks(scale, count) if axis == "time" else [x for x in ticks(scale, count) if x == int(x)]
    said = labels(values, words.clock if axis == "time" else step_label)
    return tuple((scale.share(value), label) for value, label in zip(values, said, strict=True))


def _signs(front: Sequence[DrawnLine], stroke: Stroke, offset: float) -> list[Mark]:
    """The stroke's sign at some places of it, not at the same ones as those of the others."""
    points = [point for line in front for point in line.points]
    if not points:
        return []
    found = []
    for part in range(_SIGNS_A_LINE):
        x, y = points[min(len(points) - 1, int((part + 0.5 + offset * 0.5) / _SIGNS_A_LINE * len(points)))]
        found.append(Mark(x, y, stroke.sign, stroke.tone))
    return found


def _not_finite(stroke: Stroke, window: Window) -> list[Mark]:
    """Where values were NaN or infinite: at the top, since they have no place."""
    return [
        Mark((x - window.low) / window.span, 1.0, _NAN, "bad")
        for track in stroke.tracks
        for x, value in zip(track.xs, track.raw, strict=True)
        if math.isnan(value) and window.span and window.low <= x <= window.high
    ]


def _heading(group: Sequence[Stroke], scale: Scale, window: Window, look: Look) -> Row:
    parts = [Span(f"{group[0].metric.axis}", "title")]
    if scale.log:
        parts.append(Span("  log", "dim"))
    elif look.log:
        parts.append(Span("  nothing above zero: no log scale", "warn"))
    if len(group) > 1:
        parts += [Span(f"   {stroke.sign} {stroke.label}", stroke.tone) for stroke in group]
    values = [value for stroke in group for track in stroke.tracks for value in track.inside(window.low, window.high)]
    if bad := sum(math.isnan(value) for value in values):
        parts.append(Span(f"   {_NAN} {bad} {words.NOT_FINITE}", "bad"))
    if scale.log and (below := sum(value <= 0 for value in values)):
        parts.append(Span(f"   {below} not above zero, not shown", "warn"))
    return tuple(parts)


# ── what lies over a picture ─────────────────────────────────────────────────────────────────────────────


def laid_over(drawn: Sequence[Row], picture: Picture, marks: Sequence[Mark], upright: Mapping[int, Span]) -> list[Row]:
    """The rows of a picture with upright lines (by column of the canvas) behind its curves, and marks on top."""
    grid = [_cells_of(line, picture.width) for line in drawn]
    for column, span in upright.items():
        for line in grid[: picture.rows]:
            at = picture.left + column
            if at < len(line) and line[at].text == " ":
                line[at] = span
    for mark in marks:
        y, x = row_of(mark.y, picture.rows), picture.left + column_of(mark.x, picture.columns)
        if y < len(grid) and x < len(grid[y]):
            grid[y][x] = Span(mark.text, mark.tone)
    return [cut_row(row(*_merged(line)), picture.width) for line in grid]


def column_of(share: float, columns: int) -> int:
    """The column of the canvas in which a line drawn at that share has its dots."""
    return max(0, min(columns - 1, int(0.5 + (2 * columns - 1) * max(0.0, min(1.0, share))) // 2))


def share_of(column: int, columns: int) -> float:
    """The share of the axis in the middle of that column."""
    return max(0.0, min(1.0, (2 * column + 0.5) / max(1, 2 * columns - 1)))


def row_of(share: float, rows: int) -> int:
    """The row, from the top, of what is drawn at that share of the y axis."""
    return rows - 1 - max(0, min(rows - 1, int(0.5 + (4 * rows - 1) * max(0.0, min(1.0, share))) // 4))


def _cells_of(line: Row, width: int) -> list[Span]:
    found = [Span(character, span.tone) for span in line for character in span.text]
    return found + [Span(" ")] * (width - len(found))


def _merged(line: Sequence[Span]) -> list[Span]:
    found: list[Span] = []
    for span in line:
        if found and found[-1].tone == span.tone:
            found[-1] = Span(found[-1].text + span.text, span.tone)
        else:
            found.append(span)
    return found
