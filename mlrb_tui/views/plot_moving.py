"""A window on an x axis, and a cursor that goes from point to point."""

import bisect

from mlrb_tui.views.plot_tracks import Window

_LEAST_POINTS = 2


class PlotMoving:
    """Where a plot is looked at; what points there are is said by whoever inherits."""

    def __init__(self) -> None:
        self.window: Window | None = None
        """What is shown; None is all there is, growing."""
        self.cursor: float | None = None
        """A place on the x axis; None is the last point, wherever that is."""

    @property
    def places(self) -> list[float]:
        """Where the cursor can stand, from left to right."""
        raise NotImplementedError

    @property
    def whole(self) -> Window:
        """The stretch that holds every point."""
        places = self.places
        if not places:
            return Window(0.0, 1.0)
        low, high = places[0], places[-1]
        return Window(low, high) if high > low else Window(low - 0.5, low + 0.5)

    @property
    def shown(self) -> Window:
        """The stretch that is on the screen."""
        return self.whole if self.window is None else self.window

    @property
    def at(self) -> float | None:
        """Where the cursor stands; None where there is no point."""
        if not self.places:
            return None
        return self.places[-1] if self.cursor is None else self.cursor

    def move(self, by: int) -> None:
        """The cursor to the next point, or one before; beyond the last it follows."""
        places, at = self.places, self.at
        if at is None:
            return
        index = (bisect.bisect_right(places, at) - 1 if by > 0 else bisect.bisect_left(places, at)) + by
        self.put(places[max(0, min(index, len(places) - 1))])

    def move_part(self, part: float) -> None:
        """The cursor by a part of the window, to a point there, or at least to the next one."""
        places, at = self.places, self.at
        if at is None:
            return
        wanted = at + part * self.shown.span
        if part > 0:
            index = max(bisect.bisect_right(places, at), bisect.bisect_right(places, wanted) - 1)
        else:
            index = min(bisect.bisect_left(places, at) - 1, bisect.bisect_left(places, wanted))
        self.put(places[max(0, min(index, len(places) - 1))])

    def put(self, x: float) -> None:
        """The cursor to the point nearest to that place; the window follows it."""
        places = self.places
        if not places:
            return
        index = bisect.bisect_left(places, x)
        found = min(places[max(0, index - 1) : index + 1], key=lambda place: abs(place - x))
        self.cursor = None if found == places[-1] else found
        self._keep_in_sight(found)

    def to_edge(self, *, first: bool) -> None:
        """The cursor to the first point; or to the last, and on with those to come."""
        if self.places:
            self.put(self.places[0 if first else -1])

    def zoom(self, factor: float) -> None:
        """Closer to the cursor, or away from it."""
        at = self.at
        if at is None:
            return
        whole = self.whole
        around = at if self.shown.low <= at <= self.shown.high else (self.shown.low + self.shown.high) / 2
        window = self.shown.zoomed(factor, around).within(whole)
        if window.span >= whole.span * 0.999:
            self.window = None
        elif self._points_in(window) >= _LEAST_POINTS or factor < 1:
            self.window = window

    def pan(self, by: float) -> None:
        """To the side, by a part of what is shown."""
        if self.window is not None:
            self.window = self.window.moved(by).within(self.whole)

    def fit(self) -> None:
        """All of it again."""
        self.window = None

    def follow(self) -> None:
        """New points have come: a cursor at the end takes the window with it."""
        if self.window is not None and self.cursor is None and self.places:
            self._keep_in_sight(self.places[-1])

    def _keep_in_sight(self, x: float) -> None:
        if self.window is None:
            return
        if x < self.window.low:
            self.window = Window(x, x + self.window.span)
        elif x > self.window.high:
            self.window = Window(x - self.window.span, x)

    def _points_in(self, window: Window) -> int:
        return bisect.bisect_right(self.places, window.high) - bisect.bisect_left(self.places, window.low)
