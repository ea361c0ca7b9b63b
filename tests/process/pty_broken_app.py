"""The app with a bug in it: `!`, or F9 under a dialog, breaks a widget; `&` blocks the event loop for good."""

import sys
import time
from typing import ClassVar

from textual.binding import Binding, BindingType

from agent.record.home import Home
from mlrb_tui.app import MlrbApp, run
from mlrb_tui.control.recording import open_recording


class BrokenApp(MlrbApp):
    """An app as it must not be."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("percent_sign", "break", "break", id="test.break"),
        Binding("f9", "break", "break", id="test.break_anywhere", priority=True),
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
    home = Home.of_user()
    recording = open_recording(home, sys.argv[1]) if len(sys.argv) > 1 else None
    raise SystemExit(run(BrokenApp(home, recording=recording)))
