"""The transcript: one Line-API widget however long the run is."""

import dataclasses
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from mlrb_tui.views.blocks import AnyBlock
from mlrb_tui.views.reading import Reading
from mlrb_tui.views.rows import Row, Span, marked
from mlrb_tui.views.run import RunView
from mlrb_tui.views.scroller import Scroller
from mlrb_tui.widgets.lines import Lines

_WHEEL_ROWS = 3


class TranscriptLines(Lines, can_focus=True):
    """Shows a run's blocks; follows its end until the cursor is moved up."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "row up", id="transcript.up", show=False),
        Binding("down", "move(1)", "row down", id="transcript.down", show=False),
        Binding("pageup", "page(-1)", "page up", id="transcript.page_up", show=False),
        Binding("pagedown", "page(1)", "page down", id="transcript.page_down", show=False),
        Binding("enter", "open", "open", id="transcript.open", show=False, tooltip="what the cursor is on, whole"),
    ]
    BORDER_TITLE = "transcript"

    class Opened(Message):
        """A person wants to see a block whole."""

        def __init__(self, block: AnyBlock) -> None:
            super().__init__()
            self.block = block

    def __init__(self, view: RunView, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.needle = ""
        self.reading = Reading(view)
        self.scroller = Scroller(self.reading)
        self.scroller.leaps = True
        self._view = view
        self._seeks = view.seeks

    @property
    def selected(self) -> AnyBlock | None:
        """The block under the cursor."""
        index = self.scroller.selected
        return None if index is None else self.reading.block(index)

    def update(self, now: float) -> int:
        """Show the transcript as it stands; returns about how many bytes that repaints."""
        if self._seeks != self._view.seeks:
            self._seeks = self._view.seeks
            self.scroller.to_end()
        crewed = bool(self._view.summary.crew.plans)
        if self.reading.options.workers != crewed:
            self.reading.options = dataclasses.replace(self.reading.options, workers=crewed)
        self.reading.at(now)
        cost = self.show(self._rows())
        self._say_where()
        return cost

    def change_options(self, *, wrap: bool | None = None, thoughts: bool | None = None) -> None:
        """Lay out anew; None leaves an option as it is."""
        options = self.reading.options
        self.reading.options = dataclasses.replace(
            options,
            wrap=options.wrap if wrap is None else wrap,
            thoughts=options.thoughts if thoughts is None else thoughts,
        )
        self.show(self._rows())

    def on_resize(self, event: events.Resize) -> None:
        """Lay out for the new size."""
        self.scroller.resize(self.content_size.height)
        self.reading.options = dataclasses.replace(self.reading.options, width=max(8, self.content_size.width - 2))
        self.show(self._rows())

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self.scroller.move(by)
        self._redraw()

    def action_page(self, by: int) -> None:
        """Move by windows."""
        self.scroller.page(by)
        self._redraw()

    def action_open(self) -> None:
        """Open what the cursor is on."""
        if (block := self.selected) is not None:
            self.post_message(self.Opened(block))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel moves some rows."""
        event.stop()
        self.action_move(-_WHEEL_ROWS)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves some rows."""
        event.stop()
        self.action_move(_WHEEL_ROWS)

    def on_click(self, event: events.Click) -> None:
        """A click puts the cursor there; a second one opens."""
        offset = event.get_content_offset(self)
        if offset is not None:
            self.scroller.select_row(offset.y)
            self._redraw()
            if event.chain == 2:
                self.action_open()

    def _redraw(self) -> None:
        self.show(self._rows())
        self._say_where()

    def _say_where(self) -> None:
        follows = self.scroller.following
        where = "end follows" if not follows else "following" if self._view.at_end else ""
        if self.border_subtitle != where:
            self.border_subtitle = where

    def _rows(self) -> list[Row]:
        visible = self.scroller.visible()
        selected = None if self.scroller.following else self.scroller.selected
        return [self._decorated(row, index == selected) for index, row in visible]

    def _decorated(self, row: Row, selected: bool) -> Row:
        shown = marked(row, self.needle) if self.needle else row
        return (Span("▌", "cursor") if selected else Span(" "), *shown)
