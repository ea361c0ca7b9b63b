"""The time line: where in the run the screen stands, and what is worth a look."""

from textual import events
from textual.message import Message

from mlrb_tui.views import timeline
from mlrb_tui.views.marks import Marks
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

    def update(self, moment: Moment, marks: Marks, *, stop: str, steering: bool) -> None:
        """Show this moment."""
        self._moment = moment
        width = self.size.width
        rows = [timeline.axis(moment, marks, width), timeline.legend(stop, width, steering=steering)]
        self.show(rows[: max(1, self.size.height)])

    def on_click(self, event: events.Click) -> None:
        """Go to the moment that was clicked on."""
        if self._moment is not None and event.y == 0:
            at = timeline.moment_at(self._moment, event.x, self.size.width)
            if at is not None:
                self.post_message(self.Sought(at))
