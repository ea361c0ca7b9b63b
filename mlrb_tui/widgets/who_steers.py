"""Says that somebody else steers the run, and asks what to do about it."""

from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agent.record.text import printable

Choice = Literal["take over", "ask"]


class WhoSteers(ModalScreen[Choice | None]):
    """Take over, ask for control, or leave it; None where it is left."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "answer('take over')", "take over", id="control.take_over"),
        Binding("a", "answer('ask')", "ask for it", id="control.ask"),
        Binding("escape", "answer('')", "leave it", id="control.cancel"),
    ]

    def __init__(self, said: str, *, can_ask: bool) -> None:
        super().__init__()
        self._said = said
        self._can_ask = can_ask

    def compose(self) -> ComposeResult:
        ask = "a ask for control   " if self._can_ask else ""
        with Vertical(id="dialog"):
            yield Static(Content(printable(self._said)), classes="dialog-title")
            yield Static(
                Content("One viewer steers a run at a time. Whoever loses control is told."), classes="dialog-hint"
            )
            yield Static(Content(f"t take over   {ask}esc leave it"), classes="dialog-keys")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Asking needs a screen that waits for the answer."""
        return self._can_ask or parameters != ("ask",)

    def action_answer(self, choice: str) -> None:
        """Answer and go."""
        match choice:
            case "take over" | "ask":
                self.dismiss(choice)
            case _:
                self.dismiss(None)
