"""One run, live or recorded: its transcript, its panels, its time line, and the keys that steer it."""

import asyncio
import time
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import Key
from textual.widgets import Input

from agent.errors import RecordError
from agent.record.home import RunFolder
from agent.record.inbox import Approve
from agent.record.lease import Standing
from agent.record.text import one_line
from agent.record.values import Limits, RunSummary, WantedApproval
from agent.record.viewer import Viewer
from mlrb_tui.control.recording import Recording
from mlrb_tui.screens.answering import Answering
from mlrb_tui.screens.run_moving import RunMoving
from mlrb_tui.screens.run_steering import STEERING, STEERING_KEYS, RunSteering
from mlrb_tui.views import control, search
from mlrb_tui.views.panels import Shown
from mlrb_tui.views.receipts import standing
from mlrb_tui.views.run import RunView
from mlrb_tui.views.steering import applicable
from mlrb_tui.views.timeline import Moment
from mlrb_tui.widgets.lines import Lines
from mlrb_tui.widgets.opaque import OpaqueScreen
from mlrb_tui.widgets.row_lines import KeyLine
from mlrb_tui.widgets.run_parts import RunHeader, RunPanels, RunStrip
from mlrb_tui.widgets.time_line import Legend, TimeClock, TimeLine
from mlrb_tui.widgets.transcript import TranscriptLines

_WIDTHS = ((0, "-slim"), (40, "-narrow"), (100, "-mid"), (130, "-wide"))
_HEIGHTS = ((0, "-tiny"), (8, "-low"), (14, "-short"), (28, "-high"))
_TICK_S = 0.1
_SAID_FOR_S = 6.0
_BYTES_A_SECOND = 14_000
_LONGEST_WAIT_S = 0.15
"""Frames come slower the more they repaint, but never slower than this."""


