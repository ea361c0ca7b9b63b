"""An app that is only a run's screen on a log, for tests and pictures."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from textual.app import App
from textual.pilot import Pilot

from agent.record import events as ev
from agent.record.home import Home, RunFolder
from agent.record.inbox import Inbox
from agent.record.lock import hold
from agent.record.log import EventLog
from agent.record.values import Limits
from mlrb_tui.control.recording import Recording, open_file, open_recording
from mlrb_tui.screens.run import RunScreen
from mlrb_tui.themes import THEMES

LOGS = Path(__file__).parents[1] / "logs"


class RunApp(App[None]):
    """The run's screen on top of nothing."""

    CSS_PATH = Path(__file__).parents[2] / "mlrb_tui" / "app.tcss"

    def __init__(
        self, recording: Recording, *, theme: str = "mlrb-dark", read_only: bool = False, ascii_only: bool = False
    ) -> None:
        super().__init__()
        for each in THEMES:
            self.register_theme(each)
        self.theme = theme
        self.run_screen = RunScreen(recording, read_only=read_only, ascii_only=ascii_only)

    def on_mount(self) -> None:
        self.push_screen(self.run_screen)


def app_on(log: str, *, theme: str = "mlrb-dark") -> RunApp:
    """The app on one of the golden logs."""
    return RunApp(open_file(LOGS / f"{log}.jsonl"), theme=theme)


async def until(pilot: Pilot[None], condition: Callable[[], bool], *, seconds: float = 10.0) -> None:
    """Wait for something to become true; fails where it does not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not in {seconds} s: {screen_text(pilot.app)}"
        await pilot.pause(0.02)


def screen_text(app: App[None]) -> str:
    """What is on the screen, as lines of text."""
    size = app.size
    lines = app.screen._compositor.render_strips(size)
    return "\n".join(line.text for line in lines)


@contextmanager
def live_run(folder: Path) -> Iterator[tuple[Home, RunFolder, EventLog]]:
    """A run that is alive as far as anyone can see: its lock is held, and its log is open for writing."""
    home = Home(folder / "home").ensure()
    run = home.new_run()
    Inbox(run.inbox).close()
    with hold(run.lock), EventLog(run.events) as log:
        log.append(
            ev.RunCreated(
                run=run.run, task="mlgym/battle_of_sexes", scale="smoke", scaffold="react", model="scripted",
                sandbox="local", seed=0, limits=Limits(time_s=600.0, steps=20),
            )
        )  # fmt: skip
        log.append(ev.RunStarted(pid=1, host="box"))
        log.append(ev.StepStarted(), step=1)
        yield home, run, log


def app_on_run(home: Home, run: RunFolder, *, read_only: bool = False) -> RunApp:
    """The app on a run."""
    return RunApp(open_recording(home, run.run), read_only=read_only)
