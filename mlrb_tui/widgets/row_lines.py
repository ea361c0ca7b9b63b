"""Rows of toned text as a widget, and the line of keys at the bottom of a screen."""

from collections.abc import Callable, Sequence

from rich.segment import Segment
from textual.binding import Binding
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from agent.record.text import printable
from mlrb_tui.views.rows import Row, Span, cut_row, width_of
from mlrb_tui.widgets.tones import tone_style


class RowLines(Widget):
    """Rows of toned text, cut to the width; drawn again only where a row changed."""

    ALLOW_SELECT = False

    def __init__(self, *lines: Row, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines = lines

    def show(self, lines: Sequence[Row]) -> None:
        """Show these rows."""
        # Views have made their texts printable; this is the last door before the terminal.
        clean = (tuple(Span(printable(text), tone) for text, tone in line) for line in lines)
        before, self._lines = self._lines, tuple(clean)
        longest = max(len(before), len(self._lines))
        changed = [y for y in range(longest) if before[y : y + 1] != self._lines[y : y + 1]]
        for y in changed:
            self.refresh(Region(0, y, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        """One row."""
        return self._strip(self._lines[y] if y < len(self._lines) else (), self.size.width)

    def _strip(self, row: Row, width: int) -> Strip:
        blank = self.rich_style
        shown = cut_row(row, width)
        segments = [Segment(span.text, blank + tone_style(self.app, span.tone)) for span in shown]
        segments.append(Segment(" " * max(0, width - width_of(shown)), blank))
        return Strip(segments).adjust_cell_length(width, blank)


class KeyLine(RowLines):
    """The keys that do something here, from the bindings of the screen; help always has room.

    `applies` says of a binding whether it makes sense as things stand; pressed, it is tried all the same.
    """

    def __init__(self, *, applies: Callable[[Binding], bool] | None = None, id: str | None = None) -> None:
        super().__init__(id=id)
        self._applies = applies

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self._show_keys())
        self._show_keys()

    def on_resize(self) -> None:
        """More or fewer keys fit."""
        self._show_keys()

    def _show_keys(self) -> None:
        shown = [active.binding for active in self.screen.active_bindings.values() if self._offers(active.binding)]
        help_key = [binding for binding in shown if binding.id == "app.help"]
        row: tuple[Span, ...] = ()
        room = self.size.width - sum(width_of(self._key(binding)) for binding in help_key)
        for binding in shown:
            key = self._key(binding)
            if binding not in help_key and binding.id and width_of((*row, *key)) <= room:
                row += key
        self.show([(*row, *(span for binding in help_key for span in self._key(binding)))])

    def _offers(self, binding: Binding) -> bool:
        return binding.show and (self._applies is None or self._applies(binding))

    def _key(self, binding: Binding) -> Row:
        return Span(f" {self.app.get_key_display(binding)} ", "strong"), Span(f"{binding.description}  ", "muted")
