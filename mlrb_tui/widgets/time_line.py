"""The time line: where in the run the screen stands, and what is worth a look."""

from textual import events
from textual.message import Message

from mlrb_tui.views import timeline
from mlrb_tui.views.marks import Marks
from mlrb_tui.views.rows import apart, width_of
from mlrb_tui.views.timeline import Moment
from mlrb_tui.widgets.lines import Lines


class TimeLine(Lines):
    """One axis with marks and a cursor."""

    class Sought(Message):
        """A person clicked on a moment."""

        def __init__(self, at: float) -> None:
            super().__init__()
            self.at = at

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._moment: Moment | None = None
        self._marks = Marks()

    def update(self, moment: Moment, marks: Marks) -> None:
        """Show this moment."""
        self._moment, self._marks = moment, marks
        self.show([timeline.axis(moment, marks, self.size.width)])

    def on_resize(self) -> None:
        """The clock beside it takes more room, or less."""
        if self._moment is not None:
            self.update(self._moment, self._marks)

    def on_click(self, event: events.Click) -> None:
        """Go to the moment that was clicked on."""
        if self._moment is not None:
            at = timeline.moment_at(self._moment, event.x, self.size.width)
            if at is not None:
                self.post_message(self.Sought(at))


class TimeClock(Lines):
    """The moment in figures, beside the axis: a widget of its own, since it changes each second and that does not."""

    def update(self, moment: Moment) -> None:
        """Show this moment."""
        shown = timeline.clock(moment)
        # In leaps of four columns, so that a layout is rare.
        width = -(-width_of(shown) // 4) * 4
        if self.styles.width is None or self.styles.width.value != width:
            self.styles.width = width
        self.show([apart((), shown, width)])


class Legend(Lines):
    """What the marks mean."""

    def update(self, stop: str, *, steering: bool) -> None:
        """Show what marks the keys stop at."""
        self.show([timeline.legend(stop, self.size.width, steering=steering)])
