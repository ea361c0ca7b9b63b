"""The keys of a run's screen that find, open and copy what stands in its transcript."""

import asyncio
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input

from agent.errors import RecordError
from agent.record.text import one_line
from mlrb_tui.views import search
from mlrb_tui.views.run import RunView
from mlrb_tui.widgets.transcript import TranscriptLines


class RunReading(Screen[None]):
    """Reading a transcript: search, wrap, a block whole, a copy of a step."""

    READING_BINDINGS: ClassVar[tuple[BindingType, ...]] = (
        Binding("slash", "search", "search", id="run.search", key_display="/", tooltip="find a text in this run"),
        Binding("m", "plots", "plots", id="run.plots", tooltip="loss, speed, GPU and more as curves with a cursor"),
        Binding("n", "search_on(True)", "next match", id="run.next", show=False),
        Binding("N", "search_on(False)", "previous match", id="run.previous", show=False),
        Binding("y", "copy", "copy", id="run.copy", show=False, tooltip="the step to a file and the clipboard"),
        Binding("w", "crew", "workers", id="run.workers", tooltip="plan and workers side by side"),
        Binding("z", "wrap", "wrap", id="run.wrap", show=False, tooltip="wrap long lines, or cut them"),
        Binding("t", "thoughts", "thoughts", id="run.thoughts", show=False, tooltip="hide or show what it thinks"),
        Binding("q", "leave", "back", id="run.leave", tooltip="the run goes on"),
        Binding("escape", "leave", "back", id="run.escape", show=False),
    )
    view: RunView
    _needle = ""

    def say(self, text: str) -> None:
        """Show a word to the person."""
        raise NotImplementedError

    def paint(self) -> None:
        """Show everything as it stands at this moment."""
        raise NotImplementedError

    def move_to(self, seq: int) -> None:
        """Show the moment of that event."""
        raise NotImplementedError

    def action_search(self) -> None:
        """Open the line in which to write what to find."""
        box = self.query_one("#run-search", Input)
        box.add_class("-open")
        box.focus()

    @on(Input.Submitted, "#run-search")
    def find(self, event: Input.Submitted) -> None:
        """Find the nearest place before this moment."""
        self._needle = event.value
        self._close_search()
        self.action_search_on(False, stay=True)

    def action_search_on(self, forwards: bool, stay: bool = False) -> None:
        """The next place, or the one before."""
        if self._needle:
            self.query_one(TranscriptLines).needle = self._needle
            start = self.view.position + (1 if stay and not forwards else 0)
            self.run_worker(self._search(start, forwards), group="search", exclusive=True)

    async def _search(self, start: int, forwards: bool) -> None:
        for place in search.places(self.view.reader, self._needle, start=start, forwards=forwards):
            if place is not None:
                self.move_to(place)
                return
            await asyncio.sleep(0)
        self.say(f"“{self._needle}” is nowhere in this run")
        self.paint()

    def _close_search(self) -> None:
        self.query_one("#run-search", Input).remove_class("-open")
        self.query_one(TranscriptLines).focus()

    def action_wrap(self) -> None:
        """Wrap long lines, or cut them."""
        transcript = self.query_one(TranscriptLines)
        transcript.change_options(wrap=not transcript.reading.options.wrap)

    def action_thoughts(self) -> None:
        """Hide or show what the agent thinks."""
        transcript = self.query_one(TranscriptLines)
        transcript.change_options(thoughts=not transcript.reading.options.thoughts)

    def action_copy(self) -> None:
        """The step under the cursor, whole, to a file and to the clipboard."""
        from mlrb_tui.screens.run_copy import copy_step

        block = self.query_one(TranscriptLines).selected
        if block is not None:
            self.say(copy_step(self.app, self.view, block))

    @on(TranscriptLines.Opened)
    def show_detail(self, message: TranscriptLines.Opened) -> None:
        """Show a block whole."""
        from mlrb_tui.screens.step_detail import StepDetail

        try:
            detail = StepDetail(self.view.reader, message.block, upto=lambda: self.view.position)
            detail.set_class(self.has_class("-ascii"), "-ascii")
        except RecordError as error:
            self.say(one_line(error.message))
        else:
            self.app.push_screen(detail)

    def action_plots(self) -> None:
        """All series of the run as curves."""
        from mlrb_tui.screens.plots import PlotScreen

        self.app.push_screen(PlotScreen(self.view, self.move_to, ascii_only=self.has_class("-ascii")))

    def action_crew(self) -> None:
        """The plan and its workers, side by side."""
        if not self.view.summary.crew.plans:
            self.say("one agent works here: there is no plan and no worker")
            return
        from mlrb_tui.screens.workers import WorkersScreen

        self.app.push_screen(WorkersScreen(self, ascii_only=self.has_class("-ascii")))  # type: ignore[arg-type]

    def action_leave(self) -> None:
        """Close the search, forget what was found, or go back; the run goes on."""
        transcript = self.query_one(TranscriptLines)
        if self.query_one("#run-search", Input).has_class("-open"):
            self._close_search()
        elif transcript.needle:
            transcript.needle = ""
            self.paint()
        else:
            self.app.pop_screen()