class RunScreen(RunMoving, RunSteering, Answering, OpaqueScreen):
    """A run at one moment of it; at its end, it follows."""

    CSS_PATH = "run.tcss"
    AUTO_FOCUS = "#run-transcript"
    HORIZONTAL_BREAKPOINTS = list(_WIDTHS)  # noqa: RUF012
    VERTICAL_BREAKPOINTS = list(_HEIGHTS)  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        *Answering.ANSWER_BINDINGS,
        *RunSteering.STEERING_BINDINGS,
        *RunSteering.CONTROL_BINDINGS,
        *RunMoving.MOVING_BINDINGS,
        Binding("slash", "search", "search", id="run.search", key_display="/", tooltip="find a text in this run"),
        Binding("n", "search_on(True)", "next match", id="run.next", show=False),
        Binding("N", "search_on(False)", "previous match", id="run.previous", show=False),
        Binding("y", "copy", "copy", id="run.copy", show=False, tooltip="the step to a file and the clipboard"),
        Binding("w", "wrap", "wrap", id="run.wrap", show=False, tooltip="wrap long lines, or cut them"),
        Binding("t", "thoughts", "thoughts", id="run.thoughts", show=False, tooltip="hide or show what it thinks"),
        Binding("q", "leave", "back", id="run.leave", tooltip="the run goes on"),
        Binding("escape", "leave", "back", id="run.escape", show=False),
    ]

    def __init__(
        self, recording: Recording, *, viewer: Viewer | None = None, read_only: bool = False, ascii_only: bool = False
    ) -> None:
        super().__init__(classes="-ascii" if ascii_only else "")
        self.recording = recording
        self.viewer = viewer or Viewer.here("app")
        self.read_only = read_only
        self.view = RunView(recording.reader)
        self._live = recording.live
        self._said = ("", 0.0)
        self._second = 0
        self._ticked = time.monotonic()
        self._next_frame = 0.0
        self._needle = ""
        self._new = False
        """There is something that is not painted yet."""
        self._panels_late = False
        """The panels show an earlier moment than all else."""
        self.sending = asyncio.Lock()

    def compose(self) -> ComposeResult:
        yield RunHeader(id="run-header")
        with Horizontal(id="run-body"):
            yield TranscriptLines(self.view, id="run-transcript")
            yield RunPanels(id="run-panels")
        yield RunStrip(id="run-strip")
        with Horizontal(id="run-time"):
            yield TimeLine(id="run-timeline")
            yield TimeClock(id="run-clock")
        yield Legend(id="run-legend")
        yield Input(id="run-search", placeholder="find in this run", compact=True)
        yield KeyLine(applies=self.applies, id="run-keys")

    def on_mount(self) -> None:
        for lines in self.query(Lines):
            lines.ascii_only = self.has_class("-ascii")
        self.view.read_marks()
        self.watch_control(self.recording.folder if self._live or self.lost else None)
        self.set_interval(_TICK_S, self._tick)
        if not self.view.marks_complete:
            self.run_worker(self._read_marks(), group="marks")

    def on_unmount(self) -> None:
        # The manager is the app's: `cancel_all` would end the fleet's own look too.
        self.workers.cancel_node(self)
        self.leave_control(self.recording.folder)
        self.recording.close()

    def on_resize(self) -> None:
        """Every part is laid out for another size."""
        self.call_after_refresh(self.paint)

    # ── what is shown ────────────────────────────────────────────────────────────────────────────────────

    def _tick(self) -> None:
        """Take in what is new; paint if anything is, and the clocks once a second."""
        now = time.monotonic()
        passed, self._ticked = now - self._ticked, now
        second = int(time.time())
        new_second, self._second = second != self._second, second
        if new_second:
            self._look_whether_live()
        self._take_in(passed)
        if new_second or self._new:
            self.look_at_control()
        if self.asked is not None:
            self.say_answer(standing(self.view.reader, self.asked))
        if now >= self._next_frame and self._new:
            self._paint_new(panels=new_second or self.view.player.playing)
        elif new_second and (self._live or self._said[0] or self._panels_late):
            self._paint_new(panels=True)

    def _take_in(self, passed: float) -> None:
        try:
            played = self.view.play_on(passed)
            self._new = self.view.poll() > 0 or played or self._new
        except RecordError as error:
            self.say(one_line(error.message))

    def _look_whether_live(self) -> None:
        if self._live != (live := self.recording.live):
            # A runner that is gone writes nothing more: that alone is news.
            self._live, self._new = live, True
            self.refresh_bindings()

    def _paint_new(self, *, panels: bool) -> None:
        self._new, self._panels_late = False, not panels
        shown = self._shown()
        cost = self.query_one(TranscriptLines).update(shown.now)
        cost += self._paint_header(shown)
        if panels:
            self._paint_panels(shown)
        self._next_frame = time.monotonic() + min(_LONGEST_WAIT_S, cost / _BYTES_A_SECOND)

    def paint(self) -> None:
        """Show everything as it stands at this moment."""
        if not self.is_attached or not self.query("#run-panels"):
            return
        shown = self._shown()
        self.query_one(TranscriptLines).update(shown.now)
        self._paint_header(shown)
        self._paint_panels(shown)

    def _shown(self) -> Shown:
        now = self.view.now(time.time(), live=self._live)
        killing = any(asked.verb == "kill" for asked in self.view.transcript.open_requests)
        return Shown(
            summary=self.view.summary_at(now), readings=self.view.readings, now=now,
            killing=killing and self.view.summary.state != "ended",
        )  # fmt: skip

    def _paint_header(self, shown: Shown) -> int:
        text, until = self._said
        if text and time.monotonic() > until:
            self._said = (text := "", 0.0)
        requests = self.view.transcript.open_requests if self._live or not self.view.at_end else []
        self._offer_keys(shown.summary)
        header = self.query_one(RunHeader)
        standing = self.standing if self._live or self.lost else Standing()
        asked = control.asked(standing, self.viewer)
        steers = control.steers(standing, self.viewer)
        return header.update(shown, lost=self.lost, requests=requests, said=text or asked, steers=steers)

    def _offer_keys(self, summary: RunSummary) -> None:
        """Of a moment that has passed nothing can be asked; keys then stand for the run as it is."""
        if self.recording.folder is None or self.read_only or not (self._live or self.lost):
            self.offer(frozenset())
        elif self.view.at_end:
            pausing = any(asked.verb == "pause" for asked in self.view.transcript.open_requests)
            self.offer(applicable(summary, lost=self.lost, pausing=pausing))

    def _paint_panels(self, shown: Shown) -> None:
        self.query_one(RunPanels).update(shown)
        self.query_one(RunStrip).update(shown)
        state, tone = self._where()
        last = max(self.view.last_at, shown.now)
        moment = Moment(self.view.first_at, last, shown.now, state, tone, self.view.at_end)
        self.query_one(TimeClock).update(moment)
        self.query_one(TimeLine).update(moment, self.view.marks)
        self.query_one(Legend).update(self.stop, steering=self._live)

    def _where(self) -> tuple[str, str]:
        """What the time line says of the moment shown."""
        player = self.view.player
        if player.playing:
            return f"▶ ×{player.speed}", "cursor-past"
        if not self.view.at_end:
            return f"replay ×{player.speed}", "cursor-past"
        return ("LIVE", "cursor-live") if self._live else ("end", "dim")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that steer are there only where there is a run to steer."""
        return self._live or self.lost or action not in STEERING

    def on_key(self, event: Key) -> None:
        """A steering key that does nothing here is told why."""
        if not (self._live or self.lost) and event.key in STEERING_KEYS and self.steered is None:
            event.stop()

    # ── what steering needs ──────────────────────────────────────────────────────────────────────────────

    @property
    def lost(self) -> bool:
        """Whether the run has not ended but nobody runs it any more."""
        summary = self.view.summary
        gone = self.recording.folder is not None and not self._live and summary.state != "ended"
        return gone and self.view.at_end and summary.seq > 0

    @property
    def steered(self) -> RunFolder | None:
        """The run, if it can be asked anything; else a word about why not."""
        if self.read_only:
            self.say("opened to look only (--read-only)")
        elif self.recording.folder is None:
            self.say("this is a file: there is no run to steer")
        elif not (self.recording.live or self.lost):
            self.say("it has ended: there is nothing to steer")
        else:
            return self.recording.folder
        return None

    @property
    def approving(self) -> bool:
        """Whether calls wait for a person."""
        return self.view.summary.approve

    @property
    def questioned(self) -> tuple[RunFolder, WantedApproval] | None:
        """The question that is shown, if anybody is there to hear the answer."""
        folder, wanted = self.steered, self.view.summary.approval
        if folder is not None and wanted is None:
            self.say("nothing waits for a word")
        elif folder is not None and self.somebody_else_steers(lambda: self.say("answer it now")):
            return None
        return None if folder is None or wanted is None else (folder, wanted)

    def say_word(self, folder: RunFolder, word: Approve) -> None:
        """Send a word to the run."""
        self.ask(word, word.word)

    def word_failed(self, said: str) -> None:
        """Say why a word could not be sent."""
        self.say(one_line(said))

    @property
    def limits(self) -> Limits:
        """The limits that hold now."""
        return self.view.summary.limits

    def say(self, text: str) -> None:
        """Show a word to the person for some seconds."""
        self._said = (text, time.monotonic() + _SAID_FOR_S)
        self._paint_header(self._shown())

    # ── finding and reading ──────────────────────────────────────────────────────────────────────────────

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

    async def _read_marks(self) -> None:
        while self.view.read_marks():
            await asyncio.sleep(0.01)
        self.paint()

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
