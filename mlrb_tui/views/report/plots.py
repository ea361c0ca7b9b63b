"""The plots of a report: which of a run's series are drawn, and as what."""

from dataclasses import dataclass

from agent.record.log import EventReader
from agent.record.text import one_line
from mlrb_tui.views import run_series
from mlrb_tui.views.curves import Curve
from mlrb_tui.views.metrics import Group, Metric
from mlrb_tui.views.run_series import RunSeries

MOST_LINES = 6
"""Of one plot: the newest, where there are more."""
_GROUPS: tuple[Group, ...] = ("training", "evaluation", "speed", "gpu", "host", "spent")
_SAMPLED = ("use", "memory", "cpu", "cost")
"""The figures that are plotted of those that are sampled."""
_PER_RUN = 12


@dataclass(frozen=True)
class Line:
    """One curve over the hours of the run."""

    label: str
    hours: tuple[float, ...]
    values: tuple[float, ...]
    """NaN where what was printed is no number."""


@dataclass(frozen=True)
class Plot:
    """Figures that share an axis."""

    title: str
    metric: Metric
    """What its values are, for their unit."""
    lines: tuple[Line, ...]


def plots_of(series: RunSeries) -> list[Plot]:
    """What there is to see: the losses first, then speed, GPUs, the host, what was spent."""
    axes: dict[str, list[Metric]] = {}
    for metric in series.metrics():
        if metric.group in _GROUPS and (metric.group in ("training", "evaluation", "speed") or metric.kind in _SAMPLED):
            axes.setdefault(metric.axis, []).append(metric)
    found = [_plot(series, axis, metrics) for axis, metrics in axes.items()]
    return [plot for plot in found if _tells_something(plot)][:_PER_RUN]


def read_plots(reader: EventReader) -> list[Plot]:
    """The plots of a log; costs about the same in a log of any length."""
    return plots_of(run_series.read(reader))


def _tells_something(plot: Plot) -> bool:
    """Whether there is a curve to see; what cost nothing all along is none."""
    if plot.metric.group == "spent" and not any(value for line in plot.lines for value in line.values):
        return False
    return any(len(line.values) > 1 for line in plot.lines)


def _plot(series: RunSeries, axis: str, metrics: list[Metric]) -> Plot:
    drawn = [(metric, curve) for metric in metrics for curve in series.curves(metric)][-MOST_LINES:]
    lines = tuple(_line(series, metric, curve, alone=len(drawn) == 1) for metric, curve in drawn)
    return Plot(title=axis, metric=metrics[0], lines=lines)


def _line(series: RunSeries, metric: Metric, curve: Curve, *, alone: bool) -> Line:
    what = metric.label
    source = one_line(series.label(curve.source), 50) if curve.source else ""
    label = what if alone or not source else f"{what} · {source}"
    hours = tuple((at - series.first_at) / 3600 for at in curve.times)
    return Line(label=label, hours=hours, values=tuple(curve.values))
