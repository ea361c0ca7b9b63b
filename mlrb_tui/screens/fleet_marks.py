"""Marks on runs of the fleet, and the plot that compares the marked ones."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen

from agent.record.home import Home, RunFolder
from agent.record.values import RunSummary
from mlrb_tui.widgets.run_table import RunTable

MOST_MARKS = 9
"""As many as there are signs of one character."""


class Marking(Screen[None]):
    """Runs are marked one by one, and stay so while the list changes."""

    MARKING_BINDINGS: ClassVar[tuple[BindingType, ...]] = (
        Binding("space", "mark", "mark", id="fleet.mark", show=False, key_display="space",
                tooltip="mark this run for a comparison, or no longer"),
        Binding("m", "plots", "plots", id="fleet.plots",
                tooltip="the curves of the marked runs over each other, or those of this one"),
    )  # fmt: skip
    home: Home
    marked: tuple[str, ...] = ()
    """The ids of the marked runs, in the order of their signs."""

    def summary_of(self, run: str) -> RunSummary | None:
        """What is known of that run; None where it is gone."""
        raise NotImplementedError

    @property
    def in_ascii(self) -> bool:
        """Whether signs beyond ASCII are left out."""
        raise NotImplementedError

    def action_mark(self) -> None:
        """Mark the run under the cursor, or take its mark away; the cursor goes on to the next."""
        table = self.query_one(RunTable)
        run = table.run_at_cursor
        if run is None:
            return
        if run not in self.marked and len(self.marked) >= MOST_MARKS:
            self.app.notify(f"{MOST_MARKS} runs at most are compared; space takes a mark away", timeout=3)
            return
        others = tuple(each for each in self.marked if each != run)
        self.marked = others if run in self.marked else (*others, run)
        table.mark(self.marked)
        table.action_move(1)
        self.refresh_bindings()

    def action_plots(self) -> None:
        """Plot the marked runs, or the one under the cursor."""
        wanted = self.marked or tuple(run for run in (self.query_one(RunTable).run_at_cursor,) if run is not None)
        summaries = [summary for run in wanted if (summary := self.summary_of(run)) is not None]
        if not summaries:
            return
        from mlrb_tui.screens.compare import CompareScreen

        runs = [(RunFolder(self.home.runs / summary.run), summary) for summary in summaries]
        self.app.push_screen(CompareScreen(runs, ascii_only=self.in_ascii))
