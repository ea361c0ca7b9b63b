"""The line in which a filter is typed; the list moves under it."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from mlrb_tui.widgets.run_table import RunTable


class FilterInput(Input):
    """A one-line input; up and down move the list's cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "row(-1)", show=False, id="filter.up"),
        Binding("down", "row(1)", show=False, id="filter.down"),
    ]

    def __init__(self, query: str) -> None:
        super().__init__(
            query,
            placeholder="words, or state:running task:mlrb/* model:… scale: where: who:   (- excludes)",
            compact=True,
            select_on_focus=False,
        )

    def action_row(self, by: int) -> None:
        """Move the list's cursor."""
        self.screen.query_one(RunTable).action_move(by)
