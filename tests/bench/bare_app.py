"""The reference for first paint: a Textual app with one label and nothing else."""

from textual.app import App, ComposeResult
from textual.widgets import Label


class BareApp(App[None]):
    """One label."""

    def compose(self) -> ComposeResult:
        yield Label("bare-app-is-up")


if __name__ == "__main__":
    BareApp().run()
