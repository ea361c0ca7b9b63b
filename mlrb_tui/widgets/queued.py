"""The messages that are still queued, to be changed or taken back."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from agent.record.asked import QueuedMessage
from agent.record.inbox import EditInjection, WithdrawInjection
from agent.record.text import one_line

Wish = EditInjection | WithdrawInjection


class QueuedMessages(ModalScreen[Wish | None]):
    """A list of queued messages; the answer is what shall become of one, or None."""

    CSS_PATH = "dialogs.tcss"
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (10, "-high")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "edit", id="queued.edit"),
        Binding("w", "withdraw", "withdraw", id="queued.withdraw"),
        Binding("escape", "cancel", "cancel", id="queued.cancel"),
    ]

    def __init__(self, messages: Sequence[QueuedMessage]) -> None:
        super().__init__()
        self._messages = messages

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Static(Content("Messages that the agent has not been told yet"), classes="dialog-title")
            lines = [
                f"{one_line(message.who, 12) or 'someone'}  {one_line(message.text, 400)}" for message in self._messages
            ]
            yield OptionList(*(Option(Content(line)) for line in lines), id="queued", compact=True)
            yield Static(Content("e edit   w withdraw   esc cancel"), classes="dialog-keys")

    def on_mount(self) -> None:
        self.query_one(OptionList).highlighted = 0

    @property
    def _chosen(self) -> QueuedMessage | None:
        index = self.query_one(OptionList).highlighted
        return None if index is None else self._messages[index]

    def on_option_list_option_selected(self) -> None:
        """Enter edits."""
        self.action_edit()

    def action_edit(self) -> None:
        """Ask for the message's new text."""
        from mlrb_tui.widgets.dialogs import TextPrompt

        message = self._chosen
        if message is None:
            return

        def answer(text: str | None) -> None:
            if text is not None:
                self.dismiss(EditInjection(request_id=message.request_id, text=text))

        self.app.push_screen(TextPrompt("Say instead", initial=message.text), answer)

    def action_withdraw(self) -> None:
        """Take it back."""
        if (message := self._chosen) is not None:
            self.dismiss(WithdrawInjection(request_id=message.request_id))

    def action_cancel(self) -> None:
        """Leave them as they are."""
        self.dismiss(None)
