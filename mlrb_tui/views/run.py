"""One run as a screen sees it: a moment, and everything as it stood then. Live and replay are the same thing."""

from agent.record import events as ev
from agent.record import queries
from agent.record.clocks import moment_by_wall
from agent.record.log import EventReader
from agent.record.summary import fold
from agent.record.values import RunSummary
from mlrb_tui.views import series
from mlrb_tui.views.marks import Marks
from mlrb_tui.views.now import at_moment
from mlrb_tui.views.player import Player
from mlrb_tui.views.series import Readings
from mlrb_tui.views.transcript import Transcript
from mlrb_tui.views.window import Window

_BATCH = 5_000
_MARKS_AT_ONCE = 20_000
_MOST_BLOCKS, _KEPT_BLOCKS = 1_500, 500


class RunView:
    """Everything about a run at one moment of it; at its end, it follows."""

    def __init__(self, reader: EventReader) -> None:
        self.reader = reader
        self.player = Player()
        self.newest = reader.last_seq()
        self.first_at = queries.time_of(reader, 1) or 0.0
        self.last_at = queries.time_of(reader, self.newest) or 0.0
        self.marks = Marks()
        self._later_marks = Marks()
        self._marks_goal = self.newest
        self._marks_read = 0
        self.position = 0
        self.at = 0.0
        """When the event shown last happened."""
        self.summary = RunSummary()
        self.transcript = Transcript()
        self.readings = Readings()
        self._window = Window(reader)
        self._first_block = 1
        self.seeks = 0
        """Goes up whenever the moment jumped, so that nothing drawn before holds."""
        self.seek(self.newest)

    # ── following ────────────────────────────────────────────────────────────────────────────────────────

    @property
    def at_end(self) -> bool:
        """Whether the newest event is shown."""
        return self.position >= self.newest

    @property
    def more_above(self) -> bool:
        """Whether there are blocks before those that are loaded."""
        return self._first_block > 1

    def poll(self) -> int:
        """Take in what was written since; returns how many events."""
        events = self.reader.since(self.newest, _BATCH)
        if not events:
            return 0
        follows = self.at_end and not self.player.playing
        self.newest, self.last_at = events[-1].seq, events[-1].at
        self.first_at = self.first_at or events[0].at
        later = self.marks if self.marks_complete else self._later_marks
        for event in events:
            later.add(event)
        if follows:
            self._take(events)
        return len(events)

    def now(self, wall: float, *, live: bool) -> float:
        """The moment that clocks show: the wall's where the run is followed live, else the log's."""
        if self.player.playing:
            return self.player.at
        return moment_by_wall(self.at, wall) if live and self.at_end else self.at

    def summary_at(self, now: float) -> RunSummary:
        """The summary with its clocks brought forward."""
        return at_moment(self.summary, now)

    # ── moving ───────────────────────────────────────────────────────────────────────────────────────────

    def seek(self, seq: int) -> None:
        """Show the moment of that event."""
        self.position = max(0, min(seq, self.newest))
        self.at = queries.time_of(self.reader, self.position) or self.first_at
        self.summary = self.reader.summary(self.position)
        self.transcript, self._first_block = self._window.upto(self.position)
        self.readings = series.read(self.reader, self.position)
        self.seeks += 1
        if self.player.playing:
            self.player.start(self.at)

    def go_to_start(self) -> None:
        """The first event."""
        self.seek(1)

    def go_to_end(self) -> None:
        """The newest event, and on with those to come."""
        self.player.stop()
        self.seek(self.newest)

    def step(self, *, forwards: bool) -> None:
        """The end of the next step, or of the one before."""
        if forwards:
            start = queries.neighbour(self.reader, "step_started", self.position + 1, forwards=True)
            self.seek(self.newest if start is None else start - 1)
        else:
            start = queries.neighbour(self.reader, "step_started", self.position + 1, forwards=False)
            self.seek(max(1, (start or 1) - 1))

    def jump(self, stop: str, *, forwards: bool) -> bool:
        """The next mark, or the one before; says whether there is one."""
        mark = self.marks.neighbour(self.position, stop, forwards=forwards)
        if mark is not None:
            self.seek(mark.seq)
        return mark is not None

    def load_older(self) -> bool:
        """Load the blocks in front of those there are; says whether there were any."""
        if not self.more_above:
            return False
        older, self._first_block = self._window.before(self._first_block, self.position)
        self.transcript.prepend(older)
        return bool(older.blocks)

    # ── playing ──────────────────────────────────────────────────────────────────────────────────────────

    def play_or_stop(self) -> None:
        """Play on from here, or stand still; from the end, play from the start."""
        if self.player.playing:
            self.player.stop()
            return
        if self.at_end:
            self.go_to_start()
        self.player.start(self.at)

    def play_on(self, seconds: float) -> bool:
        """Let real time pass for the player; says whether anything new is shown."""
        if not self.player.playing:
            return False
        moment = self.player.advance(seconds, queries.time_of(self.reader, self.position + 1))
        target = self.reader.seq_at(moment)
        moved = target > self.position
        if target - self.position > _BATCH:
            at = self.player.at
            self.seek(target)
            self.player.at = at
        elif moved:
            self._take(self.reader.since(self.position, target - self.position))
        if self.at_end:
            self.player.stop()
        return moved

    # ── marks ────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def marks_complete(self) -> bool:
        """Whether the marks of the whole log are read."""
        return self._marks_read >= self._marks_goal

    def read_marks(self) -> bool:
        """Read the marks of one more stretch of the log; says whether more are to come."""
        if self.marks_complete:
            return False
        first = self._marks_read + 1
        last = min(self._marks_goal, self._marks_read + _MARKS_AT_ONCE)
        self.marks.read(self.reader, first, last)
        self._marks_read = last
        if self.marks_complete:
            self.marks.extend(self._later_marks)
        return not self.marks_complete

    def _take(self, events: list[ev.Event]) -> None:
        for event in events:
            self.summary = fold(self.summary, event)
            self.readings.take(event)
        self.transcript.apply(self._window.resolved(event) for event in events)
        self.position, self.at = events[-1].seq, events[-1].at
        if len(self.transcript.blocks) > _MOST_BLOCKS:
            self._first_block = self.transcript.blocks[-_KEPT_BLOCKS].seq
            self.transcript.drop_oldest(len(self.transcript.blocks) - _KEPT_BLOCKS)
