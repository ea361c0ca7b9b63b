"""How a plot is looked at: axes, smoothing, window and cursor; which strokes there are is each plot's own."""

from dataclasses import dataclass

from mlrb_tui.views.metrics import Metric
from mlrb_tui.views.plot_moving import PlotMoving
from mlrb_tui.views.plot_panels import Look, Panel, Stroke, panels
from mlrb_tui.views.plot_tracks import WEIGHTS, Axis, Point


@dataclass(frozen=True)
class _Made:
    """What was worked out for one state of data and choices."""

    key: object
    strokes: list[Stroke]
    places: list[float]
    """Where any stroke has a point, from left to right."""


class PlotState(PlotMoving):
    """One x axis, one window on it, one cursor."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted_axis: Axis = "step"
        self.log = False
        self.level = 0
        """Which of `WEIGHTS` smooths."""
        self._made: _Made | None = None
        self._panels: tuple[object, tuple[list[Panel], int]] | None = None

    # ── what each plot says of itself ────────────────────────────────────────────────────────────────────

    @property
    def without_steps(self) -> Metric | None:
        """A chosen metric that can be drawn only over time."""
        raise NotImplementedError

    def key(self) -> object:
        """Changes with all that strokes are made from."""
        raise NotImplementedError

    def make_strokes(self) -> list[Stroke]:
        """What is to be drawn."""
        raise NotImplementedError

    def places_elsewhere(self) -> set[float]:
        """Where there are points besides those of the strokes: they may show only a stretch."""
        return set()

    # ── what is there ────────────────────────────────────────────────────────────────────────────────────

    @property
    def axis(self) -> Axis:
        """Over what it is drawn: steps, if all that is chosen tells them."""
        return "time" if self.wanted_axis == "time" or self.without_steps else "step"

    @property
    def weight(self) -> float:
        """How strongly it smooths, from 0."""
        return WEIGHTS[self.level]

    @property
    def strokes(self) -> list[Stroke]:
        """What is drawn."""
        return self._now().strokes

    @property
    def places(self) -> list[float]:
        """Where the cursor can stand."""
        return self._now().places

    def point(self, stroke: Stroke) -> Point | None:
        """What a stroke holds at the cursor: of several tracks, what was told last."""
        if (at := self.at) is None:
            return None
        found = [point for track in stroke.tracks if (point := track.point(at)) is not None]
        return max(found, key=lambda point: (point.x, point.at), default=None)

    def panels(self, width: int, height: int) -> tuple[list[Panel], int]:
        """The panels that fit, and how many do not."""
        key = (self.key(), self.axis, self.level, self.log, self.shown, width, height)
        if self._panels is None or self._panels[0] != key:
            look = Look(self.axis, self.log, self.weight > 0)
            self._panels = key, panels(self.strokes, self.shown, look, width, height)
        return self._panels[1]

    def _now(self) -> _Made:
        key = (self.key(), self.axis, self.level)
        if self._made is None or self._made.key != key:
            strokes = self.make_strokes()
            places = {x for stroke in strokes for track in stroke.tracks for x in track.sorted_xs}
            self._made = _Made(key, strokes, sorted(places | self.places_elsewhere()))
        return self._made

    # ── keys ─────────────────────────────────────────────────────────────────────────────────────────────

    def smoother(self, by: int) -> None:
        """Smooth more, or less."""
        self.level = max(0, min(len(WEIGHTS) - 1, self.level + by))

    def turn_axis(self) -> None:
        """Over time instead of steps, or back; the window and the cursor belong to the other axis."""
        self.wanted_axis = "time" if self.axis == "step" else "step"
        self.forget_place()

    def keep_place(self, before: Axis) -> None:
        """Something else is drawn: the cursor goes to a point of that, if it is over the same axis."""
        if before != self.axis:
            self.forget_place()
        elif self.cursor is not None:
            self.put(self.cursor)

    def forget_place(self) -> None:
        """The x axis is another one."""
        self.window, self.cursor = None, None
