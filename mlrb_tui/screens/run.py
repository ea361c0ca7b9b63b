"""One run, live or recorded: its transcript, its panels, its time line, and the keys that steer it."""

import asyncio
import time
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.events import Key
from textual.widgets import Input

from agent.errors import RecordError
from agent.record.home import RunFolder
from agent.record.inbox import Approve
from agent.record.text import one_line
from agent.record.values import Limits, RunSummary, WantedApproval
from agent.record.viewer import Viewer
from mlrb_tui.control.recording import Recording
from mlrb_tui.screens.alarm_keys import AlarmKeys
from mlrb_tui.screens.answering import Answering
from mlrb_tui.screens.run_moving import RunMoving
from mlrb_tui.screens.run_painting import RunPainting
from mlrb_tui.screens.run_reading import RunReading
from mlrb_tui.screens.run_steering import STEERING, STEERING_KEYS, RunSteering
from mlrb_tui.views.receipts import standing
from mlrb_tui.views.run import RunView
from mlrb_tui.widgets.lines import Lines
from mlrb_tui.widgets.opaque import OpaqueScreen
from mlrb_tui.widgets.row_lines import KeyLine
from mlrb_tui.widgets.run_parts import RunHeader, RunPanels, RunStrip
from mlrb_tui.widgets.time_line import Legend, TimeClock, TimeLine
from mlrb_tui.widgets.transcript import TranscriptLines

_WIDTHS = ((0, "-slim"), (40, "-narrow"), (100, "-mid"), (130, "-wide"))
_HEIGHTS = ((0, "-tiny"), (8, "-low"), (14, "-short"), (28, "-high"))
_TICK_S = 0.1


class RunScreen(RunPainting, RunMoving, RunReading, Answering, AlarmKeys, OpaqueScreen):
    """A run at one moment of it; at its end, it follows."""

    CSS_PATH = "run.tcss"
    AUTO_FOCUS = "#run-transcript"
    HORIZONTAL_BREAKPOINTS = list(_WIDTHS)  # noqa: RUF012
    VERTICAL_BREAKPOINTS = list(_HEIGHTS)  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        *AlarmKeys.ALARM_BINDINGS,
        *Answering.ANSWER_BINDINGS,
        *RunSteering.STEERING_BINDINGS,
        *RunSteering.CONTROL_BINDINGS,
        *RunMoving.MOVING_BINDINGS,
        *RunReading.READING_BINDINGS,
    ]

    def __init__(
        self, recording: Recording, *, viewer: Viewer | None = None, read_only: bool = False, ascii_only: bool = False
    ) -> None:
        super().__init__(classes="-ascii" if ascii_only else "")
        self.recording = recording
        self.viewer = viewer or Viewer.here("app")
        self.read_only = read_only
        self.view = RunView(recording.reader)
        self.live = recording.live
        self._second = 0
        self._ticked = time.monotonic()
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
        self.watch_control(self.recording.folder if self.live or self.lost else None)
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
        if new_second or self.news:
            self.look_at_control()
        if self.asked is not None:
            self.say_answer(standing(self.view.reader, self.asked))
        if now >= self.next_frame and self.news:
            self.paint_new(panels=new_second or self.view.player.playing)
        elif new_second and (self.live or self.said[0] or self.panels_late):
            self.paint_new(panels=True)

    def _take_in(self, passed: float) -> None:
        try:
            played = self.view.play_on(passed)
            self.news = self.view.poll() > 0 or played or self.news
        except RecordError as error:
            self.say(one_line(error.message))
        if self.live and self.view.at_end:
            self.hear_alarms((self.view.summary,))

    def _look_whether_live(self) -> None:
        if self.live != (live := self.recording.live):
            # A runner that is gone writes nothing more: that alone is news.
            self.live, self.news = live, True
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that steer are there only where there is a run to steer."""
        return self.live or self.lost or action not in STEERING

    def on_key(self, event: Key) -> None:
        """A steering key that does nothing here is told why."""
        if not (self.live or self.lost) and event.key in STEERING_KEYS and self.steered is None:
            event.stop()

    # ── what steering needs ──────────────────────────────────────────────────────────────────────────────

    @property
    def lost(self) -> bool:
        """Whether the run has not ended but nobody runs it any more."""
        summary = self.view.summary
        gone = self.recording.folder is not None and not self.live and summary.state != "ended"
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
    def alarmed(self) -> tuple[RunSummary, float]:
        """The run, at the moment that is shown."""
        now = self.view.now(time.time(), live=self.live)
        return self.view.summary_at(now), now

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

    async def _read_marks(self) -> None:
        while self.view.read_marks():
            await asyncio.sleep(0.01)
        self.paint()
