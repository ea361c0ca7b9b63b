"""The plot of one run: which of its series are drawn, of which of its trainings, and how closely."""

import bisect

from mlrb_tui.views.metrics import Metric
from mlrb_tui.views.plot_curves import PlotCurves
from mlrb_tui.views.plot_panels import SIGNS, TONES, Stroke
from mlrb_tui.views.plot_tracks import Track
from mlrb_tui.views.run_series import RunSeries

_FIRST_CHOICE = ("loss", "eval_loss")


class RunPlot(PlotCurves):
    """Several series of one run."""

    def __init__(self, series: RunSeries) -> None:
        super().__init__(series)
        self.chosen = _first_choice(series)

    def key(self) -> object:
        """See `PlotState.key`."""
        near = None if self.near is None else (self.near[0], self.near[1].version)
        return self.series.version, near if self.near_holds else None, tuple(self.chosen), self.training

    def make_strokes(self) -> list[Stroke]:
        """One for each chosen metric."""
        axis, began = self.axis, self.series.first_at
        return [
            Stroke(sign, tone, metric.label, metric, [
                Track(curve, axis, began, self.weight if metric.smooths else 0.0) for curve in self.curves(metric)
            ])
            for sign, tone, metric in zip(SIGNS, TONES, self.chosen, strict=False)
        ]  # fmt: skip

    # ── what is chosen ───────────────────────────────────────────────────────────────────────────────────

    def metrics(self) -> list[Metric]:
        """All that can be chosen."""
        return self.series.metrics()

    def toggle(self, metric: Metric) -> bool:
        """Draw it too, or no longer; the last one stays. Says whether there was room for it."""
        before = self.axis
        if metric in self.chosen:
            self.chosen = [each for each in self.chosen if each != metric] or self.chosen
        elif len(self.chosen) >= len(SIGNS):
            return False
        else:
            self.chosen = [*self.chosen, metric]
        self.keep_place(before)
        return True

    def only(self, metric: Metric) -> None:
        """Draw that one alone."""
        before = self.axis
        self.chosen = [metric]
        self.keep_place(before)

    def choose_first(self) -> None:
        """Where nothing was there to choose, there may be something now."""
        self.chosen = self.chosen or _first_choice(self.series)

    def step_training(self, by: int) -> None:
        """Look at the training before, or after; after the newest comes the choice that is made by itself."""
        trainings = self.series.trainings()
        if not trainings:
            return
        at = trainings.index(self.training) if self.training in trainings else None
        if at is None:
            at = len(trainings) - 1 if self.axis == "time" and by < 0 else len(trainings) - 2 if by < 0 else None
        else:
            at += by
        in_list = at is not None and at < len(trainings) - (self.axis == "step")
        self.training = trainings[max(0, at)] if at is not None and in_list else None
        self.forget_place()

    def value_at(self, metric: Metric, at: float) -> float | None:
        """What that figure was at a moment."""
        found: tuple[float, float] | None = None
        for curve in self.curves(metric) or self.series.curves(metric):
            index = bisect.bisect_right(curve.times, at) - 1
            if index >= 0 and (found is None or curve.times[index] >= found[0]):
                found = curve.times[index], curve.values[index]
        return None if found is None else found[1]

    def place_of(self, at: float) -> float | None:
        """Where on the x axis that moment of the run is."""
        if self.axis == "time":
            return at - self.series.first_at
        for stroke in self.strokes:
            for curve in self.curves(stroke.metric):
                index = bisect.bisect_right(curve.times, at) - 1
                if index >= 0:
                    return curve.steps[index]
        return None

    @property
    def moment(self) -> float | None:
        """When what stands under the cursor was told."""
        points = [point for stroke in self.strokes if (point := self.point(stroke)) is not None]
        return max((point.at for point in points), default=None)

    def turn_axis(self) -> None:
        """Over time instead of steps, or back; a cursor that does not follow stays at its moment."""
        at = None if self.cursor is None else self.moment
        super().turn_axis()
        if at is not None:
            self.stand_at(at)

    def stand_at(self, at: float) -> None:
        """Put the cursor on a moment of the run, and look at the training of that time."""
        begun = [source for source in self.series.trainings() if self.series.began_at(source) <= at]
        if self.axis == "step" and begun and begun[-1] != self.shown_training:
            self.training = begun[-1]
        if (place := self.place_of(at)) is not None:
            self.put(place)


def _first_choice(series: RunSeries) -> list[Metric]:
    """What one wants to see first: the loss, else what a training told, else what the machine does."""
    metrics = series.metrics()
    losses = [metric for metric in metrics if metric.name in _FIRST_CHOICE]
    return losses or metrics[:1]
