"""The app with a bug in it: `!` breaks a widget, `&` blocks the event loop for good."""

import time
from typing import ClassVar

from textual.binding import Binding, BindingType

from agent.record.home import Home
from mlrb_tui.app import MlrbApp, run


class BrokenApp(MlrbApp):
    """An app as it must not be."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("exclamation_mark", "break", "break", id="test.break"),
        Binding("ampersand", "block", "block", id="test.block"),
    ]

    def action_break(self) -> None:
        """Fail as a bug does."""
        raise ValueError("a bug with [/markup] in it")

    def action_block(self) -> None:
        """Hang as a bug does."""
        while True:
            time.sleep(0.1)


if __name__ == "__main__":
    raise SystemExit(run(BrokenApp(Home.of_user())))
