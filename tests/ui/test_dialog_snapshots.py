"""How the launch form, help and the dialogs look, at the sizes people have."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from textual.pilot import Pilot

from mlrb_tui.app import MlrbApp
from mlrb_tui.control.settings import Settings
from tests.ui.fleet_homes import NOON, believable, home_of
from tests.ui.fleet_pilot import COLOURS, at_cursor, shown, until

SIZES = {"80x24": (80, 24), "160x48": (160, 48)}
Snap = Callable[..., bool]
Act = Callable[[Pilot[int]], Awaitable[None]]

pytestmark = pytest.mark.parametrize("size", list(SIZES))


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MlrbApp]:
    monkeypatch.setenv("TZ", "UTC")
    with ExitStack() as alive:
        home = home_of(tmp_path, [run for run in believable() if run.state == "paused"], alive)
        settings = Settings(theme="mlrb-dark", sandbox="local")
        yield MlrbApp(home, settings, environment=COLOURS, clock=lambda: NOON)


def after(*keys: str, seen: str) -> Act:
    """Press these keys on the fleet, then wait for a text."""

    async def act(pilot: Pilot[int]) -> None:
        await until(pilot, lambda: at_cursor(pilot) is not None, "the rows")
        await until(pilot, lambda: "saved ckpt" in shown(pilot), "the look")
        await pilot.press(*keys[:1])
        await until(pilot, lambda: len(pilot.app.screen_stack) == 2, "the dialog")
        for field in pilot.app.screen.query("Input, TextArea"):
            field.cursor_blink = False  # type: ignore[attr-defined]
        await pilot.press(*keys[1:])
        await until(pilot, lambda: seen in shown(pilot), seen)
        await pilot.wait_for_scheduled_animations()

    return act


def test_launch_form(snap_compare: Snap, app: MlrbApp, size: str) -> None:
    assert snap_compare(app, terminal_size=SIZES[size], run_before=after("n", seen="1 run ·"))


def test_launch_form_with_a_mistake(snap_compare: Snap, app: MlrbApp, size: str) -> None:
    keys = ("n", "tab", "tab", "tab", *("backspace",) * 8, *"claude [/b]")
    assert snap_compare(app, terminal_size=SIZES[size], run_before=after(*keys, seen="'claude [/b]' names no model"))


def test_help(snap_compare: Snap, app: MlrbApp, size: str) -> None:
    assert snap_compare(app, terminal_size=SIZES[size], run_before=after("question_mark", seen="steering a run"))


def test_question_before_a_kill(snap_compare: Snap, app: MlrbApp, size: str) -> None:
    assert snap_compare(app, terminal_size=SIZES[size], run_before=after("k", seen="y yes"))


def test_message_to_an_agent(snap_compare: Snap, app: MlrbApp, size: str) -> None:
    keys = ("i", *"try [b]this[/b]", "ctrl+j", *"and ünïcode.")
    assert snap_compare(app, terminal_size=SIZES[size], run_before=after(*keys, seen="ünïcode."))
