"""Machines as rows with a cursor, which stays with its run while rows come and go above it."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from mlrb_tui.views.host_rows import HostRow
from mlrb_tui.views.rows import Row, Span
from mlrb_tui.widgets.row_lines import RowLines


class HostList(RowLines, can_focus=True):
    """Only as many rows are drawn as there is room for."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "up", id="move.up", show=False),
        Binding("down", "move(1)", "down", id="move.down", show=False),
        Binding("pageup", "page(-1)", "page up", id="move.page_up", show=False),
        Binding("pagedown", "page(1)", "page down", id="move.page_down", show=False),
        Binding("enter", "open", "open", id="move.open", tooltip="the run under the cursor"),
    ]

    MARGIN: ClassVar[int] = 3
    """Columns beside a row: the cursor's at the left, an empty one at the right."""

    class Opened(Message):
        """A run is to be opened."""

        def __init__(self, run: str) -> None:
            super().__init__()
            self.run = run

    class Highlighted(Message):
        """The cursor is on another row."""

    def __init__(self, rows: Sequence[HostRow], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows = list(rows)
        self._cursor = 0
        self._top = 0

    @property
    def at_cursor(self) -> HostRow | None:
        """The row under the cursor."""
        return self._rows[self._cursor] if self._cursor < len(self._rows) else None

    def take(self, rows: Sequence[HostRow]) -> None:
        """Show these rows."""
        before = self.at_cursor
        self._rows = list(rows)
        if before is not None and before.run:
            same = [at for at, one in enumerate(rows) if one.run == before.run]
            self._cursor = same[0] if same else self._cursor
        self._move_to(self._cursor)

    def on_resize(self) -> None:
        """More or fewer rows fit."""
        self._move_to(self._cursor)

    def action_move(self, by: int) -> None:
        """The row above or below; an empty one is passed over."""
        at = self._cursor + by
        while 0 < at < len(self._rows) - 1 and not self._rows[at].line:
            at += by
        self._move_to(at)

    def action_page(self, by: int) -> None:
        """As many rows as are shown."""
        self._move_to(self._cursor + by * max(1, self.size.height - 1))

    def action_open(self) -> None:
        """Open the run of this row."""
        if (row := self.at_cursor) is not None and row.run:
            self.post_message(self.Opened(row.run))

    def _move_to(self, index: int) -> None:
        self._cursor = max(0, min(index, len(self._rows) - 1))
        height = max(1, self.size.height)
        self._top = max(min(self._top, self._cursor), self._cursor - height + 1)
        self._top = max(0, min(self._top, len(self._rows) - height))
        shown = self._rows[self._top : self._top + height]
        self.show([self._drawn(one.line, self._top + at == self._cursor) for at, one in enumerate(shown)])
        self.post_message(self.Highlighted())

    def _drawn(self, line: Row, at_cursor: bool) -> Row:
        return (Span("▌ " if at_cursor else "  ", "accent"), *line)
