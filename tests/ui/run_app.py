"""An app that is only a run's screen on a log, for tests and pictures."""

from pathlib import Path

from textual.app import App

from mlrb_tui.control.recording import Recording, open_file
from mlrb_tui.screens.run import RunScreen
from mlrb_tui.themes import THEMES

LOGS = Path(__file__).parents[1] / "logs"


class RunApp(App[None]):
    """The run's screen on top of nothing."""

    CSS_PATH = Path(__file__).parents[2] / "mlrb_tui" / "app.tcss"

    def __init__(self, recording: Recording, *, theme: str = "mlrb-dark", read_only: bool = False) -> None:
        super().__init__()
        for each in THEMES:
            self.register_theme(each)
        self.theme = theme
        self.run_screen = RunScreen(recording, read_only=read_only)

    def on_mount(self) -> None:
        self.push_screen(self.run_screen)


def app_on(log: str, *, theme: str = "mlrb-dark") -> RunApp:
    """The app on one of the golden logs."""
    return RunApp(open_file(LOGS / f"{log}.jsonl"), theme=theme)
