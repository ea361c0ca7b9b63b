"""What plots of one run and of several have in common on the screen: head, canvas, list, readout."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal

from mlrb_tui.screens.plot_keys import PlotKeys
from mlrb_tui.views import plot_list
from mlrb_tui.views.plot_list import ListItem
from mlrb_tui.views.plot_state import PlotState
from mlrb_tui.views.rows import Row, Span, row
from mlrb_tui.widgets.lines import Lines
from mlrb_tui.widgets.plot_canvas import PlotCanvas, cursor_lines
from mlrb_tui.widgets.plot_list import PlotList
from mlrb_tui.widgets.row_lines import KeyLine

_CURSOR = Span("│", "cursor")


class PlotFrame(PlotKeys):
    """Lays out the parts, and fills them with what whoever inherits hands over."""

    CSS_PATH = "plots.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-slim"), (60, "-narrow"), (120, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-low"), (12, "-high")]  # noqa: RUF012

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__(classes="-ascii" if ascii_only else "")

    def compose(self) -> ComposeResult:
        yield Lines(id="plot-header")
        with Horizontal(id="plot-body"):
            yield PlotCanvas(id="plot-canvas")
            yield PlotList(id="plot-list")
        yield Lines(id="plot-readout")
        yield KeyLine(applies=self.applies, id="plot-keys")

    def on_mount(self) -> None:
        for lines in self.query(Lines):
            lines.ascii_only = self.has_class("-ascii")
        self.query_one(PlotCanvas).say(plot_list.READING)

    def on_unmount(self) -> None:
        self.workers.cancel_node(self)

    def on_resize(self) -> None:
        """Every part is laid out for another size."""
        self.call_after_refresh(self.paint)

    def applies(self, binding: Binding) -> bool:
        """Whether a key makes sense as things stand."""
        return True

    @property
    def standing(self) -> bool:
        """Whether there is anything to paint, and to paint on."""
        return self.plot is not None and self.is_attached and bool(self.query(PlotCanvas))

    def width_of(self, part: str) -> int:
        """How wide that part is."""
        return self.query_one(f"#plot-{part}", Lines).size.width

    def show_words(self, head: Sequence[Row], items: Sequence[ListItem], readout: Row) -> None:
        """Show what is said around the curves."""
        self.query_one("#plot-header", Lines).show(list(head))
        self.query_one(PlotList).take(items)
        self.query_one("#plot-readout", Lines).show([row(" ", *readout)])

    def show_curves(self, plot: PlotState, nothing: Sequence[Row], moment: float | None = None) -> None:
        """Show the curves, with the cursor and a moment of the run, or say that there are none."""
        canvas = self.query_one(PlotCanvas)
        if not plot.places:
            canvas.say(nothing)
            return
        panels, left_out = plot.panels(canvas.size.width, canvas.size.height - 1)
        note = row(Span(f"{left_out} more do not fit; a larger terminal shows them", "warn")) if left_out else row()
        window = plot.shown
        places = [(moment, Span("┊", "cursor-past")), (plot.at, _CURSOR)]
        shares = [(None if x is None else (x - window.low) / window.span, span) for x, span in places]
        canvas.plot(panels, cursor_lines(shares), note)
