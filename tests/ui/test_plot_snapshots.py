"""How plots look, at the sizes people have, in both themes and without any sign beyond ASCII."""

from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from mlrb_tui.control.recording import open_file
from mlrb_tui.screens.plots import PlotScreen
from mlrb_tui.widgets.plot_canvas import PlotCanvas
from tests.ui.run_app import LOGS, RunApp, app_on, until

SIZES = {"80x24": (80, 24), "160x48": (160, 48)}
SMOOTHED = ("plus", "plus", "shift+left")


def plots(*keys: str, before: tuple[str, ...] = ()) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Open the plots, press keys, and wait for the curves, which are drawn in a thread."""

    async def run(pilot: Pilot[None]) -> None:
        await pilot.press(*before)
        await pilot.pause()
        await pilot.press("m")
        await until(pilot, lambda: isinstance(pilot.app.screen, PlotScreen) and pilot.app.screen.plot is not None)
        await pilot.press(*keys)
        canvas = pilot.app.screen.query_one(PlotCanvas)
        await until(pilot, lambda: canvas.drawings > 0 and canvas.settled)
        await pilot.pause()

    return run


@pytest.mark.parametrize("theme", ["mlrb-dark", "mlrb-light"])
@pytest.mark.parametrize("size", list(SIZES))
def test_a_smoothed_loss(snap_compare: Callable[..., bool], size: str, theme: str) -> None:
    app = app_on("baby_lm", theme=theme)
    assert snap_compare(app, terminal_size=SIZES[size], run_before=plots(*SMOOTHED))


@pytest.mark.parametrize("size", list(SIZES))
def test_several_figures_over_time_around_a_moment(snap_compare: Callable[..., bool], size: str) -> None:
    keys = ("x", "l", "down", "down", "space", "down", "down", "down", "down", "space", "w", "shift+right")
    before = ("slash", *"step  6000/12000", "enter")
    assert snap_compare(app_on("baby_lm"), terminal_size=SIZES[size], run_before=plots(*keys, before=before))


def test_ascii_only(snap_compare: Callable[..., bool]) -> None:
    app = RunApp(open_file(LOGS / "baby_lm.jsonl"), ascii_only=True)
    assert snap_compare(app, terminal_size=(100, 30), run_before=plots(*SMOOTHED))


def test_hostile_names(snap_compare: Callable[..., bool]) -> None:
    assert snap_compare(app_on("hostile"), terminal_size=(100, 30), run_before=plots("down", "space"))
