"""What stands beside a plot: its series with their values under the cursor, and where the cursor is."""

import time
from dataclasses import dataclass

from mlrb_tui.views import words
from mlrb_tui.views.plot_panels import Stroke
from mlrb_tui.views.plot_run import RunPlot
from mlrb_tui.views.plot_scale import step_label
from mlrb_tui.views.plot_state import PlotState
from mlrb_tui.views.plot_tracks import Point
from mlrb_tui.views.rows import Row, Span, apart, row, wrapped

_NO_SERIES = (
    "Loss, accuracy, learning rate and speed appear when a command of the agent prints them (Hugging Face, tqdm,"
    " Lightning, Keras, nanoGPT, JSON lines, key=value), or writes them into a *.jsonl or TensorBoard file in its work"
    " folder. GPU and host are sampled while the agent works; cost and tokens come with model calls."
)
READING = (row(Span("reading the record …", "dim")),)


def nothing(width: int) -> list[Row]:
    """What is said where there is no series, and what would make one appear."""
    return [row(Span("nothing to plot yet", "strong")), row(), *(row(line) for line in wrapped(_NO_SERIES, width))]


@dataclass(frozen=True)
class ListItem:
    """A row of the list, its first two columns left free; without a choice it is a heading."""

    text: Row
    choice: object = None
    """What is chosen with it."""


def items(plot: RunPlot, width: int) -> list[ListItem]:
    """All figures by group, with their values at the cursor."""
    drawn = {stroke.metric: stroke for stroke in plot.strokes}
    at = plot.moment
    found: list[ListItem] = []
    group = ""
    for metric in plot.metrics():
        if metric.group != group:
            group = metric.group
            found.append(ListItem(row(Span(f"  {group}", "dim"))))
        stroke = drawn.get(metric)
        value = plot.point(stroke) if stroke is not None else None
        if value is not None:
            said, tone = metric.said(value.raw), "bad" if value.raw != value.raw else "strong"
        else:
            known = plot.value_at(metric, at) if at is not None and stroke is None else None
            said, tone = ("–", "dim") if known is None else (metric.said(known), "dim")
        sign = Span(f"{stroke.sign} ", stroke.tone) if stroke is not None else Span("  ")
        name = Span(metric.label.removeprefix("eval_") if group == "evaluation" else metric.label)
        found.append(ListItem(apart(row(Span("  "), sign, name), row(Span(said, tone)), width), metric))
    return found


def readout(plot: RunPlot) -> Row:
    """Where the cursor is: step, time of the run, time of day; and what is drawn there."""
    points = [(stroke, point) for stroke in plot.strokes if (point := plot.point(stroke)) is not None]
    if not points:
        return row()
    newest = max((point for _, point in points), key=lambda point: point.at)
    parts: list[Span] = []
    if (step := _step(plot, points)) is not None:
        parts.append(Span(f"step {step_label(step)}  ", "strong"))
    at = time.strftime("%H:%M:%S", time.localtime(newest.at))
    parts += [Span(f"{words.clock(newest.at - plot.series.first_at)}  ", "strong"), Span(f"at {at}", "dim")]
    for stroke, point in points:
        parts.append(Span(f"   {stroke.sign} {stroke.label} ", stroke.tone))
        parts.append(Span(stroke.metric.said(point.raw), "bad" if point.raw != point.raw else "strong"))
        if plot.weight and stroke.metric.smooths and point.raw == point.raw:
            parts.append(Span(f" ~{stroke.metric.said(point.smooth)}", "dim"))
    return tuple(parts)


def _step(plot: RunPlot, points: list[tuple[Stroke, Point]]) -> float | None:
    if plot.axis == "step":
        return plot.at
    return next((point.step for _, point in points if point.step is not None), None)


def how(plot: PlotState) -> Row:
    """Over what it is drawn, and how."""
    parts = [Span("over ", "dim"), Span("training steps" if plot.axis == "step" else "time of the run")]
    if plot.wanted_axis == "step" and (metric := plot.without_steps) is not None:
        parts.append(Span(f" ({metric.label} has no steps)", "dim"))
    if plot.log:
        parts.append(Span("   log"))
    if plot.weight:
        parts.append(Span(f"   smoothed {plot.weight:g}"))
    if plot.window is not None:
        parts.append(Span(f"   zoom ×{plot.whole.span / max(plot.shown.span, 1e-12):.3g}", "warn"))
    return tuple(parts)


def training(plot: RunPlot) -> Row:
    """Which training is drawn, where there are several."""
    trainings = plot.series.trainings()
    source = plot.shown_training
    if not trainings or all(metric.group in ("gpu", "host", "spent") for metric in plot.chosen):
        return row()
    if source is None:
        return row(Span(f"all {words.count(len(trainings), 'training')}", "dim")) if len(trainings) > 1 else row()
    number = trainings.index(source) + 1 if source in trainings else len(trainings)
    of = f"training {number} of {len(trainings)}  " if len(trainings) > 1 else ""
    return row(Span(of), Span(plot.series.label(source), "dim"))
