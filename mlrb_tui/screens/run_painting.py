"""What a run's screen shows, painted from its view: all at once, or what is new."""

import time

from textual.binding import Binding

from agent.record.lease import Standing
from agent.record.values import RunSummary
from mlrb_tui.control.recording import Recording
from mlrb_tui.screens.run_steering import RunSteering
from mlrb_tui.views import alarms, control
from mlrb_tui.views.panels import Shown
from mlrb_tui.views.run import RunView
from mlrb_tui.views.steering import ALARMS, applicable
from mlrb_tui.views.timeline import Moment
from mlrb_tui.widgets.run_parts import RunHeader, RunPanels, RunStrip
from mlrb_tui.widgets.time_line import Legend, TimeClock, TimeLine
from mlrb_tui.widgets.transcript import TranscriptLines

_SAID_FOR_S = 6.0
_BYTES_A_SECOND = 14_000
_LONGEST_WAIT_S = 0.15
"""Frames come slower the more they repaint, but never slower than this."""


class RunPainting(RunSteering):
    """Paints the parts of the screen."""

    recording: Recording
    view: RunView
    read_only: bool
    stop: str
    next_frame = 0.0
    """Not before then is the next frame painted, on the monotonic clock."""
    news = False
    """There is something that is not painted yet."""
    panels_late = False
    """The panels show an earlier moment than all else."""
    live = False
    """Whether a runner has the run."""
    said = ("", 0.0)
    """The word that is shown to the person, and until when on the monotonic clock."""

    @property
    def lost(self) -> bool:
        """Whether the run has not ended but nobody runs it any more."""
        raise NotImplementedError

    def applies(self, binding: Binding) -> bool:
        """Whether a key makes sense as the run stands."""
        if binding.id == "run.workers":
            return bool(self.view.summary.crew.plans)
        return super().applies(binding)

    def paint_new(self, *, panels: bool) -> None:
        """Show what is new; the panels with it, or at the next full second."""
        self.news, self.panels_late = False, not panels
        shown = self._shown()
        cost = self.query_one(TranscriptLines).update(shown.now)
        cost += self._paint_header(shown)
        if panels:
            self._paint_panels(shown)
        self.next_frame = time.monotonic() + min(_LONGEST_WAIT_S, cost / _BYTES_A_SECOND)

    def paint(self) -> None:
        """Show everything as it stands at this moment."""
        if not self.is_attached or not self.query("#run-panels"):
            return
        shown = self._shown()
        self.query_one(TranscriptLines).update(shown.now)
        self._paint_header(shown)
        self._paint_panels(shown)

    def _shown(self) -> Shown:
        now = self.view.now(time.time(), live=self.live)
        killing = any(asked.verb == "kill" for asked in self.view.transcript.open_requests)
        return Shown(
            summary=self.view.summary_at(now), readings=self.view.readings, now=now,
            killing=killing and self.view.summary.state != "ended",
        )  # fmt: skip

    def _paint_header(self, shown: Shown) -> int:
        text, until = self.said
        if text and time.monotonic() > until:
            self.said = (text := "", 0.0)
        requests = self.view.transcript.open_requests if self.live or not self.view.at_end else []
        self._offer_keys(shown.summary)
        header = self.query_one(RunHeader)
        standing = self.standing if self.live or self.lost else Standing()
        asked = control.asked(standing, self.viewer)
        steers = control.steers(standing, self.viewer)
        past = not (self.view.at_end and (self.live or self.lost))
        return header.update(shown, lost=self.lost, requests=requests, said=text or asked, steers=steers, past=past)

    def _offer_keys(self, summary: RunSummary) -> None:
        """Of a moment that has passed nothing can be asked; keys then stand for the run as it is."""
        wrong = frozenset((ALARMS,)) if alarms.standing(summary) else frozenset[str]()
        if self.recording.folder is None or self.read_only or not (self.live or self.lost):
            self.offer(wrong)
        elif self.view.at_end:
            pausing = any(asked.verb == "pause" for asked in self.view.transcript.open_requests)
            self.offer(applicable(summary, lost=self.lost, pausing=pausing) | wrong)

    def _paint_panels(self, shown: Shown) -> None:
        self.query_one(RunPanels).update(shown)
        self.query_one(RunStrip).update(shown)
        state, tone = self._where()
        last = max(self.view.last_at, shown.now)
        moment = Moment(self.view.first_at, last, shown.now, state, tone, self.view.at_end)
        self.query_one(TimeClock).update(moment)
        self.query_one(TimeLine).update(moment, self.view.marks)
        self.query_one(Legend).update(self.stop, steering=self.live)

    def _where(self) -> tuple[str, str]:
        """What the time line says of the moment shown."""
        player = self.view.player
        if player.playing:
            return f"▶ ×{player.speed}", "cursor-past"
        if not self.view.at_end:
            return f"replay ×{player.speed}", "cursor-past"
        return ("LIVE", "cursor-live") if self.live else ("end", "dim")

    def say(self, text: str) -> None:
        """Show a word to the person for some seconds."""
        self.said = (text, time.monotonic() + _SAID_FOR_S)
        self._paint_header(self._shown())
