"""Every alarm of a run that stands, whole: why it was raised, and what one could do."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agent.record.text import printable
from agent.record.values import RunSummary
from mlrb_tui.views import alarms
from mlrb_tui.views.document import Document
from mlrb_tui.widgets.pager import Pager


class AlarmList(ModalScreen[None]):
    """A box with the alarms, in a text that scrolls."""

    CSS_PATH = "dialogs.tcss"
    AUTO_FOCUS = "Pager"
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (10, "-high")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "close", id="alarms.close"),
        Binding("q", "dismiss", "close", id="alarms.leave", show=False),
        Binding("exclamation_mark", "dismiss", "close", id="alarms.again", show=False),
    ]

    def __init__(self, summary: RunSummary, now: float) -> None:
        super().__init__()
        found = alarms.standing(summary)
        self._title = f"Alarms of {summary.run}"
        self._document = Document(alarms.whole(found, now))

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Static(Content(printable(self._title)), classes="dialog-title")
            yield Pager(self._document, wraps=True, id="alarms")
            yield Static(Content("up down scroll   esc close"), classes="dialog-keys")

    def on_mount(self) -> None:
        self.query_one(Pager).scroller.to_start()
