"""The keys of a run's screen that move through its time."""

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.screen import Screen

from mlrb_tui.views.marks import STOPS
from mlrb_tui.views.run import RunView
from mlrb_tui.widgets.time_line import TimeLine


class RunMoving(Screen[None]):
    """One axis for everything: its cursor moves transcript, panels and numbers."""

    MOVING_BINDINGS: ClassVar[tuple[BindingType, ...]] = (
        Binding("left", "step(False)", "step back", id="run.step_back", show=False),
        Binding("right", "step(True)", "step on", id="run.step_on"),
        Binding("comma", "jump(False)", "mark before", id="run.mark_back", show=False, key_display=","),
        Binding("full_stop", "jump(True)", "next mark", id="run.mark_on", key_display="."),
        Binding("semicolon", "stops", "which marks", id="run.marks", show=False, key_display=";"),
        Binding("home", "start", "start", id="run.start"),
        Binding("end", "end", "end", id="run.end", show=False),
        Binding("space", "play", "play", id="run.play", key_display="space"),
        Binding("plus,equals_sign", "speed(1)", "faster", id="run.faster", show=False, key_display="+"),
        Binding("minus", "speed(-1)", "slower", id="run.slower", show=False, key_display="-"),
        Binding("g", "gaps", "skip gaps", id="run.gaps", show=False, tooltip="play long waits in full, or not"),
    )
    view: RunView
    stop = STOPS[0]
    """Which marks the keys stop at."""

    def say(self, text: str) -> None:
        """Show a word to the person."""
        raise NotImplementedError

    def paint(self) -> None:
        """Show everything as it stands at this moment."""
        raise NotImplementedError

    def move_to(self, seq: int) -> None:
        """Show the moment of that event."""
        self.view.player.stop()
        self.view.seek(seq)
        self.paint()

    @on(TimeLine.Sought)
    def seek_time(self, message: TimeLine.Sought) -> None:
        """Show the moment that was clicked on."""
        self.move_to(self.view.reader.seq_at(message.at))

    def action_step(self, forwards: bool) -> None:
        """To the end of the next step, or of the one before."""
        self.view.player.stop()
        self.view.step(forwards=forwards)
        self.paint()

    def action_jump(self, forwards: bool) -> None:
        """To the next mark, or the one before."""
        self.view.player.stop()
        if not self.view.jump(self.stop, forwards=forwards):
            which = "mark" if self.stop == "all" else f"mark ({self.stop})"
            self.say(f"no {which} {'after' if forwards else 'before'} this moment")
        self.paint()

    def action_stops(self) -> None:
        """Stop at all marks, or only at errors, alarms, scores or what people did."""
        self.stop = STOPS[(STOPS.index(self.stop) + 1) % len(STOPS)]
        self.say(f", and . stop at {'all marks' if self.stop == 'all' else self.stop}")
        self.paint()

    def action_start(self) -> None:
        """To the first event."""
        self.view.player.stop()
        self.view.go_to_start()
        self.paint()

    def action_end(self) -> None:
        """To the newest event, and on with those to come."""
        self.view.go_to_end()
        self.paint()

    def action_play(self) -> None:
        """Play on from here, or stand still."""
        self.view.play_or_stop()
        self.paint()

    def action_speed(self, by: int) -> None:
        """Faster or slower."""
        self.view.player.change_speed(by)
        self.paint()

    def action_gaps(self) -> None:
        """Play long waits in full, or cut them short."""
        player = self.view.player
        player.skips_gaps = not player.skips_gaps
        self.say("long waits are cut short" if player.skips_gaps else "long waits are played in full")
