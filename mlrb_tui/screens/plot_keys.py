"""The keys of a plot, shared by that of one run and that of several."""

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType

from mlrb_tui.views.plot_state import PlotState
from mlrb_tui.widgets.opaque import OpaqueScreen
from mlrb_tui.widgets.plot_canvas import PlotCanvas
from mlrb_tui.widgets.plot_list import PlotList

_LEAP = 0.1
_ZOOM = 2.0
_PAN = 0.25


class PlotKeys(OpaqueScreen):
    """What keys do to how a plot is looked at; whoever inherits has the plot, and shows it."""

    LOOKING_BINDINGS: ClassVar[tuple[BindingType, ...]] = (
        Binding("x", "axis", "axis", id="plot.axis", tooltip="over training steps, or over time"),
        Binding("l", "log", "log", id="plot.log", tooltip="logarithmic values, or linear ones"),
        Binding(
            "plus",
            "smooth(1)",
            "smooth",
            id="plot.smoother",
            key_display="+",
            tooltip="a running average (EMA, as in TensorBoard); what was measured stays behind it",
        ),
        Binding("equals_sign", "smooth(1)", "smooth", id="plot.smooth", show=False, key_display="="),
        Binding("minus", "smooth(-1)", "smooth less", id="plot.rougher", show=False, key_display="-"),
        Binding("w", "zoom(True)", "zoom", id="plot.closer", tooltip="around the cursor"),
        Binding("s", "zoom(False)", "zoom out", id="plot.wider", show=False),
        Binding("a", "pan(False)", "pan left", id="plot.pan_left", show=False),
        Binding("d", "pan(True)", "pan right", id="plot.pan_right", show=False),
        Binding("0", "fit", "show all", id="plot.fit", show=False),
    )
    MOVING_BINDINGS: ClassVar[tuple[BindingType, ...]] = (
        Binding("left", "point(-1)", "point before", id="move.point_back", show=False),
        Binding("right", "point(1)", "next point", id="move.point_on", show=False),
        Binding("shift+left,ctrl+left", "leap(False)", "leap back", id="move.leap_back", show=False),
        Binding("shift+right,ctrl+right", "leap(True)", "leap on", id="move.leap_on", show=False),
        Binding("home", "edge(True)", "first point", id="move.first", show=False),
        Binding("end", "edge(False)", "last point", id="move.last", show=False, tooltip="and on with those to come"),
        Binding("up", "list(-1)", "series above", id="move.up", show=False),
        Binding("down", "list(1)", "series below", id="move.down", show=False),
        Binding("pageup", "list(-10)", "page up", id="move.page_up", show=False),
        Binding("pagedown", "list(10)", "page down", id="move.page_down", show=False),
    )
    LEAVING_BINDINGS: ClassVar[tuple[BindingType, ...]] = (
        Binding("q", "leave", "back", id="plot.leave"),
        Binding("escape", "leave", "back", id="plot.escape", show=False),
    )
    plot: PlotState | None = None
    """None until the record is read."""

    def paint(self) -> None:
        """Show everything as it stands."""
        raise NotImplementedError

    def action_axis(self) -> None:
        """Over training steps, or over time."""
        if self.plot is not None:
            self.plot.turn_axis()
            self.paint()

    def action_log(self) -> None:
        """Logarithmic values, or linear ones."""
        if self.plot is not None:
            self.plot.log = not self.plot.log
            self.paint()

    def action_smooth(self, by: int) -> None:
        """More of a running average, or less."""
        if self.plot is not None:
            self.plot.smoother(by)
            self.paint()

    def action_zoom(self, closer: bool) -> None:
        """Closer to the cursor, or away from it."""
        if self.plot is not None:
            self.plot.zoom(_ZOOM if closer else 1 / _ZOOM)
            self.paint()

    def action_pan(self, right: bool) -> None:
        """To the side."""
        if self.plot is not None:
            self.plot.pan(_PAN if right else -_PAN)
            self.paint()

    def action_fit(self) -> None:
        """All of it."""
        if self.plot is not None:
            self.plot.fit()
            self.paint()

    def action_point(self, by: int) -> None:
        """The cursor to the next point, or one before."""
        if self.plot is not None:
            self.plot.move(by)
            self.paint()

    def action_leap(self, right: bool) -> None:
        """The cursor by a tenth of what is shown."""
        if self.plot is not None:
            self.plot.move_part(_LEAP if right else -_LEAP)
            self.paint()

    def action_edge(self, first: bool) -> None:
        """The cursor to the first point or the last."""
        if self.plot is not None:
            self.plot.to_edge(first=first)
            self.paint()

    def action_list(self, by: int) -> None:
        """The list's cursor."""
        self.query_one(PlotList).move(by)

    def action_leave(self) -> None:
        """Go back."""
        self.app.pop_screen()

    @on(PlotCanvas.Pointed)
    def point_there(self, message: PlotCanvas.Pointed) -> None:
        """The cursor to where a person pointed."""
        if self.plot is not None:
            self.plot.put(self.plot.shown.low + message.share * self.plot.shown.span)
            self.paint()

    @on(PlotCanvas.Wheeled)
    def wheel(self, message: PlotCanvas.Wheeled) -> None:
        """Closer, or away."""
        self.action_zoom(message.closer)
