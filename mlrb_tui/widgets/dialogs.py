"""The two questions a screen asks: a text to write, and a yes or no."""

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from agent.record.text import printable
from tasks.errors import MlrbError


class PromptArea(TextArea):
    """A text area in which enter sends; ctrl+j breaks the line."""

    class Sent(Message):
        """Enter was pressed."""

    async def _on_key(self, event: Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.post_message(self.Sent())
        elif event.key in ("ctrl+j", "shift+enter", "alt+enter"):
            event.stop()
            event.prevent_default()
            self.insert("\n")
        else:
            await super()._on_key(event)


class TextPrompt(ModalScreen[str | None]):
    """Asks for a text; None where the person changed their mind.

    `check` may raise an `MlrbError` for a text that will not do: it is shown and the dialog stays.
    """

    CSS_PATH = "dialogs.tcss"
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (10, "-high")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "cancel", id="prompt.cancel"),
    ]

    def __init__(
        self, title: str, hint: str = "", initial: str = "", check: Callable[[str], object] | None = None
    ) -> None:
        super().__init__()
        self._title = title
        self._hint = hint
        self._initial = initial
        self._check = check

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Static(Content(printable(self._title)), classes="dialog-title")
            if self._hint:
                yield Static(Content(printable(self._hint, lines=True)), classes="dialog-hint")
            yield PromptArea(
                printable(self._initial, lines=True),
                id="prompt",
                tab_behavior="focus",
                compact=True,
                highlight_cursor_line=False,
            )
            yield Static("", classes="dialog-error")
            yield Static(Content("enter send   ctrl+j new line   esc cancel"), classes="dialog-keys")

    def on_mount(self) -> None:
        area = self.query_one(PromptArea)
        area.move_cursor(area.document.end)
        area.focus()

    @on(PromptArea.Sent)
    def send(self) -> None:
        """Answer with the text, if it will do."""
        text = self.query_one(PromptArea).text.strip()
        if not text:
            self._complain("nothing is written yet")
            return
        if self._check is not None:
            try:
                self._check(text)
            except MlrbError as error:
                self._complain(" · ".join(part for part in (error.message, error.hint) if part))
                return
        self.dismiss(text)

    def action_cancel(self) -> None:
        """Answer with nothing."""
        self.dismiss(None)

    def _complain(self, said: str) -> None:
        complaint = self.query_one(".dialog-error", Static)
        complaint.update(Content(printable(said)))
        complaint.add_class("-shown")


class Confirm(ModalScreen[bool]):
    """Asks whether to go on; `danger` where it can't be undone, and then enter alone does not do it."""

    CSS_PATH = "dialogs.tcss"
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (10, "-high")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes", id="confirm.yes"),
        Binding("n", "answer(False)", "no", id="confirm.no"),
        Binding("escape", "answer(False)", "no", id="confirm.cancel", show=False),
        Binding("enter", "default", "the default", id="confirm.enter", show=False),
    ]

    def __init__(self, question: str, detail: str = "", danger: bool = False) -> None:
        super().__init__()
        self._question = question
        self._detail = detail
        self._danger = danger

    def compose(self) -> ComposeResult:
        keys = "y yes   n no   esc no" if self._danger else "y yes   n no   enter yes   esc no"
        with Vertical(id="dialog", classes="-danger" if self._danger else ""):
            yield Static(Content(printable(self._question)), classes="dialog-title")
            if self._detail:
                yield Static(Content(printable(self._detail, lines=True)), classes="dialog-hint")
            yield Static(Content(keys), classes="dialog-keys")

    def action_answer(self, yes: bool) -> None:
        """Answer and go."""
        self.dismiss(yes)

    def action_default(self) -> None:
        """Enter means yes where nothing is lost by it."""
        if not self._danger:
            self.dismiss(True)
