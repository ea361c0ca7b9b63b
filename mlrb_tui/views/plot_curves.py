"""Which curves of a run a plot is made from: of which training, and how closely read."""

from dataclasses import dataclass

from mlrb_tui.views.curves import Curve
from mlrb_tui.views.metrics import Metric
from mlrb_tui.views.plot_state import PlotState
from mlrb_tui.views.plot_tracks import Axis, Window
from mlrb_tui.views.run_series import RunSeries


@dataclass(frozen=True)
class Stretch:
    """Times of a log that are to be read more closely."""

    first_at: float
    last_at: float
    axis: Axis
    training: str | None
    window: Window
    """Where on the x axis that reading holds."""


class PlotCurves(PlotState):
    """The curves of the chosen metrics, read anew where the window shows more than was read."""

    def __init__(self, series: RunSeries) -> None:
        super().__init__()
        self.series = series
        self.near: tuple[Stretch, RunSeries] | None = None
        """A closer reading, and where it holds."""
        self.chosen: list[Metric] = []
        self.training: str | None = None
        """The training that is looked at; None is the newest over steps, and all of them over time."""

    @property
    def without_steps(self) -> Metric | None:
        """A chosen metric that can be drawn only over time."""
        return next((metric for metric in self.chosen if not self._has_steps(metric)), None)

    @property
    def shown_training(self) -> str | None:
        """The training that is drawn; None where all are."""
        if self.training is not None or self.axis == "time":
            return self.training
        return next(reversed(self.series.trainings()), None)

    def places_elsewhere(self) -> set[float]:
        """The points of the first reading, where strokes show a closer one."""
        if not self.near_holds:
            return set()
        curves = [curve for metric in self.chosen for curve in self._own(metric, self.series.curves(metric))]
        if self.axis == "step":
            return {step for curve in curves for step in curve.steps}
        return {at - self.series.first_at for curve in curves for at in curve.times}

    # ── curves ───────────────────────────────────────────────────────────────────────────────────────────

    def curves(self, metric: Metric) -> list[Curve]:
        """Those that are drawn of that metric."""
        near = self.near[1].curves(metric) if self.near is not None and self.near_holds else []
        return self._own(metric, near or self.series.curves(metric))

    def _own(self, metric: Metric, found: list[Curve]) -> list[Curve]:
        """Those of the training that is drawn; all of what no training tells."""
        if metric.group not in ("training", "evaluation", "speed"):
            return found
        wanted = self.shown_training
        if wanted is None:
            return found
        own = [curve for curve in found if curve.source == wanted]
        # What another source told (an evaluation in a file of its own) stands beside the training.
        return own or found[-1:]

    def _has_steps(self, metric: Metric) -> bool:
        return any(curve.has_steps for curve in self.series.curves(metric))

    # ── a closer look ────────────────────────────────────────────────────────────────────────────────────

    @property
    def near_holds(self) -> bool:
        """Whether the closer reading is that of what is shown."""
        if self.near is None:
            return False
        stretch, window = self.near[0], self.window
        same = stretch.axis == self.axis and stretch.training == self.shown_training
        # Without a window the stretch was read for the whole of a training.
        inside = window is None or (stretch.window.low <= window.low and window.high <= stretch.window.high)
        return same and inside and (window is not None or self.shown_training is not None)

    def wanted_stretch(self) -> Stretch | None:
        """What should be read more closely to show this window well; None where nothing should."""
        everything = self.window is None and self.shown_training is None
        if not self.series.thinned or not self.strokes or everything or self.near_holds:
            return None
        window = self.shown
        wide = window if self.window is None else Window(window.low - window.span, window.high + window.span)
        times = self._times_of(wide)
        if times is None:
            return None
        return Stretch(*times, self.axis, self.shown_training, wide)

    def _times_of(self, window: Window) -> tuple[float, float] | None:
        began = self.series.first_at
        if self.axis == "time" and self.training is None:
            times = (began + window.low, began + window.high)
        else:
            points = [
                (x, at)
                for metric in self.chosen
                for curve in self.curves(metric)
                for x, at in zip(curve.steps if self.axis == "step" else curve.times, curve.times, strict=True)
            ]
            offset = 0.0 if self.axis == "step" else began
            inside = [at for x, at in points if window.low <= x - offset <= window.high]
            if not inside:
                return None
            # The points just outside are where the lines at the edges come from.
            before = [at for _, at in points if at < min(inside)]
            after = [at for _, at in points if at > max(inside)]
            times = (max(before, default=min(inside)), min(after, default=max(inside)))
        return times
