"""All runs as a table that draws only the lines in sight, and of those only the cells that changed."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from mlrb_tui.views.fleet import FleetRow
from mlrb_tui.views.fleet_columns import NARROW, UNICODE, Cell, Context, Glyphs, Placed, fitted, natural_widths, place
from mlrb_tui.views.rows import width_of
from mlrb_tui.widgets.tones import cursor_style, tone_style

_MEASURED_ROWS = 80
_DrawnLine = tuple[bool, tuple[Cell, ...]]


class RunTable(ScrollView, can_focus=True):
    """The fleet: one line a run, a cursor, and a heading that stays."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "up", show=False, id="table.up"),
        Binding("down", "move(1)", "down", show=False, id="table.down"),
        Binding("pageup", "page(-1)", "page up", show=False, id="table.page-up"),
        Binding("pagedown", "page(1)", "page down", show=False, id="table.page-down"),
        Binding("home", "edge(True)", "first", show=False, id="table.first"),
        Binding("end", "edge(False)", "last", show=False, id="table.last"),
        Binding("enter", "open", "open", id="table.open", key_display="enter"),
    ]
    ALLOW_SELECT = False

    class Highlighted(Message):
        """The cursor stands on another run, or on none."""

        def __init__(self, run: str | None) -> None:
            super().__init__()
            self.run = run

    class Opened(Message):
        """A run was chosen."""

        def __init__(self, run: str) -> None:
            super().__init__()
            self.run = run

    def __init__(self, *, glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: Sequence[FleetRow] = ()
        self._seen = Context(now=time.time(), id_width=4, glyphs=glyphs)
        self._cursor = 0
        self._widths: dict[str, int] = {}
        self._placed: list[Placed] = []
        self._drawn: dict[int, _DrawnLine] = {}

    # ── what is shown ────────────────────────────────────────────────────────────────────────────────────

    def show(self, rows: Sequence[FleetRow], *, now: float, id_width: int, anew: bool = False) -> None:
        """Show these rows; the cursor stays on its run. `anew` where another filter or order chose them."""
        before = self.run_at_cursor
        place_before = self._cursor
        self._rows = rows
        self._seen = replace(self._seen, now=now, id_width=id_width, narrow=self.room.width < NARROW)
        self._cursor = self._place_of(before, place_before)
        self._measure(anew=anew)
        self.virtual_size = Size(self.room.width, len(rows) + 1)
        if anew:
            self._keep_in_sight()
        self._refresh_changed()
        if self.run_at_cursor != before:
            self.post_message(self.Highlighted(self.run_at_cursor))

    def mark(self, runs: tuple[str, ...]) -> None:
        """Show which runs are marked."""
        first_or_last = bool(runs) != bool(self._seen.marked)
        self._seen = replace(self._seen, marked=runs)
        self._measure(anew=first_or_last)
        self._refresh_changed()

    @property
    def room(self) -> Size:
        """What there is besides the scrollbar."""
        return self.scrollable_content_region.size

    @property
    def run_at_cursor(self) -> str | None:
        """The run that keys act on."""
        return self._rows[self._cursor].summary.run if self._cursor < len(self._rows) else None

    @property
    def row_at_cursor(self) -> FleetRow | None:
        """The row that keys act on."""
        return self._rows[self._cursor] if self._cursor < len(self._rows) else None

    def go_to(self, run: str) -> bool:
        """Put the cursor on that run; says whether it is in the list."""
        found = self._place_of(run, -1)
        there = found < len(self._rows) and self._rows[found].summary.run == run
        if there:
            self.move_to(found)
        return there

    def _place_of(self, run: str | None, otherwise: int) -> int:
        for index, row in enumerate(self._rows):
            if row.summary.run == run:
                return index
        return max(0, min(otherwise, len(self._rows) - 1))

    def _measure(self, *, anew: bool) -> None:
        """Widths only grow while the same list is shown, so that columns do not dance."""
        first = int(self.scroll_offset.y)
        sample = [*self._rows[:_MEASURED_ROWS], *self._rows[first : first + max(1, self.room.height)]]
        natural = natural_widths(sample, self._seen)
        if anew or not self._widths:
            widths = natural
        else:
            widths = {name: max(width, self._widths[name]) for name, width in natural.items()}
        placed = place(widths, max(1, self.room.width))
        self._widths = widths
        if placed != self._placed:
            self._placed = placed
            self._drawn.clear()
            self.refresh()

    # ── drawing ──────────────────────────────────────────────────────────────────────────────────────────

    def render_line(self, y: int) -> Strip:
        """One line: the heading, a run, or nothing."""
        width = self.room.width
        if y == 0:
            return self._heading(width)
        line = self._line(y)
        if line is None:
            return Strip.blank(width, self._style("plain"))
        self._drawn[y] = line
        return self._strip(line, width)

    def _line(self, y: int) -> _DrawnLine | None:
        index = int(self.scroll_offset.y) + y - 1
        if not 0 <= index < len(self._rows):
            return None
        row = self._rows[index]
        cells = tuple(placed.column.cell(row, self._seen) for placed in self._placed)
        return index == self._cursor, cells

    def _strip(self, line: _DrawnLine, width: int) -> Strip:
        at_cursor, cells = line
        blank = self._style("plain", at_cursor)
        segments: list[Segment] = []
        x = 0
        for placed, cell in zip(self._placed, cells, strict=True):
            shown = fitted(cell, placed)
            gap = placed.x - x
            spare = placed.width - width_of(shown)
            before, after = (gap + spare, 0) if placed.column.right else (gap, spare)
            segments.append(Segment(" " * before, blank))
            segments += [Segment(span.text, self._style(span.tone, at_cursor)) for span in shown]
            segments.append(Segment(" " * after, blank))
            x = placed.x + placed.width
        return Strip(segments).adjust_cell_length(width, blank)

    def _heading(self, width: int) -> Strip:
        style = self._style("muted")
        line = ""
        for placed in self._placed:
            title = placed.column.title[: placed.width]
            line += " " * (placed.x - len(line))
            line += title.rjust(placed.width) if placed.column.right else title.ljust(placed.width)
        return Strip([Segment(line, style)]).adjust_cell_length(width, style)

    def _style(self, tone: str, at_cursor: bool = False) -> Style:
        if not at_cursor:
            return self.rich_style + tone_style(self.app, tone)
        # Where the cursor's line is turned round, colours would make it unreadable.
        shown = "strong" if tone == "strong" else "plain" if self.app.native_ansi_color else tone
        return self.rich_style + tone_style(self.app, shown) + cursor_style(self.app)

    def _refresh_changed(self) -> None:
        """Draw again what differs from what was drawn: the bytes go over somebody's SSH."""
        for y in range(1, self.room.height):
            drawn, line = self._drawn.get(y), self._line(y)
            if drawn == line:
                continue
            if line is None:
                self._drawn.pop(y, None)
            if drawn is None or line is None or drawn[0] != line[0]:
                self.refresh(Region(0, y, self.room.width, 1))
                continue
            for placed, old, new in zip(self._placed, drawn[1], line[1], strict=True):
                if old != new:
                    self.refresh(Region(placed.x, y, placed.width, 1))

    # ── moving ───────────────────────────────────────────────────────────────────────────────────────────

    def move_to(self, index: int) -> None:
        """Put the cursor on that row."""
        before = self.run_at_cursor
        self._cursor = max(0, min(index, len(self._rows) - 1))
        self._keep_in_sight()
        self._refresh_changed()
        if self.run_at_cursor != before:
            self.post_message(self.Highlighted(self.run_at_cursor))

    def action_move(self, by: int) -> None:
        """One row up or down."""
        self.move_to(self._cursor + by)

    def action_page(self, by: int) -> None:
        """A screenful up or down."""
        self.move_to(self._cursor + by * max(1, self.room.height - 2))

    def action_edge(self, first: bool) -> None:
        """To the first or the last row."""
        self.move_to(0 if first else len(self._rows) - 1)

    def action_open(self) -> None:
        """Open the run under the cursor."""
        if self.run_at_cursor is not None:
            self.post_message(self.Opened(self.run_at_cursor))

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor; a second one on the same row opens it."""
        index = int(self.scroll_offset.y) + event.y - 1
        if event.y == 0 or not 0 <= index < len(self._rows):
            return
        if event.chain > 1:
            self.action_open()
        else:
            self.move_to(index)

    def on_resize(self) -> None:
        """Place the columns anew."""
        self._seen = replace(self._seen, narrow=self.room.width < NARROW)
        self._drawn.clear()
        self._measure(anew=True)
        self.virtual_size = Size(self.room.width, len(self._rows) + 1)
        self._keep_in_sight()
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """What was drawn has moved."""
        if round(old_value) != round(new_value):
            self._drawn.clear()
        super().watch_scroll_y(old_value, new_value)

    def _keep_in_sight(self) -> None:
        top, lines = int(self.scroll_offset.y), max(1, self.room.height - 1)
        if self._cursor < top:
            self.scroll_to(y=self._cursor, animate=False, force=True)
        elif self._cursor >= top + lines:
            self.scroll_to(y=self._cursor - lines + 1, animate=False, force=True)
