"""The list beside a plot: a cursor on what can be chosen, headings between."""

from collections.abc import Sequence

from textual import events
from textual.message import Message

from mlrb_tui.views.plot_list import ListItem
from mlrb_tui.views.rows import EMPTY, Row, Span
from mlrb_tui.widgets.lines import Lines


class PlotList(Lines):
    """Figures with their values; only as many rows are drawn as there is room for."""

    class Clicked(Message):
        """A person pointed at a figure."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._items: Sequence[ListItem] = ()
        self._cursor = 0
        self._top = 0

    @property
    def at_cursor(self) -> ListItem | None:
        """What keys act on."""
        return self._items[self._cursor] if self._cursor < len(self._items) else None

    def take(self, items: Sequence[ListItem]) -> None:
        """Show these; the cursor stays on its figure."""
        before = self.at_cursor
        self._items = items
        if before is not None:
            same = [index for index, item in enumerate(items) if item.choice == before.choice]
            self._cursor = same[0] if same else self._cursor
        self._paint(0)

    def move(self, by: int) -> None:
        """To the next figure, or the one before; a screenful for more than one."""
        self._paint(by)

    def on_resize(self) -> None:
        """More or fewer rows fit."""
        self._paint(0)

    def on_click(self, event: events.Click) -> None:
        """The cursor to the figure that was pointed at; a second time, it is chosen."""
        index = self._top + event.y
        if index < len(self._items) and self._items[index].choice is not None:
            again = index == self._cursor
            self._cursor = index
            self._paint(0)
            if again:
                self.post_message(self.Clicked())

    def _paint(self, by: int) -> None:
        places = [index for index, item in enumerate(self._items) if item.choice is not None]
        if not places:
            self.show([item.text for item in self._items[: self.size.height]])
            return
        nearest = min(range(len(places)), key=lambda at: abs(places[at] - self._cursor))
        at = max(0, min(len(places) - 1, nearest + by))
        self._cursor = places[at]
        height = max(1, self.size.height)
        # The heading above the first figure is seen with it.
        wanted = 0 if at == 0 else self._cursor
        self._top = max(min(self._top, wanted), self._cursor - height + 1)
        self._top = max(0, min(self._top, len(self._items) - height))
        shown = self._items[self._top : self._top + height]
        rows = [_drawn(item.text, self._top + index == self._cursor) for index, item in enumerate(shown)]
        self.show([*rows, *[EMPTY] * (height - len(rows))])


def _drawn(line: Row, at_cursor: bool) -> Row:
    """The row with the cursor's sign in its first two columns, which are left free."""
    if not at_cursor or not line:
        return line
    first, *rest = line
    return (Span("› ", "cursor"), Span(first.text[2:], first.tone), *rest)
