"""Several runs in one plot: the same metric of each, from its own start; live ones go on."""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType

from agent.errors import RecordError
from agent.record import events as ev
from agent.record.home import RunFolder
from agent.record.log import EventReader
from agent.record.text import one_line
from agent.record.values import RunSummary
from mlrb_tui.screens.plot_frame import PlotFrame
from mlrb_tui.screens.plot_keys import PlotKeys
from mlrb_tui.views import plot_list, plot_runs, run_series
from mlrb_tui.views.plot_runs import RunsPlot
from mlrb_tui.views.rows import Span, apart, row
from mlrb_tui.views.run_series import RunSeries
from mlrb_tui.widgets.plot_canvas import PlotCanvas
from mlrb_tui.widgets.plot_list import PlotList

_LOOK_EVERY_S = 1.0


class CompareScreen(PlotFrame):
    """The runs that were marked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "choose", "choose", id="plot.choose", key_display="space",
                tooltip="draw this metric; hide this run, or show it again"),
        *PlotKeys.LOOKING_BINDINGS,
        *PlotKeys.LEAVING_BINDINGS,
        *PlotKeys.MOVING_BINDINGS,
    ]  # fmt: skip

    def __init__(self, runs: Sequence[tuple[RunFolder, RunSummary]], *, ascii_only: bool = False) -> None:
        super().__init__(ascii_only=ascii_only)
        self.plot: RunsPlot | None = None
        self._runs = runs

    def on_mount(self) -> None:
        super().on_mount()
        self._keep_reading()

    @work(group="read")
    async def _keep_reading(self) -> None:
        """Read all runs, then look for what is new, in a thread; one look at a time."""
        readable, troubles = await asyncio.to_thread(_read, self._runs)
        for said in troubles:
            self.app.notify(said, severity="warning", markup=False)
        if not readable:
            self.query_one(PlotCanvas).say([row(Span("none of these runs can be read", "bad"))])
            return
        self.plot = RunsPlot([(summary, series) for _, summary, series in readable])
        self.paint()
        folders = [(folder, series) for folder, _, series in readable]
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            before = self.plot.key()
            for series, events, upto in await asyncio.to_thread(_news, folders):
                series.take_all(events, upto)
            if self.plot.key() != before:
                self.plot.choose_first()
                self.plot.follow()
                self.paint()

    def paint(self) -> None:
        """Show everything as it stands."""
        plot = self.plot
        if plot is None or not self.standing:
            return
        width = self.width_of("header")
        head = [
            apart(plot_runs.title(plot), (*plot_list.how(plot), Span(" ")), width),
            row(" ", *plot_runs.caution(plot)),
        ]
        # Where there is one line only, it is not the one that warns which is left out.
        if self.has_class("-low"):
            head = [row(" ", *plot_runs.caution(plot), "   ", *plot_list.how(plot))]
        self.show_words(head, plot_runs.items(plot, max(10, self.width_of("list") - 1)), plot_runs.readout(plot))
        self.show_curves(plot, plot_list.nothing(min(90, self.width_of("canvas") - 4)))

    @on(PlotList.Clicked)
    def action_choose(self) -> None:
        """Draw the metric under the list's cursor, or hide that run."""
        item = self.query_one(PlotList).at_cursor
        if self.plot is not None and item is not None:
            self.plot.choose(item.choice)
            self.paint()


def _read(
    runs: Sequence[tuple[RunFolder, RunSummary]],
) -> tuple[list[tuple[RunFolder, RunSummary, RunSeries]], list[str]]:
    """What can be read, and what is wrong with the rest."""
    found, troubles = [], []
    for folder, summary in runs:
        try:
            with EventReader(folder.events) as reader:
                found.append((folder, summary, run_series.read(reader)))
        except RecordError as error:
            troubles.append(one_line(f"{folder.run}: {error.message}"))
    return found, troubles


def _news(runs: Sequence[tuple[RunFolder, RunSeries]]) -> list[tuple[RunSeries, list[ev.Event], int]]:
    """What was written since, run by run; a run that is gone has no news."""
    found = []
    for folder, series in runs:
        with contextlib.suppress(RecordError), EventReader(folder.events) as reader:
            upto = reader.last_seq()
            if upto > series.last:
                found.append((series, run_series.written_since(reader, series.last, upto), upto))
    return found
