"""Shows a long text: scrolls both ways, wraps or not, and marks what was found."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from mlrb_tui.views.document import Document
from mlrb_tui.views.rows import Row, marked
from mlrb_tui.views.scroller import Scroller, cropped
from mlrb_tui.widgets.lines import Lines

_SIDEWAYS = 16
_WHEEL_ROWS = 3


class Pager(Lines, can_focus=True):
    """A document, a window of it at a time."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "row up", id="pager.up", show=False),
        Binding("down", "move(1)", "row down", id="pager.down", show=False),
        Binding("pageup", "page(-1)", "page up", id="pager.page_up", show=False),
        Binding("pagedown,space", "page(1)", "page down", id="pager.page_down", show=False),
        Binding("left", "sideways(-1)", "left", id="pager.left", show=False),
        Binding("right", "sideways(1)", "right", id="pager.right", show=False),
        Binding("home", "start", "start", id="pager.start", show=False),
        Binding("end", "end", "end", id="pager.end", show=False),
    ]

    def __init__(self, document: Document, *, wraps: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self.document = document
        self.scroller = Scroller(document)
        self.needle = ""
        self._left = 0
        self._wraps = wraps

    def update(self) -> None:
        """Show the window as it stands."""
        self.show([self._decorated(row) for _, row in self.scroller.visible()])
        whole = len(self._shown) < self.scroller.height
        where = "" if self.scroller.following or whole else "end goes to the end"
        if self._left:
            where = f"column {self._left} · {where}"
        if self.border_subtitle != where:
            self.border_subtitle = where

    @property
    def key(self) -> int:
        """The line under the cursor, as searching counts them."""
        index = self.scroller.selected
        return self.document.key(index) if index is not None else 0

    def go_to(self, key: int) -> None:
        """Show that line."""
        self.scroller.to(key)
        self.update()

    def toggle_wrap(self) -> None:
        """Fold long lines, or let them run out at the right."""
        self._wraps, self._left = not self._wraps, 0
        self.document.wrap(max(8, self.content_size.width) if self._wraps else None)
        self.update()

    def on_resize(self, event: events.Resize) -> None:
        """Lay out for the new size."""
        self.scroller.resize(self.content_size.height)
        self.document.wrap(max(8, self.content_size.width) if self._wraps else None)
        self.update()

    def action_move(self, by: int) -> None:
        """Scroll by rows: the window itself moves, as in a pager."""
        self.scroller.scroll(by)
        self.update()

    def action_page(self, by: int) -> None:
        """Scroll by windows."""
        self.scroller.scroll(by * max(1, self.scroller.height - 2))
        self.update()

    def action_sideways(self, by: int) -> None:
        """Move along long lines."""
        self._left = max(0, self._left + by * _SIDEWAYS)
        self.update()

    def action_start(self) -> None:
        """The first line."""
        self.document.go_to_start()
        self.scroller.to_start()
        self._left = 0
        self.update()

    def action_end(self) -> None:
        """The last line."""
        self.document.go_to_end()
        self.scroller.to_end()
        self.update()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel moves some rows."""
        event.stop()
        self.action_move(-_WHEEL_ROWS)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves some rows."""
        event.stop()
        self.action_move(_WHEEL_ROWS)

    def _decorated(self, row: Row) -> Row:
        shown = cropped(row, self._left, max(1, self.content_size.width))
        return marked(shown, self.needle) if self.needle else shown
