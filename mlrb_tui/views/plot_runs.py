"""The plot of several runs: one metric of each, with what tells them apart and whether they can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from agent.record.text import one_line
from agent.record.values import RunSummary
from mlrb_tui.views import words
from mlrb_tui.views.curves import Curve
from mlrb_tui.views.metrics import Metric, in_order
from mlrb_tui.views.plot_list import ListItem
from mlrb_tui.views.plot_panels import SIGNS, TONES, Stroke
from mlrb_tui.views.plot_scale import step_label
from mlrb_tui.views.plot_state import PlotState
from mlrb_tui.views.plot_tracks import Track
from mlrb_tui.views.rows import Row, Span, apart, row
from mlrb_tui.views.run_series import RunSeries

MOST_RUNS = len(SIGNS)


@dataclass(frozen=True)
class ComparedRun:
    """One of the runs."""

    sign: str
    tone: str
    summary: RunSummary
    series: RunSeries

    @property
    def name(self) -> str:
        """Its id, as far as it tells it from others."""
        return one_line(self.summary.run, 8)


class RunsPlot(PlotState):
    """One metric of several runs, each from its own start."""

    def __init__(self, runs: Sequence[tuple[RunSummary, RunSeries]]) -> None:
        super().__init__()
        self.runs = [
            ComparedRun(sign, tone, summary, series)
            for sign, tone, (summary, series) in zip(SIGNS, TONES, runs, strict=False)
        ]
        self.hidden: frozenset[str] = frozenset()
        """The signs of runs that are not drawn."""
        self.metric: Metric | None = None
        self.choose_first()

    @property
    def without_steps(self) -> Metric | None:
        """The metric, where one of the runs tells no steps of it."""
        if self.metric is None:
            return None
        told = [run.series.curves(self.metric) for run in self.runs]
        return None if all(any(curve.has_steps for curve in curves) for curves in told if curves) else self.metric

    def key(self) -> object:
        """See `PlotState.key`."""
        return tuple(run.series.version for run in self.runs), self.metric, self.hidden

    def make_strokes(self) -> list[Stroke]:
        """One for each run that is drawn and tells that metric."""
        metric = self.metric
        if metric is None:
            return []
        weight = self.weight if metric.smooths else 0.0
        return [
            Stroke(run.sign, run.tone, run.name, metric, [
                Track(curve, self.axis, run.series.first_at, weight) for curve in curves
            ])
            for run in self.runs
            if run.sign not in self.hidden and (curves := self._curves(run))
        ]  # fmt: skip

    def metrics(self) -> list[Metric]:
        """What any of the runs tells."""
        return in_order({metric: None for run in self.runs for metric in run.series.metrics()})

    def choose_first(self) -> None:
        """The loss, where there is one; what is told by all before what is told by some."""
        if self.metric is None:
            found = self.metrics()
            self.metric = max(found, key=lambda metric: (self.telling(metric), metric.name == "loss"), default=None)
            losses = [metric for metric in found if metric.name == "loss" and self.telling(metric) > 1]
            self.metric = losses[0] if losses else self.metric

    def telling(self, metric: Metric) -> int:
        """How many of the runs tell that metric."""
        return sum(bool(run.series.curves(metric)) for run in self.runs)

    def choose(self, choice: object) -> None:
        """Draw another metric; or hide a run, or show it again."""
        before = self.axis
        if isinstance(choice, Metric):
            self.metric = choice
        elif isinstance(choice, str):
            self.hidden ^= {choice}
        self.keep_place(before)

    def best(self, run: ComparedRun) -> tuple[float, bool] | None:
        """The best value that is drawn of a run, where the metric's name tells what that is; False where points are
        left out."""
        if self.metric is None or not self.metric.better:
            return None
        values = [value for curve in self._curves(run) for value in curve.values if isfinite(value)]
        if not values:
            return None
        return (min(values) if self.metric.better == "low" else max(values)), not run.series.thinned

    def _curves(self, run: ComparedRun) -> list[Curve]:
        """Over time all trainings of a run, over steps its newest one."""
        curves = run.series.curves(self.metric) if self.metric is not None else []
        return curves if self.axis == "time" else curves[-1:]


# ── in words ─────────────────────────────────────────────────────────────────────────────────────────────


def items(plot: RunsPlot, width: int) -> list[ListItem]:
    """The runs with their values at the cursor and their best, then the metrics."""
    drawn = {stroke.sign: stroke for stroke in plot.strokes}
    found: list[ListItem] = [ListItem(row(Span("  runs", "dim")))]
    for run in plot.runs:
        stroke = drawn.get(run.sign)
        point = plot.point(stroke) if stroke is not None else None
        if run.sign in plot.hidden:
            said = row(Span("hidden", "dim"))
        elif point is None or plot.metric is None:
            said = row(Span("–", "dim"))
        else:
            said = row(Span(plot.metric.said(point.raw), "strong" if isfinite(point.raw) else "bad"))
        name = row(Span("  "), Span(f"{run.sign} ", run.tone), Span(f"{run.name} "), Span(run.summary.scale, "dim"))
        found.append(ListItem(apart(name, said, width), run.sign))
        best = plot.best(run)
        about = " · ".join(part for part in (_bare(run.summary.task, "/"), _bare(run.summary.model, ":")) if part)
        said = row()
        if best is not None and plot.metric is not None:
            said = row(Span(f"best {'' if best[1] else '~'}{plot.metric.said(best[0])}", "dim"))
        found.append(ListItem(apart(row(Span("    "), Span(about, "dim")), said, width)))
    group = ""
    for metric in plot.metrics():
        if metric.group != group:
            group = metric.group
            found.append(ListItem(row(Span(f"  {group}", "dim"))))
        chosen = Span("» ", "info") if metric == plot.metric else Span("  ")
        telling = plot.telling(metric)
        of = f"{telling} of {len(plot.runs)}" if telling < len(plot.runs) else ""
        found.append(ListItem(apart(row(Span("  "), chosen, Span(metric.label)), row(Span(of, "dim")), width), metric))
    return found


def _bare(name: str, sign: str) -> str:
    """A task without its suite, a model without its vendor."""
    return one_line(name.rpartition(sign)[2] or name, 30)


def title(plot: RunsPlot) -> Row:
    """What is drawn, of how many runs."""
    return row(
        Span(" plots  ", "strong"), Span(words.count(len(plot.runs), "run")),
        Span(f"  {plot.metric.label}" if plot.metric else "", "dim"),
    )  # fmt: skip


def caution(plot: RunsPlot) -> Row:
    """What speaks against comparing these runs; scales first."""
    shown = [run.summary for run in plot.runs if run.sign not in plot.hidden]
    parts = []
    if len({summary.scale for summary in shown}) > 1:
        parts.append(Span("▲ smoke and full runs together: their figures can't be compared", "warn"))
    elif shown:
        parts.append(Span(f"all {shown[0].scale}" if len(shown) > 1 else shown[0].scale, "dim"))
    if len({summary.task for summary in shown}) > 1:
        parts.append(Span("   different tasks", "warn"))
    return tuple(parts)


def readout(plot: RunsPlot) -> Row:
    """Where the cursor is, and what each run has there."""
    if (at := plot.at) is None or plot.metric is None:
        return row()
    where = f"step {step_label(at)}" if plot.axis == "step" else f"{words.clock(at)} after its start"
    parts = [Span(where, "strong")]
    for stroke in plot.strokes:
        point = plot.point(stroke)
        parts.append(Span(f"   {stroke.sign} {stroke.label} ", stroke.tone))
        if point is None:
            parts.append(Span("–", "dim"))
            continue
        parts.append(Span(plot.metric.said(point.raw), "strong" if isfinite(point.raw) else "bad"))
        if plot.weight and plot.metric.smooths and isfinite(point.raw):
            parts.append(Span(f" ~{plot.metric.said(point.smooth)}", "dim"))
    return tuple(parts)
