"""The plots of one run: its series with a cursor; live they go on, and a point leads to its moment in the run."""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType

from agent.errors import RecordError
from agent.record.log import EventReader
from agent.record.text import one_line
from agent.record.values import RunSummary
from mlrb_tui.screens.plot_frame import PlotFrame
from mlrb_tui.screens.plot_keys import PlotKeys
from mlrb_tui.views import plot_list, run_series
from mlrb_tui.views.metrics import Metric
from mlrb_tui.views.plot_curves import Stretch
from mlrb_tui.views.plot_run import RunPlot
from mlrb_tui.views.rows import Span, apart, row
from mlrb_tui.views.run import RunView
from mlrb_tui.widgets.plot_canvas import PlotCanvas
from mlrb_tui.widgets.plot_list import PlotList

_TICK_S = 0.5


class PlotScreen(PlotFrame):
    """Everything there is in the record, with the moment marked at which the run's screen stands."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "choose", "choose", id="plot.choose", key_display="space", tooltip="draw this series too"),
        Binding("enter", "go_there", "go there", id="plot.go", key_display="enter",
                tooltip="show this moment in the run's screen"),
        *PlotKeys.LOOKING_BINDINGS,
        *PlotKeys.LEAVING_BINDINGS,
        Binding("o", "only", "only this", id="plot.only", tooltip="draw this series alone"),
        Binding("left_square_bracket", "training(-1)", "training", id="plot.training_back", key_display="[",
                tooltip="the training before; ] for the one after"),
        Binding("right_square_bracket", "training(1)", "next training", id="plot.training_on", key_display="]",
                show=False),
        *PlotKeys.MOVING_BINDINGS,
    ]  # fmt: skip

    def __init__(self, view: RunView, go_to: Callable[[int], None], *, ascii_only: bool = False) -> None:
        super().__init__(ascii_only=ascii_only)
        self.plot: RunPlot | None = None
        self._view = view
        self._go_to = go_to
        self._refused: Stretch | None = None
        self._shown_at: object = None

    def on_mount(self) -> None:
        super().on_mount()
        self._read()
        self.set_interval(_TICK_S, self._tick)

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────

    @work(group="read")
    async def _read(self) -> None:
        try:
            series = await asyncio.to_thread(_whole, self._view.reader)
        except RecordError as error:
            self.query_one(PlotCanvas).say([row(Span(one_line(error.message), "bad"))])
            return
        self.plot = RunPlot(series)
        if not self._view.at_end:
            self.plot.stand_at(self._view.at)
        self.paint()

    def _tick(self) -> None:
        """Take in what is new; the run's screen goes on behind this one, and may be playing."""
        plot = self.plot
        if plot is None:
            return
        newest = self._view.newest
        if newest > plot.series.last:
            growing = [plot.series]
            if plot.near is not None and plot.near[1].last >= plot.series.last:
                growing.append(plot.near[1])
            try:
                run_series.take_new(self._view.reader, growing, plot.series.last, newest)
            except RecordError as error:
                self.app.notify(one_line(error.message), severity="error", markup=False)
                return
            plot.choose_first()
            plot.follow()
        if self._shown_at != (plot.key(), self._view.position):
            self.paint()

    @work(group="closer", exclusive=True)
    async def _read_closer(self, stretch: Stretch) -> None:
        plot = self.plot
        assert plot is not None
        try:
            found = await asyncio.to_thread(_closer, self._view.reader, stretch, plot)
        except RecordError as error:
            self.app.notify(one_line(error.message), severity="error", markup=False)
            found = None
        if found is None:
            self._refused = stretch
        else:
            plot.near = (stretch, found)
            self.paint()

    # ── what is shown ────────────────────────────────────────────────────────────────────────────────────

    def paint(self) -> None:
        """Show everything as it stands."""
        plot = self.plot
        if plot is None or not self.standing:
            return
        self._shown_at = (plot.key(), self._view.position)
        past = not self._view.at_end
        width = self.width_of("header")
        mark = row(Span("┊", "cursor-past"), Span(" the run's screen  ", "dim")) if past else row()
        head = [
            apart(_about(self._view.summary), (*plot_list.how(plot), Span(" ")), width),
            apart(row(" ", *plot_list.training(plot)), mark, width),
        ]
        self.show_words(head, plot_list.items(plot, max(10, self.width_of("list") - 1)), plot_list.readout(plot))
        nothing = plot_list.nothing(min(90, self.width_of("canvas") - 4))
        self.show_curves(plot, nothing, plot.place_of(self._view.at) if past and plot.places else None)
        if (stretch := plot.wanted_stretch()) is not None and stretch != self._refused:
            self._read_closer(stretch)

    def applies(self, binding: Binding) -> bool:
        """Whether a key makes sense as things stand."""
        if (binding.id or "") == "plot.training_back":
            return self.plot is not None and len(self.plot.series.trainings()) > 1
        return True

    # ── keys ─────────────────────────────────────────────────────────────────────────────────────────────

    def _chosen(self) -> tuple[RunPlot, Metric] | None:
        item = self.query_one(PlotList).at_cursor
        if self.plot is None or item is None or not isinstance(item.choice, Metric):
            return None
        return self.plot, item.choice

    @on(PlotList.Clicked)
    def action_choose(self) -> None:
        """Draw the series under the list's cursor too, or no longer."""
        if (chosen := self._chosen()) is not None:
            if not chosen[0].toggle(chosen[1]):
                self.app.notify("nine series at a time; o draws this one alone", severity="warning", timeout=3)
            self.paint()

    def action_only(self) -> None:
        """Draw the series under the list's cursor alone."""
        if (chosen := self._chosen()) is not None:
            chosen[0].only(chosen[1])
            self.paint()

    def action_training(self, by: int) -> None:
        """Look at another training of the run."""
        if self.plot is not None:
            self.plot.step_training(by)
            self.paint()

    def action_go_there(self) -> None:
        """Back to the run's screen, at the moment under the cursor."""
        if self.plot is not None and (at := self.plot.moment) is not None:
            self.app.pop_screen()
            self._go_to(self._view.reader.seq_at(at))


def _about(summary: RunSummary) -> tuple[Span, ...]:
    told = " · ".join(one_line(part, 40) for part in (summary.task, summary.scale, summary.model) if part)
    return row(Span(" plots  ", "strong"), Span(f"{one_line(summary.run, 8)}  "), Span(told, "dim"))


def _whole(reader: EventReader) -> run_series.RunSeries:
    with EventReader(reader.path) as own:
        return run_series.read(own)


def _closer(reader: EventReader, stretch: Stretch, plot: RunPlot) -> run_series.RunSeries | None:
    with EventReader(reader.path) as own:
        return run_series.read_closer(own, stretch.first_at, stretch.last_at, plot.series)
